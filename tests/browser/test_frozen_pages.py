"""Every view of a board that a correction of the gold has frozen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, faults, log_in, shoot

pytestmark = pytest.mark.browser
GOLD = Path(__file__).resolve().parent.parent.parent / "fixtures" / "open-facts" / "splits" / "test.jsonl"
BOARD = "/benchmarks/open-facts/test/"
FROZEN = f"{BOARD}gold-1/task-1/"
VIEWS = ("", "by/side/", "head-to-head/", "progress/", "significance/")


@pytest.fixture(scope="module")
def frozen(chromium: Browser, site: Site, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Correct one answer as a curator; the earlier board is frozen when every submission is scored again."""
    lines = GOLD.read_text().splitlines()
    first = json.loads(lines[0])
    first["answers"] = [*first["answers"], "another name of it"]
    corrected = tmp_path_factory.mktemp("gold") / "test.jsonl"
    corrected.write_text("\n".join([json.dumps(first, ensure_ascii=False), *lines[1:]]) + "\n")
    with chromium.new_context(base_url=site.url) as context:
        page = context.new_page()
        log_in(page, site, "curator")
        page.goto("/manage/benchmarks/open-facts/splits/test/gold/")
        page.locator("input[type=file]").set_input_files(corrected)
        page.get_by_role("button", name="Preview changes").click()
        page.get_by_label("Reason for the correction").fill("one answer has a second name", timeout=120_000)
        assert faults(page) == []
        shoot(page, "manage-correction")
        look = page.url
        page.get_by_role("link", name="Review items").click()
        expect(page.get_by_text('"another name of it"')).to_be_visible()
        assert faults(page) == []
        shoot(page, "manage-correction-items")
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        assert faults(page) == []
        shoot(page, "manage-correction-items-dark")
        page.goto(look)
        assert faults(page) == []
        shoot(page, "manage-correction-dark")
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.get_by_label("Publish how many items changed").check()
        page.get_by_label("Reason for the correction").fill("one answer has a second name")
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").first).to_contain_text("Gold version 2 of test was added")
        # The page continues the upload, and workers score again.
        for _ in range(180):
            if page.request.get(FROZEN).status == 200:
                return
            page.wait_for_timeout(500)
    pytest.fail("the earlier board was not frozen within a minute and a half")


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.strip("/").replace("/", "-") or "board")
def test_views_of_a_frozen_board(page: Page, frozen: None, view: str) -> None:
    response = page.goto(FROZEN + view)
    assert response is not None and response.status == 200
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    assert faults(page) == []
    shoot(page, f"frozen-{view.strip('/').replace('/', '-') or 'board'}")


def test_views_of_a_frozen_board_link_to_each_other(page: Page, frozen: None) -> None:
    page.goto(FROZEN)
    links = page.get_by_role("navigation", name="Boards of this phase").get_by_role("link")
    addresses = [link.get_attribute("href") or "" for link in links.all()]
    assert addresses and all(address.startswith(FROZEN) for address in addresses), addresses


def test_the_cost_of_a_frozen_board(page: Page, frozen: None) -> None:
    response = page.goto(f"{FROZEN}cost/")
    assert response is not None
    if response.status == 404:
        pytest.skip("no system of this board ran as a container: needs a Docker engine and TEST_BASE_IMAGE")
    assert faults(page) == []
    shoot(page, "frozen-cost")
