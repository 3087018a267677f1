"""Readers of talks with their true sentences, one for each file format."""
