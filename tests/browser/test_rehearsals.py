"""A draft's dry run with baselines, its rehearsal by a tester without scripts, and its export, in a real browser."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import ROOT, Site, faults, log_in, shoot

pytestmark = pytest.mark.browser
SLUG = "rehearsed-claims"
PREDICTIONS = ROOT / "fixtures" / "mirror-claims" / "predictions" / "test"
KEY = "age1x0t4r3je9n3hnyz8gh0l4nd069uprqcrcg57m80473nacghtwqusz8enx3"


@pytest.fixture(scope="module")
def draft(site: Site) -> str:
    """Import a draft benchmark, which only its managers see."""
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "DJANGO_"))}
    asked = ["import_benchmark", "own", "fixtures/mirror-claims", "--slug", SLUG, "--by", "curator", "--no-public"]
    subprocess.run(
        [sys.executable, "manage.py", *asked], cwd=ROOT, env={**own, "HOLDOUT_DATA": str(site.data)}, check=True
    )
    return f"/manage/benchmarks/{SLUG}"


def a_file() -> Path:
    return min(PREDICTIONS.glob("*.jsonl*"))


def test_dry_run_of_baselines_and_a_file(page: Page, site: Site, draft: str) -> None:
    log_in(page, site, "curator")
    page.goto(f"{draft}/splits/test/dry-run/")
    shoot(page, "dry-run-empty")
    page.get_by_role("button", name="Score the baselines").focus()
    page.keyboard.press("Enter")
    # The page updates by itself.
    expect(page.get_by_role("rowheader", name="contrast=negation")).to_be_visible(timeout=120_000)
    page.get_by_label("Name", exact=True).fill("Ours")
    # A system that reads only the claim is at chance on a symmetric set, and the page says so.
    page.get_by_label("Predictions file").set_input_files(PREDICTIONS / "claim-only.jsonl")
    page.get_by_role("button", name="Score it").press("Enter")
    expect(page.get_by_role("columnheader", name="Ours")).to_be_visible(timeout=120_000)
    expect(page.get_by_role("heading", name="Warnings")).to_be_visible()
    assert faults(page) == []
    shoot(page, "dry-run")
    page.emulate_media(color_scheme="dark")
    # Buttons take a moment to change their colours; the screenshots take longer.
    shoot(page, "dry-run-dark")
    assert faults(page) == []


def look_until_done(page: Page) -> None:
    """Reload the submission's page until it is done, because without scripts it does not update."""
    again, until = page.get_by_role("link", name="Refresh"), time.monotonic() + 120
    while again.is_visible():
        assert time.monotonic() < until, page.locator("#submission-state").inner_text()
        again.click()
    expect(page.locator("#submission-state")).to_have_attribute("data-state", "done")


def test_rehearsal_with_a_tester_without_scripts(page: Page, site: Site, draft: str, chromium: Browser) -> None:
    log_in(page, site, "curator")
    page.goto(f"{draft}/")
    page.get_by_role("link", name="Rehearse Test").click()
    page.get_by_label("Testers").fill("ada")
    page.get_by_role("button", name="Start rehearsal").click()
    assert faults(page) == []
    shoot(page, "rehearsal")
    with chromium.new_context(base_url=site.url, java_script_enabled=False) as context:
        tester = context.new_page()
        log_in(tester, site, "ada")
        tester.goto(f"/benchmarks/{SLUG}-test-rehearsal/test/submit/")
        expect(tester.get_by_role("region", name="Rehearsal")).to_contain_text("This is a rehearsal.")
        tester.get_by_label("Name of the new system").fill("Rehearsing")
        tester.get_by_label("Predictions file").set_input_files(a_file())
        tester.get_by_role("main").get_by_role("button", name="Submit").press("Enter")
        expect(tester.get_by_role("region", name="Rehearsal")).to_be_visible()
        assert "/submissions/" in tester.url
        look_until_done(tester)
    page.get_by_role("link", name="Rehearsal: ").click()
    expect(page.get_by_role("link", name="Rehearsing")).to_be_visible()
    assert faults(page) == []
    shoot(page, "rehearsal-board")
    page.goto(f"{draft}/phases/test/rehearsal/")
    page.get_by_role("button", name="End rehearsal").click()
    expect(page.get_by_role("region", name="Past rehearsals", exact=True)).to_contain_text(f"{SLUG}-test-rehearsal")
    assert faults(page) == []
    shoot(page, "rehearsal-over")


def test_export_of_an_archive_and_its_inspection(page: Page, site: Site, draft: str, tmp_path: Path) -> None:
    log_in(page, site, "curator")
    page.goto(f"{draft}/exports/")
    page.get_by_text("Encrypt with public keys (age)").click()
    page.get_by_label("Public keys").fill(KEY)
    page.get_by_role("button", name="Export", exact=True).click()
    download = page.get_by_role("button", name="Download")
    expect(download).to_be_visible(timeout=120_000)
    assert faults(page) == []
    shoot(page, "export")
    with page.expect_download() as fetched:
        download.click()
    fetched.value.save_as(tmp_path / "archive.zip")
    page.goto("/manage/archives/")
    page.get_by_label("Archive", exact=True).set_input_files(tmp_path / "archive.zip")
    page.get_by_role("button", name="Upload and preview").click()
    expect(page.get_by_role("region", name="Conflicts")).to_contain_text(f"the benchmark {SLUG}")
    assert faults(page) == []
    shoot(page, "arrival")
