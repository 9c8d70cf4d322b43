"""Report on the dry runs of a split's baselines: their scores, and warnings about suspicious scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.tasks.base import Task
from evaluator.tasks.baselines.base import Baseline
from evaluator.tasks.registry import TASKS
from leaderboard.models import DryRun, GoldVersion, Phase, Split, State

MARGIN = 0.02
"""Smallest difference from the chance level for which a trivial baseline is flagged, in the measure's own unit.

Smaller differences are not flagged, even if they are significant.
"""
WIDE = 0.05
"""Half-width of confidence intervals, as a fraction of the measure's range, above which a warning is shown."""
WIDE_SLICE = 0.2
MOST_NAMED = 8


@dataclass(frozen=True)
class ShownScore:
    """Score of one measure on one slice. low, high: ends of its confidence interval; n: number of gold units scored."""

    value: float | None
    low: float | None
    high: float | None
    n: int


NOTHING = ShownScore(None, None, None, 0)


@dataclass(frozen=True)
class DryRunWarning:
    """Warning about a split that follows from scores of its baselines.

    grave: True if managers should review it before they publish the split; False if it is for information.
    """

    code: str
    text: str
    grave: bool = True


class BaselineRun:
    """One dry run with its scores.

    baseline: the trivial baseline of the task that was run; None for an uploaded predictions file, and for a baseline
    that the task no longer has. is_outdated: True if it has other settings than the report; its scores are then left
    out.
    """

    def __init__(self, row: DryRun, baseline: Baseline | None, *, is_outdated: bool = False) -> None:
        self.row, self.baseline, self.is_outdated = row, baseline, is_outdated
        scores = () if is_outdated else row.result.get("scores", ())
        self._scores = {(score["measure"], _key(score["slice"])): score for score in scores}

    @property
    def is_done(self) -> bool:
        return self.row.state == State.DONE and not self.is_outdated

    def score(self, measure: str, slice_: Mapping[str, Any] | None = None) -> ShownScore:
        score = self._scores.get((measure, _key(slice_ or {})))
        return ShownScore(*(score[name] for name in ("value", "low", "high", "n"))) if score else NOTHING

    @property
    def slices(self) -> list[dict[str, Any]]:
        """Scored slices by a single dimension, such as {"relation": "CEO"}, in the order of the stored result."""
        slices_by_key = {
            _key(score["slice"]): score["slice"]
            for score in self.row.result.get("scores", ())
            if len(score["slice"]) == 1
        }
        return list(slices_by_key.values())


@dataclass(frozen=True)
class DryRunReport:
    """All dry runs on a gold version for one phase, or for the split, with the same settings (options and groups)."""

    task: Task[Any, Any, Any]
    gold: GoldVersion
    runs: Sequence[BaselineRun]

    @property
    def primary(self) -> str:
        return self.gold.primary

    @property
    def done(self) -> list[BaselineRun]:
        return [dry_run for dry_run in self.runs if dry_run.is_done]

    @property
    def is_over(self) -> bool:
        return all(dry_run.row.is_over for dry_run in self.runs)

    @property
    def slices(self) -> list[dict[str, Any]]:
        return next((dry_run.slices for dry_run in self.done), [])

    def knowing_nothing(self, one: BaselineRun) -> float | None:
        """Return the chance level of a baseline's `audited_measure`, the measure by which the baseline is judged.

        If the baseline names another baseline as its `reference`, the chance level is that one's score, otherwise the
        constant `chance` that the baseline declares. None if it is not known, as for an uploaded file.
        """
        if one.baseline is None:
            return None
        if one.baseline.reference:
            reference = next((dry_run for dry_run in self.done if dry_run.row.name == one.baseline.reference), None)
            return reference.score(one.baseline.audited_measure).value if reference else None
        return one.baseline.chance

    @property
    def warnings(self) -> list[DryRunWarning]:
        warnings = [
            warning
            for dry_run in self.done
            for warning in (self._suspicious(dry_run), self._not_significant(dry_run))
            if warning
        ]
        return [*warnings, *self._widths()]

    def _suspicious(self, one: BaselineRun) -> DryRunWarning | None:
        """Return a warning if a trivial baseline scores significantly above chance; None if it does not.

        Significantly means that the score's confidence interval is above the chance level, and the score is at least
        MARGIN higher. For a baseline without `reference`, on a measure that can be below chance, such as AUROC, an
        interval below the chance level counts in the same way.
        """
        chance = self.knowing_nothing(one)
        if one.baseline is None or chance is None:
            return None
        score = one.score(one.baseline.audited_measure)
        if score.value is None or score.low is None or score.high is None or abs(score.value - chance) < MARGIN:
            return None
        # A correlation or AUROC below chance carries as much information as one above.
        both_ways = not one.baseline.reference and self.task.measure(one.baseline.audited_measure).low < chance
        if not (score.low > chance or (both_ways and score.high < chance)):
            return None
        text = f"{one.row.name} has {one.baseline.audited_measure} {score.value:.3f}; the chance level is {chance:.3f}"
        if one.baseline.known:
            return DryRunWarning(
                "known-exploit",
                f"{text}. This exploit is known; exact_f1 and span_ratio on the boards show which systems use it.",
                grave=False,
            )
        return DryRunWarning(
            "trivial-baseline", f"{text}. It reads nothing that should reveal the answers: {one.baseline.doc}."
        )

    def _not_significant(self, one: BaselineRun) -> DryRunWarning | None:
        """Return a warning if an uploaded system is not significantly better than the best trivial baseline.

        It is significantly better if the confidence interval of its primary score is entirely on the better side of
        that baseline's score. Returns None if it is, if `one` is not an uploaded file or has no interval, or if no
        trivial baseline has a score.
        """
        score = one.score(self.primary)
        if one.row.kind != DryRun.Kind.FILE or score.low is None or score.high is None:
            return None
        trivial = [
            (dry_run.score(self.primary).value, dry_run) for dry_run in self.done if dry_run.baseline is not None
        ]
        values = [(value, dry_run) for value, dry_run in trivial if value is not None]
        if not values:
            return None
        sign = -1 if self.task.measure(self.primary).higher_is_better is False else 1
        best, baseline = max(values, key=lambda pair: sign * pair[0])
        if (score.low > best) if sign > 0 else (score.high < best):
            return None
        return DryRunWarning(
            "not-apart",
            f"{one.row.name} is not significantly better than the trivial baseline "
            f"{baseline.row.name}: its interval of {self.primary} is {score.low:.3f} to "
            f"{score.high:.3f}, and {baseline.row.name} has {best:.3f}.",
        )

    def _widths(self) -> list[DryRunWarning]:
        measure = self.task.measure(self.primary)
        unit = min(measure.high - measure.low, 2.0)
        widths = [width for dry_run in self.done if (width := _half_width(dry_run.score(self.primary))) is not None]
        warnings = []
        if widths and max(widths) > WIDE * unit:
            warnings.append(
                DryRunWarning(
                    "wide",
                    f"Intervals of {self.primary} reach up to ±{max(widths):.3f}: smaller differences between "
                    "systems will not be significant. More groups would make intervals narrower.",
                )
            )
        wide = [slice_ for slice_ in self.slices if self._widest(slice_) > WIDE_SLICE * unit]
        if wide:
            names = ", ".join(f"{name}={value}" for slice_ in wide[:MOST_NAMED] for name, value in slice_.items())
            more = f" and {len(wide) - MOST_NAMED} more" if len(wide) > MOST_NAMED else ""
            text = (
                f"{len(wide)} of {len(self.slices)} slices have intervals wider than "
                f"±{WIDE_SLICE * unit:.2g}: {names}{more}."
            )
            warnings.append(DryRunWarning("wide-slices", text, grave=False))
        return warnings

    def _widest(self, slice_: Mapping[str, Any]) -> float:
        return max((_half_width(dry_run.score(self.primary, slice_)) or 0.0 for dry_run in self.done), default=0.0)


def _half_width(score: ShownScore) -> float | None:
    return None if score.low is None or score.high is None else (score.high - score.low) / 2


def _key(slice_: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((name, repr(value)) for name, value in slice_.items()))


def settings_of(split: Split, phase: Phase | None) -> dict[str, Any]:
    """Return the settings of a dry run for a phase, as fields of DryRun. phase: None: the split's, on all groups."""
    return {
        "scored_as": phase.slug if phase else "",
        "subset": phase.subset if phase else "",
        "options": {**split.options, **(phase.options if phase else {})},
    }


def has_settings_of(row: DryRun, phase: Phase | None) -> bool:
    """Return True if a dry run has the settings that the phase has now; phase None: those of the split.

    The slug of the phase is not enough: its settings may have changed since, and another benchmark on the dataset may
    have a phase with the same slug.
    """
    return all(getattr(row, name) == value for name, value in settings_of(row.gold.split, phase).items())


def report_of(gold: GoldVersion, phase: Phase | None = None) -> DryRunReport:
    """Return the report on the dry runs of a gold version: first trivial baselines in the task's order, then uploads.

    phase: the phase whose settings the dry runs used; None: the split's settings. Only managers of the split may see
    the report.
    """
    task = TASKS[gold.split.dataset.task]
    baselines = {baseline.name: (index, baseline) for index, baseline in enumerate(task.baselines)}
    rows = list(gold.dry_runs.filter(scored_as=phase.slug if phase else "").select_related("requested_by"))
    trivial = [row for row in rows if row.kind == DryRun.Kind.TRIVIAL]
    trivial.sort(key=lambda row: baselines.get(row.name, (len(baselines), None))[0])
    uploads = [row for row in rows if row.kind == DryRun.Kind.FILE]
    runs = [(row, baselines.get(row.name, (0, None))[1]) for row in trivial] + [(row, None) for row in uploads]
    return DryRunReport(
        task,
        gold,
        [BaselineRun(row, baseline, is_outdated=not has_settings_of(row, phase)) for row, baseline in runs],
    )
