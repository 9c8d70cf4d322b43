"""Load tests of a site: gunicorn with two workers over real HTTP, and the time that its processes use."""

from __future__ import annotations

import http.client
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings

from leaderboard.operations import processes
from tests.benchmark.support.measuring import database_cpu
from tests.support.workers.running_stack import environment

TICK = os.sysconf("SC_CLK_TCK")
PATIENCE = 60.0


@dataclass(frozen=True)
class Spent:
    """cpu, database: milliseconds of the workers' and the database's processor per request; p50, p99: latency in ms.

    database is 0 on SQLite, whose work the workers do.
    """

    cpu: float
    database: float
    per_second: float
    p50: float
    p99: float
    status: int
    bytes: int


class Site:
    """A running site. CPU time is that of the workers, not of gunicorn's main process."""

    def __init__(self, base: str, master: int) -> None:
        self.base, self.master = base, master

    def cpu(self) -> float:
        """Return the CPU seconds that the workers have used so far."""
        return sum(_seconds(pid) for pid in _children(self.master))

    def ask(self, path: str, *, times: int, connections: int, headers: Mapping[str, str] | None = None) -> Spent:
        """Make `times` requests over persistent connections; all must get the same status."""
        share = times // connections
        cpu_before, database_before, started = self.cpu(), database_cpu(), time.perf_counter()
        with ThreadPoolExecutor(connections) as pool:
            responses = list(pool.map(lambda _: self._asked(path, share, headers or {}), range(connections)))
        seconds, cpu = time.perf_counter() - started, self.cpu() - cpu_before
        database = database_cpu() - database_before
        waits = sorted(wait for part in responses for wait, _, _ in part)
        statuses = {(status, size) for part in responses for _, status, size in part}
        ((status, size),) = statuses if len(statuses) == 1 else {min(statuses)}
        assert {other for other, _ in statuses} == {status}, statuses
        n = share * connections
        p99 = waits[min(n - 1, round(0.99 * n))]
        return Spent(
            1000 * cpu / n, 1000 * database / n, n / seconds, 1000 * statistics.median(waits), 1000 * p99, status, size
        )

    def get(self, path: str) -> tuple[int, http.client.HTTPMessage, bytes]:
        with self._connection() as connection:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()

    def _asked(self, path: str, times: int, headers: Mapping[str, str]) -> list[tuple[float, int, int]]:
        responses = []
        with self._connection() as connection:
            for _ in range(times):
                started = time.perf_counter()
                connection.request("GET", path, headers=dict(headers))
                answer = connection.getresponse()
                size = len(answer.read())
                responses.append((time.perf_counter() - started, answer.status, size))
        return responses

    @contextmanager
    def _connection(self) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection(urlsplit(self.base).netloc, timeout=PATIENCE)
        try:
            yield connection
        finally:
            connection.close()


@contextmanager
def serving(port: int) -> Iterator[Site]:
    """Start the site on the test's database; stop it at the end of the block."""
    log = settings.DATA / "gunicorn.log"
    ours = environment(HOLDOUT_HOSTS="127.0.0.1", HOLDOUT_LOG_LEVEL="WARNING")
    manage = [sys.executable, "manage.py", "collectstatic", "--noinput", "--verbosity", "0"]
    subprocess.run(manage, cwd=settings.ROOT, env=ours, check=True)
    with log.open("wb") as output:
        process = subprocess.Popen(
            processes.web(f"127.0.0.1:{port}"), cwd=settings.ROOT, env=ours, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        site = Site(f"http://127.0.0.1:{port}", process.pid)
        _await(site, process, log)
        yield site
    finally:
        process.terminate()
        process.wait(30)


def _await(site: Site, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            assert site.get("/health/live")[0] == 200
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(log.read_text(errors="replace")[-2000:]) from None
            time.sleep(0.1)


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _seconds(pid: int) -> float:
    """Return user and system time: fields 14 and 15 of /proc/PID/stat, after the name in parentheses."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICK
