"""The sandbox's job that lays corrected gold beside the version before it."""

from typing import Any

import msgspec

from evaluator.curation.gold_diff import GoldFile
from evaluator.curation.gold_diff.diff import difference
from evaluator.jobs.base import Files, Report, TaskRequest


class GoldDifferenceRequest(TaskRequest, frozen=True, kw_only=True):
    """before_name, after_name: of the files; an ending .gz says that one is packed."""

    job = "gold_difference"
    before_name: str
    after_name: str


class GoldDifferenceCounts(msgspec.Struct, forbid_unknown_fields=True):
    """Items of each file and those that differ. by_kind: of `evaluator.curation.gold_diff.diff.KINDS`."""

    n_before: int
    n_after: int
    n_changed: int
    reordered: bool
    by_kind: dict[str, int]


class GoldDifferenceReport(Report):
    counts: GoldDifferenceCounts


class ChangeRow(msgspec.Struct, forbid_unknown_fields=True):
    """`evaluator.curation.gold_diff.diff.Change`."""

    kind: str
    field: str
    before: Any
    after: Any


class ItemRow(msgspec.Struct, forbid_unknown_fields=True):
    """One line of the attachment: `evaluator.curation.gold_diff.diff.Item`."""

    id: str | int
    line: int
    kinds: list[str]
    changes: list[ChangeRow]


def gold_difference(files: Files, request: GoldDifferenceRequest) -> tuple[GoldDifferenceReport, bytes]:
    """How many items changed in which way; the attachment has an `ItemRow` a line, and quotes gold.

    files: before, after.
    """
    task, options = request.parsed()
    before, after = GoldFile(files["before"], request.before_name), GoldFile(files["after"], request.after_name)
    found = difference(task, before, after, options)
    encode = msgspec.json.Encoder().encode
    report = GoldDifferenceReport(GoldDifferenceCounts(**found.counts()))
    return report, b"".join(encode(item.as_dict()) + b"\n" for item in found.items)
