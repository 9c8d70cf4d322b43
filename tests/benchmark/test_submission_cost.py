"""Processor time of a submission by process, and its requests to an S3 store, to the end of its background work.

Run with `HOLDOUT_DATABASE_URL=postgres://... HOLDOUT_BROKER_URL=redis://... HOLDOUT_CACHE_URL=redis://... bin/test
-m benchmark -s tests/benchmark/test_submission_cost.py`; without the variables it measures SQLite and folders. It runs
the processes that `manage.py serve` starts, prints what each has used, and asserts only that all runs are done.

Where a submission's time goes (profiled on a busy machine, so that shares count): an upload is 23 statements, of which
each costs the web server about 1.5 ms, most of it Django's compilation; scoring is 23. The sandbox forks twice.
Validation computes for 2 ms of its 16 to 20: the rest is the fork (copying page tables), about 1,350 page faults in the
child and 300 in the server for pages that both share, and confinement. Scoring has 2,800 faults. Half of the sandbox's
time is the kernel's.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import F
from django.utils import timezone

from leaderboard.accounts.actions import teams, tokens
from leaderboard.datasets.actions import splits
from leaderboard.evaluation import sandbox_client
from leaderboard.models import Benchmark, Dataset, Phase, Ranking, Run, SimilarityCheck, Split, State, User
from leaderboard.operations import processes
from tests.support.faulty_store import KEYS, faulty_store, s3_server, use_store
from tests.support.rows.tiny_world import uploaded
from tests.support.web_server import served
from tests.support.workers.running_stack import Stack, children, empty_queue, environment

pytestmark = [pytest.mark.benchmark, pytest.mark.django_db(transaction=True)]
SUBMISSIONS = int(os.environ.get("SUBMISSIONS", "200"))
WARM_UP = 20
TEAMS = 10
CLIENTS = 2
GROUPS = 100
LABELS = ("SUPPORTS", "REFUTES")
SUBMIT = "/api/v1/benchmarks/cost/phases/test/submissions/"
TICK = os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("files", ["folders", "s3"])
def test_cost_of_a_submission(files: str, capsys: Any, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    with ExitStack() as stack:
        variables, seen = {}, []
        if files == "s3":
            for name, value in KEYS.items():
                monkeypatch.setenv(name, value)
            store = stack.enter_context(faulty_store(stack.enter_context(s3_server())))
            use_store(store, monkeypatch, settings)
            variables, seen = {**in_store(store.endpoint), **KEYS}, store.seen
        processor_seconds, port = stack.enter_context(site(**variables))
        uploads = upload_of_each_team()
        submit(port, uploads, WARM_UP)
        del seen[:]
        before, begin = processor_seconds(), time.monotonic()
        submit(port, uploads, SUBMISSIONS)
        wall = time.monotonic() - begin
        used, requests = processor_seconds(), list(seen)
        idle = idle_cost(processor_seconds)
        used = {name: seconds - before[name] - wall * idle[name] for name, seconds in used.items()}
    assert Run.objects.filter(state=State.DONE).count() == SUBMISSIONS + WARM_UP
    with capsys.disabled():
        print(f"\n{connection.vendor}, {files}: {4 * GROUPS} claims; a submission of {SUBMISSIONS} by {TEAMS} teams:")
        for name, seconds in used.items():
            print(f"  {name:<12} {1000 * seconds / SUBMISSIONS:6.1f} ms   (idle {1000 * idle[name]:.1f} ms a second)")
        ours = sum(seconds for name, seconds in used.items() if name != "database")
        print(f"  {'without it':<12} {1000 * ours / SUBMISSIONS:6.1f} ms")
        for request, n in Counter(map(kind_of_request, requests)).most_common():
            print(f"  {n / SUBMISSIONS:6.2f} requests to S3: {request}")


def in_store(endpoint: str) -> dict[str, str]:
    return {
        "HOLDOUT_S3_BUCKET": "files",
        "HOLDOUT_S3_GOLD_BUCKET": "gold",
        "HOLDOUT_S3_ENDPOINT": endpoint,
        **KEYS,
    }


def kind_of_request(line: str) -> str:
    method, path, _ = line.split()
    return f"{method} {'/'.join(path.split('?')[0].split('/')[1:3])}"


@contextmanager
def site(**variables: str) -> Iterator[tuple[Callable[[], dict[str, float]], int]]:
    """Start the site's processes; yield a function that returns what each has used, and the port of the web server."""
    with ExitStack() as stack:
        empty_queue()
        sandbox = subprocess.Popen(processes.sandbox(), env=environment(), stdin=subprocess.DEVNULL)
        stack.callback(sandbox.wait)
        stack.callback(sandbox.terminate)
        workers = stack.enter_context(Stack().stopping())
        web = stack.enter_context(served(**variables))
        trees = {
            "web": web.pid,
            "sandbox": sandbox.pid,
            "worker": workers.start_worker(concurrency=2, **variables).process.pid,
            "beat": workers.start_worker(command=processes.beat(), **variables).process.pid,
        }
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                trees["database"] = parent_of(cursor.fetchone()[0])
        while not sandbox_client.answers():
            time.sleep(0.1)
        yield (
            lambda: {name: processor_seconds_of(pid) for name, pid in trees.items()},
            int(web.address.rpartition(":")[2]),
        )


def stat_of(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the process's name."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def parent_of(pid: int) -> int:
    return int(stat_of(pid)[1])


def processor_seconds_of(pid: int) -> float:
    """Return what a process has used, with its children, the ended ones too."""
    try:
        return sum(map(int, stat_of(pid)[11:15])) / TICK + sum(map(processor_seconds_of, children(pid)))
    except (FileNotFoundError, ProcessLookupError):  # it has just ended, and its parent counts it
        return 0.0


def idle_cost(processor_seconds: Callable[[], dict[str, float]]) -> dict[str, float]:
    """Return the seconds a second that each process uses without submissions."""
    before, begin = processor_seconds(), time.monotonic()
    time.sleep(2 * settings.SWEEP_SECONDS)
    wall = time.monotonic() - begin
    return {name: (seconds - before[name]) / wall for name, seconds in processor_seconds().items()}


def upload_of_each_team() -> list[tuple[str, list[str]]]:
    """Make a phase of GROUPS groups of four claims, and the teams; return the token and the labels of each team."""
    curator = User.objects.create_user("curator", "c@holdout.example", "x", is_curator=True)
    dataset = Dataset.objects.create(slug="cost", title="Cost", task="fact-verification")
    split = splits.create_split(dataset=dataset, name="test", kind="test", gold_public=False, by=curator)
    splits.add_gold(split=split, file=uploaded(gold_lines(), "gold.jsonl"), reason="first", by=curator)
    Split.objects.update(state=Split.State.PUBLISHED, published_at=timezone.now())
    benchmark = Benchmark.objects.create(
        slug="cost", title="Cost", task="fact-verification", dataset=dataset, state="public"
    )
    Phase.objects.create(
        benchmark=benchmark, slug="test", title="Test", split=split, quota_per_day=1000, quota_total=1000
    )
    uploads = []
    for number in range(TEAMS):
        user = User.objects.create_user(f"user{number}", f"{number}@holdout.example", "x")
        teams.of(user)
        uploads.append((tokens.issue(by=user)[1], random.Random(number).choices(LABELS, k=4 * GROUPS)))
    return uploads


def gold_lines() -> bytes:
    """Return symmetric gold: two claims and two texts of evidence a group."""
    claims = (
        {
            "id": f"claim-{number}",
            "claim": f"claim {number // 2}",
            "evidence_text": f"evidence {number // 4} {number % 2}",
            "label": LABELS[number % 4 in (1, 2)],
            "group": f"group-{number // 4}",
            "slices": {"origin": "original" if number % 4 == 0 else "generated"},
        }
        for number in range(4 * GROUPS)
    )
    return "\n".join(map(json.dumps, claims)).encode()


def submit(port: int, uploads: list[tuple[str, list[str]]], n: int) -> None:
    """Send n files, CLIENTS at a time, each with some labels changed; wait until the last background work is done."""
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(lambda number: post(port, *uploads[number % TEAMS], seed=number + n), range(n)))
    wait_for(lambda: Run.objects.exclude(state=State.DONE).count() == 0)
    wait_for(lambda: not Ranking.objects.exclude(covered=F("changes")).exists())
    done = Run.objects.count()
    wait_for(lambda: SimilarityCheck.objects.filter(state=State.DONE).count() == done)


def post(port: int, token: str, labels: list[str], *, seed: int) -> None:
    draw = random.Random(seed)
    lines = (
        json.dumps({"id": f"claim-{number}", "predicted_label": draw.choice(LABELS) if draw.random() < 0.1 else label})
        for number, label in enumerate(labels)
    )
    client = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Authorization": f"Token {token}", "Content-Type": "application/x-ndjson"}
    client.request("POST", SUBMIT + "?system=ours&filename=p.jsonl", "\n".join(lines).encode(), headers)
    answer = client.getresponse()
    assert answer.status == 201, answer.read()
    client.close()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < deadline, [*Run.objects.values("state", "reason")][:3]
        time.sleep(0.2)
