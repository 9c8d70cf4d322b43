"""Sandbox job that compares corrected gold with the previous version."""

from typing import Any

import msgspec

from evaluator.curation.gold_diff import GoldFile
from evaluator.curation.gold_diff.diff import compare
from evaluator.jobs.base import Files, Report, TaskRequest


class GoldDifferenceRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `gold_difference`. before_name, after_name: file names; a file named *.gz is decompressed."""

    job = "gold_difference"
    before_name: str
    after_name: str


class GoldDifferenceCounts(msgspec.Struct, forbid_unknown_fields=True):
    """Numbers of items before and after a correction, and of changed ones.

    reordered: True if items that are in both files are in another order; by_kind: kind of change, from
    `evaluator.curation.gold_diff.diff.KINDS` -> number of items with such a change.
    """

    n_before: int
    n_after: int
    n_changed: int
    reordered: bool
    by_kind: dict[str, int]


class GoldDifferenceReport(Report):
    counts: GoldDifferenceCounts


class ChangeRow(msgspec.Struct, forbid_unknown_fields=True):
    """One changed field of an item: serialized `evaluator.curation.gold_diff.diff.Change`."""

    kind: str
    field: str
    before: Any
    after: Any


class ItemRow(msgspec.Struct, forbid_unknown_fields=True):
    """One changed item, a line of the attachment of `gold_difference`: serialized
    `evaluator.curation.gold_diff.diff.Item`.
    """

    id: str | int
    line: int
    kinds: list[str]
    changes: list[ChangeRow]


def gold_difference(files: Files, request: GoldDifferenceRequest) -> tuple[GoldDifferenceReport, bytes]:
    """Compare corrected gold with the previous version and count the changes of each kind.

    files: `before` and `after`, the two versions. The attachment has one `ItemRow` per line, and quotes gold.
    """
    task, options = request.parsed()
    before, after = GoldFile(files["before"], request.before_name), GoldFile(files["after"], request.after_name)
    result = compare(task, before, after, options)
    report = GoldDifferenceReport(GoldDifferenceCounts(**result.counts()))
    return report, msgspec.json.Encoder().encode_lines([item.as_dict() for item in result.items])
