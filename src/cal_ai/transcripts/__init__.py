"""Conversations, with one module for each form that they are written in."""
