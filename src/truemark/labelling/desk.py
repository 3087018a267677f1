"""What the server of a label page does: open a text, save a change, show the progress.

A `Task` says what is labelled, talks or conversations; everything else is the same for both.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, InvalidStateError
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from threading import Lock, Thread
from typing import Any, ClassVar

import numpy as np

from truemark.counts import Counts
from truemark.errors import TruemarkError
from truemark.labelling.storage import (
    GOLD,
    Annotation,
    Draft,
    Place,
    Workspace,
    content_digest,
    file_digest,
)
from truemark.power import power_of
from truemark.uncertainty import DEFAULT_SEED, Scoring

_CLOSE_S = 2.0
_F1 = Scoring("f1", 0.0)
_STEPS = (0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.015, 0.01, 0.005)


@dataclass(frozen=True, slots=True)
class Material:
    """What the page shows of a text, the content to begin with, and the places to look at.

    The most doubtful place comes first.
    """

    shown: Mapping[str, object]
    content: Mapping[str, Any]
    places: tuple[Place, ...] = ()


@dataclass(slots=True)
class Task(ABC):
    """What is labelled, and what is written as gold.

    `noun` is the word for one of the texts, such as talk; its plural adds an s. `assets` is the
    folder of the task's `label.js` and `label.css`. `walk` are places to look at across all texts,
    in order, as numbers of texts and places in them.
    """

    title: ClassVar[str]
    noun: ClassVar[str]
    assets: ClassVar[Path]

    folder: Path
    names: Sequence[str]
    walk: Sequence[tuple[int, Place]] = field(default=(), kw_only=True)
    _opened: ExitStack = field(default_factory=ExitStack, init=False)  # models that make drafts

    @property
    def made_by(self) -> str:
        """What a draft depends on; a stored draft that depends on something else is made again.

        Empty if drafts need not be stored.
        """
        return ""

    @abstractmethod
    def text(self, name: str) -> str: ...

    @abstractmethod
    def draft(self, name: str) -> Mapping[str, Any]:
        """Return what each system proposes; may take minutes."""

    @abstractmethod
    def material(self, name: str, systems: Mapping[str, Any] | None) -> Material:
        """Prepare a text; `systems` is None while the draft is being made."""

    @abstractmethod
    def check(self, name: str, content: Mapping[str, Any]) -> None:
        """Raise a `TruemarkError` if a page sends something that an annotation cannot contain."""

    @abstractmethod
    def carry_over(self, annotation: Annotation, text: str) -> Annotation:
        """Keep the parts of an annotation that are still valid for a changed text."""

    def renew(self, annotation: Annotation, material: Material) -> Mapping[str, Any]:
        """Return the content of an annotation, updated by a new draft."""
        return annotation.content

    @abstractmethod
    def gold_path(self, name: str) -> Path: ...

    @abstractmethod
    def gold(self, name: str, content: Mapping[str, Any]) -> str:
        """Return the text of the gold file; raise a `TruemarkError` if it cannot be written yet."""

    @abstractmethod
    def read_gold(self, name: str) -> Mapping[str, Any] | None:
        """Read the current gold of a text; None if there is none."""

    @abstractmethod
    def counts(
        self, name: str, systems: Mapping[str, Any], content: Mapping[str, Any]
    ) -> Mapping[str, Counts]:
        """Score each system against the annotation."""

    def close(self) -> None:
        self._opened.close()


@dataclass(frozen=True, slots=True)
class Edit:
    """What a page sends at every change; `count` numbers the changes of one session.

    `stamp` identifies the files that the page knows; `seen` are the places looked at since.
    """

    session: str
    count: int
    stamp: str
    content: dict[str, Any]
    seen: tuple[Place, ...] = ()
    at: Place | None = None


class ConflictError(Exception):
    """A file was changed on disk in the meantime; `state` is what is there now.

    With `text_changed` the text itself has changed, so the content that a page has does not fit.
    """

    def __init__(self, state: Mapping[str, object], text_changed: bool) -> None:
        super().__init__("changed on disk")
        self.state = {**state, "text_changed": text_changed}


class Desk:
    """The texts of a task and the annotations of one annotator.

    `round_name` keeps places apart that were looked at in a review of a run's mistakes.
    """

    def __init__(self, task: Task, workspace: Workspace, round_name: str = "") -> None:
        self.task = task
        self.workspace = workspace
        self._round = round_name
        self._lock = Lock()
        # The last change of each text: its session, its number, the stamp of what was written.
        self._saved: dict[int, tuple[str | None, int, str]] = {}
        self._drafts: dict[int, Future[Mapping[str, Any]]] = {}
        self._materials: dict[int, tuple[str, Material]] = {}
        self._renewed: set[int] = set()
        self._drafting = Lock()  # held while a draft is made, one at a time
        self._left = {name: self._stored_left(name) for name in task.names}

    def close(self) -> None:
        for draft in self._drafts.values():
            with suppress(InvalidStateError):  # already made
                draft.set_exception(TruemarkError("the page is closed"))
        self._drafting.acquire(timeout=_CLOSE_S)
        self.task.close()

    # ---- how far the work is -------------------------------------------------------------------

    def overview(self) -> dict[str, object]:
        """Describe the task, every text with what is left of it, and where the work stopped."""
        return {
            "title": self.task.title,
            "noun": self.task.noun,
            "folder": str(self.task.folder),
            "annotator": "" if self.workspace.makes_gold else self.workspace.annotator,
            "texts": [{"name": name, "left": self._left[name]} for name in self.task.names],
            "walk": list(self.task.walk),
            "walked": self._walked(),
            "current": self._current(),
        }

    def progress(self) -> dict[str, object]:
        """Say how much is done and which differences that can show."""
        done = [name for name in self.task.names if self._left[name] == 0]
        noun = self.task.noun
        share = f"{len(done)} of {len(self.task.names)} {noun}s"
        rows = self._counted(done)
        worth = worth_of(rows) if rows else ""
        return {"said": f"{share}: {worth}" if worth else f"{share} done"}

    def _counted(self, names: Iterable[str]) -> dict[str, list[Counts]]:
        """Score each system on the texts that are done and whose drafts are stored."""
        rows: dict[str, list[Counts]] = {}
        for name in names:
            draft, annotation = self.workspace.read_draft(name), self.workspace.read(name)
            if draft is None or annotation is None or draft.text != self._digest(name):
                continue
            try:
                counted = self.task.counts(name, draft.systems, annotation.content)
            except TruemarkError:
                continue  # what prevents its gold from being written is said when it is saved
            for system, counts in counted.items():
                rows.setdefault(system, []).append(counts)
        return rows

    def _walked(self) -> list[tuple[int, Place]]:
        """List the places of the walk that were looked at before."""
        seen: dict[int, frozenset[Place]] = {}
        for number, _ in self.task.walk:
            if number not in seen:
                annotation = self.workspace.read(self.task.names[number])
                seen[number] = frozenset(self._seen_now(annotation) if annotation else ())
        return [(number, place) for number, place in self.task.walk if place in seen[number]]

    def _current(self) -> int:
        """Choose the text that was worked on last, or the first one that is not done."""
        paths = [self.workspace.annotation_path(name) for name in self.task.names]
        times = [path.stat().st_mtime if path.exists() else 0.0 for path in paths]
        latest = max(range(len(times)), key=times.__getitem__)
        if times[latest] and self._left[self.task.names[latest]] != 0:
            return latest
        open_texts = [n for n, name in enumerate(self.task.names) if self._left[name] != 0]
        return open_texts[0] if open_texts else latest

    def _stored_left(self, name: str) -> int | None:
        """Return how many places are left; None if the text was never opened."""
        try:
            annotation = self.workspace.read(name)
            if annotation is not None:
                return annotation.left
            is_done = self._mends_gold(name) and not self._round
            return 0 if is_done and self.task.read_gold(name) is not None else None
        except TruemarkError:
            return None  # reported when the text is opened

    # ---- drafts --------------------------------------------------------------------------------

    def _stored_draft(self, name: str) -> Draft | None:
        draft = self.workspace.read_draft(name)
        if draft is None or draft.made_by != self.task.made_by:
            return None
        return draft if draft.text == self._digest(name) else None

    def _digest(self, name: str) -> str:
        return content_digest(self.task.text(name))

    def _drafted(self, number: int) -> Future[Mapping[str, Any]]:
        if number not in self._drafts:
            self._want_draft(number)
        return self._drafts[number]

    def draft_again(self, number: int) -> None:
        """Make another draft of a text, with the settings of its present annotation."""
        with self._lock:
            self._want_draft(number, again=True)
            self._materials.pop(number, None)
            self._renewed.add(number)

    def _want_draft(self, number: int, again: bool = False) -> None:
        """Have a draft made in the background; `again` takes none that is stored."""
        draft: Future[Mapping[str, Any]] = Future()
        self._drafts[number] = draft
        wanted = (draft, self.task.names[number], again)
        # A daemon, so that a draft that takes minutes does not delay the end of the command.
        Thread(target=self._make_draft, args=wanted, daemon=True).start()

    def _make_draft(self, draft: Future[Mapping[str, Any]], name: str, again: bool) -> None:
        with self._drafting, suppress(InvalidStateError):  # closed meanwhile
            if draft.done():
                return
            try:
                stored = None if again else self._stored_draft(name)
                systems = stored.systems if stored else self.task.draft(name)
                if stored is None and (made_by := self.task.made_by):
                    self.workspace.write_draft(name, Draft(self._digest(name), made_by, systems))
                draft.set_result(systems)
            except Exception as error:
                draft.set_exception(error)

    # ---- opening -------------------------------------------------------------------------------

    def open(self, number: int) -> dict[str, object]:
        """Return what the page needs to show a text, without the draft until that is made."""
        name = self.task.names[number]
        draft = self._drafted(number)
        if not draft.done():
            shown = self.task.material(name, None).shown
            return {"name": name, "number": number, "drafting": True, **shown}
        failure = draft.exception()
        if failure is not None and not isinstance(failure, TruemarkError):
            raise failure
        if number + 1 < len(self.task.names):
            self._drafted(number + 1)
        with self._lock:
            return self._state(number, f"There is no draft: {failure}" if failure else "")

    def _material(self, number: int) -> Material:
        """Prepare a text, once while it does not change."""
        name = self.task.names[number]
        text = self.task.text(name)
        known = self._materials.get(number)
        if known is None or known[0] != text:
            draft = self._drafted(number)
            systems = {} if draft.exception() else draft.result()
            known = self._materials[number] = text, self.task.material(name, systems)
        return known[1]

    def _state(self, number: int, notice: str = "") -> dict[str, object]:
        name = self.task.names[number]
        material = self._material(number)
        annotation = self._annotation(name)
        if annotation is None:
            gold = self.task.read_gold(name) if self.workspace.annotator == GOLD else None
            content = material.content if gold is None else gold
            seen = material.places if self._mends_gold(name) and not self._round else ()
        else:
            content, seen = annotation.content, self._seen_now(annotation)
            if annotation.text != self.task.text(name):
                notice = "The text has changed since then; review what is new."
            if number in self._renewed:
                self._renewed.discard(number)
                content = self.task.renew(annotation, material)
        return {
            "name": name,
            "number": number,
            "drafting": False,
            "notice": notice,
            "content": content,
            "places": list(material.places),
            "seen": list(seen),
            "at": annotation.at if annotation else None,
            "stamp": self._stamp(name),
            "theirs": self._other_gold(name, annotation, content),
            **material.shown,
        }

    def _annotation(self, name: str) -> Annotation | None:
        """Read the annotation; if the text has changed, keep the parts that are still valid."""
        annotation, text = self.workspace.read(name), self.task.text(name)
        if annotation is None or annotation.text == text:
            return annotation
        return self.task.carry_over(annotation, text)

    def _other_gold(
        self, name: str, annotation: Annotation | None, content: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Return the gold if somebody else has changed its file."""
        path = self.task.gold_path(name)
        if not self.workspace.makes_gold or not path.exists():
            return None
        if annotation is not None and file_digest(path) in annotation.gold:
            return None
        gold = self.task.read_gold(name)
        return None if gold == content else gold

    def _seen_now(self, annotation: Annotation) -> tuple[Place, ...]:
        if not self._round:
            return annotation.seen
        mark = f"{self._round}:"
        strings = [place for place in annotation.seen if isinstance(place, str)]
        places = [place.removeprefix(mark) for place in strings if place.startswith(mark)]
        return tuple(int(place) if place.isdecimal() else place for place in places)

    # ---- saving --------------------------------------------------------------------------------

    def save(self, number: int, edit: Edit) -> dict[str, object]:
        """Write a change to disk; raise `ConflictError` if the file has changed since."""
        name = self.task.names[number]
        with self._lock:
            opened = self._materials.get(number, ("",))[0]
            session, count, written = self._saved.get(number, (None, 0, ""))
            ours = session == edit.session
            stamp = self._stamp(name)
            if edit.stamp != stamp and not (ours and written == stamp):
                raise ConflictError(self._state(number), opened != self.task.text(name))
            self.task.check(name, edit.content)
            before = self._annotation(name)
            late = ours and edit.count < count
            content = before.content if late and before else edit.content
            problem = self._write(name, content, edit, before, self._material(number))
            stamp = self._stamp(name)
            latest = max(edit.count, count if ours else 0)
            self._saved[number] = edit.session, latest, stamp
        return {"stamp": stamp, "left": self._left[name], "problem": problem}

    def _write(
        self,
        name: str,
        content: Mapping[str, Any],
        edit: Edit,
        before: Annotation | None,
        material: Material,
    ) -> str:
        """Write annotation and gold; return what still prevents the text from being done."""
        mark = f"{self._round}:" if self._round else ""
        new = tuple(f"{mark}{place}" if mark else place for place in edit.seen)
        first = material.places if self._mends_gold(name) and not self._round else ()
        seen = tuple(dict.fromkeys((*(before.seen if before else first), *new)))
        left = len(set(material.places) - set(seen))
        if self._round:
            left = before.left if before else 0
        path, problem, gold = self.task.gold_path(name), "", None
        if left == 0 or self._mends_gold(name):
            try:
                made = self.task.gold(name, content)
                gold = made if self.workspace.makes_gold else None
            except TruemarkError as error:
                problem = str(error)
                left = left if self._round else max(left, 1)  # it cannot be used, so is not done
        on_disk = file_digest(path) if self.workspace.makes_gold else ""
        known = (on_disk,) if gold is None else (on_disk, content_digest(gold))
        text = self.task.text(name)
        if before is not None and before.text != text:
            self.workspace.keep_earlier(name)
        self.workspace.write(name, Annotation(text, content, seen, left, edit.at, known))
        # A kill in between is no conflict: the digests of both gold files are in the annotation.
        if gold is not None and content_digest(gold) != on_disk:
            self.workspace.write_file(path, gold)
        self._left[name] = left
        return problem

    def _mends_gold(self, name: str) -> bool:
        """Whether an existing gold file is corrected: it counts as done and follows each change."""
        return self.workspace.annotator == GOLD and self.task.gold_path(name).exists()

    def _stamp(self, name: str) -> str:
        gold = file_digest(self.task.gold_path(name)) if self.workspace.makes_gold else ""
        annotation = file_digest(self.workspace.annotation_path(name))
        return f"{annotation}.{gold}.{self._digest(name)}"


def worth_of(rows: Mapping[str, Sequence[Counts]]) -> str:
    """Say which differences between systems these texts can show, and how many a finer one needs.

    The pair of systems that varies most counts; a single system is paired with itself, its texts
    shuffled, as if two such systems varied independently.
    """
    tables = [
        np.array([(row.tp, row.fp, row.fn) for row in counts], dtype=np.int64)
        for counts in rows.values()
    ]
    pairs = list(combinations(tables, 2))
    if not pairs:
        shuffled = np.random.default_rng(DEFAULT_SEED).permutation(tables[0])
        pairs = [(tables[0], shuffled)]
    power, first, second = max(
        ((power_of(*pair, _F1), *pair) for pair in pairs),
        key=lambda row: row[0].smallest_difference if row[0] else math.inf,
    )
    if power is None:
        return ""
    seen = math.ceil(power.smallest_difference * 100) / 100
    for finer in (step for step in _STEPS if step < seen - 0.001):
        for_finer = power_of(first, second, _F1, finer)
        if for_finer is None:
            break
        needed = for_finer.clusters_needed
        if needed > for_finer.clusters:
            return f"differences of {seen:g} or more can be seen; with about {needed}, {finer:g}"
        seen = finer  # the smallest difference is rounded up, so a finer one may be seen too
    return f"differences of {seen:g} or more can be seen"
