"""Servers that are asked over the network: with patience, within bounds; language models first.

The one part of the core that needs more than numpy, and only where it is used: httpx2 and the SDK
of Gemini are imported by the functions that need them, and are extras.
"""
