"""Talks from every kind of file, and the sentences that are true of them."""
