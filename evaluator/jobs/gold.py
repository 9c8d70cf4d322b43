"""Gold: is it well formed, what is in it, and which of its groups are public?"""

from typing import Any

from evaluator.curation.splitting.halves import halves
from evaluator.jobs.base import Files, Report, TaskRequest
from evaluator.jobs.halves_file import read_division, write_division
from evaluator.jsonl.decompress import ReadLimits
from evaluator.outcomes.table import SliceValue
from evaluator.scoring.score import existing, score_outcomes


class PrepareGoldRequest(TaskRequest, frozen=True, kw_only=True):
    job = "prepare_gold"
    gold_name: str
    limits: ReadLimits = ReadLimits()


class PrepareGoldReport(Report):
    """What a gold file holds; none of it is an answer.

    measures: those that exist for it. expects: what predictions must fit, for `ValidateRequest`.
    """

    n_lines: int
    n_units: int
    n_groups: int
    dimensions: dict[str, list[SliceValue]]
    measures: list[str]
    primary: str
    expects: dict[str, Any]
    warnings: list[str]


def prepare_gold(files: Files, request: PrepareGoldRequest) -> tuple[PrepareGoldReport, bytes]:
    """Is the gold well formed, and what does it hold? The attachment is the public inputs. files: gold."""
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options, request.limits)
    outcomes = task.score(gold, task.unanswered(gold), options)
    # Every score is taken once, so that a gold that cannot be scored is found before anybody submits.
    score_outcomes(outcomes, task.measures, cross=options["cross"], resamples=0)
    report = PrepareGoldReport(
        n_lines=gold.n_lines,
        n_units=outcomes.n_units,
        n_groups=outcomes.n_groups,
        dimensions={name: list(dimension.values) for name, dimension in outcomes.dimensions.items()},
        measures=[measure.name for measure in existing(task.measures, outcomes.facts)],
        primary=task.primary(outcomes.facts),
        expects=task.facts(gold),
        warnings=gold.warnings,
    )
    return report, task.public_inputs(gold)


class DivideRequest(TaskRequest, frozen=True, kw_only=True):
    """share: of the groups that are public, a decimal as text."""

    job = "divide"
    gold_name: str
    seed: int
    share: str
    limits: ReadLimits = ReadLimits()


class DivideReport(Report):
    """Groups of each half."""

    n_public: int
    n_private: int


def divide(files: Files, request: DivideRequest) -> tuple[DivideReport, bytes]:
    """Public and private halves of a gold's groups; the attachment names the groups of each. files: gold, and where
    an earlier version was divided, its division as `kept`: groups that are still there keep their half."""
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options, request.limits)
    outcomes = task.score(gold, task.unanswered(gold), options)
    kept = read_division(files["kept"].read()) if "kept" in files else None
    made = halves(outcomes.group_names, seed=request.seed, share=request.share, kept=kept)
    return DivideReport(len(made.public), len(made.private)), write_division(made)
