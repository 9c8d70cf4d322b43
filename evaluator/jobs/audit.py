"""The sandbox's job that audits a split, one part of the audit at a time."""

from collections.abc import Mapping
from typing import Any, BinaryIO

from evaluator.curation.audit.checks import PARTS, Asked, Beside
from evaluator.curation.audit.duplicates.near_duplicates import THRESHOLD
from evaluator.curation.audit.public_inputs import public
from evaluator.curation.audit.report import part
from evaluator.errors import UsageError
from evaluator.tasks.audit.split import Split
from evaluator.tasks.registry import find_task

Files = Mapping[str, BinaryIO]
Arguments = Mapping[str, Any]
NAMES = tuple(PARTS)
"""Of the audit's parts, in the order in which the report is assembled of them."""


def audit_part(files: Files, arguments: Arguments) -> tuple[dict[str, Any], bytes]:
    """One part of a split's audit; the argument `part` names it. The report's `told` quotes gold.

    files: gold, inputs where the public is to have any, and gold of public training splits as "0", "1"...; the
    arguments `gold_name`, `inputs_name` and `train_names` have their names. All are in the task's own format.
    """
    if arguments["part"] not in PARTS:
        raise UsageError(f"part is {arguments['part']!r}, expected one of {', '.join(PARTS)}")
    options = find_task(arguments["task"]).parse_options(arguments.get("options", {}))
    split = _split(files["gold"], arguments["gold_name"], arguments["task"], options)
    seen = public(split, files["inputs"], arguments["inputs_name"]) if "inputs" in files else None
    trains = [
        _split(files[str(place)], name, arguments["task"], options)
        for place, name in enumerate(arguments.get("train_names", []))
    ]
    asked = Asked(split, Beside(seen, trains), options, arguments.get("seed", 0), THRESHOLD)
    return {"ok": True, "told": part(arguments["part"], asked)}, b""


def _split(stream: BinaryIO, name: str, task: str, options: Mapping[str, Any]) -> Split:
    # What a server keeps is in the task's format: a published layout is not looked for.
    found = find_task(task)
    return Split.of(found, name, found.read_gold(stream, name, options))
