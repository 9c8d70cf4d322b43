"""Self-contained HTML pages of curators' reports: no script, no external resources, for light and dark mode."""

from __future__ import annotations

from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 0 auto; padding: 1rem; }
table { border-collapse: collapse; } th, td { padding: .2rem .8rem .2rem 0; text-align: left; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } .scroll { overflow-x: auto; }
h1, h3, code, td, p { overflow-wrap: anywhere; } pre { overflow-x: auto; }
td.n { overflow-wrap: normal; white-space: nowrap; } td:first-child:not(.n) { min-width: 8rem; }
"""


def page(title: str, body: str) -> str:
    """Return a complete HTML page with a curator's report. title: plain text; body: HTML."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    return f'<!doctype html><html lang="en"><head>{head}<style>{_STYLE}</style></head><body>{body}</body></html>\n'


def table(head: list[str], rows: list[list[Any]]) -> str:
    """Return an HTML table of texts and numbers. Columns of numbers, or of texts like `5 %`, are right-aligned.

    head: the headings. rows: the cells of each row.
    """
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
    return scrolling(f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>")


def scrolling(html: str) -> str:
    """Wrap HTML, such as a wide table, so that it scrolls sideways on a narrow page."""
    return f'<div class="scroll">{html}</div>'
