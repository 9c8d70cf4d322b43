"""Corrected gold for tests: the tiny world with two systems, one right by the gold, one by its correction."""

from __future__ import annotations

import hashlib

from django.core.files.base import ContentFile
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.datasets.actions import corrections, splits
from leaderboard.models import Correction, Leaderboard, Prediction, QuotaCharge, Release, Run, Standing, State
from leaderboard.scoring.actions import runs
from tests.support.rows.tiny_world import LABELS, World, build, gold_lines, uploaded

CORRECTED = {id_: {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}[label] for id_, label in LABELS.items()}
HALF = {**LABELS, "a3": "SUPPORTS", "a4": "REFUTES"}
"""Half of the labels are right by the gold, the other half by its correction."""

BEFORE = [("Bernoulli", 1, 1.0), ("Contrary", 2, 0.0)]
AFTER = [("Contrary", 1, 1.0), ("Bernoulli", 2, 0.0)]


def two_systems() -> World:
    """Return a world with two scored systems. Needs the sandbox."""
    world = build()
    contrary = teams.system(team=world.system.team, name="Contrary", by=world.researcher)
    world.submit(LABELS)
    world.submit(CORRECTED, system=contrary)
    score_all()
    return world


def score_all() -> None:
    """Score all queued runs once, as a worker does."""
    for run in Run.objects.filter(state=State.QUEUED).order_by("queued_at"):
        runs.WORK.run(run.pk)


def correct(world: World, gold: bytes | None = None, *, reason: str = "labels were swapped") -> None:
    file = uploaded(gold or gold_lines(CORRECTED))
    try:
        splits.add_gold(split=world.split, file=file, reason=reason, by=world.curator)
    finally:
        file.close()


def waiting(world: World) -> Correction:
    """Insert an upload that was not compared with the gold yet, as `corrections.propose` does."""
    content, at = gold_lines(CORRECTED), timezone.now()
    correction = Correction(
        split=world.split,
        base=world.gold,
        name="gold.jsonl",
        sha256=hashlib.sha256(content).hexdigest(),
        bytes=len(content),
        inputs_sha256=world.split.inputs_sha256,
        created_by=world.curator,
        queued_at=at,
        enqueued_at=at,
        expires_at=at + corrections.PENDING_FOR,
    )
    correction.file.save("gold.jsonl", ContentFile(content), save=False)
    correction.save()
    return correction


def shown(world: World) -> list[tuple[str, int | None, float | None]]:
    """Return the current board: (system, rank, value); ties are in order of submission."""
    return rows_of(world.phase.leaderboards.get(state=Leaderboard.State.CURRENT))


def rows_of(board: Leaderboard) -> list[tuple[str, int | None, float | None]]:
    rows = Standing.objects.filter(leaderboard=board).select_related("system")
    rows = rows.order_by("rank", "release__submission__received_at")
    return [(row.system.name, row.rank, row.value) for row in rows]


def states(world: World) -> list[tuple[int, int, str]]:
    """Return the phase's boards: (gold's number, task version, state)."""
    boards = world.phase.leaderboards.order_by("gold_version__number", "task_version")
    return list(boards.values_list("gold_version__number", "task_version", "state"))


def assert_switched_once(world: World, gold: int) -> None:
    """Check that every prediction has one scored run and one release on the gold, and that no run is left."""
    assert not Run.objects.filter(state__in=(State.QUEUED, State.RUNNING)).exists()
    for prediction in Prediction.objects.all():
        (run,) = Run.objects.filter(prediction=prediction, gold_version__number=gold, state=State.DONE)
        assert Release.objects.filter(run=run).count() == 1
        files = [name for name in run.outcomes.storage.listdir("")[1] if name.startswith(run.pk.hex)]
        assert files == [run.outcomes.name]
    board = world.phase.leaderboards.get(state=Leaderboard.State.CURRENT)
    assert board.gold_version.number == gold
    sequence = list(Release.objects.order_by("sequence").values_list("sequence", flat=True))
    assert sequence == list(range(1, len(sequence) + 1))
    assert QuotaCharge.objects.filter(refunded_at=None).count() == Prediction.objects.count()
