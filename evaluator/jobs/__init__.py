"""The evaluator's operations on files, as the command line and the sandbox call them.

A job takes open files and its request, and returns a report and an attachment (bytes). In the sandbox's protocol,
request and report are plain JSON values (`evaluator.jobs.base.Job`). For invalid files or arguments the report is a
`Refusal`; any exception is an internal error.
"""

import sys
from collections.abc import Mapping
from typing import Any, BinaryIO

from evaluator.jobs import compare, gold, score, warmup
from evaluator.jobs.audit import AuditPartRequest, audit_part
from evaluator.jobs.base import RESAMPLES, SEED, Job, Request
from evaluator.jobs.baseline import BaselineRequest, make_baseline
from evaluator.jobs.examples import ExamplesRequest, examples
from evaluator.jobs.generate import GenerateRequest, generate
from evaluator.jobs.gold_diff import GoldDifferenceRequest, gold_difference
from evaluator.jobs.picture import ReencodePictureRequest, reencode_picture
from evaluator.jobs.similarity import NearDuplicatesRequest, SketchRequest, make_sketch, near_duplicates
from evaluator.jobs.tables import ReadTableRequest, WriteTableRequest, read_table, write_table_of_gold
from evaluator.tasks.registry import TASKS

_ALL: tuple[Job[Any], ...] = (
    Job(score.ValidateRequest, score.validate),
    Job(score.ScoreRequest, score.score),
    Job(score.ScorerOutputRequest, score.scorer_output),
    Job(gold.PrepareGoldRequest, gold.prepare_gold),
    Job(gold.PartitionRequest, gold.partition),
    Job(compare.CompareRequest, compare.compare),
    Job(compare.CompareOutcomesRequest, compare.compare_stored),
    Job(compare.CompareBoardRequest, compare.compare_board),
    Job(compare.HeadToHeadRequest, compare.head_to_head),
    Job(compare.PlotRequest, compare.plot),
    Job(ExamplesRequest, examples),
    Job(SketchRequest, make_sketch),
    Job(NearDuplicatesRequest, near_duplicates),
    Job(AuditPartRequest, audit_part),
    Job(BaselineRequest, make_baseline),
    Job(GoldDifferenceRequest, gold_difference),
    Job(GenerateRequest, generate),
    Job(ReadTableRequest, read_table),
    Job(WriteTableRequest, write_table_of_gold),
    Job(ReencodePictureRequest, reencode_picture),
)
JOBS = {job.request.job: job for job in _ALL}


def run(request: Request, files: Mapping[str, BinaryIO]) -> tuple[dict[str, Any], bytes]:
    """Run the request's job in this process; return (report, attachment).

    files: the role of a file, such as `gold` -> its open stream. The report is a refusal for invalid files or
    arguments.
    """
    return JOBS[request.job](files, request)


def warm_up() -> None:
    """Run every job once on valid and invalid files, so that later runs import and build nothing for the first time.

    Unusable tasks of installed packages are reported on standard error, which is the server's log.
    """
    warmup.run(JOBS)
    for problem in TASKS.problems:
        sys.stderr.write(f"holdout: {problem}\n")


__all__ = ["JOBS", "RESAMPLES", "SEED", "Request", "run", "warm_up"]
