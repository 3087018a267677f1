from __future__ import annotations

import io
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from dateutil.tz import tzical  # type: ignore[import-untyped]  # ships no types
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cal_ai.calendar_texts import REAL_WORLD

from cal_ai.calendars.content import new_line, parse_content
from cal_ai.calendars.zones import in_zone, later, machine_zone, midnight, oddity, vtimezone

BERLIN, NEW_YORK = ZoneInfo("Europe/Berlin"), ZoneInfo("America/New_York")

names = st.from_regex(r"[A-Z][A-Z0-9-]{0,12}", fullmatch=True).filter(
    lambda name: name not in ("BEGIN", "END")
)
values = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=90)
properties = st.builds("{}:{}".format, names, values)


flat = st.lists(properties, max_size=4)
nested = st.recursive(
    flat,
    lambda inner: st.builds(
        lambda before, name, parts: [*before, f"BEGIN:{name}", *parts, f"END:{name}"],
        flat,
        names,
        inner,
    ),
    max_leaves=5,
)


def folded(line: str, cuts: list[int], line_end: bytes) -> bytes:
    """The line broken at arbitrary bytes, even inside a character, as some programs do."""
    data = line.encode()
    for cut in sorted({cut % (len(data) + 1) for cut in cuts}, reverse=True):
        data = data[:cut] + line_end + b" " + data[cut:]
    return data


@given(
    nested,
    st.lists(st.integers(1, 200), max_size=3),
    st.sampled_from([b"\r\n", b"\n"]),
    st.booleans(),
)
@settings(derandomize=True, deadline=None, max_examples=80)
def test_what_is_not_changed_keeps_its_bytes(
    inner: list[str], cuts: list[int], line_end: bytes, ended: bool
) -> None:
    lines = ["BEGIN:VCALENDAR", *inner, "END:VCALENDAR"]
    kept = {line for line in lines if line.startswith(("BEGIN:", "END:"))}
    raw = [line.encode() if line in kept else folded(line, cuts, line_end) for line in lines]
    data = line_end.join(raw) + (line_end if ended else b"")
    content = parse_content(data, "file")
    assert content.raw() == data
    assert content.components[0].text().split("\r\n")[:-1] == lines


@given(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=400))
@settings(derandomize=True, deadline=None, max_examples=80)
def test_a_new_line_is_folded_within_75_bytes_and_between_characters(text: str) -> None:
    line = new_line(f"SUMMARY:{text}", b"\r\n")
    pieces = line.raw.split(b"\r\n")
    assert pieces.pop() == b""
    assert all(len(piece) <= 75 and piece.decode() for piece in pieces)
    assert line.raw.replace(b"\r\n ", b"").decode() == f"SUMMARY:{text}\r\n"


def test_a_real_world_file_comes_back_as_it_is() -> None:
    assert parse_content(REAL_WORLD, "file").raw() == REAL_WORLD
    twice = REAL_WORLD + b"\r\n" + REAL_WORLD
    assert parse_content(twice, "file").raw() == twice
    assert len(parse_content(twice, "file").components) == 2


@pytest.mark.parametrize(
    "name",
    [
        "Europe/Berlin",
        "America/New_York",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
        "Asia/Kathmandu",
        "America/Sao_Paulo",
        "Pacific/Chatham",
        "Europe/Dublin",
    ],
)
def test_a_described_time_zone_agrees_with_the_one_of_that_name(name: str) -> None:
    zone = ZoneInfo(name)
    text = vtimezone(zone, 2026)
    described = tzical(io.StringIO(text.replace("\r\n", "\n"))).get()
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    while moment.year < 2029:
        assert moment.astimezone(described).utcoffset() == moment.astimezone(zone).utcoffset()
        moment += timedelta(hours=7, minutes=30)


def test_a_time_zone_with_a_yearly_rule_is_described_by_it() -> None:
    assert re.findall("RRULE.*", vtimezone(BERLIN, 2026)) == [
        "RRULE:FREQ=YEARLY;BYMONTH=3;BYDAY=-1SU\r",
        "RRULE:FREQ=YEARLY;BYMONTH=10;BYDAY=-1SU\r",
    ]


@pytest.mark.parametrize(
    ("said", "meant", "odd"),
    [
        pytest.param(
            datetime(2026, 3, 28, 2, 30), datetime(2026, 3, 28, 1, 30, tzinfo=UTC), None, id="plain"
        ),
        pytest.param(
            datetime(2026, 3, 29, 2, 30),
            datetime(2026, 3, 29, 1, 30, tzinfo=UTC),
            "the clocks skip 02:30 on 2026-03-29: taken as 03:30",
            id="skipped",
        ),
        pytest.param(
            datetime(2026, 10, 25, 2, 30),
            datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
            "the clocks show 02:30 on 2026-10-25 twice: the first is meant",
            id="twice",
        ),
        pytest.param(
            datetime(2026, 3, 8, 2, 30, tzinfo=NEW_YORK),
            datetime(2026, 3, 8, 7, 30, tzinfo=UTC),
            "the clocks skip 02:30 on 2026-03-08: taken as 03:30",
            id="skipped-elsewhere",
        ),
    ],
)
def test_a_time_is_local_to_the_owner_unless_it_says_otherwise(
    said: datetime, meant: datetime, odd: str | None
) -> None:
    there = in_zone(said, BERLIN)
    assert there.astimezone(UTC) == meant
    assert there.tzinfo is BERLIN
    assert oddity(said, BERLIN) == odd


def test_time_passes_the_same_whatever_the_clocks_do() -> None:
    evening = datetime(2026, 3, 28, 22, tzinfo=BERLIN)
    morning = later(evening, timedelta(hours=6))
    assert morning.replace(tzinfo=None) == datetime(2026, 3, 29, 5)
    assert midnight(morning.date(), BERLIN).astimezone(UTC).hour == 23


def test_the_machines_zone_is_known_by_name(tmp_path: Path) -> None:
    target = tmp_path / "zoneinfo" / "Asia" / "Tokyo"
    target.parent.mkdir(parents=True)
    target.touch()
    link = tmp_path / "localtime"
    link.symlink_to(target)
    tokyo = machine_zone({}, link)
    assert tokyo is not None
    assert tokyo.key == "Asia/Tokyo"
    assert machine_zone({"TZ": ":America/New_York"}, link) == NEW_YORK
    assert machine_zone({"TZ": "XYZ-3"}, link) is None
    assert machine_zone({}, tmp_path / "none") is None
