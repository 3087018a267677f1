"""Pages as text: nothing from outside, no markup out of records, the right numbers."""

from __future__ import annotations

import json
import math
import random
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from testing.calendar_runs import calendar_run
from testing.made_runs import HOSTILE, hostile_run
from testing.talk_runs import large_run, talks_run
from tests.truemark.runs_for_tests import made

from truemark import cli, imports
from truemark.errors import TruemarkError
from truemark.pages.document import change_tags, duration, utf16
from truemark.pages.figures import Shown, figures_of, threshold_figure
from truemark.pages.history import history_page, spread_in_time
from truemark.pages.report import comparable_groups, report_page
from truemark.pages.scales import Scale, difference_scale, score_scale
from truemark.records import Finding, Mark, Run, System, Unit, load_run, write_run
from truemark.summary import summarise
from truemark.timeline import Timeline, read_timeline
from truemark.uncertainty import PairedInterval


class Elements(HTMLParser):
    """Every element of a page with its attributes, and what scripts and styles hold."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[int, str] = {}
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)
        if self.cdata_elem is not None:
            number = len(self.found) - 1
            self.inside[number] = self.inside.get(number, "") + data

    def contents(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [
            (attributes, self.inside.get(number, ""))
            for number, (name, attributes) in enumerate(self.found)
            if name == tag
        ]

    @property
    def data(self) -> dict[str, list[dict[str, object]]]:
        """What the page's script gets."""
        (text,) = (own for attributes, own in self.contents("script") if "id" in attributes)
        content = json.loads(text)
        rows = content["findings"]
        content["findings"] = [dict(zip(content["columns"], row, strict=False)) for row in rows]
        typed: dict[str, list[dict[str, object]]] = content
        return typed


def shown(*runs: Run) -> list[Shown]:
    return [Shown(n, run.system.name, f"run-{n}", summarise(run)) for n, run in enumerate(runs)]


@pytest.fixture(scope="module")
def talks_page() -> str:
    return report_page([talks_run("nano", 0.9)])


@pytest.fixture(scope="module")
def hostile_page() -> str:
    return report_page([hostile_run()])


def test_a_page_names_nothing_outside_itself(talks_page: str) -> None:
    for tag, attributes in Elements(talks_page).found:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base")
        assert "src" not in attributes
        assert (attributes.get("href") or "#").startswith("#")
        assert not [name for name in attributes if name.startswith("on") or name == "style"]


def test_the_policy_allows_the_scripts_and_the_style_of_the_page_and_no_others(
    talks_page: str,
) -> None:
    page = Elements(talks_page)
    (policy,) = (
        attributes["content"]
        for tag, attributes in page.found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    run = [own for attributes, own in page.contents("script") if "type" not in attributes]
    ((_, style),) = page.contents("style")

    def digests(texts: list[str]) -> set[str]:
        return {f"'sha256-{b64encode(sha256(t.encode()).digest()).decode()}'" for t in texts}

    parts = dict(part.strip().split(" ", 1) for part in (policy or "").split(";"))
    assert parts["default-src"] == "'none'"
    assert set(parts["script-src"].split()) == digests(run)
    assert set(parts["style-src"].split()) == digests([style])
    assert parts["require-trusted-types-for"] == "'script'"


def test_texts_of_records_become_no_elements(hostile_page: str, talks_page: str) -> None:
    hostile, harmless = Elements(hostile_page), Elements(talks_page)
    assert {tag for tag, _ in hostile.found} <= {tag for tag, _ in harmless.found} | {"details"}
    assert len(hostile.contents("script")) == len(harmless.contents("script")) == 7
    shown = "".join(hostile.words)
    assert all(text in shown for text in (HOSTILE[0], HOSTILE[1], "{{ 7 * 7 }}{% raw %}"))


def test_hostile_texts_reach_the_script_as_they_are(hostile_page: str) -> None:
    kinds = [finding["kind"] for finding in Elements(hostile_page).data["findings"]]
    assert kinds == [kind.replace("\ud83d", "\N{REPLACEMENT CHARACTER}") for kind in HOSTILE]


def test_pages_of_bundled_size_stay_under_two_megabytes() -> None:
    for runs in (
        [talks_run("nano", 0.9), talks_run("small", 0.97)],
        [calendar_run("cautious", 0.8), calendar_run("brisk", 0.7, seed=6)],
        [run for name in ("nano", "small", "base") for run in in_two_conditions(name)],
    ):
        assert len(report_page(runs).encode()) < 2_000_000


def in_two_conditions(name: str) -> list[Run]:
    run = talks_run(name, 0.9)
    return [run, replace(run, signature={**run.signature, "condition": "bare"})]


def test_excerpts_and_their_marks_are_not_sent_beside_the_text_they_are_part_of() -> None:
    run = talks_run("nano", 0.9)
    findings = Elements(report_page([run])).data["findings"]
    assert len(findings) == len(run.findings)
    for sent, finding in zip(findings, run.findings, strict=True):
        assert sent.get("text") is None
        assert sent["from"] == finding.offset
        assert sent["to"] == finding.offset + len(finding.text)


def test_the_verdict_comes_first_and_in_numbers(talks_page: str) -> None:
    text = " ".join(" ".join(Elements(talks_page).words).split())
    headings = ["Verdict", "Where it goes wrong", "Mistakes", "Curves"]
    found = re.findall(r"<h2>(.*?)</h2>", talks_page)
    assert found == headings
    unit_total = sum(unit.tp + unit.fn for unit in talks_run("nano", 0.9).units)
    assert f"Of {unit_total:,} sentence ends" in text


def test_a_run_in_which_everything_failed_still_has_a_page() -> None:
    page = report_page([made("broken", {"a": (), "b": ()})])
    assert "Nothing was scored" in page
    assert "timed out" in page


def test_what_is_true_of_every_run_is_said_once_and_ends_with_one_full_stop() -> None:
    run = replace(calendar_run("cautious", 0.8), notes=("prices of the day.",))
    page = report_page([run, replace(run, system=replace(run.system, name="brisk"))])
    assert re.findall(r"<li>([^<]*rices of[^<]*)</li>", page) == ["Prices of the day."]


def test_every_chart_has_a_table_of_its_numbers(talks_page: str) -> None:
    figures = figures_of(shown(talks_run("nano", 0.9)))
    assert [one.id for one in figures] == [
        "threshold-0",
        "precision-recall-0",
        "reliability-0",
        "tolerance-0",
        "near-misses-0",
        "latency-0",
    ]
    assert all(one.rows and len(one.rows[0]) == len(one.columns) for one in figures)
    assert talks_page.count("<canvas") == len(figures)
    assert talks_page.count("<summary>Numbers</summary>") == len(figures)


def test_near_misses_are_counted_by_their_distance_and_paired_one_to_one() -> None:
    marks = [(10, "found", 12), (30, "found", None), (50, "invented", None), (90, "missed", None)]
    marks += [(54, "invented", None), (55, "missed", None), (111, "invented", None)]
    run = talks_run("nano", 0.9)
    marked = tuple(Mark(start, start, role, None, truth) for start, role, truth in marks)
    run = replace(run, units=tuple(replace(unit, marks=marked) for unit in run.units[:2]))
    [figure] = [one for one in figures_of(shown(run)) if one.id == "near-misses-0"]
    assert figure.rows == (("nano", -2, 2), ("nano", -1, 2))


def test_the_table_of_a_long_curve_keeps_the_marked_thresholds() -> None:
    run = talks_run("nano", 0.9)
    figure = threshold_figure(shown(run)[0], several=False)
    assert {level.label for level in figure.levels} == {"chosen", "own", "best"}
    best = next(level.x for level in figure.levels if level.label == "best")
    by_threshold = {row[0]: row[1] for row in figure.rows}
    assert by_threshold[best] == max(y for _, y in figure.series[0].points)
    assert run.curve is not None
    assert figure.left_out == len(run.curve) - len(figure.rows) > 0


def test_a_curve_is_drawn_as_finely_as_the_slider_moves() -> None:
    run = talks_run("nano", 0.9)
    figure = threshold_figure(shown(run)[0], several=False)
    assert run.curve is not None
    points = {point[0] for point in figure.series[0].points}
    assert len(points) < len(run.curve)
    for step in range(1, 1001):
        place = max(n for n, level in enumerate(run.curve.at) if level <= step / 1000)
        assert max(level for level in points if level <= step / 1000) == run.curve.at[place]


def test_n_stands_beside_the_intervals_of_one_run_and_in_the_table_of_several() -> None:
    run = calendar_run("any", 0.8)
    says = [figures_of(shown(*[run] * count))[0].says for count in (1, 2)]
    assert [one.rpartition("; ")[2] for one in says] == ["n is beside it.", "n is in the table."]


@given(st.text())
def test_offsets_become_those_of_utf16(text: str) -> None:
    place = utf16(text)
    for offset in range(len(text) + 1):
        counted = len(text[:offset].encode("utf-16-le", "surrogatepass")) // 2
        assert place(offset) == counted
    assert place(len(text) + 5) == place(len(text))


def at(kind: str, place: int) -> Finding:
    return Finding(kind, "a1", at=place)


def found(*findings: Finding) -> Run:
    return made("any", {"a1": (5, 1, 1)}, findings=findings)


def test_mistakes_are_fixed_broken_or_in_both_by_kind_and_place() -> None:
    before = found(at("missed", 3), at("missed", 9), at("invented", 9))
    after = found(at("missed", 9), at("missed", 4))
    assert change_tags([before, after], ["old", "new"]) == {
        (0, 0): ("fixed by new",),
        (0, 1): ("in both, new",),
        (0, 2): ("fixed by new",),
        (1, 0): ("in both, new",),
        (1, 1): ("broken by new",),
    }


@pytest.mark.parametrize(
    ("low", "expected"),
    [
        pytest.param(0.941, Scale(0.94, 1.0, 0.01), id="near one"),
        pytest.param(0.52, Scale(0.5, 1.0, 0.1), id="middling"),
        pytest.param(0.0, Scale(0.0, 1.0, 0.2), id="whole range"),
        pytest.param(1.0, Scale(0.99, 1.0, 0.01), id="no width"),
        pytest.param(1 - 1e-13, Scale(0.99, 1.0, 0.01), id="hardly a width"),
    ],
)
def test_scores_are_shown_from_a_round_number_to_one(low: float, expected: Scale) -> None:
    scale = score_scale([PairedInterval(0.97, low, 0.99, 0.1, 5, 0.1, 0.95)])
    assert scale.low == pytest.approx(expected.low)
    assert scale.step == expected.step
    assert scale.ticks[-1] == 1.0


def test_runs_without_a_mistake_have_a_page() -> None:
    best = made("best", {f"u{number}": (5, 0, 0) for number in range(30)})
    assert "</html>" in report_page([best])
    assert "</html>" in report_page([best, best])


def test_a_name_without_end_fills_no_page() -> None:
    runs = [made("x" * 200_000, {"u": (1, 0, 0)}), made("y", {"u": (1, 0, 0)})]
    for shown in (runs[:1], runs, runs[::-1]):
        assert report_page(shown).count("x" * 1_000) <= 1


def test_differences_are_shown_equally_far_to_both_sides() -> None:
    scale = difference_scale([PairedInterval(0.02, -0.01, 0.07, 0.1, 5, 0.1, 0.95)])
    assert (scale.low, scale.high) == (-0.1, 0.1)
    assert scale.at(0) == "50.00%"
    assert scale.at(5) == "100.00%"


def test_an_open_interval_still_has_a_scale() -> None:
    assert difference_scale([PairedInterval(0.0, -1.0, 1.0, 0.1, 1, 0.1, 0.95)]).ticks == (
        -1,
        -0.5,
        0,
        0.5,
        1,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_run(tmp_path / "nano.run.json", talks_run("nano", 0.9))
    write_run(tmp_path / "small.run.json", talks_run("small", 0.97))
    return tmp_path


def test_the_command_writes_a_page_of_two_runs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = folder / "pages" / "both.html"
    runs = [str(folder / f"{name}.run.json") for name in ("nano", "small")]
    assert cli.main(["report", *runs, "-o", str(page)]) == 0
    assert "small against nano: better" in page.read_text(encoding="utf-8")
    assert capsys.readouterr().err == f"page: {page}\n"


def test_runs_that_are_not_comparable_are_shown_one_below_the_other(folder: Path) -> None:
    run = load_run(folder / "small.run.json")
    other = folder / "other.run.json"
    write_run(other, replace(run, signature={**run.signature, "data": "else"}))
    page = folder / "p.html"
    arguments = ["report", str(folder / "nano.run.json"), str(other), "-o", str(page)]
    assert cli.main(arguments) == 0
    text = page.read_text(encoding="utf-8")
    assert re.findall(r'<h3 class="group">(.*?)</h3>', text)[1] == "data else"
    assert "small against nano" not in text
    assert cli.main([*arguments, "--anyway"]) == 0
    assert "These runs differ in data" in page.read_text(encoding="utf-8")


def test_ten_systems_on_a_page_have_ten_colours() -> None:
    runs = [replace(talks_run("nano", 0.9), system=System(f"s{number}")) for number in range(10)]
    (group,) = comparable_groups(runs)
    classes = [shown.color for shown in group.shown]
    assert len(set(classes)) == 10
    page = report_page(runs[:1])
    palettes = zip(*(re.findall(rf"--{name}: (#\w+);", page) for name in classes), strict=True)
    assert [len(set(palette)) for palette in palettes] == [10, 10, 10]  # light, and dark twice
    assert all(f".{name} {{ --run: var(--{name}); }}" in page for name in classes)


def test_a_difference_that_nothing_is_known_of_has_a_dash_with_a_reason_and_no_bar() -> None:
    some = made("some", {f"u{number}": (1, number % 2, 0) for number in range(12)})
    none = made("none", {f"u{number}": (0, 0, 1) for number in range(12)})
    text = report_page([some, none])
    verdict = text[text.index("none</bdi> minus") : text.index('id="where"')]
    (precision,) = re.findall(r'<tr class=""><th scope="row">precision.*?</tr>', verdict, re.DOTALL)
    assert 'class="reach' not in precision
    assert "A dash in place of an interval means that it rules nothing out" in verdict
    (recall,) = re.findall(r'<tr class=""><th scope="row">recall.*?</tr>', verdict, re.DOTALL)
    assert 'class="reach' in recall


def test_the_mean_of_a_panel_is_not_said_to_be_over_rows_without_a_score() -> None:
    units = (
        *(Unit(f"a{number}", 9, 1, 1, group={"part": "a"}) for number in range(3)),
        *(Unit(f"b{number}", 5, 5, 5, group={"part": "b"}) for number in range(3)),
        Unit("c", 0, 1, 0, group={"part": "c"}),
    )
    text = report_page([made("some", {}, units=units)])
    assert "The mean of the rows that have an F1 is 0.700." in text


def test_groups_of_a_page_are_named_as_commands_name_them() -> None:
    written = replace(talks_run("nano", 0.9), corpus="my talks")
    written = replace(written, signature={**written.signature, "condition": "written"})
    bare = replace(
        written, signature={**written.signature, "condition": "bare", "condition rules": "2"}
    )
    text = report_page([written, bare])
    headings = re.findall(r'<h3 class="group">(.*?)</h3>', text)
    assert headings == ["my talks, written", "my talks, bare"]


def test_conditions_are_groups_of_a_page_with_a_verdict_each() -> None:
    nano, small = talks_run("nano", 0.9), talks_run("small", 0.97)
    bare = [replace(run, signature={**run.signature, "condition": "bare"}) for run in (nano, small)]
    text = report_page([nano, bare[0], small, bare[1]])
    headings = re.findall(r'<h3 class="group">(.*?)</h3>', text)
    assert headings == ["condition written", "condition bare"]
    assert len(re.findall(r">small against nano: ", text)) == 2
    assert re.findall(r'<bdi class="name (.*?)">(.*?)</bdi>', text) == [
        ("run-0", "nano"),
        ("run-1", "small"),
    ]
    changes = {
        (finding["run"], change.rpartition(" by ")[2].rpartition(", ")[2])
        for finding in Elements(text).data["findings"]
        for change in finding["changes"]  # type: ignore[attr-defined]
    }
    assert changes == {(number, "small") for number in range(4)}


def test_history_draws_a_line_per_system_and_a_section_per_data(folder: Path) -> None:
    write_run(folder / "rules.run.json", calendar_run("rules", 0.8))
    page = folder / "history.html"
    assert cli.main(["history", str(folder), "-o", str(page)]) == 0
    elements = Elements(page.read_text(encoding="utf-8"))
    figures = elements.data["figures"]
    labels = [[one["label"] for one in figure["series"]] for figure in figures]  # type: ignore[attr-defined]
    assert sorted(labels) == [["nano", "small"], ["rules"]]


def test_without_jinja_a_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "find_spec", lambda module: None)
    with pytest.raises(TruemarkError, match=r"pip install '.+\[report\]'"):
        report_page([made("any", {"a": (1, 0, 0)})])


def test_ten_thousand_findings_are_drawn_whole() -> None:
    page = Elements(report_page([large_run()]))
    assert len(page.data["findings"]) == 10_000


@pytest.mark.parametrize("seed", range(8))
def test_the_answer_of_a_page_says_what_its_verdicts_say(seed: int) -> None:
    chance = random.Random(seed)
    runs = []
    for name in ("first", "second", "third", "fourth"):
        right = 0.9 - 0.08 * chance.random()
        counts = [sum(chance.random() < right for _ in range(30)) for _ in range(14)]
        runs.append(made(name, {f"u{n}": (tp, 0, 30 - tp) for n, tp in enumerate(counts)}))
    (group,) = comparable_groups(runs)
    assert group.comparison is not None
    for versus in group.comparison.against:
        pairs = {("first", versus.name), (versus.name, "first")}
        told = bool(pairs & group.board.told_apart)
        assert told == (versus.verdict in ("better", "worse"))


def test_runs_of_one_moment_need_no_seconds_to_be_named() -> None:
    first, second = "2026-03-01T09:00:00+00:00", "2026-03-02T09:00:00+00:00"
    runs = [made(name, {"u": (1, 0, 0)}, started=first) for name in ("a", "b")]
    runs.append(made("a", {"u": (1, 0, 0)}, started=second))
    page = history_page(Timeline(tuple((Path("x.run.json"), run) for run in runs), ()), "runs")
    labels = re.search(r'"labels":\s*(\[[^]]*\])', page)
    assert labels
    assert json.loads(labels[1]) == ["2026-03-01", "2026-03-01", "2026-03-02"]


DURATIONS = {123.4: "123 s", 4.42: "4.4 s", 0.694: "694 ms", 0.0305: "30 ms", 0.00075: "0.8 ms"}


@pytest.mark.parametrize(("seconds", "shown"), DURATIONS.items())
def test_times_are_shown_in_a_unit_that_fits(seconds: float, shown: str) -> None:
    assert duration(seconds) == shown


def test_panels_of_bars_fill_two_columns_of_about_equal_height() -> None:
    groups = [{"place": f"p{n % 9}", "language": "de" if n % 2 else "en"} for n in range(18)]
    run = made("a", {f"u{n}": (1, 1, 0) for n in range(18)})
    units = [replace(unit, group=group) for unit, group in zip(run.units, groups, strict=True)]
    findings = [Finding("invented", unit.id) for unit in units]
    (group,) = comparable_groups([replace(run, units=tuple(units), findings=tuple(findings))])
    columns, wide = group.panels
    assert [[panel.name for panel in column] for column in columns] == [
        ["kind", "language"],
        ["place"],
    ]
    assert [panel.name for panel in wide] == ["unit"]


def test_runs_of_a_history_are_placed_in_time_and_apart() -> None:
    day = 86_400.0
    places = spread_in_time([0.0, 60.0, 120.0, 10 * day])
    assert places[0] == 0
    assert places[1] - places[0] == places[2] - places[1] == pytest.approx(1.25)
    assert places[3] == pytest.approx(10)
    assert spread_in_time([5.0, 5.0]) == (0, 1)
    assert spread_in_time([-math.inf, 0.0, 4 * day]) == pytest.approx((0, 2 / 3, 4))
    assert spread_in_time([-math.inf, -math.inf]) == (0, 1)
    assert spread_in_time([]) == ()


def test_a_run_of_few_units_has_no_interval_on_a_history_page(tmp_path: Path) -> None:
    write_run(tmp_path / "few.run.json", made("few", {f"u{n}": (3, 1, 1) for n in range(3)}))
    page = history_page(read_timeline(tmp_path), "few")
    row = re.search(r'<td class="number">0.750</td><td class="number soft">(.*?)</td>', page)
    assert row is not None
    assert row[1] == "–"
    assert '"points":[[0.0,0.75]]' in page.replace(" ", "")
