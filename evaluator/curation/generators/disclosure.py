"""`audit disclosure`: what a determined participant would learn of a test split under a phase's disclosure settings."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from evaluator.curation.generators.arguments import positive, whole_number
from evaluator.curation.generators.audit import parse_options
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.disclosure.policy import Afterwards, Kind, Policy
from evaluator.errors import UsageError, shown

_SETTINGS = {
    "kind": ("disclosure", Kind.LADDER),
    "exact": ("exact_scores", False),
    "least_groups": ("least_groups", 25),
    "detailed_answers": ("detailed_answers", 10),
    "afterwards": ("afterwards", Afterwards.OVERALL),
    "quota": ("quota_total", 50),
}
"""Argument -> (key of a phase in benchmark.json, its default)."""
_OF_NEW_LADDER = {"least_groups": 100, "detailed_answers": 0}
"""Defaults of a new ladder, where they differ."""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("task", nargs="?", help="name of the task; `holdout-eval tasks` lists all")
    add("--gold", type=Path, help="gold of the task; its labels are not used")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the task")
    add("--benchmark", type=Path, metavar="FILE", help="benchmark.json, instead of a task and gold")
    add("--phase", metavar="SLUG", help="the phase of the benchmark, whose settings the following arguments replace")
    add("--disclosure", dest="kind", choices=[kind.value for kind in Kind], help="the policy (default: ladder)")
    add("--exact", action="store_true", default=None, help="scores have all digits")
    add(
        "--least-groups",
        type=positive,
        metavar="N",
        help="smallest slice that is shown, in groups (default: 25; on a ladder 100)",
    )
    add(
        "--detailed-answers",
        type=_number_or_all,
        metavar="N",
        help="of each team, or `all` (default: 10; on a ladder 0)",
    )
    add("--afterwards", choices=[each.value for each in Afterwards], help="what later answers show (default: overall)")
    add("--quota", type=positive, metavar="N", help="answers of each team in all (default: 50)")
    add("--teams", type=positive, default=1, metavar="N", help="teams that act together (default: 1)")
    add(
        "--public-share",
        type=_share,
        metavar="SHARE",
        help="share of the groups that are scored, where the others are kept for a sealed phase (default: that of the "
        "phase, or 1)",
    )
    add("--seeds", type=positive, default=3, metavar="N", help="test sets with random labels (default: 3)")


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    from evaluator.curation.audit.disclosure import audit_disclosure, render_text
    from evaluator.tasks.registry import find_task

    phase: dict[str, Any] = {}
    public_share = args.public_share or 1.0
    task_name, path, texts = args.task, args.gold, parse_options(args.option)
    if args.benchmark is not None:
        if args.task or args.gold or not args.phase:
            raise UsageError("expected either TASK and --gold, or --benchmark and --phase")
        task_name, path, phase, share = _phase_of(bench, args.benchmark, args.phase)
        public_share = args.public_share or share
        texts = {**phase.get("options", {}), **texts}
    elif not task_name or path is None or args.phase:
        raise UsageError("expected either TASK and --gold, or --benchmark and --phase")
    kind = args.kind or phase.get(*_SETTINGS["kind"])
    settings = {
        name: phase.get(key, _OF_NEW_LADDER.get(name, default) if kind == Kind.LADDER else default)
        if getattr(args, name) is None
        else getattr(args, name)
        for name, (key, default) in _SETTINGS.items()
    }
    if settings["detailed_answers"] == "all":
        settings["detailed_answers"] = None
    quota = settings.pop("quota")
    task = find_task(task_name)
    options = task.parse_options(texts)
    gold = task.read_gold(bench.input("gold", path), str(path), options)
    policy = Policy(**{**settings, "kind": Kind(settings["kind"]), "afterwards": Afterwards(settings["afterwards"])})
    report = audit_disclosure(
        task,
        gold,
        options,
        policy=policy,
        answers=quota,
        teams=args.teams,
        public_share=public_share,
        seeds=args.seeds,
        seed=args.seed,
    )
    if bench.keeps:
        bench.output("disclosure.json").write((json.dumps(report, indent=2) + "\n").encode())
    return GeneratorResult(report, render_text(report))


def _phase_of(bench: Workspace, file: Path, slug: str) -> tuple[str, Path, dict[str, Any], float]:
    """Return (task, gold, phase, share of the groups that it scores) of a phase of benchmark.json.

    Raises UsageError if there is none, or if its gold is public.
    """
    try:
        benchmark = json.loads(bench.input("benchmark", file).read())
        (phase,) = (phase for phase in benchmark["phases"] if phase["slug"] == slug)
        (split,) = (split for split in benchmark["splits"] if split["name"] == phase["split"])
        share = float(split.get("public_share") or 0.5)
        share = {"": 1.0, "public": share, "private": 1 - share}[phase.get("gold_subset", "")]
        task, path = benchmark["task"], file.parent / split["gold"]
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{shown(str(file))} has no phase {shown(slug)} with a split whose gold it names") from None
    if split.get("gold_public"):
        raise UsageError(f"the gold of phase {shown(slug)} is public, so there is nothing to disclose")
    return task, path, phase, share


def _number_or_all(text: str) -> int | str:
    return text if text == "all" else whole_number(text)


def _share(text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"is {shown(text)}, expected a number above 0 and up to 1")
    return share


AUDIT = Generator(
    name="disclosure",
    version=1,
    summary="audit a phase's disclosure settings: what a determined participant would learn of the hidden labels",
    add_arguments=_add_arguments,
    make=_make,
)
