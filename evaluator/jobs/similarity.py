"""The sandbox's jobs that look for near-copies: a file's signature, and a file beside others."""

from collections.abc import Mapping
from typing import Any, BinaryIO

from evaluator.errors import PredictionError
from evaluator.similarity.predictions import likeness, signature
from evaluator.tasks.answers import Ordered
from evaluator.tasks.registry import find_task

Files = Mapping[str, BinaryIO]
Arguments = Mapping[str, Any]


def make_signature(files: Files, arguments: Arguments) -> tuple[dict[str, Any], bytes]:
    """The signature of a prediction file, and whether its task orders units. files: gold, predictions."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    gold = task.read_gold(files["gold"], arguments["gold_name"], options)
    answered = task.answered(gold, files["predictions"], arguments["predictions_name"], options)
    made = [int(number) for number in signature(answered)]
    return {"ok": True, "ordered": isinstance(answered, Ordered), "signature": made}, b""


def near_copies(files: Files, arguments: Arguments) -> tuple[dict[str, Any], bytes]:
    """How like one file is to each of some others. files: gold, and predictions "0", "1"...: the first is the one.

    The argument `names` has their names. A row each for those from "1" on, null for one that cannot be read.
    """
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    gold = task.read_gold(files["gold"], arguments["gold_name"], options)
    names = arguments["names"]
    own = task.answered(gold, files["0"], names[0], options)
    rows: list[dict[str, Any] | None] = []
    for place, name in enumerate(names[1:], start=1):
        try:
            other = task.answered(gold, files[str(place)], name, options)
        except PredictionError:
            rows.append(None)
            continue
        found = likeness(own, other)
        rows.append(found.as_dict() | {"is_near_copy": found.is_near_copy})
    return {"ok": True, "rows": rows}, b""
