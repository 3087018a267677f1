"""The embedded extractor: a small learned reader over time mentions and calendar events."""
