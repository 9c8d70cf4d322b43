"""The audit report as a self-contained HTML page: no script, no external resources, light and dark."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from evaluator.text import count_noun

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; } th, td { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } .scroll { overflow-x: auto; }
article { border-left: .3rem solid; padding-left: 1rem; margin: 1.5rem 0; } article p { margin: .3rem 0; }
.error { border-color: #b3261e; } .warning { border-color: #9a6700; } .note { border-color: #57606a; }
h1, h3, code, td, p { overflow-wrap: anywhere; } pre { overflow-x: auto; }
"""


def render_html(report: dict[str, Any]) -> str:
    """Render the audit report, as `report.audit` returns it, as an HTML page."""
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
        _table(
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
        _table(
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
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    body = "".join(parts)
    return f'<!doctype html><html lang="en"><head>{head}<style>{_STYLE}</style></head><body>{body}</body></html>\n'


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


def _table(head: list[str], rows: list[list[Any]]) -> str:
    numeric = [
        all(isinstance(row[column], int) or row[column][:1] in "0123456789-" for row in rows)
        for column in range(len(head))
    ]
    marks = [' class="n"' if number and rows else "" for number in numeric]
    top = "".join(f'<th scope="col"{mark}>{escape(name)}</th>' for name, mark in zip(head, marks, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{mark}>{escape(str(cell))}</td>" for cell, mark in zip(row, marks, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _slice(names: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in names.items()) or "all"
