"""Benchmark of sentence segmentation models on talk transcripts."""
