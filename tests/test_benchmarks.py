"""How measurements of speed are judged: against the stored ratios, and on an idle machine only."""

from __future__ import annotations

import json
import re
import sys
import time
from functools import partial
from pathlib import Path
from subprocess import PIPE, Popen

import numpy as np
import pytest
from benchmarks import all as bench
from benchmarks import language_notes, languages, ratios, segmenters
from benchmarks.all import wait_for_quiet
from benchmarks.first_models import from_history
from benchmarks.machine import Moment
from benchmarks.short_bounds import TOKENS, products_in, tokens_read
from benchmarks.timing import BUSY, TRIES, fastest, undisturbed
from docs import outputs
from testing.onnx_models import write_transformer

from truemark.errors import TruemarkError

PRINTED = """\
AMD EPYC, 2 cores

| nano, 1,000 characters | goal | characters/s | times wtpsplit-lite |
| --- | ---: | ---: | ---: |
| Segmenter | 1.2 | 1,234 | 8.00 |
| wtpsplit-lite, stride 64 | - | 154 | 1.00 |

| calls | plain loop, s | times the plain loop |
| --- | ---: | ---: |
| openai | 0.50 | 1.10 |
| gemini | 0.50 | - |
"""
SPEED = "one: Segmenter, nano, 1,000 characters: times wtpsplit-lite"
COST = "one: openai, calls: times the plain loop"


TREEBANK = """\
# newdoc id = {document}
# text = We left.
1\tWe\t_\t_\t_\t_\t_\t_\t_\t_
2\tleft\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
3\t.\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No

# text = It rained
1\tIt\t_\t_\t_\t_\t_\t_\t_\t_
2\trained\t_\t_\t_\t_\t_\t_\t_\t_

"""


def test_clones_of_treebanks_become_the_sets_of_the_table(tmp_path: Path) -> None:
    for name, document in (
        ("UD_English-EWT/en_ewt-ud-dev", "weblog-1"),
        ("UD_English-EWT/en_ewt-ud-train", "weblog-2"),
        ("UD_English-GUM/en_gum-ud-dev", "GUM_vlog_pizza"),
        ("UD_English-GUM/en_gum-ud-test", "GUM_news_rain"),
    ):
        path = tmp_path / f"{name}.conllu"
        path.parent.mkdir(exist_ok=True)
        path.write_text(TREEBANK.format(document=document), encoding="utf-8")
    texts = segmenters.read_texts(tmp_path)
    assert list(texts) == ["ewt_dev", "gum_spoken_devtest", "gum_written_devtest"]
    assert [marked.text for marked in texts["ewt_dev"]] == ["We left. It rained"]
    with segmenters.corpora(tmp_path) as folders:
        result = segmenters.measured("ewt_dev", folders["ewt_dev"], ("nano",), timed=False)
    row = result.row("nano", "written")
    assert row
    assert float(row["recall"]) == 1


def test_a_folder_without_treebanks_is_told(tmp_path: Path) -> None:
    with pytest.raises(TruemarkError, match="expected clones of UD treebanks"):
        segmenters.read_texts(tmp_path)


def test_ratios_are_read_from_the_tables_and_those_of_peers_are_not() -> None:
    assert ratios.ratios_of("one", PRINTED) == {SPEED: 8.0, COST: 1.1}


@pytest.mark.parametrize(
    ("name", "stored", "found", "fell"),
    [
        pytest.param(SPEED, 8.0, 6.81, False, id="within what is allowed"),
        pytest.param(SPEED, 8.0, 6.79, True, id="slower"),
        pytest.param(SPEED, 8.0, 16.0, False, id="faster"),
        pytest.param(COST, 1.10, 1.29, False, id="a cost that rises within what is allowed"),
        pytest.param(COST, 1.10, 1.30, True, id="a cost that rises"),
        pytest.param(COST, 1.10, 0.50, False, id="a cost that falls"),
        pytest.param(SPEED, 8.0, 0.0, True, id="nothing left"),
    ],
)
def test_what_is_worse_by_more_than_15_percent_fell(
    name: str, stored: float, found: float, fell: bool
) -> None:
    assert [one.name for one in ratios.falls({name: stored}, {name: found})] == [name] * fell


def test_the_worst_fall_is_named_first_with_both_ratios_and_what_is_lost() -> None:
    stored, found = {SPEED: 8.0, COST: 1.0}, {SPEED: 6.0, COST: 2.0, "one: new: ratio": 1.0}
    assert [str(one) for one in ratios.falls(stored, found)] == [
        f"{COST}: 2, stored 1: fell by 50%",
        f"{SPEED}: 6, stored 8: fell by 25%",
    ]


def test_ratios_of_a_script_are_stored_in_place_of_its_old_ones(tmp_path: Path) -> None:
    path = tmp_path / "ratios.json"
    assert ratios.read_stored(path) == {}
    ratios.store("one", {"one: a: ratio": 1.0, "one: b: ratio": 2.0}, path)
    ratios.store("other", {"other: a: ratio": 3.0}, path)
    ratios.store("one", {"one: b: ratio": 4.0}, path)
    assert ratios.read_stored(path) == {"one: b: ratio": 4.0, "other: a: ratio": 3.0}


def test_every_stored_ratio_is_one_of_the_performance_page() -> None:
    page = bench.PAGES[0].read_text(encoding="utf-8")
    shown: dict[str, float] = {}
    for name, command in outputs.measurements(page):
        block = re.search(
            rf"output of: python -m {re.escape(command)} -->\n(.*?)<!-- end", page, re.DOTALL
        )
        assert block
        shown |= ratios.ratios_of(name, block[1])
    assert ratios.read_stored() == shown


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "page.md"
    block = "<!-- output of: python -m benchmarks.one -->\nold\n<!-- end of output -->\n"
    path.write_text(block, encoding="utf-8")
    stored = tmp_path / "ratios.json"
    stored.write_text(json.dumps({SPEED: 10.0, "one: lost, calls: ratio": 1.0}), encoding="utf-8")
    monkeypatch.setattr(bench, "read_stored", lambda: ratios.read_stored(stored))
    monkeypatch.setattr(bench, "store", lambda name, found: ratios.store(name, found, stored))
    return path


def test_a_measurement_that_fell_is_named_and_ends_with_status_1(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = bench.measure(page, None, lambda _: PRINTED, write=False)
    told = capsys.readouterr().err.splitlines()
    assert status == 1
    assert told == [
        f"fell: {SPEED}: 8, stored 10: fell by 20%",
        "gone: one: lost, calls: ratio: stored 1",
    ]
    assert "old" in page.read_text(encoding="utf-8")


def test_what_is_written_is_the_measure_of_the_next_time(
    page: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.measure(page, None, lambda _: PRINTED, write=True)
    capsys.readouterr()
    assert PRINTED in page.read_text(encoding="utf-8")
    assert bench.measure(page, None, lambda _: PRINTED, write=False) == 0
    assert not capsys.readouterr().err


def test_a_measurement_that_fails_is_not_written(page: Path) -> None:
    assert bench.measure(page, None, lambda _: None, write=True) == 1
    assert "old" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("later", "share"),
    [
        pytest.param(Moment(10.0, 0.0, 0.0), 0.0, id="nobody worked"),
        pytest.param(Moment(10.0, 15.0, 15.0), 0.0, id="we worked"),
        pytest.param(Moment(10.0, 15.0, 10.0), 0.25, id="others took a quarter of both cores"),
        pytest.param(Moment(10.0, 15.0, 15.2), 0.0, id="ticks are coarse"),
    ],
)
def test_others_take_what_the_machine_spent_and_we_did_not(later: Moment, share: float) -> None:
    assert Moment(0.0, 0.0, 0.0, cores=2).by_others(later) == pytest.approx(share)


def test_our_time_is_that_of_this_process_and_of_those_it_started() -> None:
    spin = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    begun = Moment.now()
    with Popen([sys.executable, "-c", spin], stdin=PIPE, stdout=PIPE) as child:
        assert child.stdout
        child.stdout.readline()
        running = Moment.now()
        child.communicate(b"\n")
    ended = Moment.now()
    assert running.by_us_s - begun.by_us_s >= 0.25
    assert ended.by_us_s >= running.by_us_s
    assert ended.by_all_s - begun.by_all_s >= 0.25


class Clock:
    """Moments a second apart on one core, of which others take these shares."""

    def __init__(self, *shares: float) -> None:
        at_s = by_others_s = 0.0
        self._moments: list[Moment] = []
        for share in shares:
            self._moments.append(Moment(at_s, by_others_s, 0.0))
            at_s, by_others_s = at_s + 1.0, by_others_s + share
            self._moments.append(Moment(at_s, by_others_s, 0.0))

    def __call__(self) -> Moment:
        return self._moments.pop(0)


def test_a_disturbed_call_is_made_again_until_one_is_left_alone() -> None:
    calls = iter(["first", "second", "third"])
    pauses: list[float] = []
    found = undisturbed(lambda: next(calls), "job", now=Clock(0.4, 0.05, 0.0), pause=pauses.append)
    assert found == "second"
    assert len(pauses) == 1


def test_a_call_that_is_always_disturbed_ends_the_measurement() -> None:
    clock = Clock(*[0.4] * TRIES)
    expected = f"job: others took 40% of the processor the last of {TRIES} times"
    with pytest.raises(SystemExit, match=expected):
        undisturbed(lambda: None, "job", now=clock, pause=lambda _: None)


def test_every_call_counts_where_the_machine_may_be_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(BUSY, "1")
    assert undisturbed(lambda: "done", "job", now=Clock(0.9)) == "done"


def test_jobs_take_turns_and_the_shortest_time_of_each_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(BUSY, "1")
    order: list[str] = []
    naps = {"one": iter([0.3, 0.0]), "two": iter([0.0, 0.3])}

    def job(name: str) -> None:
        order.append(name)
        time.sleep(next(naps[name]))

    times = fastest({name: partial(job, name) for name in naps}, 2)
    assert order == ["one", "two", "one", "two"]
    assert max(times.values()) < 0.3


def test_a_busy_machine_is_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    shares = iter([0.9, 0.5, 0.01])
    pauses: list[float] = []
    assert wait_for_quiet(lambda: next(shares), pauses.append)
    assert len(pauses) == 2
    assert "others take 90% of its processor; waiting" in capsys.readouterr().err


def test_a_machine_that_stays_busy_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert not wait_for_quiet(lambda: 0.5, lambda _: None)
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("error: the machine is busy: others take 50% of its processor")
    assert "--busy" in last


def test_tokens_are_counted_with_marks_and_padding() -> None:
    five, three = np.zeros(5, np.int32), np.zeros(3, np.int32)
    assert tokens_read([[[five, three], [three]], [[five]]]) == 2 * 7 + 5 + 7


def test_every_product_of_a_run_is_counted(tmp_path: Path) -> None:
    model = write_transformer(tmp_path / "model.onnx", layers=2, width=32, heads=2, vocabulary=50)
    found = products_in(model, tmp_path)
    with_weights = 2 * (4 * 32 * 32 + 2 * 32 * 4 * 32) + 32
    in_attention = 2 * 2 * TOKENS * 32
    assert found.operations == 2 * TOKENS * (with_weights + in_attention)
    assert 0 < found.product_s < found.run_s
    assert not found.whole_numbers


def test_a_clone_without_history_is_told_what_to_fetch(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="not in this repository; expected its whole history"):
        from_history("0" * 40, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


def test_a_library_that_is_not_installed_is_left_out_of_the_languages_with_a_line() -> None:
    def row(model: str, condition: str, f1: str, failed: str = "") -> segmenters.Row:
        return {"model": model, "condition": condition, "f1": f1, "failed": failed}

    rows = (
        *(row(model, kind, "0.5") for model in ("world", "base") for kind in ("written", "bare")),
        row("lib:icu4py:de", "", "", "not installed: pip install icu4py"),
        row("lib:pysbd:de", "", "", "does not start: no such language"),
    )
    printed = languages.report({"de": segmenters.Measured("de", rows)})
    header, _, first, *_ = printed.splitlines()
    assert "icu4py" not in header
    assert "lib:pysbd" in header
    assert first.startswith("| de | 0.500 | 0.500 | - |")
    assert printed.endswith("\n\n- left out: lib:icu4py: not installed: pip install icu4py\n")


def test_notes_on_languages_are_counted_over_texts_of_300_characters() -> None:
    assert [len(text) for text in language_notes.cut(["One, two. " * 5] * 20, "en")] == [300] * 3
    french = "On est arrivés trop tard à la gare, et il n'y avait plus personne pour nous aider. "
    assert language_notes.row("a", {"fr": [french * 4], "it": [french * 4]}) == (
        *("a", 2, 2, 2),
        *(1.0, 0.5),
    )
    name, *counts = language_notes.row("b", {"en": ["We left the house in the rain. " * 9]})
    assert (name, counts) == ("b", [1, 1, 0, 0.0, None])
