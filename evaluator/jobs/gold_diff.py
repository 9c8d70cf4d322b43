"""The sandbox's job that lays corrected gold beside the version before it."""

from collections.abc import Mapping
from typing import Any, BinaryIO

import msgspec

from evaluator.curation.gold_diff import GoldFile
from evaluator.curation.gold_diff.diff import difference
from evaluator.tasks.registry import find_task


def gold_difference(files: Mapping[str, BinaryIO], arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """How many items changed in which way; the attachment has one a line, and quotes gold. files: before, after; the
    arguments `before_name` and `after_name` have their names."""
    task = find_task(arguments["task"])
    options = task.parse_options(arguments.get("options", {}))
    before, after = (GoldFile(files[name], arguments[f"{name}_name"]) for name in ("before", "after"))
    found = difference(task, before, after, options)
    encode = msgspec.json.Encoder().encode
    return {"ok": True, "counts": found.counts()}, b"".join(encode(item.as_dict()) + b"\n" for item in found.items)
