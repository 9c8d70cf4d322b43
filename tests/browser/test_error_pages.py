"""Error pages, each caused by a real error, in both colour schemes and at both widths."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser.conftest import Site, faults, log_in, shoot
from tests.browser.test_new_split import START, claims, wait_for_preview

pytestmark = pytest.mark.browser
LOG_IN = "/accounts/login/"


def look_at(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    for scheme, suffix in (("light", ""), ("dark", "-dark")):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        assert faults(page) == []
        shoot(page, f"error-{name}{suffix}")


def send(page: Page) -> Response:
    """Submit the log-in form; return the response."""
    with page.expect_response(lambda answer: answer.request.method == "POST", timeout=60_000) as found:
        page.get_by_role("main").get_by_role("button", name="Log in", exact=True).click()
    page.wait_for_load_state()
    return found.value


def test_missing_page(page: Page) -> None:
    response = page.goto("/benchmarks/none/")
    assert response is not None and response.status == 404
    look_at(page, "404")


def test_form_without_csrf_token(page: Page) -> None:
    page.goto(LOG_IN)
    page.get_by_label("Username or email").fill("ada")
    page.get_by_label("Password", exact=True).fill("x")
    page.context.clear_cookies()
    assert send(page).status == 403
    look_at(page, "403-form")


def test_form_with_too_many_fields(page: Page) -> None:
    page.goto(LOG_IN)
    page.evaluate(
        """() => {
            const form = document.querySelector("main form");
            form.noValidate = true;
            for (let i = 0; i < 1100; i++) {
                const field = document.createElement("input");
                field.type = "hidden";
                field.name = `field-${i}`;
                form.append(field);
            }
        }"""
    )
    assert send(page).status == 400
    look_at(page, "400")


def test_a_form_that_is_too_large(page: Page) -> None:
    page.goto(LOG_IN)
    page.evaluate(
        """() => {
            document.querySelector("main form").noValidate = true;
            const field = document.querySelector("[name=login]");
            field.removeAttribute("maxlength");
            field.value = "x".repeat(1100000);
        }"""
    )
    assert send(page).status == 413
    look_at(page, "413")


def test_too_many_attempts(page: Page, site: Site) -> None:
    """Uses a limit per user; a limit per address would also block the other tests."""
    log_in(page, site, "emil")
    statuses = []
    for _ in range(10):
        page.goto("/accounts/password/change/")
        page.get_by_label("Current password").fill("wrong")
        for field in page.locator("input[name^=password]").all():
            field.fill("some other herons")
        with page.expect_response(lambda answer: answer.request.method == "POST") as found:
            page.get_by_role("main").get_by_role("button").first.click()
        page.wait_for_load_state()
        statuses.append(found.value.status)
        if statuses[-1] == 429:
            break
    assert statuses[-1] == 429, statuses
    look_at(page, "429")


def test_locked_database(page: Page, site: Site) -> None:
    """Takes twenty seconds, the time that the server waits for the lock."""
    page.goto(LOG_IN)
    page.get_by_label("Username or email").fill("emil")
    page.get_by_label("Password", exact=True).fill(site.passwords["emil"])
    held = sqlite3.connect(site.data / "holdout.sqlite3", timeout=30, isolation_level=None)
    held.execute("BEGIN IMMEDIATE")
    try:
        answer = send(page)
    finally:
        held.execute("ROLLBACK")
        held.close()
    assert (answer.status, answer.header_value("retry-after")) == (503, "10")
    expect(page.get_by_role("heading", name="Temporarily unavailable")).to_be_visible()
    look_at(page, "503")


def test_deleted_preview(page: Page, site: Site, tmp_path: Path) -> None:
    log_in(page, site, "curator")
    page.goto(START)
    page.get_by_label("File to upload").set_input_files(claims(tmp_path, "forgotten"))
    page.get_by_role("button", name="Upload the raw file").click()
    page.get_by_role("rowheader", name="forgotten.jsonl").wait_for()
    page.get_by_role("link", name="Use the file unchanged").click()
    page.get_by_label("Gold lines").select_option(label="forgotten.jsonl")
    page.get_by_role("button", name="Make a preview").click()
    wait_for_preview(page)
    address = page.url
    page.get_by_role("button", name="Delete preview").click()
    expect(page.get_by_role("status").first).to_contain_text("The preview was deleted")
    response = page.goto(address)
    assert response is not None and response.status == 410
    look_at(page, "410")
    page.goto(START)
    page.get_by_role("button", name=re.compile("^Remove forgotten.jsonl")).click()
