"""From extracted events to changes in a calendar."""
