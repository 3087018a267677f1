"""`sat-bench split`: cuts a text into sentences."""

from __future__ import annotations

from math import isfinite
from pathlib import Path

from sat_bench.corpus.subtitles import SUBTITLES, read_cues
from sat_bench.corpus.talks import Talk, count_ends
from sat_bench.defaults import SplitOptions
from sat_bench.models.boundaries import last_probability, scored_positions, sentence_ends, sentences
from sat_bench.models.cards import foreign_text
from sat_bench.models.protocol import ModelError, Probabilities
from sat_bench.models.stored import StoredPredictions
from sat_bench.models.systems import find_system, is_bundled, languages_of
from sat_bench.record import default_threshold
from sat_bench.running.inference import Inference
from truemark.command import DONE, note, tell
from truemark.files import read_standard_input, read_text
from truemark.jsontext import to_json
from truemark.text import one_line

_IN_CAPITALS = (
    "capitals without punctuation, in which the bundled models find hardly any ends;"
    " put it in lower case first"
)


def tell_sentences(options: SplitOptions) -> int:
    """Print the sentences of a text, or whether it is complete."""
    text = _text(options)
    if is_bundled(options.model):
        remark = foreign_text(options.model, languages_of(options.model), text)
        if remark:
            note(remark)
        if 2 * sum(map(str.isupper, text)) > len(text) and not count_ends(text, "unicode"):
            note(_IN_CAPITALS)
    system = find_system(options.model, options.tokenizer, timeout_s=options.timeout_s)
    if isinstance(system, StoredPredictions):
        raise ModelError(f"{system.name}: has answers for talks only and cannot split other texts")
    with Inference(timeout_s=options.timeout_s).opened(system) as read:
        [(_, answer)] = read([Talk("", "", "", "", text, ())])
    threshold = default_threshold(system) if options.threshold is None else options.threshold
    if options.complete:
        tell(_completeness(system.name, text, answer, threshold, as_json=options.as_json))
    elif options.as_json:
        tell(_document(system.name, text, answer, threshold))
    else:
        pieces = sentences(text, sentence_ends(text, answer, threshold))
        tell("".join(f"{one_line(' '.join(piece.split()))}\n" for piece in pieces if piece.strip()))
    return DONE


def _text(options: SplitOptions) -> str:
    if options.file is not None:
        return _file_text(options.file)
    return read_standard_input()


def _file_text(file: Path) -> str:
    """Read a text, of subtitles the speech."""
    content = read_text(file)
    if file.suffix.lower() not in SUBTITLES:
        return content
    text, remarks = read_cues(file, content)
    for remark in remarks:
        note(remark)
    return text


def _completeness(
    name: str, text: str, answer: Probabilities, threshold: float, *, as_json: bool
) -> str:
    probability = last_probability(text, answer)
    if not isfinite(probability) or not _is_graded(answer):
        raise ModelError(
            f"{name}: has no probabilities, so it cannot say whether a text is complete"
        )
    complete = probability > threshold
    if as_json:
        return to_json({"complete": complete, "probability": probability}) + "\n"
    return f"{'complete' if complete else 'incomplete'} {probability:.3f}\n"


def _is_graded(answer: Probabilities) -> bool:
    return all(map(isfinite, answer.values.tolist()))


def _document(name: str, text: str, answer: Probabilities, threshold: float) -> str:
    scored = scored_positions(text, answer)
    given = dict(zip(scored.positions.tolist(), scored.scores.tolist(), strict=True))
    # The end of the text is always predicted, so its probability is looked up separately.
    given[len(text.rstrip())] = last_probability(text, answer)
    rows = []
    start = 0
    for end in sentence_ends(text, answer, threshold):
        while text[start].isspace():
            start += 1
        probability = given.get(end)
        stated = probability if probability is not None and isfinite(probability) else None
        rows.append({"text": text[start:end], "start": start, "end": end, "probability": stated})
        start = end
    document = {
        "model": name,
        "threshold": threshold if _is_graded(answer) else None,
        "sentences": rows,
    }
    return to_json(document, indent=2) + "\n"
