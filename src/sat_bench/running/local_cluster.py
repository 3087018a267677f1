"""Workers on this machine: a Dask cluster in a process of its own, away from the terminal.

Run as `python -m sat_bench.running.local_cluster N`: prints the scheduler's address and ends when
its standard input does, so it never outlives whoever started it. In a session of its own it is not
hit by a Ctrl-C, which workers would answer with a page of tracebacks.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile

from truemark.errors import TruemarkError

CLOSE_S = 10
# Dask watches itself many times a second; here every core is meant for the model.
_CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.cycle": "10s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.scheduler.active-memory-manager.start": False,
}


@contextmanager
def local_scheduler(workers: int) -> Iterator[str]:
    """The address of a scheduler with so many workers of one thread; all end with the block."""
    with TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            start_new_session=True,
        )
        assert process.stdin
        assert process.stdout
        address = ""
        try:
            address = process.stdout.readline().strip()
            if not address:
                complaints.seek(0)
                reason = complaints.read().strip().rpartition("\n")[2]
                raise TruemarkError(f"local:{workers}: the workers do not start: {reason}")
            yield address
        finally:
            process.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                process.wait(CLOSE_S if address else 0)
            process.kill()
            process.wait()
            process.stdout.close()


def main() -> None:
    import dask
    from distributed import LocalCluster

    dask.config.set(_CALM)
    with LocalCluster(  # type: ignore[no-untyped-call]  # typed in part
        n_workers=int(sys.argv[1]),
        threads_per_worker=1,
        processes=True,
        memory_limit=None,
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
