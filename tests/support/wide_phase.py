"""A phase with enough groups for systems to be told apart: forty claims, each a group of its own."""

from __future__ import annotations

import json
from typing import Any

from leaderboard.accounts.actions import teams
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.datasets.actions import splits
from leaderboard.models import Leaderboard, Run, Split, Standing, State, Submission
from leaderboard.scoring.actions import runs
from tests.support.tiny_world import DRAFT, World, build, published, uploaded

CLAIMS = 40
TURNED = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
LABELS = {f"c{place}": ("SUPPORTS", "REFUTES")[place % 2] for place in range(CLAIMS)}


def gold(labels: dict[str, str] = LABELS) -> bytes:
    lines = [{"id": id_, "claim": f"claim {id_}", "label": label} for id_, label in labels.items()]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def build_wide() -> World:
    """Needs the sandbox. The phase's first gold of one group is followed by one of forty, before it is published."""
    world = build(quota_per_day=100, quota_total=1000)
    Split.objects.filter(pk=world.split.pk).update(**DRAFT)
    world.split.refresh_from_db()
    correct(world, gold())
    Split.objects.filter(pk=world.split.pk).update(**published())
    world.split.refresh_from_db()
    world.phase.split.refresh_from_db()
    return world


def correct(world: World, lines: bytes) -> None:
    """A further version of the gold."""
    file = uploaded(lines)
    try:
        splits.add_gold(split=world.split, file=file, reason="better", by=world.curator)
    finally:
        file.close()


def answers(wrong: int, labels: dict[str, str] = LABELS) -> dict[str, str]:
    """Answers of which the first `wrong` are wrong."""
    return {id_: TURNED[label] if place < wrong else label for place, (id_, label) in enumerate(labels.items())}


def enter(world: World, name: str, wrong: int, **described: Any) -> Submission:
    """A system of that name with so many errors; its run is queued."""
    system = teams.system(team=world.system.team, name=name, by=world.researcher, **described)
    return world.submit(answers(wrong), system=system)


def score_all() -> None:
    for run in Run.objects.filter(state=State.QUEUED).order_by("queued_at"):
        runs.WORK.run(run.pk)


def board_of(world: World) -> Leaderboard:
    return world.phase.leaderboards.get(state=Leaderboard.State.CURRENT)


def rank_all(world: World) -> None:
    """Score what waits, then compute the ranges."""
    score_all()
    rank_ranges.WORK.run(board_of(world).pk)


def ranges(board: Leaderboard) -> dict[str, tuple[int | None, int | None, int | None]]:
    """(rank, first, last) by system."""
    rows = Standing.objects.filter(leaderboard=board).select_related("system").order_by("rank", "pk")
    return {row.system.name: (row.rank, row.rank_low, row.rank_high) for row in rows}
