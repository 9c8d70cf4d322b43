"""Markdown of organisers: what is rendered, and what is removed."""

from __future__ import annotations

import pytest

from leaderboard.templatetags.markdown import to_html
from tests.support.strict_html import read


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[click](javascript:alert(1))",
        "[click](data:text/html,x)",
        "![picture](https://elsewhere.example/pixel.png)",
        "<p style='position:fixed'>x</p>",
        '<https://a.example/"onmouseover="alert(1)>',
        '[x](https://a.example "a\\" onmouseover=alert(1)")',
    ],
)
def test_nothing_active_or_foreign_is_rendered(text: str) -> None:
    html = to_html(text)
    page = read(f"<!doctype html><html lang='en'>{html}</html>")
    assert [fault for fault in page.faults if "security policy" in fault or "loads" in fault] == []
    for part in ("<script", "<img", "<p style", 'href="javascript', 'href="data'):
        assert part not in html


def test_lists_emphasis_code_and_line_ends_are_rendered() -> None:
    assert to_html("a\nb") == "<p>a<br>\nb</p>\n"
    assert "<li><strong>x</strong></li>" in to_html("1. **x**")
    assert '<pre tabindex="0"><code>' in to_html("```\nx\n```")
    assert 'href="https://a.example" rel="nofollow noopener"' in to_html("[a](https://a.example)")


def test_headings_are_below_those_of_the_page_without_gaps() -> None:
    html = to_html("# One\n\n#### Two\n\n# Three")
    assert [part[:2] for part in html.split("<")[1:] if part[0] == "h"] == ["h3", "h4", "h3"]


def test_a_table_scrolls_and_has_scopes_and_no_styles() -> None:
    html = to_html("| a |\n|--:|\n| 1 |")
    assert '<th scope="col">a</th>' in html and "style" not in html
    assert html.startswith('<div class="table-scroll" tabindex="0"')
