"""A page as one file: template, style, scripts and data, and a policy that allows nothing else."""

from __future__ import annotations

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import TYPE_CHECKING

from truemark.imports import require
from truemark.jsontext import to_json

if TYPE_CHECKING:
    from jinja2 import Environment

_SCRIPTS = ("text.js", "mistake.js", "charts.js", "page.js")
# What could end a script element early, or start a comment in one, written as JSON escapes.
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


def document(template: str, data: object, **content: object) -> str:
    """The page made from `template`; its script finds `data` as JSON in the element `data`."""
    require("report", "drawing a page", "jinja2")
    style = _asset("page.css")
    scripts = [_asset("chart.umd.min.js", "vendor"), *map(_asset, _SCRIPTS)]
    page = _environment().get_template(template)
    return _whole(
        page.render(
            policy=_policy(style, scripts),
            style=style,
            scripts=scripts,
            data=_data(data),
            **content,
        )
    )


def _data(value: object) -> str:
    text = to_json(value)
    if "\\ud" in text:  # halves of pairs, escaped; as they are, they get the page's replacement
        text = json.dumps(json.loads(text), ensure_ascii=False)
    return text.translate(_ESCAPES)


def _whole(text: str) -> str:
    """The text with a replacement for each half of a surrogate pair, which no file can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def signed(value: float) -> str:
    """A difference to three digits, with its sign unless it is none."""
    shown = f"{value:+.3f}"
    return "0.000" if float(shown) == 0 else shown.replace("-", "−")


def _policy(style: str, scripts: list[str]) -> str:
    """Only this style and these scripts, by their digests; no text becomes markup by script."""
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_digest(style)}; base-uri 'none';"
        " form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@cache
def _asset(name: str, folder: str = "assets") -> str:
    text = (resources.files("truemark.pages") / folder / name).read_text(encoding="utf-8")
    assert "</script" not in text, f"{name} would end its own element"
    return text


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("truemark.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "score": lambda value: f"{value:.3f}",
        "signed": signed,
        "count": lambda value: f"{value:,}",
        "shown": lambda value: value if isinstance(value, str) else to_json(value),
    }
    return environment
