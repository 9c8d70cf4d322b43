"""`audit diff-gold`: compare a corrected gold file with the one before it, item by item.

On the site, a correction is made in `leaderboard/datasets/actions/corrections.py`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.gold_diff import KINDS, Change, Difference, GoldFile, Item
from evaluator.curation.gold_diff.diff import compare
from evaluator.tasks.registry import find_task
from evaluator.text import count_noun


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", help="name of the task; `holdout-eval tasks` lists all")
    parser.add_argument("before", type=Path, help="gold of the task before the correction")
    parser.add_argument("after", type=Path, help="the corrected gold")


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    task = find_task(args.task)
    before, after = (
        GoldFile(bench.input(role, path), str(path)) for role, path in (("before", args.before), ("after", args.after))
    )
    result = compare(task, before, after, task.parse_options({}))
    items = [item.as_dict() for item in result.items]
    bench.write_rows("difference.jsonl", items)
    report: dict[str, Any] = {**result.counts(), "items": items}
    return GeneratorResult(report, "\n".join(_report_lines(result)))


def _report_lines(result: Difference) -> list[str]:
    text = [f"{count_noun(result.n_before, 'item')} before, {result.n_after:,} after; {len(result.items):,} changed"]
    text += [f"{count:>8}  {kind}" for kind in KINDS if (count := result.by_kind[kind])]
    if result.reordered:
        text.append("The items are in another order.")
    return [*text, *(line for item in result.items for line in _item_lines(item))]


def _item_lines(item: Item) -> list[str]:
    head = f"{json.dumps(item.id, ensure_ascii=False)}, line {item.line}: {', '.join(item.kinds)}"
    return ["", head, *(f"  {change.field}: {_change_text(change)}" for change in item.changes)]


def _change_text(change: Change) -> str:
    if change.kind == "other":
        return "same value, different JSON"
    values = [value for value, kind in ((change.before, "added"), (change.after, "removed")) if change.kind != kind]
    return " -> ".join("-" if value is None else json.dumps(value, ensure_ascii=False) for value in values)


AUDIT = Generator(
    name="diff-gold",
    version=1,
    summary="compare corrected gold with the gold before it: items added, removed, and changed in question or answer",
    add_arguments=_add_arguments,
    make=_make,
    seeded=False,
)
