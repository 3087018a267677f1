from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from testing.onnx_models import write_terminator_model

from sat_bench.cli import FLAGS, main, parse_options
from sat_bench.defaults import BUNDLED_FOLDER, DEFAULT_MODEL
from truemark.folders import find_record

TALKS = {
    "ada.txt": "# Source: tape\n\nWe met at noon. It rained! Why? Nobody knows, Dr. Lee. Fine.\n",
    "bob.txt": '# Source: tape\n\nYes. "No." Then 3.5 boxes came. Good.\n',
}
EVALUATION = """\
Loaded 2 talks from talks

Precision: 0.73  Recall: 1.00  F1: 0.84  Weighted: 0.86
(TP: 8, FP: 3, FN: 0)
"""


@pytest.fixture
def model(tokenizer_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a corpus and a model that ends sentences at every terminator."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    (tmp_path / "talks").mkdir()
    for name, content in TALKS.items():
        (tmp_path / "talks" / name).write_text(content, encoding="utf-8")
    (tmp_path / "sentencepiece.bpe.model").write_bytes(tokenizer_path.read_bytes())
    return write_terminator_model(tmp_path / "sat.onnx", tokenizer_path)


def sat_bench(*arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "sat_bench", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | more,
        check=False,
    )


def status_of(*arguments: str) -> int:
    """The exit status, whether it is returned or raised by the parser."""
    try:
        return main(arguments)
    except SystemExit as leaving:
        return int(leaving.code or 0)


def test_an_evaluation_prints_to_the_letter(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-model", "sat.onnx", "-corpus", "talks"]) == 0
    printed = capsys.readouterr()
    assert printed.out == EVALUATION
    assert "signature" not in printed.err


def test_systems_and_signatures_are_told_when_asked_for(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-model", "sat.onnx", "-corpus", "talks", "-v"]) == 0
    system, signature = capsys.readouterr().err.splitlines()[-2:]
    assert system.startswith("system: model:")
    assert signature.startswith("signature: sat-bench:")


@pytest.mark.parametrize("dash", ["-", "--"])
@pytest.mark.parametrize("joined", [True, False], ids=["equals sign", "space"])
def test_every_flag_works_with_one_dash_and_with_two(
    model: Path, dash: str, joined: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    values = {
        "-model": "sat.onnx", "-tokenizer": "sentencepiece.bpe.model", "-corpus": "talks",
        "-truth": "quoted", "-threshold": "0.1", "-tolerance": "2", "-wp": "2", "-wr": "1",
        "-sweep-min": "0.1", "-sweep-max": "0.3", "-sweep-step": "0.1", "-models": "sat.onnx",
        "-format": "json", "-overlap": "32", "-cache": "cache", "-timeout": "60",
        "-record": "records", "-conditions": "bare", "-weighting": "uniform",
        "-runtime": "openvino",
    }  # fmt: skip
    switches = {"-sweep", "-per-talk", "-quantize", "-inner", "-v"}
    assert {flag.name for flag in FLAGS} == {*values, *switches, "-cluster", "-version"}
    arguments = [dash + name[1:] for name in switches]
    for name, value in values.items():
        flag = dash + name[1:]
        arguments += [f"{flag}={value}"] if joined else [flag, value]
    assert main(arguments) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["mode"] == "conditions"
    assert (document["truth"], document["tolerance"]) == ("rule: quoted", 2)
    assert document["weights"] == {"precision": 2.0, "recall": 1.0}
    [_, result] = document["results"]
    assert (result["model"], result["condition"]) == ("sat.onnx:int8", "bare")
    assert result["system"].endswith("|overlap:32|weighting:uniform|runtime:openvino")
    assert find_record("records/sat.onnx-int8.run.json").is_file()
    assert [point["threshold"] for point in result["points"]] == [0.1, 0.2]
    assert len(result["per_talk"]) == 2


@pytest.mark.parametrize("flag", ["-cluster", "--cluster"])
@pytest.mark.parametrize(
    "where", ["local:1", "local:256", "tcp://host:8786", "tcp://10.0.0.7:1", "tcp://[::1]:8786"]
)
def test_a_cluster_is_named_by_address_or_size(flag: str, where: str) -> None:
    options = parse_options([flag, where])
    assert options
    assert options.cluster == where


def test_a_sweep_prints_its_thresholds_ascending_and_the_optimum(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-model", "sat.onnx", "-corpus", "talks", "-sweep", "-wr", "2"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[2:5] == [
        "Threshold Sweep Results (wp=1.0, wr=2.0)",
        "-" * 50,
        "Thresh   Prec     Rec      F1       Weighted",
    ]
    assert [line[:5] for line in lines[5:24]] == [f"{n / 100:.3f}" for n in range(1, 20)]
    assert lines[24:] == ["-" * 50, "Optimal: 0.010 (Weighted: 0.91)"]
    assert "sat.onnx: the optimum 0.010 is the first point of the grid" in printed.err


def test_a_comparison_names_the_models_as_given_and_marks_the_failed_one(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("broken.onnx").write_bytes(b"not a model")
    models = "./sat.onnx, broken.onnx,gone.onnx,./sat.onnx"
    assert main(["-models", models, "-corpus", "talks"]) == 1
    printed = capsys.readouterr()
    assert printed.out.splitlines()[2:] == [
        "Model Comparison (wp=1.0, wr=1.0)",
        "-" * 60,
        "Model                          Thresh   F1       Weighted",
        "./sat.onnx                     0.025    0.84     0.86",
        "broken.onnx                    failed",
        "gone.onnx                      failed",
        "./sat.onnx                     0.025    0.84     0.86",
    ]
    assert "failed: broken.onnx: " in printed.err
    assert "failed: gone.onnx: no such file or folder" in printed.err


def test_models_with_a_sweep_are_compared_each_at_its_best(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["-models", "sat.onnx", "-sweep", "-sweep-min", "0.5", "-sweep-max", "0.7"]
    assert main([*flags, "-corpus", "talks"]) == 0
    assert "sat.onnx                       0.500    0.84     0.86" in capsys.readouterr().out


def test_an_explicit_threshold_holds_for_every_model(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-models", "sat.onnx", "-threshold", "1", "-corpus", "talks"]) == 0
    assert "sat.onnx                       1.000    " in capsys.readouterr().out


def test_talks_in_testdata_ted_go_before_the_bundled_ones(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path("testdata/ted")
    folder.mkdir(parents=True)
    (folder / "README.md").write_text("how to add talks", encoding="utf-8")
    assert main(["-model", "sat.onnx"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Loaded 24 talks from the bundled corpus\n\n")
    assert (
        "corpus: the bundled talks (testdata/ted holds none yet; `sat-bench import`" in printed.err
    )
    for path in ("testdata/ted", "./testdata/ted/", str(folder.resolve())):
        assert main(["-model", "sat.onnx", "-corpus", path]) == 0
        given = capsys.readouterr()
        assert given.out == printed.out
        assert given.err.count("sat-bench import") == 1
    (folder / "ada.txt").write_text(TALKS["ada.txt"], encoding="utf-8")
    assert main(["-model", "sat.onnx"]) == 0
    assert capsys.readouterr().out.startswith("Loaded 1 talk from testdata/ted\n\n")


def test_the_bundled_talks_can_be_named(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bundled").mkdir()
    assert main(["-model", "sat.onnx", "-corpus", "bundled"]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Loaded 24 talks from the bundled corpus\n\n")
    assert "corpus:" not in printed.err
    assert main(["-model", "sat.onnx", "-corpus", "./bundled"]) == 1
    assert "bundled: no transcripts in this folder" in capsys.readouterr().err


def test_hash_lines_in_a_text_are_pointed_out(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("talks/ada.txt").write_text("# Source: x\n\nOne.\n# Two.\n", encoding="utf-8")
    assert main(["-model", "sat.onnx", "-corpus", "talks"]) == 0
    assert "talks/ada.txt:4: a line that begins with #" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "sweeps"),
    [
        (["-sweep=true"], True),
        (["--sweep=True"], True),
        (["-sweep=1"], True),
        (["-sweep=false"], False),
        (["--sweep=FALSE"], False),
        (["-sweep", "-sweep=false"], False),
        (["-sweep=false", "-sweep"], True),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_switches_take_truth_values(typed: list[str], sweeps: bool) -> None:
    options = parse_options(typed)
    assert options
    assert options.sweeps is sweeps


def test_the_truth_rule_moves_the_score(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-model", "sat.onnx", "-corpus", "talks", "-truth", "quoted"]) == 0
    assert "(TP: 9, FP: 2, FN: 0)" in capsys.readouterr().out


def test_the_bundled_model_is_used_with_the_threshold_of_its_card_or_its_absence_told(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(["-corpus", "talks"])
    printed = capsys.readouterr()
    if (BUNDLED_FOLDER / f"{DEFAULT_MODEL}.onnx").is_file():
        assert status == 0
        assert f"{DEFAULT_MODEL}: threshold 0." in printed.err
        assert "from its model card" in printed.err
    else:
        assert status == 1
        assert printed.out == ""
        assert printed.err.startswith("error: small: this installation has no bundled model")


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        (["-sweep-min", "0.1"], "-sweep-min has no effect without -sweep"),
        (["-sweep", "-threshold", "0.1"], "-threshold has no effect with -sweep"),
        (["-models", "sat.onnx"], "-model has no effect with -models"),
        (["-model", "cmd:cat", "-quantize"], "-quantize has no effect without a SaT model"),
        (["-models", "cmd:cat", "-overlap=9"], "-overlap has no effect without a SaT model"),
        (["-model", "cmd:cat", "-threshold", "0.1"], "so -threshold has no effect"),
    ],
    ids=[
        "grid without a sweep",
        "threshold with a sweep",
        "model with models",
        "quantize without a model",
        "overlap without a model",
        "threshold without probabilities",
    ],
)
def test_a_flag_without_effect_is_pointed_out(
    model: Path, arguments: list[str], note: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-model", "sat.onnx", "-corpus", "talks", *arguments]) == 0
    assert note in capsys.readouterr().err


def test_a_flag_for_one_of_several_systems_has_an_effect(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["-models", "cmd:cat,sat.onnx", "-corpus", "talks", "-overlap", "9"]) == 0
    assert "no effect" not in capsys.readouterr().err


WRONG = {
    "unknown flag": (["-modle", "x"], "unknown flag -modle; did you mean -model?"),
    "unknown flag with two dashes": (["--modle=x"], "unknown flag --modle; did you mean -model?"),
    "abbreviation": (["-thresh", "0.1"], "unknown flag -thresh; did you mean -threshold?"),
    "abbreviation with two dashes": (["--corp", "x"], "unknown flag --corp"),
    "stray argument": (["talks"], "unexpected argument 'talks'"),
    "missing value": (["-model"], "argument -model: expected one argument"),
    "flag for a value": (["-model", "-sweep"], "argument -model: expected one argument"),
    "empty model": (["-model", ""], "argument -model: must not be empty"),
    "empty corpus": (["-corpus", " "], "argument -corpus: must not be empty"),
    "no models": (["-models", ""], "must be model names separated by commas, got an empty one"),
    "empty entry": (["-models", "a,,b"], "got an empty one in 'a,,b'"),
    "threshold not a number": (["-threshold", "nan"], "must be a number from 0 to 1, got 'nan'"),
    "threshold in words": (["-threshold", "low"], "must be a number from 0 to 1, got 'low'"),
    "threshold too high": (["-threshold", "1.01"], "must be a number from 0 to 1, got '1.01'"),
    "threshold too low": (["-threshold", "-0.1"], "must be a number from 0 to 1, got '-0.1'"),
    "threshold exponent": (["-threshold", "-1e-9"], "a number from 0 to 1, got '-1e-9'"),
    "tolerance negative": (["-tolerance", "-1"], "whole number of characters, 0 or more, got '-1'"),
    "tolerance fraction": (["-tolerance", "1.5"], "whole number of characters, 0 or more"),
    "overlap negative": (["-overlap", "-1"], "whole number of tokens from 0 to 509, got '-1'"),
    "overlap too wide": (["-overlap", "510"], "whole number of tokens from 0 to 509, got '510'"),
    "overlap in words": (["-overlap", "half"], "whole number of tokens from 0 to 509"),
    "overlap very long": (["-overlap", "9" * 5000], "whole number of tokens from 0 to 509"),
    "empty cache": (["-cache", ""], "argument -cache: must not be empty"),
    "cluster without a scheme": (["-cluster", "host:8786"], "such as tcp://host:8786, or local:N"),
    "cluster without a port": (["-cluster", "tcp://host"], "such as tcp://host:8786, or local:N"),
    "cluster with a wrong port": (["-cluster", "tcp://host:99999"], "got 'tcp://host:99999'"),
    "cluster with a path": (["-cluster", "tcp://host:1/x"], "got 'tcp://host:1/x'"),
    "cluster of none": (["-cluster", "local:0"], "local:N with N from 1 to 256 workers, got '0'"),
    "cluster too large": (
        ["-cluster", "local:9999"],
        "local:N with N from 1 to 256 workers, got '9999'",
    ),
    "cluster of some": (["-cluster", "local:"], "or local:N, got 'local:'"),
    "cluster of fewer": (
        ["-cluster", "local:-1"],
        "local:N with N from 1 to 256 workers, got '-1'",
    ),
    "weight negative": (["-wp", "-1"], "argument -wp: must be a number of 0 or more, got '-1'"),
    "weight infinite": (["-wr", "inf"], "argument -wr: must be a number of 0 or more, got 'inf'"),
    "weights too large": (["-wp", "1e308", "-wr", "1e308"], "weights must have a finite sum"),
    "step zero": (["-sweep", "-sweep-step", "0"], "must be a number above 0, at most 1, got '0'"),
    "step negative": (["-sweep-step", "-0.1"], "must be a number above 0, at most 1, got '-0.1'"),
    "step too fine": (["-sweep", "-sweep-step", "1e-9"], "at most 100000 thresholds between"),
    "empty grid": (["-sweep", "-sweep-min", "0.2"], "-sweep-max must be above -sweep-min (0.2)"),
    "unknown format": (["-format", "xml"], "argument -format: invalid choice: 'xml'"),
    "unknown rule": (["-truth", "fuzzy"], "argument -truth: invalid choice: 'fuzzy'"),
    "value for a switch": (["-sweep=yes"], "argument -sweep: must be true or false, got 'yes'"),
    "mistyped command": (["spilt", "a"], "unexpected argument 'spilt'; did you mean split?"),
    "a file": (["talk.txt"], "unexpected argument 'talk.txt'; -corpus says what to measure on"),
    "mistyped rule": (["-truth", "plian"], "'lines'); did you mean plain?; see sat-bench --help"),
    "import without a file": (["import"], "the following arguments are required: FILE"),
    "import with a wrong flag": (["import", "a", "-out", "b"], "unknown flag -out"),
    "import with an empty title": (["import", "a", "-title", ""], "must not be empty"),
}


@pytest.mark.parametrize(("arguments", "reason"), WRONG.values(), ids=WRONG)
def test_a_wrong_command_line_leaves_with_two_and_the_usage(
    model: Path, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status_of(*arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("usage: sat-bench ")
    assert reason in printed.err


FAILING = {
    "no such corpus": (["-corpus", "gone"], "gone: no such folder or file"),
    "empty corpus": (["-corpus", "empty"], "empty: no transcripts in this folder"),
    "bad talk": (["-corpus", "bad"], "bad/a.txt:1: the header has no '# Source: …' line"),
    "a bundled corpus by another name": (
        ["-corpus", "Languages"],
        "Languages: no such folder or file; -corpus takes a folder of transcripts, or bundled or"
        " languages for talks in the package",
    ),
    "no such home": (["-corpus", "~nobody.here/x"], "~nobody.here/x: no such folder or file"),
    "name too long": (["-corpus", "x" * 5000], "cannot be read: File name too long"),
    "model name too long": (["-model", "x" * 5000], "File name too long"),
    "model in no such home": (["-model", "~nobody.here/x.onnx"], "x.onnx: no such file or folder"),
    "no such model": (["-model", "gone.onnx"], "gone.onnx: no such file or folder"),
    "not a model": (["-model", "talks/ada.txt", "-tokenizer", "sentencepiece.bpe.model"], "ada"),
    "no such tokenizer": (["-tokenizer", "gone.model"], "no such tokenizer file: gone.model"),
    "not a tokenizer": (["-tokenizer", "talks/ada.txt"], "talks/ada.txt"),
    "import of nothing": (["import", "gone.srt"], "gone.srt: no such file"),
    "import over a file": (
        ["import", "talks/bob.txt", "-o", "talks/ada.txt"],
        "talks/ada.txt: already exists; add -force",
    ),
    "import over the file itself": (
        ["import", "talks/ada.txt"],
        "talks/ada.txt: is the file to import; choose another -o",
    ),
}


@pytest.mark.parametrize(("arguments", "reason"), FAILING.values(), ids=FAILING)
def test_failed_work_leaves_with_one_and_one_line(
    model: Path, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("empty").mkdir()
    Path("bad").mkdir()
    Path("bad/a.txt").write_text("No header.", encoding="utf-8")
    defaults = [] if arguments[0] == "import" else ["-model", "sat.onnx", "-corpus", "talks"]
    command = arguments[:1] if arguments[0] == "import" else []
    assert status_of(*command, *defaults, *arguments[len(command) :]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    errors = printed.err.splitlines()
    assert errors[-1].startswith("error: ")
    assert len(errors) == 1
    assert reason in errors[-1]


def test_import_writes_a_corpus_file_that_can_be_measured(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pasted.md").write_text("00:13\nWe met. It rained!\n", encoding="utf-8")
    flags = ["-o", "talks/new.txt", "--title", "Rain", "-speaker", "Ada", "--source", "a page"]
    assert main(["import", "pasted.md", *flags]) == 0
    assert capsys.readouterr().out == "Wrote talks/new.txt: 2 sentences, 4 words\n"
    assert main(["-model", "sat.onnx", "-corpus", "talks/new.txt"]) == 0
    assert "(TP: 2, FP: 0, FN: 0)" in capsys.readouterr().out


def test_import_counts_one_sentence_in_the_singular(
    model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("pasted.md").write_text("Rain!\n", encoding="utf-8")
    assert main(["import", "pasted.md", "-o", "new.txt"]) == 0
    assert capsys.readouterr().out == "Wrote new.txt: 1 sentence, 1 word\n"


def test_help_shows_every_flag_with_its_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of("-h") == 0
    shown = " ".join(capsys.readouterr().out.split())
    for flag in FLAGS:
        assert f" {flag.name} {flag.placeholder}".rstrip() in shown
        assert not flag.default or f"(default: {flag.default})" in shown


def test_help_is_quick_and_imports_nothing_heavy() -> None:
    script = (
        "import sys, runpy\n"
        "sys.argv = ['sat-bench', '--help']\n"
        "try:\n    runpy.run_module('sat_bench', run_name='__main__')\n"
        "except SystemExit as leaving:\n    assert leaving.code == 0\n"
        "heavy = {'numpy', 'onnxruntime', 'sentencepiece', 'huggingface_hub', 'rich', 'dask',\n"
        "         'distributed', 'onnx', 'platformdirs'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("sat-bench (truemark ")


def test_the_module_runs_as_a_command(model: Path) -> None:
    done = sat_bench("-model", "sat.onnx", "-corpus", "talks")
    assert (done.returncode, done.stdout) == (0, EVALUATION)


def test_a_reader_that_leaves_early_causes_no_noise(model: Path) -> None:
    command = [sys.executable, "-m", "sat_bench", "-model", "sat.onnx", "-corpus", "talks"]
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write_end)
    assert done.returncode == 1
    assert "Error" not in done.stderr
    assert "error" not in done.stderr


@pytest.mark.parametrize(
    ("closed", "status", "out"), [(">&-", 1, ""), ("2>&-", 0, EVALUATION)], ids=["out", "err"]
)
def test_closed_streams_do_no_harm(model: Path, closed: str, status: int, out: str) -> None:
    command = f"{sys.executable} -m sat_bench -model sat.onnx -corpus talks {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (status, out)
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_under_the_output_is_one_line(model: Path) -> None:
    command = [sys.executable, "-m", "sat_bench", "-model", "sat.onnx", "-corpus", "talks"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert (
        done.stderr.splitlines()[-1] == "error: output cannot be written: No space left on device"
    )


def test_names_that_the_terminal_cannot_show_are_escaped(model: Path) -> None:
    Path("talks/ada.txt").rename("talks/adä.txt")
    done = sat_bench(
        *("-model", "sat.onnx", "-corpus", "talks", "-per-talk"),
        PYTHONIOENCODING="ascii",
    )
    assert done.returncode == 0
    assert "ad\\xe4" in done.stdout


SLOW = """
import time
from pathlib import Path

def split(text):
    Path("started").touch()
    time.sleep(60)
"""


def test_control_c_ends_with_130(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(SLOW)
    command = [sys.executable, "-m", "sat_bench", "-model", "py:slow:split", "-corpus", "bundled"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        for _ in range(600):
            if (tmp_path / "started").exists():
                break
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    assert (run.returncode, out) == (130, "")
    assert err.endswith("interrupted\n")


@pytest.mark.skipif(
    not {"SAT_MODEL_PATH", "SAT_TOKENIZER_PATH"} <= os.environ.keys(),
    reason="needs a real SaT model: set SAT_MODEL_PATH and SAT_TOKENIZER_PATH",
)
def test_a_real_sat_model_finds_most_sentences_of_the_bundled_corpus(
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = ["-model", os.environ["SAT_MODEL_PATH"], "-tokenizer", os.environ["SAT_TOKENIZER_PATH"]]
    assert main([*files, "-sweep", "-sweep-max", "0.5", "-format", "json"]) == 0
    [result] = json.loads(capsys.readouterr().out)["results"]
    assert result["best"]["f1"] > 0.7
