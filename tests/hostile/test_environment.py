"""Settings of proxies and clouds in the environment: used, or one line."""

from __future__ import annotations

import pytest
from testing.hostile_server import Answer
from tests.cal_ai.sample_folders import CommandLine
from tests.hostile.kinds import KINDS, Kind
from tests.hostile.test_servers import ask, assert_one_error

EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
SECRET = "canary-proxy-0c5a"


@EVERY_KIND
@pytest.mark.parametrize("name", ["ALL_PROXY", "HTTP_PROXY", "https_proxy"])
@pytest.mark.parametrize(
    "proxy",
    [
        f"socks5://a:{SECRET}@127.0.0.1:9",
        f"socks5h://a:{SECRET}@127.0.0.1:9",
        f"socks4://a:{SECRET}@127.0.0.1",
        f"ftp://a:{SECRET}@127.0.0.1",
        f"http://a:{SECRET}@127.0.0.1:none",
        f"http://a:{SECRET}@127.0.0.1:99999",
        f"http://a:{SECRET}@127.0.0.1:-1",
        "http://",
        "http://[::1",
        "://",
        "?",
    ],
)
def test_a_proxy_that_cannot_be_used_is_one_line(
    cal_ai: CommandLine, kind: Kind, name: str, proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = (1.0, 1, 0.1, 1.0)
    monkeypatch.setattr("truemark.services.retry.CallPolicy.__init__.__defaults__", defaults)
    monkeypatch.setenv(name, proxy)
    ran = ask(cal_ai, kind, Answer(404))
    assert_one_error(ran)
    assert SECRET not in ran.err
    assert f"{name.upper()} " in ran.err


@EVERY_KIND
def test_a_proxy_that_is_not_on_the_way_does_not_matter(
    cal_ai: CommandLine, kind: Kind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    ran = ask(cal_ai, kind, Answer(404))
    assert_one_error(ran)
    assert "PROXY" not in ran.err


@EVERY_KIND
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GOOGLE_CLOUD_UNIVERSE_DOMAIN", " "),
        ("GOOGLE_CLOUD_UNIVERSE_DOMAIN", "example.org"),
        ("GOOGLE_API_USE_MTLS_ENDPOINT", "perhaps"),
        ("GOOGLE_API_USE_CLIENT_CERTIFICATE", "perhaps"),
        ("GOOGLE_API_USE_CLIENT_CERTIFICATE", "true"),
        ("GOOGLE_GENAI_USE_VERTEXAI", "true"),
        ("GOOGLE_GENAI_API_VERSION", "../v9"),
        ("GOOGLE_API_KEY", "another"),
        ("GOOGLE_CLOUD_PROJECT", "p"),
    ],
)
def test_the_settings_of_a_cloud_are_no_traceback(
    cal_ai: CommandLine, kind: Kind, name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    assert_one_error(ask(cal_ai, kind, Answer(404)))
