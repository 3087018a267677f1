"""Extractors of events from conversations: the embedded reader, language models, custom ones."""
