"""Score cases in this process and print a digest of each report and attachment; test_determinism runs this.

python -m tests.evaluator.sandbox.process.scoring_again < CASES        CASES: JSON, a list of [task, options, gold,
predictions]
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluator.jobs import JOBS
from evaluator.sandbox.process.protocol import encode_report

RESAMPLES = 200
SEED = 7


def arguments(task: str, options: Mapping[str, str]) -> dict[str, Any]:
    names = {"gold_name": "gold.jsonl", "predictions_name": "predictions.jsonl"}
    return {"task": task, "options": dict(options), "resamples": RESAMPLES, "seed": SEED, **names}


def digests(report: Mapping[str, Any], attachment: bytes) -> list[str]:
    return [hashlib.sha256(part).hexdigest() for part in (encode_report(report), attachment)]


def main() -> None:
    results = []
    for task, options, gold, predictions in json.load(sys.stdin):
        with Path(gold).open("rb") as gold_file, Path(predictions).open("rb") as file:
            results.append(digests(*JOBS["score"]({"gold": gold_file, "predictions": file}, arguments(task, options))))
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
