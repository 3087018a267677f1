"""A segmenter and an extractor for the tests of labelling."""

from typing import Any


def at_stops(text: str) -> list[tuple[int, float]]:
    """Say 0.9 after a full stop, 0.2 before a capital letter or "that"."""
    answer = []
    for place in range(1, len(text)):
        after = text[place:].lstrip()
        if text[place - 1] == ".":
            answer.append((place, 0.9))
        elif text[place].isspace() and (after[:1].isupper() or after.startswith("that")):
            answer.append((place, 0.2))
    return answer


def ends_early(request: object) -> list[dict[str, Any]]:
    """Find an event that ends before it starts."""
    return [
        {
            "action": "create",
            "title": "Lunch",
            "start_time": "2025-10-09T12:30",
            "end_time": "2025-10-09T11:30",
        }
    ]
