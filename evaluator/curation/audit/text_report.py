"""The audit report as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evaluator.statistics import confidence
from evaluator.text import count_noun

_SLICES = 40


def render_text(report: dict[str, Any]) -> str:
    """Return the audit report, which `report.audit` made, as text."""
    count = report["counts"]
    parts = [
        f"{report['task']} {report['file']}: {count_noun(report['lines'], 'line')}, "
        f"{count_noun(report['units'], 'unit')}, {count_noun(report['groups']['groups'], 'group')}",
        ", ".join(count_noun(count[f"{kind}s"], kind) for kind in ("error", "warning", "note")),
        *map(_finding, report["findings"]),
        _sizes(report),
        _balance(report),
        _trivial(report),
        _overlaps(report),
        _cues(report),
        _agreement(report),
        "\n".join(f"not checked: {check['what']} ({check['why']})" for check in report["not_looked_at"]),
    ]
    return "\n\n".join(part for part in parts if part)


def _finding(finding: dict[str, Any]) -> str:
    file, line = finding["where"]["file"], finding["where"]["line"]
    where = "" if file is None else f" {file}" + ("" if line is None else f":{line}")
    return (
        f"{finding['severity'].upper()}{where} [{finding['code']}]\n  {finding['found']}.\n"
        f"  Meaning: {finding['means']}.\n  Action: {finding['do']}."
    )


def _sizes(report: dict[str, Any]) -> str:
    rows = [
        f"Sizes, and half-width of the {confidence.percent()} interval for {_with_article(report['primary'])} of "
        f"{report['sizes'][0]['at']:g}, if errors are independent, or shared by a group",
        f"{'n':>8} {'groups':>8} {'indep.':>7} {'shared':>7}  slice",
    ]
    for row in report["sizes"][:_SLICES]:
        widths = [row["half_width"], row["half_width_if_groups_err_together"]]
        reach = " ".join(f"{'±' + format(w, '.3f') if w is not None else '-':>7}" for w in widths)
        rows.append(f"{row['n']:8d} {row['groups']:8d} {reach}  {_slice(row['slice'])}")
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
    rows = ["Trivial baselines"]
    for system in report["trivial"]:
        scores = ", ".join(f"{name} {'-' if v is None else format(v, '.3f')}" for name, v in system["scores"].items())
        rows.append(f"  {system['system']}: {scores} ({system['doc']})")
    return "\n".join(rows)


def _overlaps(report: dict[str, Any]) -> str:
    rows = []
    for overlap in report["overlaps"]:
        rows.append(
            f"Leakage from {Path(overlap['train']).name}, in {overlap['counted']}: {overlap['simple']} exact, "
            f"{overlap['basic']} including those in the same words, {overlap['thorough']} including those in other "
            "words"
        )
    return "\n".join(rows)


def _cues(report: dict[str, Any]) -> str:
    if not report["cues"]:
        return ""
    rows = ["Cues (LMI x 10^6, p(l|w), count)"]
    for label, cues in report["cues"]["split"].items():
        cue_list = "; ".join(f"{cue['ngram']} {1e6 * cue['lmi']:.0f} {cue['p']:.2f} {cue['n_label']}" for cue in cues)
        rows.append(f"  {label}: {cue_list or 'none frequent enough'}")
    return "\n".join(rows)


def _agreement(report: dict[str, Any]) -> str:
    agreement = report["agreement"]
    if agreement is None:
        return ""
    alphas = ", ".join(f"{level} alpha {_number(value)}" for level, value in agreement["alpha"].items())
    rows = [
        f"Agreement of {agreement['annotators']} annotators on {agreement['judged_twice']} items judged twice or more: "
        f"{_number(agreement['percent'])} of pairs agree, {alphas}"
    ]
    for pair in agreement["pairs"]:
        a, b = pair["annotators"]
        rows.append(
            f"  {a} and {b}: n={pair['n']}, agreement {_number(pair['percent'])}, kappa {_number(pair['kappa'])}"
        )
    return "\n".join(rows)


def _with_article(word: str) -> str:
    article = "an" if word[0] in "aeio" or word in ("mrr", "f1") else "a"
    return f"{article} {word}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _slice(names: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in names.items()) or "all"
