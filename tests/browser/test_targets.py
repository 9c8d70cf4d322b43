"""A target with a name of one letter, such as a phase's address in the path of a page, is 24 px wide and high."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import ROOT, SMALL_TARGETS

pytestmark = pytest.mark.browser
CSS = ROOT / "leaderboard" / "static" / "css"
SHORT = {
    "path of a page": '<nav class="crumbs"><ol><li><a href="/">i</a></li><li><a href="/x">l</a></li></ol></nav>',
    "navigation": '<ul class="nav-list"><li><a href="/">i</a></li><li><button>l</button></li></ul>',
    "cell": '<table><tr><th scope="row"><a href="/">i</a></th><td><a href="/x">l</a></td></tr></table>',
    "tab": '<nav class="tabs"><ul><li><a href="/">i</a></li><li><a href="/x">l</a></li></ul></nav>',
    "list of pages": '<div class="docs-list"><ul><li><a href="/">i</a></li></ul></div>',
    "way in": '<ul class="ways-in"><li><a href="/">i</a></li></ul>',
    "fact of a benchmark": '<div class="side-card"><dl><dd><a href="/">i</a></dd></dl></div>',
    "heading that sorts": '<table><thead><tr><th><a class="sort" href="/">i</a></th></tr></thead></table>',
    "link to a paper": '<a class="link-chip" href="/">i</a>',
    "team": '<p class="system-team"><a href="/">i</a></p>',
    "copy": '<button class="copy">l</button>',
    "summary": "<details><summary>i</summary></details>",
}


@pytest.mark.parametrize("where", SHORT)
def test_a_target_of_one_letter_is_large_enough(chromium: Browser, where: str) -> None:
    """In every font, then: in some, `test` is less than 24 px wide."""
    page = chromium.new_page(viewport={"width": 390, "height": 600})
    page.set_content(f'<!doctype html><html lang="en"><body><main>{SHORT[where]}</main></body></html>')
    for name in ("holdout.css", "boards.css", "benchmark.css"):
        page.add_style_tag(path=CSS / name)
    try:
        assert page.evaluate(SMALL_TARGETS) == []
    finally:
        page.close()


@pytest.mark.parametrize("name", ["Link F1", "Text precision", "Macro exact F1"])
def test_no_heading_of_a_board_covers_the_target_of_another(chromium: Browser, name: str) -> None:
    page = chromium.new_page(viewport={"width": 390, "height": 600})
    heading = (
        f'<th class="num"><a class="sort" href="/"><span class="sort-label">{name}</span></a>\n'
        '<span class="better">\u2191</span><button class="about">?</button></th>'
    )
    board = f'<table class="board"><thead><tr>{heading * 9}</tr></thead><tr>{"<td>0.5</td>" * 9}</tr></table>'
    page.set_content(f'<!doctype html><html lang="en"><body><div class="table-scroll">{board}</div></body></html>')
    for sheet in ("holdout.css", "boards.css"):
        page.add_style_tag(path=CSS / sheet)
    try:
        assert (
            page.evaluate("[...document.querySelectorAll('th')].filter(th => th.scrollWidth > th.clientWidth + 1)")
            == []
        )
    finally:
        page.close()
