"""What dry runs of baselines say about a split: their numbers beside each other, and what is suspicious in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.tasks.base import Task
from evaluator.tasks.baselines.base import Baseline
from evaluator.tasks.registry import TASKS
from leaderboard.models import DryRun, GoldVersion, State

MARGIN = 0.02
"""As much as a baseline may be off what knowing nothing gives before it is told, even where the interval is narrow."""
WIDE = 0.05
"""Of the measure's range: a half interval over it leaves systems that differ by less alike."""
WIDE_SLICE = 0.2
MOST_NAMED = 8


@dataclass(frozen=True)
class Cell:
    """One measure on one slice, as pages show it."""

    value: float | None
    low: float | None
    high: float | None
    n: int


NOTHING = Cell(None, None, None, 0)


@dataclass(frozen=True)
class Warned:
    """grave: to be looked at before the split is published; else good to know."""

    code: str
    text: str
    grave: bool = True


class Tried:
    """One dry run with its scores. baseline: None for an uploaded file, and for one that the task has no more."""

    def __init__(self, row: DryRun, baseline: Baseline | None) -> None:
        self.row, self.baseline = row, baseline
        self._cells = {(one["measure"], _key(one["slice"])): one for one in row.result.get("scores", ())}

    @property
    def is_done(self) -> bool:
        return self.row.state == State.DONE

    def cell(self, measure: str, slice_: Mapping[str, Any] | None = None) -> Cell:
        found = self._cells.get((measure, _key(slice_ or {})))
        return Cell(*(found[name] for name in ("value", "low", "high", "n"))) if found else NOTHING

    @property
    def slices(self) -> list[dict[str, Any]]:
        """Of one dimension each, in the order of the report."""
        found = {
            _key(one["slice"]): one["slice"] for one in self.row.result.get("scores", ()) if len(one["slice"]) == 1
        }
        return list(found.values())


@dataclass(frozen=True)
class Trial:
    """All dry runs of a gold version as one phase would score them."""

    task: Task[Any, Any, Any]
    gold: GoldVersion
    tried: Sequence[Tried]

    @property
    def primary(self) -> str:
        return self.gold.primary

    @property
    def done(self) -> list[Tried]:
        return [one for one in self.tried if one.is_done]

    @property
    def is_over(self) -> bool:
        return all(one.row.is_over for one in self.tried)

    @property
    def slices(self) -> list[dict[str, Any]]:
        return next((one.slices for one in self.done), [])

    def knowing_nothing(self, one: Tried) -> float | None:
        """What its watched measure is held against; None: nothing."""
        if one.baseline is None:
            return None
        if one.baseline.beside:
            other = next((found for found in self.done if found.row.name == one.baseline.beside), None)
            return other.cell(one.baseline.watched).value if other else None
        return one.baseline.chance

    @property
    def warnings(self) -> list[Warned]:
        made = [told for one in self.done for told in (self._suspicious(one), self._not_apart(one)) if told]
        return [*made, *self._widths()]

    def _suspicious(self, one: Tried) -> Warned | None:
        """A baseline that solves nothing and scores all the same."""
        against = self.knowing_nothing(one)
        if one.baseline is None or against is None:
            return None
        cell = one.cell(one.baseline.watched)
        if cell.value is None or cell.low is None or cell.high is None or abs(cell.value - against) < MARGIN:
            return None
        # Of a correlation or an AUROC a value below chance tells as much as one above.
        both_ways = not one.baseline.beside and self.task.measure(one.baseline.watched).low < against
        if not (cell.low > against or (both_ways and cell.high < against)):
            return None
        told = f"{one.row.name} has {one.baseline.watched} {cell.value:.3f}; knowing nothing gives {against:.3f}"
        if one.baseline.known:
            return Warned("known-exploit", f"{told}. Boards show for what it is: exact_f1 and span_ratio.", grave=False)
        return Warned("trivial-baseline", f"{told}. It reads nothing that could tell the answer: {one.baseline.doc}.")

    def _not_apart(self, one: Tried) -> Warned | None:
        """An uploaded system that is not shown to be better than the best trivial baseline."""
        cell = one.cell(self.primary)
        if one.row.kind != DryRun.Kind.FILE or cell.low is None or cell.high is None:
            return None
        trivial = [(found.cell(self.primary).value, found) for found in self.done if found.baseline is not None]
        values = [(value, found) for value, found in trivial if value is not None]
        if not values:
            return None
        sign = -1 if self.task.measure(self.primary).higher_is_better is False else 1
        best, which = max(values, key=lambda pair: sign * pair[0])
        if (cell.low > best) if sign > 0 else (cell.high < best):
            return None
        return Warned(
            "not-apart",
            f"{one.row.name} is not shown to be better than {which.row.name}, which solves nothing: its interval of "
            f"{self.primary} is {cell.low:.3f} to {cell.high:.3f}, and {which.row.name} has {best:.3f}.",
        )

    def _widths(self) -> list[Warned]:
        measure = self.task.measure(self.primary)
        unit = min(measure.high - measure.low, 2.0)
        halves = [half for one in self.done if (half := _half(one.cell(self.primary))) is not None]
        told = []
        if halves and max(halves) > WIDE * unit:
            told.append(
                Warned(
                    "wide",
                    f"Intervals of {self.primary} reach up to ±{max(halves):.3f}: systems that differ by less will "
                    "look alike. More groups would make them narrower.",
                )
            )
        wide = [slice_ for slice_ in self.slices if self._widest(slice_) > WIDE_SLICE * unit]
        if wide:
            named = ", ".join(f"{name}={value}" for slice_ in wide[:MOST_NAMED] for name, value in slice_.items())
            more = f" and {len(wide) - MOST_NAMED} more" if len(wide) > MOST_NAMED else ""
            text = f"{len(wide)} of {len(self.slices)} slices reach over ±{WIDE_SLICE * unit:.2g}: {named}{more}."
            told.append(Warned("wide-slices", text, grave=False))
        return told

    def _widest(self, slice_: Mapping[str, Any]) -> float:
        return max((_half(one.cell(self.primary, slice_)) or 0.0 for one in self.done), default=0.0)


def _half(cell: Cell) -> float | None:
    return None if cell.low is None or cell.high is None else (cell.high - cell.low) / 2


def _key(slice_: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, repr(value)) for name, value in slice_.items()))


def trial(gold: GoldVersion, scored_as: str = "") -> Trial:
    """The dry runs of a gold version, trivial ones first, in the order in which the task has them. For its managers."""
    task = TASKS[gold.split.dataset.task]
    known = {one.name: (place, one) for place, one in enumerate(task.baselines)}
    rows = list(gold.dry_runs.filter(scored_as=scored_as).select_related("requested_by"))
    trivial = [row for row in rows if row.kind == DryRun.Kind.TRIVIAL]
    trivial.sort(key=lambda row: known.get(row.name, (len(known), None))[0])
    found = [Tried(row, known.get(row.name, (0, None))[1]) for row in trivial]
    return Trial(task, gold, [*found, *(Tried(row, None) for row in rows if row.kind == DryRun.Kind.FILE)])
