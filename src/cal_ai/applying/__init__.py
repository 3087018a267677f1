"""Apply extracted events to a calendar."""
