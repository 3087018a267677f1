"""Conversations to calendar events, and the benchmark of that step."""
