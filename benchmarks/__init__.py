"""Measurements of speed and quality, side by side with peers.

This file is needed because pysbd installs another package of this name.
"""
