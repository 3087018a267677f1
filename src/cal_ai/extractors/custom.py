"""Custom extractors: a Python callable, `py:module:callable`, or a program, `cmd:COMMAND`.

A program reads the request as a JSON object on standard input and prints the events as JSON. The
results of both are repaired, stored and replayed like the answers of a language model.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import date
from itertools import islice
from typing import TypeVar

from cal_ai.events import Event
from cal_ai.extractors.answers import MOST_EVENTS, AnswerError, parse_answer
from cal_ai.extractors.protocol import Extraction, Request
from truemark.errors import TruemarkError, foreign_reason
from truemark.imports import import_callable, source_checksum
from truemark.services.calls import CallFailed
from truemark.services.keys import keys_removed_from_errors, printed_on_stderr, without_keys
from truemark.services.programs import (
    ProgramError,
    command_checksum,
    parse_command,
    require_program,
    started,
)

T = TypeVar("T")


class CallableExtractor:
    """Extracts with a callable from a `Request` to events; one call at a time unless async."""

    def __init__(self, name: str, *, timeout_s: float) -> None:
        self.name = without_keys(name)
        self.model = None
        with keys_removed_from_errors(), printed_on_stderr():
            self._function = import_callable(name.partition(":")[2])
        self._timeout_s = timeout_s
        self._turn = asyncio.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def identity(self) -> Mapping[str, str]:
        """A checksum of the file with the callable."""
        return {"source": source_checksum(self._function)[:12]}

    async def extract_events(self, request: Request) -> Extraction:
        limit = asyncio.timeout(None)
        try:
            with keys_removed_from_errors():
                extraction = _extraction(await self._within(limit, request))
        except CallFailed as failure:
            failure.latency_s = self._passed_s(limit)
            raise
        return replace(extraction, latency_s=self._passed_s(limit))

    async def close(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._loop = None

    async def _within(self, limit: asyncio.Timeout, request: Request) -> str:
        try:
            async with limit:
                return await self._call(request, limit)
        except TimeoutError:
            raise CallFailed(f"no answer within {self._timeout_s:g} s") from None

    def _start(self, limit: asyncio.Timeout) -> None:
        limit.reschedule(asyncio.get_running_loop().time() + self._timeout_s)

    def _passed_s(self, limit: asyncio.Timeout) -> float:
        """Return the seconds since the call began, without the wait for its turn."""
        now_s = asyncio.get_running_loop().time()
        return now_s - (limit.when() or now_s) + self._timeout_s

    async def _call(self, request: Request, limit: asyncio.Timeout) -> str:
        """Call the callable when it is its turn, and begin to count the time only then."""
        if inspect.iscoroutinefunction(self._function):
            self._start(limit)
            return await self._in_loop(self._function(request))
        async with self._turn:
            self._start(limit)
            returned = await _in_thread(lambda: self._returned(request))
        return returned if isinstance(returned, str) else await self._in_loop(returned)

    async def _in_loop(self, returned: Awaitable[object]) -> str:
        """Await in a loop of its own, where code that blocks does not keep Ctrl-C waiting."""
        if self._loop is None:
            self._loop = _started_loop()
        answer = asyncio.run_coroutine_threadsafe(self._awaited(returned), self._loop)
        return await asyncio.wrap_future(answer)

    async def _awaited(self, returned: Awaitable[object]) -> str:
        with self._own_code():
            return _as_answer(self.name, await returned)

    def _returned(self, request: Request) -> str | Awaitable[object]:
        """Call the callable in a thread, and read there what it returns: that is its code too."""
        with self._own_code():
            returned = self._function(request)
            return returned if isinstance(returned, Awaitable) else _as_answer(self.name, returned)

    @contextmanager
    def _own_code(self) -> Iterator[None]:
        """Let whatever the user's code raises fail this call alone."""
        try:
            with printed_on_stderr():
                yield
        except (CallFailed, TruemarkError):
            raise
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            # A StopIteration cannot be passed on to asyncio, and Ctrl-C never comes to a thread.
            raise CallFailed(f"{self.name} raised {foreign_reason(error)}") from error


def _is_cancelled() -> bool:
    """Whether this call is to end, not only something in the user's code."""
    try:
        task = asyncio.current_task()
    except RuntimeError:  # in a thread without a loop
        return False
    return task is not None and task.cancelling() > 0


class ProgramExtractor:
    """Extracts with a program that is started for each conversation."""

    def __init__(self, name: str, *, timeout_s: float) -> None:
        self.name = without_keys(name)
        self.model = None
        with keys_removed_from_errors():
            self._words = parse_command(name.partition(":")[2])
            require_program(self._words)
        self._timeout_s = timeout_s

    @property
    def identity(self) -> Mapping[str, str]:
        """A checksum of the command and of the files that it names."""
        return {"program": command_checksum(self._words)}

    async def extract_events(self, request: Request) -> Extraction:
        data = json.dumps(request_fields(request), ensure_ascii=False).encode("utf-8", "replace")
        try:
            with keys_removed_from_errors(), started(self._words, self._timeout_s) as program:
                output = await _in_thread(lambda: program.answer_to(data))
        except ProgramError as error:
            raise CallFailed(f"{self.name}: {error}") from error
        return _extraction(output.decode("utf-8", "replace"))

    async def close(self) -> None:
        """Nothing is held open between calls."""


def request_fields(request: Request) -> dict[str, object]:
    """Return the request in the JSON form that programs read."""
    return {
        "owner": request.owner,
        "now": request.now.isoformat(),
        "timezone": getattr(request.now.tzinfo, "key", None),
        "calendar": [
            {
                "id": event.id,
                "summary": event.summary,
                "start": event.start.isoformat(),
                "end": event.end and event.end.isoformat(),
                "location": event.location,
            }
            for event in request.context
        ],
        "transcript": [
            {"speaker": speaker, "words": words}
            for speaker, words, _ in request.transcript.utterances
        ],
    }


def _as_answer(name: str, returned: object) -> str:
    if isinstance(returned, str):
        return str(returned)
    if isinstance(returned, Iterable) and not isinstance(returned, Mapping | bytes):
        items = list(islice(returned, MOST_EVENTS + 1))
        if len(items) > MOST_EVENTS:
            raise CallFailed(f"{name} returned more than {MOST_EVENTS:,} events")
        events = [asdict(item) if isinstance(item, Event) else item for item in items]
        returned = {"events": events}
    if not isinstance(returned, Mapping):
        kind = type(returned).__name__
        raise CallFailed(f"{name} returned a {kind}, expected a list of events")
    try:
        return json.dumps(returned, default=_iso, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise CallFailed(f"{name} returned something that is not an event: {error}") from None


def _iso(value: object) -> object:
    if isinstance(value, date):  # date-times are dates
        return value.isoformat()
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} is not part of an event")


def _extraction(answer: str) -> Extraction:
    answer = without_keys(answer)
    try:
        return Extraction(parse_answer(answer), None, 1, answer)
    except AnswerError as error:
        raise CallFailed(f"unusable answer: {error}", attempts=1, raw=answer) from error


def _started_loop() -> asyncio.AbstractEventLoop:
    """Start an event loop in a daemon thread; when it is stopped, its tasks are cancelled."""
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    loop = runner.get_loop()

    def run() -> None:
        with runner:
            loop.run_forever()

    threading.Thread(target=run, daemon=True).start()
    return loop


async def _in_thread(work: Callable[[], T]) -> T:
    """Run the work in a daemon thread, which does not keep a run that ends early waiting."""
    result: Future[T] = Future()
    result.set_running_or_notify_cancel()  # so that nobody can cancel it before it has a result

    def run() -> None:
        try:
            result.set_result(work())
        except Exception as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(result)
