"""Moves the sentence ends of a punctuated reference onto the words of a recogniser."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from pathlib import Path

from sat_bench.corpus.conditions import bare
from sat_bench.corpus.importing import check_target, format_transcript, import_target, read_pasted
from sat_bench.corpus.loading import load_talk
from sat_bench.corpus.talks import CorpusError, Talk
from sat_bench.corpus.transcripts import parse_transcript
from sat_bench.defaults import HEADER_NAMES
from sat_bench.models.alignment import aligned
from truemark.files import write_atomically

_LEAST_KEPT = 0.5


def import_with_reference(
    file: Path,
    reference: Path,
    out: Path | None = None,
    header: Mapping[str, str] | None = None,
    *,
    force: bool,
) -> tuple[Path, Talk, str]:
    """Write the words of a file as gold, a sentence per line; return path, talk and the loss."""
    target = import_target(file, out)
    given_header, text, _ = read_pasted(file)
    truth = load_talk(reference, "plain") if _has_source(reference) else _read_reference(reference)
    lines, loss, kept = transferred(" ".join(text.split()), truth)
    if kept < _LEAST_KEPT:
        raise CorpusError(
            f"{file}: only {kept:.0%} of it is in {reference}; are they of the same speech?"
        )
    values = {"source": file.name} | given_header | dict(header or {})
    head = {name.capitalize(): values.get(name, "") for name in HEADER_NAMES}
    content = format_transcript(head | {"Truth": "lines"}, "\n".join(lines))
    talk = parse_transcript(target, content, "plain")
    check_target(target, force=force)
    write_atomically(target, content)
    remark = (
        f"{file}: {kept:.1%} of its characters are in {reference} ({loss}); "
        f"{len(truth.sentences)} sentences there, {len(talk.sentences)} here"
    )
    return target, talk, remark


def transferred(text: str, reference: Talk) -> tuple[list[str], str, float]:
    """Cut the text where the reference's sentences end, between words.

    Also tell what the two do not share, and which share of the text is in both.
    """
    spoken = [bare(reference.text[start:end]) for start, end in reference.sentences]
    found = aligned(text, [sentence for sentence in spoken if sentence])
    word_ends = [place for place in range(1, len(text)) if text[place] == " "] + [len(text)]
    cuts = sorted({_nearest(word_ends, end) for end in found.ends} | {len(text)})
    lines = []
    start = 0
    for end in cuts:
        lines.append(text[start:end].strip())
        start = end
    return [line for line in lines if line], str(found.loss), found.kept


def _nearest(places: list[int], wanted: int) -> int:
    """Return the place nearest to the wanted one; of two equally near the later."""
    after = bisect_left(places, wanted)
    near = places[max(0, after - 1) : after + 1]
    return min(reversed(near), key=lambda place: abs(place - wanted))


def _has_source(path: Path) -> bool:
    return path.suffix.lower() in (".json", ".conllu")


def _read_reference(path: Path) -> Talk:
    """Read a punctuated text, with or without a header, or subtitles."""
    header, text, _ = read_pasted(path)
    content = format_transcript(
        {"Source": path.name} | ({"Truth": header["truth"]} if "truth" in header else {}), text
    )
    return parse_transcript(path, content, "quoted")
