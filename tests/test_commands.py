"""Every command that a guide shows runs, page by page, in the order in which it is shown.

A fence with `sh` is run; one with `title="FILE"` is written to that file first. A comment before a
fence says what else is true of it: `<!-- not run: REASON -->` or `<!-- exit status: N -->`.
The language model that commands ask is a server on loopback, and label pages are opened by a reader
who knows the truth (`testing/label_reader.py`).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from testing.loopback import Call, LoopbackLLM, Reply, answer

from sat_bench import load_corpus
from sat_bench.corpus.conditions import under_condition

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = ("samples", "testdata", "examples")
REASONS = {
    "needs a browser",
    "needs a calendar server",
    "needs a cluster",
    "needs a model that is not bundled",
    "needs the network",
    "runs for minutes",
    "sets up the project",
}
SETTINGS = ("GEMINI_", "OPENAI_", "CALDAV_", "GOOGLE_", "GITHUB_", "OWNER_NAME", "TIMEZONE")
# A guide that adds this to the prompt gets better answers from the model.
BETTER_RULE = "somebody else's plan"
LONGEST_S = 600  # generous: only a command that hangs shall end here
READER = ROOT / "testing" / "label_reader.py"

_FENCE = re.compile(
    r"(?:^<!-- (?P<mark>not run|exit status): (?P<value>.+?) -->\n\n?)?"
    r'^```(?P<language>\w+)(?: title="(?P<file>[^"]+)")?\n(?P<body>.*?)^```$',
    re.DOTALL | re.MULTILINE,
)
_UNFENCED = re.compile(
    r"^ {4}(?:\$ )?(?:sat-bench|cal-ai|truemark|python3?|pip|make|git|dask|cat|mkdocs) .*",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Fence:
    line: int
    body: str
    file: str | None
    mark: str | None
    value: str | None

    @property
    def status(self) -> int:
        return int(self.value) if self.mark == "exit status" and self.value else 0


def fences(page: Path) -> Iterator[Fence]:
    text = page.read_text(encoding="utf-8")
    for fence in _FENCE.finditer(text):
        if fence["language"] in ("sh", "bash") or fence["file"]:
            line = text.count("\n", 0, fence.start("language")) + 1
            yield Fence(line, fence["body"], fence["file"], fence["mark"], fence["value"])


def answers_of_samples() -> dict[str, str]:
    """The first line of each conversation, and what is expected of it."""
    found = {}
    for transcript in sorted((ROOT / "samples").rglob("*.txt")):
        sidecar = transcript.with_name(f"{transcript.stem}.expected.json")
        if sidecar.exists():
            lines = transcript.read_text(encoding="utf-8").splitlines()
            events = json.loads(sidecar.read_text(encoding="utf-8"))["expected_events"]
            spoken = "\n".join(line for line in lines if line.startswith("["))
            found[spoken[:200]] = json.dumps({"events": events})
    return found


@pytest.fixture
def model() -> Iterator[LoopbackLLM]:
    """A model that finds what is expected where the prompt has the better rule, else less."""
    known = answers_of_samples()

    def reply(call: Call) -> Reply:
        for number, (spoken, expected) in enumerate(known.items()):
            if spoken in call.prompt and (BETTER_RULE in call.prompt or number % 2):
                return Reply(text=expected)
        return answer()

    with LoopbackLLM(reply) as server:
        yield server


def prepare_talks(folder: Path) -> dict[str, dict[str, object]]:
    """Lay the bundled talks there as a recogniser writes them, and tell where half of them end."""
    truth: dict[str, dict[str, object]] = {}
    (folder / "talks").mkdir()
    for talk in load_corpus():
        spoken = under_condition(talk, "bare")
        (folder / "talks" / f"{talk.id}.txt").write_text(spoken.text, encoding="utf-8")
        letters = [len("".join(spoken.text[:end].split())) for end in spoken.boundaries]
        truth[talk.id] = {"ends": letters}
    return {name: truth[name] for name in sorted(truth)[: len(truth) // 2]}


def prepare_conversations(folder: Path) -> dict[str, dict[str, object]]:
    """Lay the sample conversations there without sidecars, and tell what those hold."""
    truth: dict[str, dict[str, object]] = {}
    (folder / "conversations").mkdir()
    for transcript in sorted((ROOT / "samples").rglob("*.txt")):
        sidecar = json.loads(transcript.with_suffix(".expected.json").read_text(encoding="utf-8"))
        shutil.copy(transcript, folder / "conversations")
        events = enumerate(sidecar.pop("expected_events"))
        truth[transcript.stem] = {
            "sidecar": {name: value for name, value in sidecar.items() if name in SETTINGS_SHOWN},
            "events": [{"id": f"mine-{number}", "fields": event} for number, event in events],
        }
    return truth


PREPARED = {"own-recordings": prepare_talks, "own-conversations": prepare_conversations}
SETTINGS_SHOWN = ("tolerance", "owner", "reference_datetime", "calendar_context")


def environment(folder: Path, model: LoopbackLLM) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    programs = Path(sys.executable).parent
    return {
        **kept,
        "BROWSER": f"{sys.executable} {READER} {folder / 'truth.json'} %s &",
        "HOME": str(folder / "home"),
        "OPENAI_BASE_URL": model.openai_url,
        "PATH": f"{programs}{os.pathsep}{kept['PATH']}",
    }


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(fences(page))], ids=lambda page: page.stem
)
def test_the_commands_of_a_guide_run_in_order(
    page: Path, tmp_path: Path, model: LoopbackLLM
) -> None:
    for name in LINKED:
        (tmp_path / name).symlink_to(ROOT / name)
    if prepare := PREPARED.get(page.stem):
        (tmp_path / "truth.json").write_text(json.dumps(prepare(tmp_path)), encoding="utf-8")
    for fence in fences(page):
        if fence.mark == "not run":
            assert fence.value in REASONS
        elif fence.file:
            path = tmp_path / fence.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(fence.body, encoding="utf-8")
        else:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", fence.body],
                cwd=tmp_path,
                env=environment(tmp_path, model),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LONGEST_S,
                check=False,
            )
            where = f"{page.name}:{fence.line}"
            assert done.returncode == fence.status, f"{where}\n{fence.body}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_command_is_shown_outside_a_fence(page: Path) -> None:
    assert _UNFENCED.findall(page.read_text(encoding="utf-8")) == []
