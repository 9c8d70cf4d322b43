"""Jobs that check and describe gold, and partition its groups into public and private."""

from typing import Any

from evaluator.curation.splitting.public_private import split_public_private
from evaluator.jobs.base import Files, Report, TaskRequest
from evaluator.jobs.public_private_file import read_public_private, write_public_private
from evaluator.jsonl.decompress import ReadLimits
from evaluator.outcomes.table import SliceValue
from evaluator.scoring.score import existing, score_outcomes


class PrepareGoldRequest(TaskRequest, frozen=True, kw_only=True):
    job = "prepare_gold"
    gold_name: str
    limits: ReadLimits = ReadLimits()


class PrepareGoldReport(Report):
    """Description of a gold file, without answers.

    dimensions: name -> values; measures: the names of the measures that exist for this gold; primary: the name of the
    measure that ranks; expects: requirements on predictions, for `ValidateRequest`.
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
    """Check and describe a gold file, which is `gold` in `files`; the attachment is the public inputs."""
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options, request.limits)
    outcomes = task.score(gold, task.empty_answers(gold), options)
    # Compute every score once, so that gold that cannot be scored is rejected before anybody submits.
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


class PartitionRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `partition`. share: the fraction of groups that become public, as a decimal string such as "0.3"."""

    job = "partition"
    gold_name: str
    seed: int
    share: str
    limits: ReadLimits = ReadLimits()


class PartitionReport(Report):
    """Result of `partition`: the number of groups that became public, and of those that became private."""

    n_public: int
    n_private: int


def partition(files: Files, request: PartitionRequest) -> tuple[PartitionReport, bytes]:
    """Partition a gold's groups into public and private; the attachment lists the groups of each subset.

    files: `gold`, and, if given, `previous`, the public/private split of an earlier gold version: groups stay in the
    subset that they have there. The attachment is in the format of `write_public_private`.
    """
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options, request.limits)
    outcomes = task.score(gold, task.empty_answers(gold), options)
    earlier = read_public_private(files["previous"].read()) if "previous" in files else None
    split = split_public_private(outcomes.group_names, seed=request.seed, share=request.share, previous=earlier)
    return PartitionReport(len(split.public), len(split.private)), write_public_private(split)
