"""A segmenter for the tests of labelling."""


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
