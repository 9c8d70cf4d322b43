"""Errata: public notices of corrections of gold, with date, reason, number of changed items and replaced boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Benchmark, Correction, GoldVersion, Leaderboard, Split

State = Leaderboard.State
IN_FORCE, SCORED_AGAIN, SET_ASIDE = "in force", "being scored again", "set aside"


@dataclass(frozen=True)
class Erratum:
    """Public notice of one correction of gold.

    gold: the gold version that the correction created.
    n_changed: number of changed items, except those in which only the notation changed; None: not counted, or the gold
    is hidden and the organisers do not publish the number.
    state: SCORED_AGAIN while a board on this gold is being prepared, SET_ASIDE if all its boards were cancelled,
    otherwise IN_FORCE.
    replaced: the boards that boards on this gold replaced, one for each phase.
    """

    gold: GoldVersion
    n_changed: int | None
    state: str
    replaced: Sequence[Leaderboard]

    @property
    def anchor(self) -> str:
        """HTML id of the erratum on the benchmark's page."""
        return f"erratum-{self.gold.split.name}-{self.gold.number}"


def errata_of(benchmark: Benchmark, *, viewer: Any, split: Split | None = None) -> list[Erratum]:
    """Return the errata of a benchmark's splits, latest first.

    split: only errata of this split; None: of all splits that `viewer`, a user, may see. There is no erratum for gold
    that was added while its split was a draft.
    """
    splits = [split] if split else benchmark.dataset.splits.visible_to(viewer)
    golds = GoldVersion.objects.filter(split__in=splits, number__gt=1).select_related("split", "correction")
    later = [gold for gold in golds.order_by("-created_at", "-pk") if _is_correction(gold)]
    if not later:
        return []
    rows = Leaderboard.objects.filter(phase__benchmark=benchmark).select_related("phase", "gold_version")
    boards = list(rows.order_by("phase", "gold_version__number", "task_version"))
    return [Erratum(gold, _n_changed(gold), _state(gold, boards), _replaced(gold, boards)) for gold in later]


def _is_correction(gold: GoldVersion) -> bool:
    published = gold.split.published_at
    return published is not None and gold.created_at > published


def _n_changed(gold: GoldVersion) -> int | None:
    correction: Correction | None = getattr(gold, "correction", None)
    if correction is None or not (gold.split.gold_public or correction.publishes_count):
        return None
    counts = correction.counts
    return int(counts["n_changed"]) - int(counts["by_kind"]["other"])


def _state(gold: GoldVersion, boards: Sequence[Leaderboard]) -> str:
    states = {board.state for board in boards if board.gold_version_id == gold.pk}
    if State.PREPARING in states:
        return SCORED_AGAIN
    return SET_ASIDE if states == {State.CANCELLED} else IN_FORCE


def _replaced(gold: GoldVersion, boards: Sequence[Leaderboard]) -> list[Leaderboard]:
    """Return the boards that boards on `gold` replaced, at most one for each phase.

    It is the last board on an earlier gold version that the phase published. boards: sorted by phase, gold version and
    task version.
    """
    shown = {
        board.phase_id for board in boards if board.gold_version_id == gold.pk and board.state in Leaderboard.PUBLIC
    }
    earlier: dict[int, Leaderboard] = {}
    for board in boards:
        is_before = board.gold_version.split_id == gold.split_id and board.gold_version.number < gold.number
        if board.phase_id in shown and is_before and board.state in Leaderboard.PUBLIC:
            earlier[board.phase_id] = board
    return list(earlier.values())
