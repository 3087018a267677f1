"""Words and places of talks, gold in lines, mistakes of a run, agreement of readings."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.labelling.conftest import opened

from sat_bench.agreement import agreement
from sat_bench.cli import main, parse_label_flags
from sat_bench.defaults import BUNDLED_CORPUS
from sat_bench.labelling import draft_task, format_lines, read_label_text, review_task, words_of
from truemark.errors import TruemarkError
from truemark.labelling.agreement import cohens_kappa, known_agreement
from truemark.labelling.desk import Desk, Edit
from truemark.labelling.storage import Workspace, content_digest
from truemark.records import Finding, Run, ScoringRules, System, Unit, load_run, write_run

WORDS = st.lists(
    st.sampled_from(["one", "two.", "«three»", "#", "# Title: x", "四。", "five\u00a0", "🎉"]),
    min_size=1,
    max_size=30,
)


def test_places_count_letters_and_not_white_space() -> None:
    words = words_of("We  sat\n\nthere.")
    assert words.pieces == ("We", "  sat", "\n\nthere.")
    assert words.places == (2, 5, 11)
    assert [words.place_at(offset) for offset in (0, 2, 3, 7, 15, 99)] == [2, 2, 5, 5, 11, 11]


def test_scripts_without_spaces_have_a_place_after_each_character() -> None:
    assert words_of("行く。来た！」").pieces == ("行", "く。", "来", "た！」")


@given(
    words=WORDS, spaces=st.lists(st.sampled_from([" ", "\n", "\n\n"]), min_size=30), data=st.data()
)
def test_lines_read_back_are_the_same_text_and_ends(
    words: list[str],
    spaces: list[str],
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    text = "".join(word + space for word, space in zip(words, spaces, strict=False)).strip()
    places = words_of(text).places
    ends = sorted({*data.draw(st.lists(st.sampled_from(places))), places[-1]})
    header = {"source": "made up", "title": "# x"}
    gold = tmp_path_factory.mktemp("lines") / "gold.txt"
    content = format_lines(header, "First. " + text, [6, *(end + 6 for end in ends)])
    gold.write_text(content, encoding="utf-8")
    read = read_label_text(gold)
    assert read.text.split() == ("First. " + text).split() or "四" in text
    assert read.ends == (6, *(end + 6 for end in ends))


def test_a_first_sentence_like_a_header_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "odd.txt").write_text("# Source: x\n\nhello # there", encoding="utf-8")
    (tmp_path / "like.txt").write_text("hello", encoding="utf-8")
    task = draft_task(tmp_path, (), 10)
    assert "hello # there" in task.gold("odd", {"ends": [11]})
    assert format_lines({}, "# Title: no", [3, 8]).count("# T") == 2


def test_subtitles_and_texts_without_a_header_can_be_labelled(tmp_path: Path) -> None:
    subtitles = "1\n00:00:01,000 --> 00:00:02,000\nhello there\n"
    (tmp_path / "a.srt").write_text(subtitles, encoding="utf-8")
    assert read_label_text(tmp_path / "a.srt").text == "hello there"
    (tmp_path / "b.txt").write_text("hello there\nyou", encoding="utf-8")
    assert read_label_text(tmp_path / "b.txt").text == "hello there\nyou"


def test_gold_in_other_forms_begins_with_its_ends_and_is_written_in_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = {"text": "We sat. He left then", "boundaries": [7, 15, 20], "speaker": "Ann"}
    (tmp_path / "a.json").write_text(json.dumps(gold), encoding="utf-8")
    words = "".join(
        f"{number}\t{word}\t_\t_\t_\t_\t_\t_\t_\t_\n" for number, word in ((1, "So"), (2, "did"))
    )
    (tmp_path / "b.conllu").write_text(f"# text = So did\n{words}\n" * 2, encoding="utf-8")
    (tmp_path / "nano.run.json").write_text("{}", encoding="utf-8")
    task = draft_task(tmp_path, (), 10)
    assert list(task.files) == ["a", "b"]
    assert "left out: " in (said := capsys.readouterr().err)
    assert "nano.run.json" in said
    desk = Desk(task, Workspace(tmp_path))
    state = opened(desk, 0)
    assert state["content"] == {"ends": [6, 12, 16]}
    assert state["speaker"] == "Ann"
    assert opened(desk, 1)["content"] == {"ends": [5, 10]}
    desk.save(0, Edit("s", 1, state["stamp"], {"ends": [6, 16]}, tuple(state["places"])))
    desk.close()
    assert json.loads((tmp_path / "a.json").read_text(encoding="utf-8")) == gold
    assert (
        (tmp_path / "gold" / "a.txt")
        .read_text(encoding="utf-8")
        .endswith("# Truth: lines\n\nWe sat.\nHe left then\n")
    )


def test_two_forms_of_one_talk_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nhello\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("hello", encoding="utf-8")
    assert main(["label", str(tmp_path), "-models", "none", "-no-browser"]) == 1
    assert "has the same name" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["x", "-adjudicate", "a"],
        ["x", "-adjudicate", "a,a"],
        ["x", "-annotator", "a", "-adjudicate", "a,b"],
        ["x", "-annotator", "a", "-from", "run.json"],
        [],
    ],
)
def test_flags_that_contradict_each_other(arguments: list[str]) -> None:
    with pytest.raises(SystemExit):
        parse_label_flags(arguments)


# ---- mistakes of a run --------------------------------------------------------------------------

TEXT = "We sat there. Nobody spoke\n\nThen he left. So did I."


def run_file(folder: Path, text: str = TEXT, truth: str = "plain") -> Path:
    """A record with three mistakes: sure, unsure, and surest."""
    at = [text.index("there") + 6, text.index("spoke") + 5, text.index("left.") + 5]
    findings = [
        Finding("missed", "one", text=text, at=at[0], probability=0.1),
        Finding("invented", "one", text=text, at=at[1], probability=0.6),
        Finding("missed", "one", text=text[14:], offset=14, at=at[2] - 14, probability=0.01),
        Finding("missed", "elsewhere", text="x", at=0),
    ]
    rules = ScoringRules(0, threshold=0.5, tolerance=3)
    units = (Unit("one", 1, 1, 2, text=text),)
    run = Run(
        "sat-bench",
        "1",
        "",
        System("a"),
        {"truth": truth},
        rules,
        units,
        findings=tuple(findings),
    )
    write_run(folder / "a.run.json", run)
    return folder / "a.run.json"


def test_the_mistakes_of_a_run_come_most_confident_first(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(f"# Source: x\n\n{TEXT}", encoding="utf-8")
    source = run_file(tmp_path)
    task = review_task(tmp_path, source)
    desk = Desk(task, Workspace(tmp_path), content_digest(source.read_bytes()))
    assert [place for _, place in task.walk] == [33, 11, 22]
    state = opened(desk, 0)
    assert state["content"] == {"ends": [11, 33, 40]}  # by the rule that the run had
    assert state["kinds"] == {33: "missed", 11: "missed", 22: "invented"}
    sent = Edit("s", 1, str(state["stamp"]), {"ends": [11, 22, 33, 40]}, (33,))
    desk.save(0, sent)
    gold = (tmp_path / "gold" / "one.txt").read_text(encoding="utf-8")
    assert "Nobody spoke\n\nThen he left.\nSo did I.\n" in gold
    desk.close()
    again = Desk(task, Workspace(tmp_path), content_digest(source.read_bytes()))
    assert again.overview()["walked"] == [(0, 33)]
    again.close()
    other = Desk(task, Workspace(tmp_path), "another run")
    assert other.overview()["walked"] == []
    other.close()


@pytest.mark.parametrize("name", ["a.0badc0de.run.json", "a.run.json", "a"])
def test_a_record_given_by_name_is_reviewed_as_the_file_is(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one.txt").write_text(f"# Source: x\n\n{TEXT}", encoding="utf-8")
    (tmp_path / "gold").mkdir()
    shutil.copy(tmp_path / "one.txt", tmp_path / "gold")  # all done, but for a review
    run_file(tmp_path).rename(tmp_path / "a.0badc0de.run.json")
    said: list[object] = []

    def serve(desk: Desk, *, open_browser: bool) -> int:
        said.append(desk.progress()["said"])
        desk.close()
        return 0

    monkeypatch.setattr("sat_bench.labelling.serve", serve)
    assert main(["label", str(tmp_path), "-from", str(tmp_path / name), "-no-browser"]) == 0
    assert said == ["0 of 1 talks done"]


@pytest.mark.parametrize(("truth", "first"), [("gold+quoted", "Sit."), ("lines", "spoke")])
def test_a_review_begins_with_the_truth_of_the_run(tmp_path: Path, truth: str, first: str) -> None:
    text = 'there he said "Sit." Nobody spoke\n\nThen he left. So did I.'
    (tmp_path / "one.txt").write_text(f"# Source: x\n\n{text}", encoding="utf-8")
    desk = Desk(review_task(tmp_path, run_file(tmp_path, text, truth)), Workspace(tmp_path))
    state = opened(desk, 0)
    word = dict(zip(state["ids"], state["pieces"], strict=True))[state["content"]["ends"][0]]
    assert word.strip().strip('"') == first
    desk.close()


def test_marks_of_a_report_page_are_taken(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(TEXT, encoding="utf-8")
    marks = [
        {"unit": "one", "kind": "missed", "at": 13, "verdict": "wrong"},
        {"unit": "gone", "kind": "missed", "at": 1, "verdict": "wrong"},
    ]
    file = tmp_path / "marks.json"
    file.write_text(json.dumps({"format": "truemark.marks/1", "run": "a", "marks": marks}), "utf-8")
    assert review_task(tmp_path, file).walk == [(0, 11)]


def test_marks_of_a_changed_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text(TEXT, encoding="utf-8")
    mark = {"unit": "one", "kind": "missed", "at": 13}
    marks = {"marks": [mark], "signature": {"condition": "bare"}}
    file = tmp_path / "marks.json"
    file.write_text(json.dumps({"format": "truemark.marks/1", **marks}), encoding="utf-8")
    with pytest.raises(TruemarkError, match="was measured under bare"):
        review_task(tmp_path, file)


def test_a_text_that_changed_since_the_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("Something else", encoding="utf-8")
    with pytest.raises(TruemarkError, match="has changed since; measure it again"):
        review_task(tmp_path, run_file(tmp_path))


# ---- agreement ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "expected"),
    [((20, 5, 10, 15), 0.4), ((45, 15, 25, 15), 0.1304), ((1, 0, 0, 1), 1.0), ((0, 1, 1, 0), -1.0)],
)
def test_kappa_as_in_the_textbook(table: tuple[int, int, int, int], expected: float) -> None:
    both, first, second, neither = table
    kappa = cohens_kappa(both=both, first_only=first, second_only=second, neither=neither)
    assert kappa == pytest.approx(expected, abs=1e-4)


def test_kappa_is_not_known_where_nothing_could_differ() -> None:
    assert cohens_kappa(both=3, first_only=0, second_only=0, neither=0) is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1))
def test_kappa_is_that_of_the_definition(decisions: list[tuple[bool, bool]]) -> None:
    count = len(decisions)
    observed = sum(one == other for one, other in decisions) / count
    shares = [(sum(pair[who] for pair in decisions) / count) for who in (0, 1)]
    chance = shares[0] * shares[1] + (1 - shares[0]) * (1 - shares[1])
    cells = {(a, b): decisions.count((a, b)) for a in (True, False) for b in (True, False)}
    kappa = cohens_kappa(
        both=cells[True, True],
        first_only=cells[True, False],
        second_only=cells[False, True],
        neither=cells[False, False],
    )
    if chance == 1:
        assert kappa is None
    else:
        assert kappa == pytest.approx((observed - chance) / (1 - chance))


def gold(folder: Path, *lines: str) -> Path:
    folder.mkdir()
    (folder / "talk.txt").write_text("# Source: x\n# Truth: lines\n\n" + "\n".join(lines), "utf-8")
    return folder


def test_agreement_counts_places_by_kind_and_leaves_the_end_of_the_text_out(tmp_path: Path) -> None:
    one = gold(tmp_path / "one", '"No."', "He left, I", "think.", "", "Good.", "Bye")
    other = gold(tmp_path / "two", '"No."', "He left,", "I think. Good.", "Bye")
    found = agreement(str(one), str(other))
    assert (found.first, found.second) == ("one", "two")
    assert (found.counts.tp, found.counts.fp, found.counts.fn) == (2, 2, 1)
    assert found.kinds == (
        ("comma, colon or dash", 0, 0, 1),
        ("full stop", 1, 1, 0),
        ("no punctuation", 0, 1, 0),
        ("closing quote", 1, 0, 0),
    )
    # Seven words, of which the last ends the text.
    kappa = cohens_kappa(both=2, first_only=2, second_only=1, neither=1)
    assert found.kappa == pytest.approx(kappa)


def test_agreement_of_gold_with_a_system_and_in_three_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = gold(tmp_path / "one", "We sat there.", "Nobody spoke.", "Then he left")
    system = "py:tests.labelling.cuts:at_stops"
    assert main(["agree", str(one), system]) == 0
    text = capsys.readouterr().out
    assert "agree with F1 1.000 on 1 talk (too few for an interval), kappa" in text
    assert "Ends agree at exactly the same place. The end of each text, which every reading" in text
    assert main(["agree", str(one), system, "-format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["counts"] == {"tp": 2, "fp": 0, "fn": 0}
    assert (facts["f1"]["value"], facts["f1"]["low"], facts["f1"]["high"]) == (1.0, None, None)


def test_the_talks_in_the_package_have_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agree", "bundled", "bundled"]) == 0
    assert capsys.readouterr().out.startswith("bundled and bundled agree with F1 1.000 on 24 talks")


def test_readings_of_different_texts_are_refused(tmp_path: Path) -> None:
    one, other = gold(tmp_path / "one", "We sat."), gold(tmp_path / "two", "We stood.")
    with pytest.raises(TruemarkError, match="different texts"):
        agreement(str(one), str(other))


def test_an_annotation_that_is_not_done_has_no_agreement(desk_of: object, talks: Path) -> None:
    make = desk_of
    assert callable(make)
    desk = make("anna")
    state = opened(desk, 1)
    desk.save(1, Edit("s", 1, str(state["stamp"]), state["content"]))
    folder = str(talks / ".annotations" / "anna")
    with pytest.raises(TruemarkError, match="is not done yet"):
        agreement(folder, folder)


def test_what_annotators_agree_on_stands_in_later_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.txt").write_text(TEXT, encoding="utf-8")
    task = draft_task(tmp_path, (), 10)
    for annotator, ends in (("anna", [11, 22, 40]), ("ben", [11, 40])):
        desk = Desk(task, Workspace(tmp_path, annotator))
        state = opened(desk, 0)
        desk.save(0, Edit("s", 1, state["stamp"], {"ends": ends}, tuple(state["places"])))
        opened(desk, 1)  # and is left as it is, so nobody has done it
        desk.close()
    monkeypatch.setattr("sat_bench.labelling.serve", lambda *_, **__: 0)
    assert main(["label", str(tmp_path), "-adjudicate", "anna,ben", "-no-browser"]) == 0
    said = known_agreement(tmp_path, "talk")
    assert said
    assert said.startswith("the annotators of 1 talk agree with F1 0.667")
    gold = tmp_path / "gold"
    gold.mkdir()
    (gold / "one.txt").write_text(f"# Source: x\n# Truth: lines\n\n{TEXT}", encoding="utf-8")
    assert main(["-corpus", str(gold), "-model", "nano", "-record", str(tmp_path / "r.json")]) == 0
    assert load_run(tmp_path / "r.json").notes == (said,)
    rule = ["-corpus", str(tmp_path / "one.txt"), "-model", "nano"]
    (tmp_path / "one.txt").write_text(f"# Source: x\n\n{TEXT}", encoding="utf-8")
    assert main([*rule, "-record", str(tmp_path / "rule.json")]) == 0
    assert load_run(tmp_path / "rule.json").notes == ()


@pytest.mark.parametrize("condition", ["written", "bare"])
def test_the_agreement_on_the_bundled_talks_is_that_of_both_readings(condition: str) -> None:
    readings = Path(__file__).parents[2] / "testdata" / "annotations"
    both = agreement(*(str(readings / reader / condition) for reader in ("first", "second")))
    said = known_agreement(BUNDLED_CORPUS, "talk", condition)
    assert said
    assert f"of 24 talks agree with F1 {both.f1.value:.3f}" in said
    assert f"kappa {both.kappa:.3f}" in said
