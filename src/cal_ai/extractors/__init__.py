"""Extractors from a conversation to events: the embedded reader, language models, custom ones."""
