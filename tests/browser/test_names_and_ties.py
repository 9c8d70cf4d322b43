"""Names in any script look like Latin ones, ties can be read on a coloured rank, and small buttons are large enough."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route

from leaderboard.boards.web.tables.row_cells import rank_html
from tests.browser.conftest import ROOT

pytestmark = pytest.mark.browser
STATIC = ROOT / "leaderboard" / "static"
BADGE = ROOT / "leaderboard" / "templates" / "boards" / "badge.svg"
NAMES = {"latin": "Engine", "cyrillic": "Модель", "greek": "Μηχανή", "vietnamese": "Động cơ", "cjk": "机器"}
SITE = "http://holdout.test"


class _Leader:
    rank, tied, rank_low, rank_high = 1, True, None, None


SHEETS = ("vendor/bootstrap/bootstrap-reboot.min.css", "css/holdout.css", "css/boards.css")
PAGE = f"""<!doctype html><html lang="en">
{"".join(f'<link rel="stylesheet" href="/static/{sheet}">' for sheet in SHEETS)}<table class="board"><tbody>
<tr><td>{rank_html(_Leader(), is_top=True)}</td>
{"".join(f'<th class="col-system"><span id="{script}">{name}</span></th>' for script, name in NAMES.items())}
<td><button type="button" class="about" aria-label="What it means">?</button></td></tr></tbody></table>"""
COLOURS = """() => {
  const colour = (selector) => getComputedStyle(document.querySelector(selector)).color;
  return [colour(".tie"), colour(".rank-top")];
}"""


def _serve(route: Route) -> None:
    path = route.request.url.removeprefix(SITE)
    if path.startswith("/static/"):
        route.fulfill(path=STATIC / Path(path).relative_to("/static"))
    else:
        route.fulfill(body=PAGE, content_type="text/html; charset=utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_board_row(chromium: Browser, scheme: Any) -> None:
    with chromium.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme) as context:
        page = context.new_page()
        page.route(f"{SITE}/**", _serve)
        page.goto(f"{SITE}/")
        page.evaluate("() => document.fonts.ready.then(() => true)")
        tie, rank = page.evaluate(COLOURS)
        assert tie == rank
        box = page.locator(".about").bounding_box()
        assert box is not None and min(box["width"], box["height"]) >= 24
        devtools = context.new_cdp_session(page)
        devtools.send("DOM.enable")
        devtools.send("CSS.enable")
        root = devtools.send("DOM.getDocument")["root"]["nodeId"]
        used = {}
        for script in NAMES:
            node = devtools.send("DOM.querySelector", {"nodeId": root, "selector": f"#{script}"})["nodeId"]
            fonts = devtools.send("CSS.getPlatformFontsForNode", {"nodeId": node})["fonts"]
            used[script] = {font["familyName"] for font in fonts}
        assert {script: fonts for script, fonts in used.items() if "Source Sans 3" not in str(fonts)}.keys() <= {"cjk"}
        # The other fonts are scaled to the height of the letters of this one.
        assert page.locator("#cjk").evaluate("e => getComputedStyle(e).fontSizeAdjust") not in ("none", "")


def test_font_lists_are_valid(chromium: Browser) -> None:
    """A family with a digit that begins a word needs quotation marks; browsers ignore a list without them."""
    (families,) = re.findall(r'font-family="([^"]+)"', BADGE.read_text())
    with chromium.new_context() as context:
        assert context.new_page().evaluate("families => CSS.supports('font-family', families)", families)
