"""Benchmark extractors: samples, scoring, runs and their reports."""
