"""Label talks: models draft sentence ends, a page corrects them, the gold has a sentence per line.

A place is the number of characters other than white space before it, so it stays the same when a
text is broken into lines, as in the gold.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from sat_bench.corpus.loading import ENDINGS, load_talk, transcript_files
from sat_bench.corpus.subtitles import SUBTITLES, spoken_text
from sat_bench.corpus.talks import CorpusError, Talk, find_sentences
from sat_bench.corpus.transcripts import (
    format_transcript,
    is_in_lines,
    parse_lines,
    split_header,
)
from sat_bench.defaults import (
    DEFAULT_TOLERANCE,
    GOLD_FOLDER,
    HEADER_NAMES,
    LINES,
    TRUTH_RULES,
    TRUTHS,
    Options,
    Truth,
)
from sat_bench.models.boundaries import scored_positions
from sat_bench.models.protocol import Read
from sat_bench.models.systems import System, find_system
from sat_bench.record import default_threshold, identity_of
from sat_bench.running.inference import Inference
from truemark.command import note
from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.files import no_folder, read_text
from truemark.labelling.desk import Desk, Material, Task
from truemark.labelling.review import load_review
from truemark.labelling.server import serve
from truemark.labelling.storage import (
    Annotation,
    LabelOptions,
    Place,
    Workspace,
    content_digest,
    done_by_all,
)
from truemark.matching import match_positions
from truemark.records import WRITTEN, Finding
from truemark.signature import signature_line

GOLD_FORMS = (".json", ".conllu")
LEAST_SEEN = 0.05  # places that any model finds more likely than this are looked at
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
# Scripts that put no white space between words: every character may be the last of a sentence.
_UNSPACED = "\u3001-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef\U00020000-\U0003ffff"
_TOKEN = re.compile(rf"\s*(?:[{_UNSPACED}][、。！？」』）]*|[^\s{_UNSPACED}]+)")


@dataclass(frozen=True, slots=True)
class LabelText:
    """A text to label, its header, and the places of sentence ends if it is gold already."""

    header: Mapping[str, str]
    text: str
    ends: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Words:
    """A text cut after each word: the pieces, and the place at the end of each.

    `offsets` are the same places in characters of the text.
    """

    pieces: tuple[str, ...]
    places: tuple[int, ...]
    offsets: tuple[int, ...]

    def place_at(self, offset: int) -> int:
        """Return the first place at or after an offset of the text."""
        return self.places[min(bisect_left(self.offsets, offset), len(self.places) - 1)]


@lru_cache(maxsize=8)
def words_of(text: str) -> Words:
    pieces, places, offsets, place = [], [], [], 0
    for match in _TOKEN.finditer(text):
        pieces.append(match[0])
        place += len(match[0].strip())
        places.append(place)
        offsets.append(match.end())
    return Words(tuple(pieces), tuple(places), tuple(offsets))


def read_label_text(path: Path) -> LabelText:
    """Read a text to label; unlike a text to measure it needs no header."""
    ending = path.suffix.lower()
    if ending in GOLD_FORMS:
        talk = load_talk(path)
        header = {name: getattr(talk, name) for name in ("source", "speaker", "title", "language")}
        text, sentences = talk.text, talk.sentences
    elif ending in SUBTITLES:
        return LabelText({}, spoken_text(path, read_text(path)))
    else:
        header, body, _ = split_header(read_text(path))
        if not body.strip():
            raise CorpusError(f"{path}: no transcript text in it")
        if not is_in_lines(header):
            return LabelText(header, body.strip())
        text, sentences = parse_lines(body)
    words = words_of(text)
    return LabelText(header, text, tuple(words.place_at(sentence.end) for sentence in sentences))


def format_lines(header: Mapping[str, str], text: str, ends: Iterable[int]) -> str:
    """Write a text as gold: header, an empty line, a sentence per line, paragraphs apart."""
    words, marked = words_of(text), frozenset(ends)
    lines: list[str] = []
    sentence: list[str] = []
    for piece, place in zip(words.pieces, words.places, strict=True):
        if not sentence and lines and _PARAGRAPH.search(piece):
            lines.append("")
        sentence.append(piece)
        if place in marked or place == words.places[-1]:
            lines.append(" ".join("".join(sentence).split()))
            sentence = []
    names = [*HEADER_NAMES, *(name for name in header if name not in (*HEADER_NAMES, "truth"))]
    values = {name.capitalize(): header.get(name, "") for name in names}
    return format_transcript(values | {"Truth": LINES}, "\n".join(lines))


Margins = Mapping[int, tuple[float, ...]]
"""How far each system's probability is above its threshold, by place; above 0 proposes an end."""


def _doubt(margins: Sequence[float]) -> float:
    """Return more than 1 if systems disagree, and more the nearer one is to its threshold."""
    disagree = max(margins) > 0 >= min(margins)
    return float(disagree) + 1 - min(map(abs, margins))


def _margin(p: float, threshold: float) -> float:
    """Return how far a probability is above its threshold, up to 1, or below it, down to -1."""
    if p > threshold:
        return (p - threshold) / (1 - threshold)
    return (p - threshold) / threshold if threshold else 0.0


def propose_ends(system: System, read: Read, talk: Talk) -> dict[str, Any]:
    """Return the threshold of a system and its likely places with their probabilities."""
    [(_, answer)] = read([talk])
    threshold, words = default_threshold(system), words_of(talk.text)
    scored = scored_positions(talk.text, answer)
    likely: dict[int, float] = {}
    for offset, score in zip(scored.positions.tolist(), scored.scores.tolist(), strict=True):
        if score > min(threshold, LEAST_SEEN):
            place = words.place_at(offset)
            likely[place] = max(likely.get(place, 0.0), round(min(score, 1.0), 4))
    places = [[place, p] for place, p in sorted(likely.items())]
    return {"threshold": threshold, "places": places}


def _equal_characters(one: str, other: str) -> int:
    """Count the characters that two texts have in common at their beginning."""
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


@dataclass(slots=True)
class TalkTask(Task):
    """The talks of a folder for a label page; subclasses make the drafts."""

    title = "sat-bench label"
    noun = "talk"
    assets = Path(__file__).parent / "label_page"

    names: Sequence[str] = field(init=False)
    files: Mapping[str, Path]

    def __post_init__(self) -> None:
        self.names = tuple(self.files)

    @abstractmethod
    def begin(self, name: str, margins: Margins) -> tuple[set[int], list[int]]:
        """Choose the ends to begin with, and the places to look at, in order."""

    def text(self, name: str) -> str:
        return read_label_text(self.files[name]).text

    def material(self, name: str, systems: Mapping[str, Any] | None) -> Material:
        """Cut the text into words, and add the probabilities of the systems for each place."""
        read = read_label_text(self.files[name])
        words = words_of(read.text)
        last = words.places[-1]
        proposals = (systems or {}).values()
        tables = [dict(proposed["places"]) for proposed in proposals]
        given = {  # None for a place that a system finds hardly likely
            place: tuple(table.get(place) for table in tables)
            for place in sorted({place for table in tables for place in table} - {last})
        }
        thresholds = [proposed["threshold"] for proposed in proposals]
        margins = {
            place: tuple(
                _margin(p or 0.0, threshold)
                for p, threshold in zip(probabilities, thresholds, strict=True)
            )
            for place, probabilities in given.items()
        }
        ends, places = self.begin(name, margins)
        if systems == {}:  # no system proposes anything, so every word is looked at
            places = list(words.places)
        shown = {
            "title": read.header.get("title") or name,
            "speaker": read.header.get("speaker", ""),
            "pieces": words.pieces,
            "ids": words.places,
            "systems": list(systems or {}),
            "given": given,
            "kinds": {
                place: kind
                for proposed in proposals
                for place, kind in proposed.get("kinds", {}).items()
            },
        }
        asked = tuple(place for place in places if place != last)
        return Material(shown, {"ends": sorted(ends | {last})}, asked)

    def check(self, name: str, content: Mapping[str, Any]) -> None:
        """Refuse ends that are not at words of the text."""
        places, ends = words_of(self.text(name)).places, content.get("ends")
        if not isinstance(ends, list) or any(type(end) is not int for end in ends):
            raise TruemarkError("ends must be places of the text, ascending, got something else")
        if not set(ends) <= set(places) or sorted(set(ends)) != ends:
            raise TruemarkError("ends must be places of the text, ascending, got others")

    def carry_over(self, annotation: Annotation, text: str) -> Annotation:
        """Keep the marks of what is equal at the beginning and at the end of both texts."""
        old, new = ("".join(part.split()) for part in (annotation.text, text))
        if old == new:
            return replace(annotation, text=text)
        front = _equal_characters(old, new)
        back = _equal_characters(old[front:][::-1], new[front:][::-1])
        known, shift = set(words_of(text).places), len(new) - len(old)

        def moved(places: Iterable[int]) -> list[int]:
            kept = [place for place in places if place <= front]
            kept += [place + shift for place in places if place > len(old) - back]
            return sorted(known.intersection(kept))

        seen = moved(place for place in annotation.seen if isinstance(place, int))
        ends = moved(annotation.content["ends"])
        return replace(annotation, content={"ends": ends}, seen=tuple(seen))

    def gold_path(self, name: str) -> Path:
        """Return the file itself if it is a text in lines; otherwise a file in the gold folder."""
        file = self.files[name]
        if file.suffix.lower() == ".txt" and read_label_text(file).ends is not None:
            return file
        return self.folder / GOLD_FOLDER / f"{name}.txt"

    def gold(self, name: str, content: Mapping[str, Any]) -> str:
        """Return the text in lines; refuse a text whose first sentence would be read as header."""
        read = read_label_text(self.files[name])
        header = {"source": self.files[name].name, **read.header}
        ends = sorted({*content["ends"], words_of(read.text).places[-1]})
        gold = format_lines(header, read.text, ends)
        first = gold.partition(f"# Truth: {LINES}\n\n")[2]
        _, body, _ = split_header(gold)
        if body.strip() != first.strip():
            raise TruemarkError(
                f"{name}: its first sentence begins like a header line; put a word before the #"
            )
        return gold

    def read_gold(self, name: str) -> Mapping[str, Any] | None:
        """Read the ends of the gold file; refuse a file with another text."""
        path = self.gold_path(name)
        if not path.exists():
            ends = read_label_text(self.files[name]).ends  # a text may be gold itself
            return None if ends is None else {"ends": list(ends)}
        gold = read_label_text(path)
        if gold.ends is None or gold.text.split() != self.text(name).split():
            raise CorpusError(f"{path}: is not a gold form of {self.files[name]}; move it away")
        return {"ends": list(gold.ends)}

    def counts(
        self, name: str, systems: Mapping[str, Any], content: Mapping[str, Any]
    ) -> Mapping[str, Counts]:
        """Score what each system proposed against the marked ends."""
        ends, last = content["ends"], words_of(self.text(name)).places[-1]
        counted = {}
        for system, proposed in systems.items():
            threshold = proposed["threshold"]
            places = {place for place, p in proposed["places"] if p > threshold} | {last}
            matched = len(match_positions(sorted(places), ends, DEFAULT_TOLERANCE))
            counted[system] = Counts(matched, len(places) - matched, len(ends) - matched)
        return counted


@dataclass(slots=True)
class DraftTask(TalkTask):
    """Drafts by systems: all ends that any system proposes, the most doubtful place first."""

    systems: Sequence[System]
    timeout_s: float
    _readers: dict[str, Read] = field(default_factory=dict, init=False)

    @property
    def made_by(self) -> str:
        named = [
            (system.name, signature_line(identity_of(system, Options()))) for system in self.systems
        ]
        return content_digest(repr(named))

    def draft(self, name: str) -> Mapping[str, Any]:
        talk = Talk(name, name, "", "", self.text(name), ())
        for system in self.systems:
            if system.name not in self._readers:
                opened = Inference(timeout_s=self.timeout_s).opened(system)
                self._readers[system.name] = self._opened.enter_context(opened)
        return {
            system.name: propose_ends(system, self._readers[system.name], talk)
            for system in self.systems
        }

    def begin(self, name: str, margins: Margins) -> tuple[set[int], list[int]]:
        ends = {place for place, of_systems in margins.items() if max(of_systems) > 0}
        return ends, sorted(margins, key=lambda place: (-_doubt(margins[place]), place))


@dataclass(slots=True)
class AdjudicationTask(TalkTask):
    """Two annotators instead of systems: ends that both marked stay, the others are asked about."""

    readers: Sequence[Workspace]

    def draft(self, name: str) -> Mapping[str, Any]:
        return {
            reader.annotator: {
                "threshold": 0.5,
                "places": [[place, 1.0] for place in self._marked(reader, name)],
            }
            for reader in self.readers
        }

    def _marked(self, reader: Workspace, name: str) -> list[int]:
        annotation = reader.read(name)
        assert annotation is not None, "only talks that both marked are asked for"
        path = reader.annotation_path(name)
        if annotation.text.split() != self.text(name).split():
            raise TruemarkError(f"{path}: was made of another text; label {name} again")
        ends: list[int] = annotation.content["ends"]
        return ends

    def begin(self, name: str, margins: Margins) -> tuple[set[int], list[int]]:
        ends = {place for place, of_readers in margins.items() if min(of_readers) > 0}
        return ends, sorted(margins.keys() - ends)


@dataclass(slots=True)
class ReviewTask(TalkTask):
    """The mistakes of a run, most confident first, on the truth that the run was scored with."""

    drafts: Mapping[str, Mapping[str, Any]]
    truth: Truth

    def draft(self, name: str) -> Mapping[str, Any]:
        return self.drafts[name]

    def begin(self, name: str, margins: Margins) -> tuple[set[int], list[int]]:
        text = self.text(name)
        if self.truth == LINES:
            text, sentences = parse_lines(text)
        else:
            sentences = find_sentences(text, self.truth)
        ends = {words_of(text).place_at(end) for _, end in sentences}
        number = self.names.index(name)
        return ends, [int(place) for talk, place in self.walk if talk == number]


def _label_files(folder: Path) -> dict[str, Path]:
    """Find the texts of a folder by name; refuse two files of one name."""
    files: dict[str, Path] = {}
    if not folder.is_dir():
        raise CorpusError(f"{folder}: {no_folder(folder)}; label takes a folder of transcripts")
    for file in transcript_files(folder):
        if file.suffix.lower() in GOLD_FORMS:
            try:
                load_talk(file)
            except CorpusError as error:  # a run record, or a treebank of many texts
                note(f"left out: {error}")
                continue
        if file.stem in files:
            raise CorpusError(
                f"{file}: {files[file.stem].name} has the same name; keep one of them"
            )
        files[file.stem] = file
    if not files:
        raise CorpusError(f"{folder}: no transcripts in it; expected {', '.join(ENDINGS)}")
    return files


def label_talks(options: LabelOptions, models: Sequence[str], timeout_s: float) -> int:
    """Serve the page that the options ask for until Ctrl-C."""
    task: TalkTask
    if options.adjudicate:
        task = adjudication_task(options.folder, *options.adjudicate)
    elif options.review:
        task = review_task(options.folder, options.review)
    else:
        task = draft_task(options.folder, models, timeout_s)
    desk = Desk(task, options.workspace, options.round_name)
    return serve(desk, open_browser=options.open_browser)


def draft_task(folder: Path, models: Sequence[str], timeout_s: float) -> DraftTask:
    """Label all talks of a folder, with drafts by these models."""
    systems = [find_system(name, timeout_s=timeout_s) for name in models]
    return DraftTask(folder, _label_files(folder), systems, timeout_s)


def adjudication_task(folder: Path, first: str, second: str) -> AdjudicationTask:
    """Decide the talks that both annotators have done."""
    readers = Workspace(folder, first), Workspace(folder, second)
    for reader in readers:
        if not reader.annotation_path("x").parent.is_dir():
            raise TruemarkError(f"{folder}: {reader.annotator} has marked nothing here")
    files = _label_files(folder)
    both = done_by_all(files, readers)
    if not both:
        raise TruemarkError(f"{folder}: none of its talks is to be labelled")
    return AdjudicationTask(folder, {name: files[name] for name in both}, readers)


def review_task(folder: Path, source: Path) -> ReviewTask:
    """Walk through the mistakes of a run, or through the marks that a report page exported."""
    files, run = _label_files(folder), load_review(source)
    if run.condition != WRITTEN:
        raise TruemarkError(
            f"{source}: was measured under {run.condition};"
            " the truth is that of the text as written"
        )
    threshold = run.scoring.threshold if run.scoring.threshold is not None else 0.5
    mistakes = [
        finding
        for finding in run.findings
        if finding.mistake and finding.at is not None and finding.unit in files
    ]
    if not mistakes:
        raise TruemarkError(f"{source}: has no mistake in a talk of {folder}")
    # A system without probabilities is certain.
    mistakes.sort(
        key=lambda finding: (
            -1.0 if finding.probability is None else -abs(_margin(finding.probability, threshold))
        )
    )
    texts = {unit.id: unit.text for unit in run.units}
    names = list(dict.fromkeys(finding.unit for finding in mistakes))
    walk: list[tuple[int, Place]] = []
    places: dict[str, dict[int, float]] = {name: {} for name in names}
    kinds: dict[str, dict[int, str]] = {name: {} for name in names}
    for finding in mistakes:
        name = finding.unit
        place = _place_of(finding, texts.get(name), read_label_text(files[name]).text, source)
        walk.append((names.index(name), place))
        p = finding.probability
        places[name][place] = float(finding.kind == "invented") if p is None else p
        kinds[name][place] = finding.kind
    drafts = {
        name: {
            run.system.name: {
                "threshold": threshold,
                "places": sorted(places[name].items()),
                "kinds": kinds[name],
            }
        }
        for name in names
    }
    sources = run.signature.get("truth", "").split("+")  # some talks may be gold
    truth = next((truth for truth in TRUTHS if truth in sources), TRUTH_RULES[0])
    return ReviewTask(folder, {name: files[name] for name in names}, drafts, truth, walk=walk)


def _place_of(finding: Finding, whole: str | None, text: str, source: Path) -> int:
    """Return the place of a mistake, which is the same in a text in lines."""
    assert finding.at is not None
    if whole is not None and whole.split() != text.split():
        raise TruemarkError(f"{source}: {finding.unit} has changed since; measure it again")
    return words_of(whole or text).place_at(finding.offset + finding.at)
