"""Error pages, each caused by a real error, in both colour schemes and at both widths."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, Response, expect

from tests.browser.conftest import faults, shoot

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
