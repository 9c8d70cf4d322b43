"""How much longer a backlog of runs takes beside a worker whose host has no sandbox; the goal is at most 1.2 times.

Run with `bin/test -m benchmark -s tests/benchmark/test_broken_worker.py`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db.models import Max, Min

from leaderboard.models import Run, State
from tests.support.rows.tiny_world import World, build
from tests.support.workers.running_stack import Stack, empty_queue

pytest_plugins = ["tests.support.workers.running_stack"]
pytestmark = [pytest.mark.benchmark, pytest.mark.django_db(transaction=True)]
N_RUNS = 80


def seconds(world: World, broken: dict[str, str] | None) -> float:
    """Return the time from the first to the last result of a backlog. broken: environment of a second worker."""
    empty_queue()
    with Stack().stopping() as stack:
        if broken is not None:
            world.submit()
            other = stack.start_worker(concurrency=2, **broken)
            stack.follow(lambda: "sandbox_unavailable" in other.log.read_text(), "its start")
        submissions = [world.submit() for _ in range(N_RUNS)]
        stack.start_worker(concurrency=2)
        runs = Run.objects.filter(prediction__submission__in=submissions)
        stack.follow(lambda: not runs.exclude(state=State.DONE).exists(), "the backlog")
        times = runs.aggregate(first=Min("finished_at"), last=Max("finished_at"))
    return float((times["last"] - times["first"]).total_seconds())


def test_a_broken_worker_holds_up_no_backlog(transactional_db: None, sandbox: str, tmp_path: Path) -> None:
    world = build(quota_per_day=1000, quota_total=1000)
    alone = seconds(world, None)
    beside = seconds(world, {"HOLDOUT_SANDBOX_SOCKET": str(tmp_path / "none.sock")})
    print(f"{N_RUNS} runs: {alone:.1f} s alone, {beside:.1f} s beside a broken worker, {beside / alone:.2f} times")
