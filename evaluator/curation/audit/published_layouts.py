"""Readers of two published layouts, BUCKLE's scenario files and FEVER Symmetric, which convert them to gold lines.

A file in such a layout is public as a whole, so its order and all its columns are audited.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec

from evaluator.curation.io.lines import read_lines, value_text
from evaluator.curation.io.text_blocks import text_blocks
from evaluator.errors import GoldError, ProblemList, shown

BUCKLE = ("Subject", "Object", "Relation", "Label", "Origin_Relation", "Cluster")
_TRUTH = {"1": True, "-1": False}
_MEMBER = re.compile(r"(?P<group>[0-9]+)000000(?P<member>[2-4])")
_EVIDENCE = ("evidence_sentence", "evidence")


@dataclass(frozen=True)
class Published:
    """Content of a file in a published layout.

    gold: the file's items as gold of the task, in JSON Lines. columns: name -> values of each column that gold does not
    have. first_line: the line number of the first item, 2 if there is a header. has_ids: False if the file has no ids,
    so that gold numbers the items.
    """

    gold: BinaryIO
    columns: dict[str, list[Any]]
    first_line: int
    has_ids: bool


def buckle(stream: BinaryIO, file: str) -> Published:
    """Read BUCKLE's layout: Subject, Object, Relation, Label 1 or -1, Origin_Relation, Cluster.

    Columns are tab-separated under a header. Ids number the claims from 1. Raises GoldError for another header, an
    invalid line, or a file without claims.
    """
    problems = ProblemList(file, GoldError)
    lines: list[dict[str, Any]] = []
    columns: dict[str, list[Any]] = {name: [] for name in BUCKLE[4:]}
    for first, rows in text_blocks(stream, problems, "a header, then one claim per line"):
        for number, row in enumerate(rows, first):
            values = row.split("\t")
            if number == 1:
                if tuple(values) != BUCKLE:
                    problems.stop(1, "unexpected header", shown(row), " TAB ".join(BUCKLE))
            elif len(values) != len(BUCKLE):
                problems.add(number, "wrong number of columns", f"{len(values)} columns", f"{len(BUCKLE)} columns")
            elif values[3] not in _TRUTH:
                problems.add(number, "Label is not valid", "another text", "1 or -1")
            else:
                subject, object_, relation, label = values[:4]
                claim = {"subject": subject, "relation": relation, "object": object_, "label": _TRUTH[label]}
                lines.append({"id": number - 1, **claim})
                for name, value in zip(BUCKLE[4:], values[4:], strict=True):
                    columns[name].append(value)
    problems.raise_if_any()
    if not lines:
        problems.stop(None, "the file has no claim", "0 lines under the header", "one or more")
    return Published(_written(lines), columns, 2, has_ids=False)


def symmetric(stream: BinaryIO, file: str) -> Published:
    """Read FEVER Symmetric's JSON Lines, which have the sentence under the key evidence_sentence or evidence.

    The published ids give the group and the member of a line: 12 is the original of a group, and 120000002, 120000003
    and 120000004 are its other members. Raises GoldError for an invalid line.
    """
    raw, problems = read_lines(stream, file)
    lines = []
    names = dict.fromkeys(key for line in raw for key in line.value)
    key = next((key for key in _EVIDENCE if key in names), _EVIDENCE[0])
    for line in raw:
        values = line.value
        invalid = [name for name in ("id", "claim", key, "label") if not isinstance(values.get(name), str)]
        for name in invalid:
            problems.add(line.number, f"{name} is not a text", value_text(values, name), "a string")
        if not invalid:
            lines.append(_member(values, values[key]))
    problems.raise_if_any()
    other_names = [name for name in names if name not in {"id", "claim", "label", key}]
    return Published(
        _written(lines), {name: [line.value.get(name) for line in raw] for name in other_names}, 1, has_ids=True
    )


def _member(values: dict[str, Any], evidence: str) -> dict[str, Any]:
    match = _MEMBER.fullmatch(values["id"])
    return {
        "id": values["id"],
        "claim": values["claim"],
        "evidence_text": evidence,
        "label": values["label"],
        "group": match["group"] if match else values["id"],
        "slices": {"origin": "generated" if match else "original"},
    }


def layout_of(task: str, head: bytes) -> Callable[[BinaryIO, str], Published] | None:
    """Return the reader of a file's published layout, recognised by the first line; None for the task's own layout.

    task: the task's name. head: the first bytes of the file, decompressed.
    """
    line = head.split(b"\n", 1)[0].rstrip(b"\r")
    if task == "fact-checking" and line.split(b"\t")[:1] == [BUCKLE[0].encode()]:
        return buckle
    if task == "fact-verification":
        try:
            value = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        if isinstance(value, dict) and any(isinstance(value.get(key), str) for key in _EVIDENCE):
            return symmetric
    return None


def _written(lines: list[dict[str, Any]]) -> BinaryIO:
    encode = msgspec.json.Encoder().encode
    return io.BytesIO(b"".join(encode(line) + b"\n" for line in lines))
