"""The things the referee does with files, as the command line and the sandbox call them.

A job takes open files and plain arguments and returns a report (plain JSON values) and an attachment (bytes). Bad
files are reports, not exceptions; whatever else is raised is our own fault.
"""

import sys

from evaluator.jobs import compare as comparing
from evaluator.jobs import gold
from evaluator.jobs import score as scoring
from evaluator.jobs import warmup as warming
from evaluator.jobs.audit import audit_part
from evaluator.jobs.base import RESAMPLES, SEED, Job, reporting
from evaluator.jobs.baseline import make_baseline
from evaluator.jobs.generate import generate
from evaluator.jobs.gold_diff import gold_difference
from evaluator.jobs.similarity import make_signature, near_copies
from evaluator.tasks.registry import TASKS

JOBS: dict[str, Job] = {
    "validate": reporting(scoring.validate),
    "score": reporting(scoring.score),
    "scorer_output": reporting(scoring.scorer_output),
    "prepare_gold": reporting(gold.prepare_gold),
    "divide": reporting(gold.divide),
    "compare": reporting(comparing.compare),
    "compare_outcomes": reporting(comparing.compare_stored),
    "compare_board": reporting(comparing.compare_board),
    "side_by_side": reporting(comparing.side_by_side),
    "draw": reporting(comparing.draw),
    "signature": reporting(make_signature),
    "near_copies": reporting(near_copies),
    "audit_part": reporting(audit_part),
    "baseline": reporting(make_baseline),
    "gold_difference": reporting(gold_difference),
    "generate": reporting(generate),
}


def warm_up() -> None:
    """Runs every job once, right and wrong, so that nothing is imported or built for the first time later.

    Tasks of installed packages that cannot be used are reported on standard error, which is the server's log.
    """
    warming.run(JOBS)
    for fault in TASKS.faults:
        sys.stderr.write(f"holdout: {fault}\n")


__all__ = ["JOBS", "RESAMPLES", "SEED", "warm_up"]
