"""A plot under the pointer and on the keyboard."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
BOARD = "/benchmarks/mirror-claims/test/"
MATRICES = "/benchmarks/graph-claims/test/two-way/transparency/homogeneity/?view=matrices&sort=system&order=asc"


def test_a_plot_shows_systems_under_the_pointer_and_on_the_keyboard(page: Page) -> None:
    page.goto(BOARD)
    plot = page.get_by_role("application", name="The table has the same numbers")
    tip = plot.get_by_role("status")
    plot.focus()
    expect(tip).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(tip).to_contain_text("95 % interval")
    first = tip.inner_text().splitlines()[0]
    page.keyboard.press("ArrowDown")
    expect(tip).not_to_contain_text(first)
    second = tip.inner_text().splitlines()[0]
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()
    plot.locator("path[aria-roledescription=rect], .mark-rect path").last.hover()
    expect(tip).to_contain_text("Accuracy")
    with page.expect_download() as download:
        page.get_by_role("button", name="PNG").click()
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    plot.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/systems/\d+/\?board="))
    expect(page.get_by_role("heading", level=1)).to_contain_text(second)


def test_matrices_are_saved_as_a_picture(page: Page) -> None:
    page.goto(MATRICES)
    names = page.locator(".multiple .system-name").all_inner_texts()
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG").click()
    svg = download.value.path().read_text()
    assert download.value.suggested_filename == "graph-claims-test-matrices.svg" and "var(--" not in svg
    places = [svg.index(f">{name}<") for name in names]
    assert len(places) > 1 and places == sorted(places), "in the order of the page"
