"""`audit difference`: what a corrected gold file changes, item by item."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec

from evaluator.curation.generators.base import Generator, Made
from evaluator.curation.generators.workspace import Bench
from evaluator.curation.gold_diff import KINDS, Change, Difference, GoldFile, Item
from evaluator.curation.gold_diff.diff import difference
from evaluator.tasks.registry import find_task
from evaluator.text import counted


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task")
    parser.add_argument("before", type=Path, help="gold of the task, as it is")
    parser.add_argument("after", type=Path, help="the same, corrected")


def _make(given: argparse.Namespace, bench: Bench) -> Made:
    task = find_task(given.task)
    before, after = (
        GoldFile(bench.input(role, path), str(path))
        for role, path in (("before", given.before), ("after", given.after))
    )
    found = difference(task, before, after, task.parse_options({}))
    if bench.keeps:
        encode = msgspec.json.Encoder().encode
        bench.output("difference.jsonl").writelines(encode(item.as_dict()) + b"\n" for item in found.items)
    report: dict[str, Any] = {**found.counts(), "items": [item.as_dict() for item in found.items]}
    return Made(report, "\n".join(_told(found)))


def _told(found: Difference) -> list[str]:
    text = [f"{counted(found.n_before, 'item')} before, {found.n_after:,} after; {len(found.items):,} changed"]
    text += [f"{count:>8}  {kind}" for kind in KINDS if (count := found.by_kind[kind])]
    if found.reordered:
        text.append("Items stand in another order.")
    return [*text, *(line for item in found.items for line in _of_item(item))]


def _of_item(item: Item) -> list[str]:
    head = f"{json.dumps(item.id, ensure_ascii=False)}, line {item.line}: {', '.join(item.kinds)}"
    return ["", head, *(f"  {one.field}: {_words(one)}" for one in item.changes)]


def _words(change: Change) -> str:
    if change.kind == "other":
        return "written otherwise"
    sides = [one for one, kind in ((change.before, "added"), (change.after, "removed")) if change.kind != kind]
    return " -> ".join("-" if one is None else json.dumps(one, ensure_ascii=False) for one in sides)


AUDIT = Generator(
    name="difference",
    version=1,
    summary="lay corrected gold beside what it corrects: items added, removed, and changed in question or answer",
    add_arguments=_add_arguments,
    make=_make,
    seeded=False,
)
