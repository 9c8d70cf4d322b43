"""Text from hostile participants stays text in a real browser, and pages follow their content security policy."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, log_in, shoot

pytestmark = pytest.mark.browser
DEV = Path(__file__).resolve().parent.parent.parent / "fixtures" / "mirror-claims" / "predictions" / "dev"
NASTY = '<script>document.title="taken"</script><img src=x onerror="alert(1)">'


def test_script_in_names_does_not_run(page: Page, site: Site, tmp_path: Path) -> None:
    log_in(page, site, "curator")  # this user competes for no team there yet
    page.goto("/me/teams/")
    page.get_by_label("Name").fill("<svg onload=alert(2)>")
    page.get_by_role("button", name="Create team").click()
    page.goto("/benchmarks/mirror-claims/dev/submit/")
    page.get_by_label("Name of the new system").fill(NASTY)
    page.get_by_label("Team of").select_option(label="<svg onload=alert(2)>")
    page.get_by_label("Note").fill("<script>alert(3)</script>")
    file = tmp_path / "<b onclick=alert(4)>.jsonl"
    file.write_bytes((DEV / "claim-only.jsonl").read_bytes())
    page.get_by_label("Predictions file").set_input_files(file)
    page.get_by_role("button", name="Upload and submit").click()
    expect(page.locator("#submission-state")).to_have_attribute("data-state", "done", timeout=60_000)
    expect(page.get_by_role("heading", level=1)).to_have_text(NASTY)
    places = ["", "symmetric/", "by/origin/", "?sort=system"]
    for address in (*(f"/benchmarks/mirror-claims/dev/{place}" for place in places), "/me/submissions/"):
        page.goto(address)
        expect(page.get_by_text(NASTY).first).to_be_attached()
        assert page.title() != "taken"
        assert page.locator("main script, main img, main [onerror], main [onload], main [onclick]").count() == 0
    shoot(page, "hostile-names")


def test_html_in_a_bad_file_is_escaped(page: Page, site: Site, tmp_path: Path) -> None:
    log_in(page, site, "ada")
    file = tmp_path / "bad.jsonl"
    file.write_text(json.dumps({"id": NASTY, "predicted_label": NASTY}) + "\n")
    page.goto("/benchmarks/mirror-claims/dev/submit/")
    page.get_by_label("Name of the new system").fill("Harmless")
    page.get_by_label("Predictions file").set_input_files(file)
    page.get_by_role("button", name="Upload and submit").click()
    expect(page.get_by_role("region", name="Problems")).to_contain_text("onerror")
    assert page.locator("main img").count() == 0
    assert page.title() != "taken"


def test_content_security_policy_blocks_inserted_styles(chromium: Browser, site: Site) -> None:
    """The policy exists: a style that is inserted into a page has no effect and is reported."""
    with chromium.new_context(base_url=site.url) as context:
        page = context.new_page()
        page.goto("/")
        page.evaluate(
            """() => {
                window.stopped = new Promise(resolve =>
                    document.addEventListener("securitypolicyviolation", event => resolve(event.effectiveDirective)));
                document.body.insertAdjacentHTML("beforeend", '<i style="color: red">styled</i>');
            }"""
        )
        assert page.evaluate("window.stopped") == "style-src-attr"
