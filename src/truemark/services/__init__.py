"""Call servers: language models, retries, bounded reading, prices.

The one package of the core that needs more than numpy. httpx2, the Gemini SDK and the price list
are extras, so they are imported only by the functions that use them.
"""
