"""A researcher's journey in a real browser, from sign-up to the board, and a curator's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, faults, log_in, shoot

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parent.parent.parent
MIRROR = ROOT / "fixtures" / "mirror-claims"
PASSWORD = "seven quiet herons"


def sign_up(page: Page, name: str) -> None:
    page.goto("/")
    page.get_by_role("link", name="Sign up").click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("Email").fill(f"{name}@holdout.example")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password again").fill(PASSWORD)
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()


def to_submit(page: Page, title: str) -> None:
    """Go from the home page to a benchmark's submission page by links only."""
    page.goto("/")
    page.get_by_role("link", name=re.compile(title)).first.click()
    # Selected by phase, because another test may have added a phase that is now first.
    page.locator('main a[href$="/test/submit/"]').first.click()
    expect(page.get_by_role("heading", name="Submit predictions")).to_be_visible()


def test_sign_up_and_submit_a_bad_then_a_good_file(page: Page, site: Site, tmp_path: Path) -> None:
    sign_up(page, "grace")
    to_submit(page, "Mirror Claims")
    good = (MIRROR / "predictions" / "test" / "negation-overlap.jsonl").read_text().splitlines()
    bad = tmp_path / "mine.jsonl"
    unknown = {**json.loads(good[0]), "predicted_label": "MAYBE"}
    bad.write_text("\n".join([json.dumps(unknown), "{not json", *good[2:]]))
    page.get_by_label("Name of the new system").fill("Nanosecond")
    page.get_by_label("Predictions file").set_input_files(bad)
    page.get_by_role("button", name="Upload and submit").click()

    refusal = page.get_by_role("alert")
    expect(refusal).to_contain_text("The file was not accepted")
    expect(refusal).to_contain_text("no quota was used")
    expect(refusal).to_be_focused()
    problems = page.get_by_role("region", name="Problems").get_by_role("listitem")
    expect(problems.first).to_contain_text("mine.jsonl:1")
    expect(problems.first).to_contain_text("MAYBE")
    expect(problems.first).to_contain_text("SUPPORTS, REFUTES")
    expect(problems.nth(1)).to_contain_text("mine.jsonl:2")
    expect(page.get_by_label("Name of the new system")).to_have_value("Nanosecond")
    assert faults(page) == []
    shoot(page, "submit-refused")

    page.get_by_label("Predictions file").set_input_files(MIRROR / "predictions" / "test" / "negation-overlap.jsonl")
    page.get_by_role("button", name="Upload and submit").click()
    expect(page).to_have_url(re.compile(r"/submissions/[0-9a-f-]{36}/$"))
    # The page updates by itself: nothing is clicked until the scores appear.
    expect(page.locator("#submission-state")).to_have_attribute("data-state", "done", timeout=60_000)
    expect(page.get_by_role("heading", name="Scores")).to_be_visible()
    expect(page.locator("[hx-get]")).to_have_count(0)
    assert faults(page) == []
    shoot(page, "submission-done")

    page.get_by_role("link", name="See it on the board").click()
    expect(page.get_by_role("row", name=re.compile("Nanosecond"))).to_be_visible()
    shoot(page, "board-with-mine")


def test_upload_progress_bar(page: Page, site: Site, tmp_path: Path) -> None:
    log_in(page, site, "ada")
    file = tmp_path / "long.jsonl"
    file.write_text('{"id": "none", "predicted_label": "SUPPORTS"}\n' * 10_000)
    page.goto("/benchmarks/mirror-claims/dev/submit/")
    page.get_by_label("Name of the new system").fill("Slow line")
    page.get_by_label("Predictions file").set_input_files(file)
    line = page.context.new_cdp_session(page)
    speed = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": 150_000}
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", speed)
    page.get_by_role("button", name="Upload and submit").click()
    expect(page.get_by_text(re.compile(r"Uploading: [1-9]\d? %"))).to_be_visible()
    expect(page.get_by_role("button", name="Upload and submit")).to_be_disabled()
    bar = page.get_by_role("progressbar")
    assert 0 < float(bar.get_attribute("value") or 0) < 100
    shoot(page, "submit-uploading")
    line.send("Network.emulateNetworkConditions", {**speed, "uploadThroughput": -1})
    expect(page.get_by_role("alert")).to_contain_text("The file was not accepted", timeout=30_000)
    expect(page.get_by_role("region", name="Problems")).to_contain_text("10000 lines:")


def drop(page: Page, file: Path) -> None:
    """Drop a file on the form's field."""
    make = "([name, text]) => { const data = new DataTransfer(); data.items.add(new File([text], name)); return data; }"
    data = page.evaluate_handle(make, [file.name, file.read_text()])
    page.dispatch_event(".drop-zone", "drop", {"dataTransfer": data})


def test_download_from_my_submissions(page: Page, site: Site) -> None:
    log_in(page, site, "emil")
    sent = MIRROR / "predictions" / "dev" / "negation-overlap.jsonl"
    page.goto("/benchmarks/mirror-claims/dev/submit/")
    page.get_by_label("Name of the new system").fill("Herons")
    drop(page, sent)
    page.get_by_role("button", name="Check only").click()
    expect(page.get_by_role("heading", name="The file is valid")).to_be_visible()
    # The page still has the file, here and after the next press.
    page.get_by_role("button", name="Upload and submit").click()
    expect(page.get_by_role("alert")).to_contain_text("You sent this file before")
    shoot(page, "submit-same-file")
    page.get_by_role("button", name="Submit it again").click()
    expect(page.locator("#submission-state")).to_have_attribute("data-state", "done", timeout=60_000)
    page.goto("/me/submissions/")
    listed = page.get_by_role("region", name="Submissions of your teams")
    row = listed.get_by_role("row", name=re.compile("Herons"))
    expect(row).to_contain_text("done")
    shoot(page, "my-submissions")
    with page.expect_download() as download:
        row.get_by_role("link", name="Download").click()
    assert Path(download.value.path()).read_bytes() == sent.read_bytes()
    assert download.value.suggested_filename == "negation-overlap.jsonl"


def test_submission_without_scripts(chromium: Browser, site: Site) -> None:
    context = chromium.new_context(base_url=site.url, java_script_enabled=False)
    page = context.new_page()
    log_in(page, site, "ada")
    page.goto("/benchmarks/mirror-claims/dev/submit/")
    page.get_by_label("Name of the new system").fill("By hand")
    page.get_by_label("Predictions file").set_input_files(MIRROR / "predictions" / "dev" / "claim-only.jsonl")
    page.get_by_role("button", name="Upload and submit").click()
    state = page.locator("#submission-state")
    for _ in range(600):
        expect(state).to_be_visible()
        if state.get_attribute("data-state") == "done":
            break
        page.goto(page.get_by_role("link", name="Refresh").get_attribute("href") or "")
    expect(page.get_by_role("heading", name="Scores")).to_be_visible()
    context.close()


def test_curator_creates_and_publishes_a_benchmark(page: Page, site: Site, tmp_path: Path) -> None:
    log_in(page, site, "curator")
    page.get_by_role("link", name="Manage").click()
    shoot(page, "manage")
    page.get_by_role("link", name="Create a benchmark").click()
    page.get_by_label("Title").fill("Mirrors again")
    page.get_by_label("Short name").fill("mirrors-again")
    page.get_by_label("Task").select_option("fact-verification")
    page.get_by_label("Summary").fill("The same mirrors, held by somebody else.")
    shoot(page, "manage-create")
    page.get_by_role("button", name="Create draft").click()
    page.get_by_role("link", name="Add a split").click()
    page.get_by_label("Name").fill("test")
    gold = (MIRROR / "splits" / "test.jsonl").read_text().splitlines()
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join([json.dumps({**json.loads(gold[0]), "label": "PERHAPS"}), *gold[1:]]))
    page.get_by_label("Gold file", exact=True).set_input_files(broken)
    page.get_by_role("button", name="Upload the gold").click()
    expect(page.get_by_role("alert")).to_contain_text("The gold file was not accepted")
    expect(page.get_by_role("region", name="Problems")).to_contain_text("broken.jsonl:1")
    assert faults(page) == []
    shoot(page, "manage-split-refused")
    page.get_by_label("Gold file", exact=True).set_input_files(MIRROR / "splits" / "test.jsonl")
    page.get_by_role("button", name="Upload the gold").click()
    expect(page.get_by_text("The split test was added, with its gold")).to_be_visible()
    expect(page.get_by_role("heading", name="Public inputs")).to_be_visible()
    shoot(page, "manage-gold")
    page.get_by_role("link", name="View (audited)").click()
    expect(page.get_by_text("Hidden gold")).to_be_visible()
    shoot(page, "manage-gold-read")
    page.goto("/manage/benchmarks/mirrors-again/")
    page.get_by_role("link", name="Add a phase").click()
    page.get_by_role("link", name="Open", exact=True).click()
    page.get_by_label("Title").fill("Final")
    page.get_by_label("Short name").fill("final")
    shoot(page, "manage-phase")
    page.get_by_role("button", name="Add phase").click()
    shoot(page, "manage-benchmark")
    publish_split(page)
    page.goto("/manage/benchmarks/mirrors-again/")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("status").first).to_contain_text("is now public")
    page.goto("/")
    expect(page.get_by_role("link", name=re.compile("Mirrors again"))).to_be_visible()


def publish_split(page: Page) -> None:
    """Audit the split, answer its warnings, and publish it."""
    page.goto("/manage/benchmarks/mirrors-again/splits/test/lifecycle/")
    page.get_by_role("button", name="Audit gold version 1").click()
    page.get_by_role("link", name="Read the report").first.click(timeout=120_000)
    answers = page.get_by_label("Your answer")
    for place in range(answers.count()):
        answers.nth(place).fill("Known, and meant so.")
    if answers.count():
        page.get_by_role("button", name="Save answers").click()
    page.goto("/manage/benchmarks/mirrors-again/splits/test/lifecycle/")
    page.get_by_role("button", name="Publish test").click()
    expect(page.get_by_text("Published: its inputs never change.")).to_be_visible()


def test_a_forgotten_password_on_a_server_without_mail(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_role("link", name="Forgot your password?").click()
    expect(page.get_by_role("main")).to_contain_text("This site sends no email")
    expect(page.get_by_role("main").get_by_role("textbox")).to_have_count(0)
    shoot(page, "password-reset")
