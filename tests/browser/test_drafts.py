"""A draft with baselines by a button, a tester without scripts, its reset, and its export, in a real browser."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ROOT, Site, faults, log_in, shoot

pytestmark = pytest.mark.browser
SLUG = "tried-claims"
PREDICTIONS = ROOT / "fixtures" / "mirror-claims" / "predictions" / "test"
BOARD = f"/benchmarks/{SLUG}/test/"


@pytest.fixture(scope="module")
def draft(site: Site) -> str:
    """Import a draft benchmark, which only its managers see."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "DJANGO_"))}
    asked = ["import_benchmark", "own", "fixtures/mirror-claims", "--slug", SLUG, "--by", "curator", "--no-public"]
    subprocess.run(
        [sys.executable, "manage.py", *asked], cwd=ROOT, env={**own, "HOLDOUT_DATA": str(site.data)}, check=True
    )
    return f"/manage/benchmarks/{SLUG}"


def look(page: Page, name: str) -> None:
    assert faults(page) == []
    shoot(page, name)


def look_until_done(page: Page) -> None:
    """Reload the submission's page until it is done, because without scripts it does not update."""
    again, until = page.get_by_role("link", name="Refresh"), time.monotonic() + 120
    while again.is_visible():
        assert time.monotonic() < until, page.locator("#submission-state").inner_text()
        again.click()
    expect(page.locator("#submission-state")).to_have_attribute("data-state", "done")


def test_a_draft_is_tried_and_reset(page: Page, site: Site, draft: str, chromium: Browser) -> None:
    log_in(page, site, "curator")
    page.goto(f"{draft}/")
    page.get_by_role("link", name="Draft", exact=True).click()
    page.get_by_role("textbox", name="Testers").fill("ada")
    page.get_by_role("button", name="Save testers").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("1 tester saved.")
    page.goto(f"{draft}/phases/test/baselines/")
    page.get_by_role("main").get_by_role("button", name="Submit").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("baselines submitted.")
    look(page, "baselines")
    with chromium.new_context(base_url=site.url, java_script_enabled=False) as context:
        tester = context.new_page()
        log_in(tester, site, "ada")
        tester.goto(f"{BOARD}submit/")
        expect(tester.get_by_role("region", name="Draft")).to_contain_text("This is a draft.")
        tester.get_by_label("Name of the new system").fill("Trying")
        tester.get_by_label("Predictions file").set_input_files(PREDICTIONS / "claim-only.jsonl")
        tester.get_by_role("main").get_by_role("button", name="Submit").press("Enter")
        expect(tester.get_by_role("region", name="Draft")).to_be_visible()
        assert "/submissions/" in tester.url
        look_until_done(tester)
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="majority"))
    for _ in range(240):
        page.goto(BOARD)
        if row.filter(has_text=f"Baselines of {SLUG}").count():
            break
        page.wait_for_timeout(500)
    expect(page.get_by_role("link", name="Trying")).to_be_visible()
    look(page, "draft-board")
    page.goto(f"/benchmarks/{SLUG}/")
    look(page, "draft-page")
    page.goto(f"{draft}/")
    look(page, "draft-manage")
    page.goto(f"{draft}/draft/")
    look(page, "draft")
    page.get_by_role("button", name="Reset").press("Enter")
    # The browser asks to tick the box first.
    expect(page.get_by_label("Delete all submissions to this draft")).to_be_focused()
    page.keyboard.press("Space")
    page.get_by_role("button", name="Reset").press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("The draft is empty")
    look(page, "draft-reset")
    page.goto(BOARD)
    expect(page.get_by_role("link", name="Trying")).to_have_count(0)
    expect(page.get_by_role("rowheader", name="majority")).to_have_count(0)
