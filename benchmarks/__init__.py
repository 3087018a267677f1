"""Measurements of speed and quality, side by side with peers.

A package with a file of its own, because pysbd installs another one of this name.
"""
