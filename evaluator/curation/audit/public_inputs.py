"""Checks of the public inputs against the gold: leaked fields, missing or changed items, and their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec

from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.curation.io.lines import RawLine, read_lines
from evaluator.errors import InputsError, shown
from evaluator.jsonl.ids import Id, format_ids
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.text import count_noun

_NAMED = 10
_ALWAYS = {"group", "slices"}


@dataclass(frozen=True)
class PublicInputs:
    """Public inputs, matched with the lines of the split.

    order: the indices of the split's lines, in the order of the inputs; if the inputs lack an item, in the split's own
    order. columns: for each field that is not one of the task's own, one value per line of the split, in the split's
    order; None where missing. findings: the results of the checks against the split.
    """

    order: list[int]
    columns: dict[str, list[Any]]
    findings: list[Finding]


def read_public_inputs(split: AuditedSplit, stream: BinaryIO, file: str) -> PublicInputs:
    """Read the inputs as they will be published, check them against the split, and match them with its lines.

    Raises InputsError for invalid lines, for missing, invalid or repeated ids, and for a file that is empty or over its
    limits.
    """
    lines, problems = read_lines(stream, file, error=InputsError)
    key = split.task.id_key
    index_of = {name: index for index, name in enumerate(split.ids)}
    line_of: dict[int, RawLine] = {}
    unknown: list[tuple[int, Id]] = []
    for line in lines:
        name = line.value.get(key)
        if not isinstance(name, str | int) or isinstance(name, bool):
            problems.add(line.number, f"{key} is not valid", shown(name), "a string or an integer")
        elif name not in index_of or type(split.ids[index_of[name]]) is not type(name):
            unknown.append((line.number, name))
        elif index_of[name] in line_of:
            problems.add(line.number, f"duplicate {key}", shown(name), f"each {key} once")
        else:
            line_of[index_of[name]] = line
    problems.raise_if_any()
    findings = [
        *_unmatched(split, file, unknown, line_of),
        *_gold_fields(split, file, lines),
        *_changed(split, file, line_of),
    ]
    order = list(line_of) if len(line_of) == len(split) else list(range(len(split)))
    return PublicInputs(order, _columns(split, key, line_of), findings)


def _unmatched(
    split: AuditedSplit, file: str, unknown: list[tuple[int, Id]], line_of: dict[int, RawLine]
) -> list[Finding]:
    findings = []
    if unknown:
        findings.append(
            Finding(
                Severity.ERROR,
                "inputs-without-gold",
                f"{count_noun(len(unknown), 'id of the inputs is', 'ids of the inputs are')} "
                f"not in the gold: {format_ids([name for _, name in unknown])}",
                "predictions for these ids are rejected as unknown",
                "write the inputs from this gold",
                file,
                unknown[0][0],
                {"count": len(unknown)},
            )
        )
    missing = [name for index, name in enumerate(split.ids) if index not in line_of]
    if missing:
        findings.append(
            Finding(
                Severity.ERROR,
                "gold-without-inputs",
                f"{count_noun(len(missing), 'id of the gold is', 'ids of the gold are')} "
                f"not in the inputs: {format_ids(missing)}",
                "systems do not see these items, so they count as wrong for every system",
                "write the inputs from this gold",
                file,
                numbers={"count": len(missing)},
            )
        )
    return findings


def _gold_fields(split: AuditedSplit, file: str, lines: list[RawLine]) -> list[Finding]:
    names = split.task.gold_only | _ALWAYS
    first: dict[str, int] = {}
    count: dict[str, int] = {}
    for line in lines:
        for name in _keys(line.value, split.task.input_parts) & names:
            first.setdefault(name, line.number)
            count[name] = count.get(name, 0) + 1
    return [
        Finding(
            Severity.ERROR,
            "inputs-hold-gold",
            f"{shown(name)} is in the inputs on {count[name]} lines",
            "it is part of the gold and would become public",
            "publish the inputs that the server writes, which have the task's named fields only",
            file,
            first[name],
            {"field": name, "count": count[name]},
        )
        for name in sorted(count)
    ]


def _keys(value: dict[str, Any], parts: str) -> set[str]:
    keys = {*value}
    if parts and isinstance(value.get(parts), list):
        for part in value[parts]:
            # An empty list of facts, as in published files, reveals nothing.
            keys |= {key for key, inner in part.items() if inner != []} if isinstance(part, dict) else set()
    return keys


def _changed(split: AuditedSplit, file: str, line_of: dict[int, RawLine]) -> list[Finding]:
    """Return a finding if the inputs' fields differ from those that the server would write from the gold.

    file: the name of the file of inputs. line_of: index of a line in the split -> the line of the inputs with the same
    id.
    """
    written = (msgspec.json.decode(line) for line in split.task.public_inputs(split.gold).splitlines())
    key = split.task.id_key
    expected = {line[key]: line for line in written}
    changed = [
        (line.number, name)
        for index, line in sorted(line_of.items())
        for name, value in expected[split.ids[index]].items()
        if name != split.task.input_parts and line.value.get(name) != value
    ]
    if not changed:
        return []
    return [
        Finding(
            Severity.ERROR,
            "inputs-differ",
            f"{count_noun(len(changed), 'field of the inputs differs', 'fields of the inputs differ')} "
            f"from the gold, the first is {shown(changed[0][1])}",
            "participants would answer other questions than the gold has",
            "write the inputs from this gold",
            file,
            changed[0][0],
            {"count": len(changed), "lines": [number for number, _ in changed[:_NAMED]]},
        )
    ]


def _columns(split: AuditedSplit, key: str, line_of: dict[int, RawLine]) -> dict[str, list[Any]]:
    """Return name -> value on each line of the split (None: missing) of the inputs' further columns.

    Further columns are neither the task's own fields nor fields of gold. key: the JSON key of ids. line_of: index of a
    line in the split -> the line of the inputs with the same id.
    """
    excluded = {key, *split.task.gold_only, *_ALWAYS}
    for line in split.task.public_inputs(split.gold).splitlines()[:1000]:
        excluded |= msgspec.json.decode(line).keys()
    names = dict.fromkeys(name for line in line_of.values() for name in line.value if name not in excluded)
    return {
        name: [line_of[index].value.get(name) if index in line_of else None for index in range(len(split))]
        for name in names
    }
