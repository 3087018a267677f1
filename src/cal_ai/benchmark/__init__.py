"""How well events are extracted: samples, scoring, runs and their reports."""
