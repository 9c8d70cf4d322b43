"""A phase with enough groups for significant differences: forty claims, each in its own group."""

from __future__ import annotations

import json
from typing import Any

from leaderboard.accounts.actions import teams
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.datasets.actions import splits
from leaderboard.models import Leaderboard, Run, Split, Standing, State, Submission
from leaderboard.scoring.actions import runs
from tests.support.rows.tiny_world import DRAFT, World, build, published, uploaded

CLAIMS = 40
TURNED = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
LABELS = {f"c{place}": ("SUPPORTS", "REFUTES")[place % 2] for place in range(CLAIMS)}


def gold(labels: dict[str, str] = LABELS) -> bytes:
    lines = [{"id": id_, "claim": f"claim {id_}", "label": label} for id_, label in labels.items()]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def build_wide() -> World:
    """Build a world; before its split is published, the gold of one group is replaced by one of forty groups.

    Needs the sandbox.
    """
    world = build(quota_per_day=100, quota_total=1000)
    Split.objects.filter(pk=world.split.pk).update(**DRAFT)
    world.split.refresh_from_db()
    correct(world, gold())
    Split.objects.filter(pk=world.split.pk).update(**published())
    world.split.refresh_from_db()
    world.phase.split.refresh_from_db()
    return world


def correct(world: World, lines: bytes) -> None:
    """Add a gold version."""
    file = uploaded(lines)
    try:
        splits.add_gold(split=world.split, file=file, reason="better", by=world.curator)
    finally:
        file.close()


def answers(wrong: int, labels: dict[str, str] = LABELS) -> dict[str, str]:
    """Return answers; the first `wrong` are wrong."""
    return {id_: TURNED[label] if index < wrong else label for index, (id_, label) in enumerate(labels.items())}


def enter(world: World, name: str, wrong: int, **described: Any) -> Submission:
    """Submit for a new system with `wrong` errors; its run is queued."""
    system = teams.system(team=world.system.team, name=name, by=world.researcher, **described)
    return world.submit(answers(wrong), system=system)


def score_all() -> None:
    for run in Run.objects.filter(state=State.QUEUED).order_by("queued_at"):
        runs.WORK.run(run.pk)


def board_of(world: World) -> Leaderboard:
    return world.phase.leaderboards.get(state=Leaderboard.State.CURRENT)


def rank_all(world: World) -> None:
    """Score all queued runs, then compute the rank ranges."""
    score_all()
    rank_ranges.WORK.run(board_of(world).pk)


def ranges(board: Leaderboard) -> dict[str, tuple[int | None, int | None, int | None]]:
    """Return (rank, first, last) by system."""
    rows = Standing.objects.filter(leaderboard=board).select_related("system").order_by("rank", "pk")
    return {row.system.name: (row.rank, row.rank_low, row.rank_high) for row in rows}
