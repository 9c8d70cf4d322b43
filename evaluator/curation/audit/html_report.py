"""The audit report as a self-contained HTML page: no script, no external resources, for light and dark mode."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from evaluator.curation.io.html_page import page, table
from evaluator.text import count_noun


def render_html(report: dict[str, Any]) -> str:
    """Return the audit report, which `report.audit` made, as an HTML page."""
    count = report["counts"]
    title = f"Audit of {report['file']}"
    verdict = "may be published after its warnings are answered" if report["publishable"] else "errors block publishing"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f"<p>{escape(report['task'])}: {count_noun(report['lines'], 'line')}, {count_noun(report['units'], 'unit')}, "
        f"{count_noun(report['groups']['groups'], 'group')}. {count_noun(count['errors'], 'error')}, "
        f"{count_noun(count['warnings'], 'warning')}, {count_noun(count['notes'], 'note')}: {verdict}.</p>",
        "<h2>Findings</h2>",
        *(map(_finding, report["findings"]) if report["findings"] else ["<p>None.</p>"]),
        "<h2>Sizes</h2>",
        table(
            ["slice", "n", "groups", "± if errors are independent", "± if errors are shared by a group"],
            [
                [
                    _slice(row["slice"]),
                    row["n"],
                    row["groups"],
                    _number(row["half_width"]),
                    _number(row["half_width_if_groups_err_together"]),
                ]
                for row in report["sizes"]
            ],
        ),
        "<h2>Trivial baselines</h2>",
        table(
            ["system", "scores", "method"],
            [
                [row["system"], ", ".join(f"{k} {_number(v)}" for k, v in row["scores"].items()), row["doc"]]
                for row in report["trivial"]
            ],
        ),
        "<h2>Full report</h2>",
        "<details><summary>JSON</summary>",
        f"<pre>{escape(json.dumps(report, indent=1))}</pre></details>",
    ]
    return page(title, "".join(parts))


def _finding(finding: dict[str, Any]) -> str:
    where = finding["where"]["file"] or ""
    if finding["where"]["line"] is not None:
        where += f":{finding['where']['line']}"
    kind = finding["severity"]
    sentence = finding["found"][:1].upper() + finding["found"][1:]
    return (
        f'<article class="{kind}"><h3>{kind.capitalize()}: <code>{escape(finding["code"])}</code></h3>'
        f"<p>{escape(sentence)}.</p><p>Meaning: {escape(finding['means'])}.</p><p>Action: {escape(finding['do'])}.</p>"
        f"<p><small>{escape(where)}</small></p></article>"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _slice(names: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in names.items()) or "all"
