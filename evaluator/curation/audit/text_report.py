"""The report for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evaluator.statistics import confidence
from evaluator.tasks.audit.findings import Finding
from evaluator.text import counted

_SLICES = 40


def told(report: dict[str, Any], findings: Sequence[Finding]) -> str:
    """report: as `report.audit` makes it."""
    count = report["counts"]
    parts = [
        f"{report['task']} {report['file']}: {counted(report['lines'], 'line')}, "
        f"{counted(report['units'], 'unit')}, {counted(report['groups']['groups'], 'group')}",
        ", ".join(counted(count[f"{kind}s"], kind) for kind in ("error", "warning", "note")),
        *map(_finding, findings),
        _sizes(report),
        _balance(report),
        _trivial(report),
        _overlaps(report),
        _cues(report),
        _agreement(report),
        "\n".join(f"not looked at: {one['what']} ({one['why']})" for one in report["not_looked_at"]),
    ]
    return "\n\n".join(part for part in parts if part)


def _finding(one: Finding) -> str:
    where = "" if one.file is None else f" {Path(one.file).name}" + ("" if one.line is None else f":{one.line}")
    return (
        f"{one.severity.value.upper()}{where} [{one.code}]\n  {one.found}.\n  It means: {one.means}.\n  Do: {one.do}."
    )


def _sizes(report: dict[str, Any]) -> str:
    rows = [
        f"Sizes, and how far {_with_article(report['primary'])} of {report['sizes'][0]['at']:g} reaches to either side "
        f"({confidence.percent()}): mistakes independent, or shared by a group",
        f"{'n':>8} {'groups':>8} {'indep.':>7} {'shared':>7}  slice",
    ]
    for one in report["sizes"][:_SLICES]:
        widths = [one["half_width"], one["half_width_if_groups_err_together"]]
        reach = " ".join(f"{'±' + format(w, '.3f') if w is not None else '-':>7}" for w in widths)
        rows.append(f"{one['n']:8d} {one['groups']:8d} {reach}  {_slice(one['slice'])}")
    if len(report["sizes"]) > _SLICES:
        rows.append(f"... and {len(report['sizes']) - _SLICES} more slices (--json)")
    return "\n".join(rows)


def _balance(report: dict[str, Any]) -> str:
    if not report["balance"]:
        return ""
    rows = ["Labels"]
    for row in report["balance"][:_SLICES]:
        labels = ", ".join(f"{n} {label}" for label, n in row["labels"].items())
        rows.append(f"  {_slice(row['slice'])}: {labels}")
    return "\n".join(rows)


def _trivial(report: dict[str, Any]) -> str:
    if not report["trivial"]:
        return ""
    rows = ["Systems that do not solve the task"]
    for one in report["trivial"]:
        scores = ", ".join(f"{name} {'-' if v is None else format(v, '.3f')}" for name, v in one["scores"].items())
        rows.append(f"  {one['system']}: {scores} ({one['doc']})")
    return "\n".join(rows)


def _overlaps(report: dict[str, Any]) -> str:
    rows = []
    for one in report["overlaps"]:
        rows.append(
            f"Leakage of {Path(one['train']).name}, in {one['counted']}: {one['simple']} to the letter, "
            f"{one['basic']} with those in the same words, {one['thorough']} with those in other words"
        )
    return "\n".join(rows)


def _cues(report: dict[str, Any]) -> str:
    if not report["cues"]:
        return ""
    rows = ["Cues (LMI x 10^6, p(l|w), count)"]
    for label, cues in report["cues"]["split"].items():
        told_ = "; ".join(f"{cue['ngram']} {1e6 * cue['lmi']:.0f} {cue['p']:.2f} {cue['n_label']}" for cue in cues)
        rows.append(f"  {label}: {told_ or 'none frequent enough'}")
    return "\n".join(rows)


def _agreement(report: dict[str, Any]) -> str:
    told_ = report["agreement"]
    if told_ is None:
        return ""
    alphas = ", ".join(f"{level} alpha {_number(value)}" for level, value in told_["alpha"].items())
    rows = [
        f"Agreement of {told_['annotators']} annotators on {told_['judged_twice']} items judged twice or more: "
        f"{_number(told_['percent'])} of pairs agree, {alphas}"
    ]
    for one in told_["pairs"]:
        a, b = one["annotators"]
        rows.append(f"  {a} and {b}: n={one['n']}, agreement {_number(one['percent'])}, kappa {_number(one['kappa'])}")
    return "\n".join(rows)


def _with_article(word: str) -> str:
    article = "an" if word[0] in "aeio" or word in ("mrr", "f1") else "a"
    return f"{article} {word}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _slice(names: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in names.items()) or "all"
