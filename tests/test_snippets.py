"""The Python that the guides show runs, in the order in which it is shown."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_SNIPPET = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md", "docs/records.md"])
def test_the_snippets_of_a_guide_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text(encoding="utf-8")
    snippets = list(_SNIPPET.finditer(text))
    assert snippets
    names: dict[str, object] = {"__name__": page}
    for snippet in snippets:
        line = text.count("\n", 0, snippet.start()) + 1
        exec(compile("\n" * line + snippet[1], str(ROOT / page), "exec"), names)
