"""What surrounds a command: settings of proxies and clouds, too little memory, signals."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from testing.hostile_server import Answer, HostileServer
from tests.hostile.forked import Case, Outcome, complaints, environment, put_files, run
from tests.hostile.kills import Finding, Own, is_ours
from tests.hostile.kinds import KINDS, SECRETS
from tests.hostile.readers import CORPUS, DRY, NANO, SAID, SAMPLE
from tests.hostile.writers import RECORDS

from cal_ai.cli import main as cal_ai
from sat_bench.cli import main as sat_bench
from truemark.cli import main as truemark

ENVIRONMENTS = 40  # of each kind of server
LIMITS = 24
SIGNALS = 12  # of each command
WAITS_S = 15.0
PROXIES = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "http_proxy", "https_proxy")
CLOUDS = (
    "GOOGLE_API_KEY",
    "GOOGLE_API_USE_CLIENT_CERTIFICATE",
    "GOOGLE_API_USE_MTLS_ENDPOINT",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_UNIVERSE_DOMAIN",
    "GOOGLE_GENAI_API_VERSION",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT",
    "REQUESTS_CA_BUNDLE",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NO_PROXY",
    "NETRC",
)
VALUES = ("true", "perhaps", " ", "x" * 5_000, "example.org", "../v9", "nowhere", "a\tb", "*", "é")
SCHEMES = ("socks5", "socks5h", "socks4", "ftp", "http", "https", "file", "")
PORTS = (":9", ":none", ":99999", ":-1", ":", "")
HOSTS = ("127.0.0.1", "[::1]", "[::1", "", "a b", "127.0.0.1/path?x#y")


def environment_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Settings of proxies and clouds, one to three at a time, with a password in each proxy."""
    dice = random.Random(f"{seed} environment")
    plans = [(kind, _settings(dice)) for kind in KINDS for _ in range(ENVIRONMENTS)]
    for kind, extra in own(plans):
        place = Path(tempfile.mkdtemp(dir=folder))
        with HostileServer(Answer(404)) as server:
            settings = {**kind.settings(server.url, place), **extra}
            token = place / "config" / "truemark" / "google-token.json"
            files = {
                **SAID,
                **({str(token.relative_to(place)): token.read_bytes()} if token.exists() else {}),
            }
            case = Case(
                f"environment of {kind.name}",
                json.dumps(extra),
                cal_ai,
                ("talk.txt", "--timeout", "1", *kind.arguments(server.url)),
                files,
                settings,
                (*SECRETS.values(), PROXY_PASSWORD),
                statuses=frozenset({1}),
                waits_s=WAITS_S,
            )
            yield case.kind, case.name, complaints(case, run(case, place), place)


PROXY_PASSWORD = "canary-proxy-0c5a"


def _settings(dice: random.Random) -> Mapping[str, str]:
    settings = {}
    for _ in range(dice.randrange(1, 4)):
        if dice.random() < 0.6:
            scheme, host, port = dice.choice(SCHEMES), dice.choice(HOSTS), dice.choice(PORTS)
            settings[dice.choice(PROXIES)] = f"{scheme}://a:{PROXY_PASSWORD}@{host}{port}"
        else:
            settings[dice.choice(CLOUDS)] = dice.choice(VALUES)
    return settings


COMMANDS: tuple[Case, ...] = (
    Case("limit", "cal_ai run", cal_ai, ("talk.txt", *DRY), SAID),
    Case("limit", "cal_ai benchmark", cal_ai, ("benchmark", "samples"), SAMPLE),
    Case("limit", "sat-bench", sat_bench, NANO, CORPUS),
    Case("limit", "sat-bench base", sat_bench, ("-corpus", "corpus"), CORPUS),
    Case("limit", "truemark compare", truemark, ("compare", *RECORDS), RECORDS),
    Case("limit", "truemark report", truemark, ("report", *RECORDS, "-o", "p.html"), RECORDS),
)


def limit_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Commands that may use so many megabytes of addresses; too few for most."""
    dice = random.Random(f"{seed} limits")
    plans = [(dice.choice(COMMANDS), int(dice.triangular(60, 900, 520))) for _ in range(LIMITS)]
    for case, megabytes in own(plans):
        place = Path(tempfile.mkdtemp(dir=folder))
        outcome = _limited(case, place, megabytes)
        yield "memory", f"{case.name} with {megabytes} MB", complaints(case, outcome, place)


def _limited(case: Case, place: Path, megabytes: int) -> Outcome:
    put_files(case, place)
    module = case.main.__module__.partition(".")[0]
    command = ["sh", "-c", f'ulimit -v {1_000 * megabytes}; exec "$@"', "sh"]
    command += [sys.executable, "-m", module, *case.arguments]
    begun_s = time.monotonic()
    done = subprocess.run(
        command, cwd=place, env=environment(case, place), capture_output=True, timeout=120
    )
    return Outcome(done.returncode, done.stdout, done.stderr, time.monotonic() - begun_s, 0.0)


PROGRAM = b"""\
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "60"])
open("pids", "w").write(f"{os.getpid()} {child.pid} ")
time.sleep(60)
"""
STATUSES = {signal.SIGTERM: 143, signal.SIGHUP: 129, signal.SIGINT: 130, signal.SIGKILL: -9}
WITH_PROGRAMS: Mapping[str, tuple[str, ...]] = {
    "cal_ai run": ("cal_ai", "talk.txt", "--dry-run", "--extractor", "cmd:{} program.py"),
    "cal_ai benchmark": ("cal_ai", "benchmark", "samples", "--extractor", "cmd:{} program.py"),
    "sat-bench": ("sat_bench", "-corpus", "corpus", "-model", "cmd:{} program.py"),
    "sat-bench keeps": ("sat_bench", "-corpus", "corpus", "-model", "cmd+:{} program.py"),
}
FILES = {"program.py": PROGRAM, **SAID, **SAMPLE, **CORPUS}


def heed_signals() -> None:
    """Undo what the program that runs the tests may have said, such as `nohup`."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def is_running(process: int) -> bool:
    """Whether the process has not ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def signal_cases(folder: str, seed: int, own: Own) -> Iterator[Finding]:
    """Commands that have started programs with children, ended by a signal at any moment."""
    dice = random.Random(f"{seed} signals")
    plans = [
        (command, dice.choice(list(STATUSES)), dice.uniform(0, 2.5))
        for command in WITH_PROGRAMS
        for _ in range(SIGNALS)
    ]
    for command, number, after_s in own(plans):
        place = Path(tempfile.mkdtemp(dir=folder))
        found = signalled(place, command, number, after_s)
        yield f"signal to {command}", f"{number.name} after {after_s:.2f} s", found


def signalled(
    place: Path, command: str, number: signal.Signals, after_s: float | None
) -> list[str]:
    """What is wrong after a signal, sent so late or when the program and its child are there."""
    module, *arguments = (word.format(sys.executable) for word in WITH_PROGRAMS[command])
    case = Case("signal", command, cal_ai, tuple(arguments), FILES)
    put_files(case, place)
    pids = place / "pids"
    with subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=place,
        env=environment(case, place),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        preexec_fn=heed_signals,
    ) as process:
        try:
            until_s = time.monotonic() + (30 if after_s is None else after_s)
            while time.monotonic() < until_s and not (after_s is None and _told(pids)):
                time.sleep(0.02)
            process.send_signal(number)
            _, said = process.communicate(timeout=20)
        finally:
            process.kill()
    time.sleep(0.3)  # in which a program that was just begun would tell of itself
    # Before the first line of a command, Python answers in its own way.
    early = after_s is not None and not pids.exists()
    found = [] if process.returncode == STATUSES[number] else [f"status {process.returncode}"]
    found += [said.decode("utf-8", "replace")[-600:]] if b"Traceback" in said else []
    outcome = Outcome(process.returncode, b"", said, 0.0, 0.0)
    if early and (process.returncode == -number or not is_ours(outcome)):
        found = []
    return found + _left_running(pids)


def _told(pids: Path) -> bool:
    return pids.exists() and pids.read_text().endswith(" ")


def _left_running(pids: Path) -> list[str]:
    until_s = time.monotonic() + 5
    while time.monotonic() < until_s:
        started = [int(pid) for pid in pids.read_text().split()] if pids.exists() else []
        if not any(map(is_running, started)):
            return []
        time.sleep(0.05)
    return ["a program is left running"]
