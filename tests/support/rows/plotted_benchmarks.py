"""A benchmark for each task whose results are plotted, with systems of different accuracy. Needs the sandbox."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from leaderboard.accounts.actions import teams
from leaderboard.benchmarks.actions import benchmarks
from leaderboard.datasets.actions import datasets, lifecycle, splits
from leaderboard.models import Phase, Submission, System
from leaderboard.submissions.actions import submit
from tests.support.rows.tiny_world import EXACT, World, build, uploaded

SIZE = 80
"""Gold units; a symmetric set has a quarter as many groups."""
LABELS = ("SUPPORTS", "REFUTES")


def gold_labels(task: str) -> list[Any]:
    """Return the gold answer of each unit: its truth, its human rating, or its label."""
    if task == "fact-checking":
        return [index % 2 == 0 for index in range(SIZE)]
    if task == "metric-correlation":
        return [round(3.1415927 + 0.0271828 * ((index * 37) % 29), 7) for index in range(SIZE)]
    # Of each four members, 1 and 4 have one label, 2 and 3 the other.
    return [LABELS[(index // 4 + (index % 4 in (1, 2))) % 2] for index in range(SIZE)]


def _gold(task: str) -> list[dict[str, Any]]:
    labels = gold_labels(task)
    kinds = ["a" if index < SIZE * 3 // 4 else "b" for index in range(SIZE)]
    if task == "fact-checking":
        triple = {"subject": "s", "relation": "r", "object": "o"}
        return [{"id": f"u{i}", **triple, "label": labels[i], "slices": {"kind": kinds[i]}} for i in range(SIZE)]
    if task == "metric-correlation":
        return [{"id": f"u{i}", "human": labels[i], "slices": {"kind": kinds[i]}} for i in range(SIZE)]
    return [
        {
            "id": f"u{i}",
            "claim": f"claim {i // 2}",
            "evidence_text": f"evidence {i // 4} {i % 2}",
            "label": labels[i],
            "group": f"g{i // 4}",
            "slices": {"origin": "original" if i % 4 == 0 else "generated"},
        }
        for i in range(SIZE)
    ]


def _answers(task: str, seed: str, noise: float, *, claim_only: bool) -> list[dict[str, Any]]:
    labels = gold_labels(task)
    random = np.random.default_rng(sum(seed.encode()))
    if task != "fact-verification":
        scores = np.array(labels, dtype=float) + noise * 0.3 * random.normal(size=SIZE)
        return [{"id": f"u{i}", "score": float(scores[i])} for i in range(SIZE)]
    flipped = random.random(SIZE) < noise / 10
    predicted = [LABELS[(LABELS.index(labels[i]) + int(flipped[i])) % 2] for i in range(SIZE)]
    if claim_only:
        predicted = [labels[i - i % 4] if i % 4 < 2 else LABELS[0] for i in range(SIZE)]
    return [{"id": f"u{i}", "predicted_label": predicted[i]} for i in range(SIZE)]


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def a_world(task: str, **policy: Any) -> World:
    """Create a published benchmark `drawn` with the phase `test` and hidden gold."""
    world = build()
    by = world.curator
    dataset = datasets.create(slug="drawn", title="Drawn", task=task, by=by)
    split = splits.create_split(dataset=dataset, name="test", kind="test", gold_public=False, by=by)
    file = uploaded(_lines(_gold(task)))
    try:
        world.gold = splits.add_gold(split=split, file=file, reason="first", by=by)
    finally:
        file.close()
    lifecycle.publish_unaudited(split=split, by=by)
    world.benchmark = benchmarks.create(
        slug="drawn", title="Drawn", task=task, dataset=dataset, summary="s", description="", rules="", by=by
    )
    fields: dict[str, Any] = {"slug": "test", "title": "Test", "options": {}, "opens_at": None, "closes_at": None}
    fields |= {"quota_per_day": 100, "quota_total": 100, **policy}
    world.phase = benchmarks.add_phase(
        phase=Phase(benchmark=world.benchmark, split=split, **{**EXACT, **fields}), by=by
    )
    world.split = split
    benchmarks.publish(benchmark=world.benchmark, by=by)
    world.phase = Phase.objects.get(pk=world.phase.pk)
    return world


def enter(world: World, name: str, noise: float, *, claim_only: bool = False) -> Submission:
    """Submit without scoring. noise: 0 is always right."""
    system: System = teams.system(team=world.system.team, name=name, by=world.researcher)
    file = uploaded(_lines(_answers(world.benchmark.task, name, noise, claim_only=claim_only)))
    try:
        return submit.submit(phase=world.phase, entry=world.entry(system=system), file=file).submission
    finally:
        file.close()
