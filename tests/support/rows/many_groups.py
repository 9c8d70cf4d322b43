"""A split with many groups for tests of disclosure: claims with balanced labels and a property, one group per claim."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import numpy as np
from django.utils import timezone

from leaderboard.benchmarks.actions import benchmarks
from leaderboard.datasets.actions import lifecycle, splits
from leaderboard.models import Phase, Release, Run, Split, State, Submission, System
from leaderboard.scoring.actions import runs
from tests.support.rows.tiny_world import EXACT, World, uploaded

LABELS = ("SUPPORTS", "REFUTES")
KINDS = ("city", "film", "person", "river")


def labels_of(n: int, seed: int = 0) -> dict[str, str]:
    """Return `n` claims with random labels, half of each label."""
    codes = np.random.default_rng(seed).permutation(n) % 2
    return {f"c{index}": LABELS[code] for index, code in enumerate(codes)}


def gold_of(labels: dict[str, str], *, per_group: int = 1) -> bytes:
    lines = [
        {
            "id": id_,
            "claim": f"claim {id_}",
            "label": label,
            "group": f"g{index // per_group}",
            "slices": {"kind": KINDS[index // per_group % len(KINDS)]},
        }
        for index, (id_, label) in enumerate(labels.items())
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def answers(labels: dict[str, str], wrong: int, *, begin: int = 0) -> dict[str, str]:
    """Return answers with `wrong` errors, from index `begin`."""
    opposite = {LABELS[0]: LABELS[1], LABELS[1]: LABELS[0]}
    wrong_indices = range(begin, begin + wrong)
    return {
        id_: opposite[label] if index in wrong_indices else label for index, (id_, label) in enumerate(labels.items())
    }


def a_split(world: World, labels: dict[str, str], *, per_group: int = 1, name: str = "many") -> Split:
    """Create a further split, with hidden gold. Needs the sandbox."""
    split = splits.create_split(
        dataset=world.split.dataset, name=name, kind="test", gold_public=False, by=world.curator
    )
    correct(split, world, gold_of(labels, per_group=per_group))
    lifecycle.publish_unaudited(split=split, by=world.curator)
    return split


def correct(split: Split, world: World, gold: bytes) -> None:
    file = uploaded(gold)
    try:
        splits.add_gold(split=split, file=file, reason="better", by=world.curator)
    finally:
        file.close()


def a_phase(world: World, split: Split, **changes: Any) -> Phase:
    """Create a phase with a large quota; by default with one ladder for everybody."""
    fields: dict[str, Any] = {
        "slug": "many",
        "title": "Many",
        "options": {},
        "opens_at": None,
        "closes_at": None,
        "quota_per_day": 10_000,
        "quota_total": 10_000,
        "disclosure": "ladder",
        "scope": "task",
    }
    phase = Phase(benchmark=world.benchmark, split=split, **{**EXACT, **fields, **changes})
    return benchmarks.add_phase(phase=phase, by=world.curator)


def send(world: World, phase: Phase, labels: dict[str, str], *, system: System | None = None) -> Submission:
    """Submit without scoring."""
    return world.submit(labels, phase=phase, system=system)


def score_all(*, last_first: bool = False) -> None:
    """Score all queued runs, as workers do, in either order."""
    waiting = Run.objects.filter(state=State.QUEUED).order_by("queued_at")
    for run in reversed(waiting) if last_first else waiting:
        runs.WORK.run(run.pk)


def primary(submission: Submission) -> float | None:
    """Return the revealed value of a submission on its phase's newest gold; None: nothing was revealed."""
    release = Release.objects.filter(submission=submission).order_by("-sequence").first()
    overall = (
        [score for score in release.values if not score["slice"] and score["measure"] == release.primary]
        if release
        else []
    )
    return overall[0]["value"] if overall else None


def soon(days: int = 1) -> Any:
    return timezone.now() + timedelta(days=days)
