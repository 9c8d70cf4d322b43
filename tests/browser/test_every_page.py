"""Every page at two widths: no horizontal scrolling, no violation that axe finds, and a screenshot."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, faults, log_in, shoot
from tests.support.full_run import FULL

pytestmark = pytest.mark.browser
ANYBODY = {
    "home": "/",
    "home-nothing-found": "/?search=no-such-benchmark",
    "about": "/about/",
    "contact": "/contact/",
    "status": "/status/",
    "docs": "/docs/",
    "docs-researchers": "/docs/researchers/",
    "terms": "/docs/terms/",
    "privacy": "/docs/privacy/",
    "tasks": "/tasks/",
    "measures-kbp": "/tasks/knowledge-base-population/",
    "measures-fact-verification": "/tasks/fact-verification/",
    "benchmark-atlas": "/benchmarks/atlas-facts/",
    "benchmark-mirror": "/benchmarks/mirror-claims/",
    "benchmark-mirror-data": "/benchmarks/mirror-claims/about/data/",
    "benchmark-mirror-rules": "/benchmarks/mirror-claims/about/rules/",
    "benchmark-mirror-submit": "/benchmarks/mirror-claims/about/submit/",
    "benchmark-sourced": "/benchmarks/sourced-claims/",
    "split-atlas": "/benchmarks/atlas-facts/splits/test/",
    "board-atlas": "/benchmarks/atlas-facts/test/",
    "board-atlas-cite": "/benchmarks/atlas-facts/test/cite/",
    "board-atlas-framed": "/benchmarks/atlas-facts/test/embed/",
    "board-mirror": "/benchmarks/mirror-claims/test/",
    "board-sourced": "/benchmarks/sourced-claims/test/",
    "board-atlas-property": "/benchmarks/atlas-facts/test/by/property/",
    "board-mirror-origin": "/benchmarks/mirror-claims/test/by/origin/",
    "board-mirror-symmetric": "/benchmarks/mirror-claims/test/symmetric/",
    "board-graph": "/benchmarks/graph-claims/test/",
    "board-graph-scenarios": "/benchmarks/graph-claims/test/two-way/transparency/homogeneity/?view=matrices",
    "board-graph-scenarios-table": "/benchmarks/graph-claims/test/two-way/transparency/homogeneity/?view=table",
    "board-graph-roc": "/benchmarks/graph-claims/test/roc/",
    "board-graph-popularity": "/benchmarks/graph-claims/test/by/popularity/",
    "board-open-side": "/benchmarks/open-facts/test/by/side/",
    "board-life-relation": "/benchmarks/life-facts/test/by/relation/",
    "board-rated-agreement": "/benchmarks/rated-summaries/test/agreement/",
    "board-mirror-pairs": "/benchmarks/mirror-claims/test/pairs/",
    "board-rated-subset": "/benchmarks/rated-summaries/test/by/subset/",
    "board-atlas-head-to-head": "/benchmarks/atlas-facts/test/head-to-head/",
    "board-mirror-head-to-head": "/benchmarks/mirror-claims/test/head-to-head/",
    "board-mirror-significance": "/benchmarks/mirror-claims/test/significance/",
    "board-mirror-progress": "/benchmarks/mirror-claims/test/progress/",
    "log-in": "/accounts/login/",
    "sign-up": "/accounts/signup/",
    "password-forgotten": "/accounts/password/reset/",
    "password-mail-sent": "/accounts/password/reset/done/",
    "password-link-used": "/accounts/password/reset/key/1-set-password/",
}
RESEARCHER = {
    "my-submissions": "/me/submissions/",
    "settings": "/me/settings/",
    "delete-account": "/me/delete/",
    "my-teams": "/me/teams/",
    "my-tokens": "/me/tokens/",
    "device": "/device/",
    "my-notices": "/me/notifications/",
    "my-profile": "/me/profile/",
    "submit": "/benchmarks/atlas-facts/test/submit/",
    "join": "/join/atlas-facts/",
    "password-change": "/accounts/password/change/",
    "email": "/accounts/email/",
    "two-factor": "/accounts/2fa/",
    "passkeys": "/accounts/2fa/webauthn/",
    "linked-accounts": "/accounts/3rdparty/",
    "log-out": "/accounts/logout/",
}
CURATOR = {
    "manage": "/manage/",
    "manage-workers": "/manage/workers/",
    "manage-create": "/manage/create/",
    "manage-benchmark": "/manage/benchmarks/atlas-facts/",
    "manage-edit": "/manage/benchmarks/atlas-facts/edit/",
    "manage-organisers": "/manage/benchmarks/atlas-facts/organisers/",
    "manage-participants": "/manage/benchmarks/atlas-facts/participants/",
    "manage-near-copies": "/manage/benchmarks/atlas-facts/near-duplicates/",
    "manage-contact": "/manage/benchmarks/atlas-facts/contact/",
    "manage-deadline": "/manage/benchmarks/atlas-facts/phases/test/deadline/",
    "manage-trail": "/manage/benchmarks/atlas-facts/audit-trail/",
    "manage-split-life": "/manage/benchmarks/atlas-facts/splits/test/lifecycle/",
    "manage-baselines": "/manage/benchmarks/atlas-facts/phases/test/baselines/",
    "manage-exports": "/manage/benchmarks/atlas-facts/exports/",
    "manage-arrivals": "/manage/archives/",
    "manage-gold": "/manage/benchmarks/atlas-facts/splits/test/gold/",
    "manage-gold-read": "/manage/benchmarks/atlas-facts/splits/test/gold/1/",
    "manage-scorers": "/manage/benchmarks/atlas-facts/scorers/",
    "manage-leakage-budget": "/manage/benchmarks/atlas-facts/phases/test/leakage-budget/",
    "manage-announcements": "/manage/benchmarks/atlas-facts/announcements/",
    "manage-reported": "/manage/benchmarks/atlas-facts/reported/",
    "manage-facts": "/manage/benchmarks/atlas-facts/facts/",
    "manage-picture": "/manage/benchmarks/atlas-facts/picture/",
    "manage-hidden": "/manage/benchmarks/atlas-facts/hidden/",
    "manage-tracks": "/manage/benchmarks/atlas-facts/phases/test/tracks/",
    "manage-phase": "/manage/benchmarks/atlas-facts/phases/create/",
    "manage-phase-ladder": "/manage/benchmarks/atlas-facts/phases/create/?kind=ladder",
    "manage-phase-edit": "/manage/benchmarks/atlas-facts/phases/test/edit/",
    "manage-split": "/manage/benchmarks/atlas-facts/splits/create/",
    "manage-new-split-atlas": "/manage/benchmarks/atlas-facts/new-split/",
    "manage-generator-folds": "/manage/benchmarks/atlas-facts/new-split/generators/folds/",
}


def look_at(page: Page, name: str, address: str, status: int = 200) -> None:
    response = page.goto(address)
    assert response is not None and response.status == status
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    assert faults(page) == []
    shoot(page, name)
    if FULL:
        # Without motion, because colours in transition to the other scheme lack contrast.
        page.emulate_media(color_scheme="dark", reduced_motion="reduce")
        assert faults(page) == []
        shoot(page, f"{name}-dark")
        page.emulate_media(color_scheme="light", reduced_motion="reduce")


@pytest.mark.parametrize("name", ANYBODY)
def test_public_pages(page: Page, name: str) -> None:
    look_at(page, name, ANYBODY[name])


def test_missing_page(page: Page) -> None:
    look_at(page, "not-found", "/benchmarks/none/", status=404)


@pytest.fixture(scope="module")
def cookies(chromium: Browser, site: Site) -> dict[str, Any]:
    """Log in once per user, for all their pages."""
    kept = {}
    for person in ("ada", "curator"):
        with chromium.new_context(base_url=site.url) as context:
            log_in(context.new_page(), site, person)
            kept[person] = context.cookies()
    return kept


@pytest.mark.parametrize("name", RESEARCHER)
def test_a_researchers_pages(page: Page, cookies: dict[str, Any], name: str) -> None:
    page.context.add_cookies(cookies["ada"])
    look_at(page, name, RESEARCHER[name])


@pytest.mark.parametrize("name", CURATOR)
def test_a_curators_pages(page: Page, cookies: dict[str, Any], name: str) -> None:
    page.context.add_cookies(cookies["curator"])
    look_at(page, name, CURATOR[name])


def test_the_operators_page(page: Page, site: Site) -> None:
    """The demonstration has no operator, so one of its users becomes one, as by `manage.py createsuperuser`."""
    with closing(sqlite3.connect(site.data / "holdout.sqlite3", timeout=20)) as database, database:
        database.execute("UPDATE leaderboard_user SET is_staff = 1 WHERE username = 'emil'")
    log_in(page, site, "emil")
    look_at(page, "manage-operations", "/manage/operations/")


def test_audit_from_start_to_report(page: Page, cookies: dict[str, Any]) -> None:
    """The page updates by itself; for a symmetric set of claims the report has all its plots."""
    page.context.add_cookies(cookies["curator"])
    page.goto("/manage/benchmarks/mirror-claims/splits/test/lifecycle/")
    page.get_by_role("button", name="Audit gold version 1").click()
    link = page.get_by_role("link", name="Read the report").first
    link.wait_for(timeout=120_000)
    assert faults(page) == []
    address = link.get_attribute("href") or ""
    look_at(page, "manage-audit", address)
    for heading in (
        "Findings",
        "Labels",
        "Expected intervals",
        "Leakage from public gold",
        "Label cues",
    ):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    # Without motion, because colours in transition to the other scheme lack contrast.
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert faults(page) == []
    shoot(page, "manage-audit-dark")
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    field = page.get_by_label("Your answer").first
    field.fill("Known, and told on the board.")
    page.get_by_role("button", name="Save answers").click()
    expect(page.get_by_role("status").first).to_contain_text("1 answer saved")
    expect(page.get_by_label("Your answer").first).to_have_value("Known, and told on the board.")


def test_a_submission_with_its_scores_and_receipt(page: Page, cookies: dict[str, Any]) -> None:
    page.context.add_cookies(cookies["ada"])
    page.goto("/me/submissions/")
    link = page.locator("[aria-label='Submissions of your teams'] tbody th a").first
    look_at(page, "submission", link.get_attribute("href") or "")
    listed = page.locator("[aria-label='Submissions of your teams'] tbody tr")
    page.goto("/me/submissions/?phase=mirror-claims/dev")
    look_at(page, "submission-examples", f"{listed.first.locator('th a').get_attribute('href')}examples/")


def test_system_page_for_its_team_and_organisers(page: Page, cookies: dict[str, Any]) -> None:
    page.goto("/benchmarks/mirror-claims/test/")
    where = page.get_by_role("link", name="Pair features", exact=True).get_attribute("href") or ""
    look_at(page, "system", where)
    page.context.add_cookies(cookies["ada"])
    look_at(page, "system-own", where)
    page.goto("/me/profile/")
    page.get_by_label("Name", exact=True).fill("Ada Byron")
    page.get_by_label("Show my profile to everybody").check()
    page.get_by_role("button", name="Save").click()
    person = page.get_by_role("link", name="your profile").get_attribute("href") or ""
    page.goto(where)
    team = page.get_by_role("link", name="Ada's group").get_attribute("href") or ""
    look_at(page, "team", team)
    expect(page.get_by_role("link", name="Ada Byron")).to_be_visible()
    look_at(page, "person", person)
    page.goto(where)
    page.get_by_role("main").get_by_role("link", name="Edit", exact=True).click()
    assert faults(page) == []
    shoot(page, "system-form")
    page.context.clear_cookies()
    page.context.add_cookies(cookies["curator"])
    page.goto(where)
    page.get_by_role("link", name="Disqualify").click()
    assert faults(page) == []
    shoot(page, "manage-disqualify")


def test_team_and_invitation(page: Page, cookies: dict[str, Any]) -> None:
    page.context.add_cookies(cookies["ada"])
    page.goto("/me/teams/")
    page.get_by_role("link", name="Ada's group").click()
    expect(page.get_by_label("Email address")).to_be_visible()
    assert faults(page) == []
    shoot(page, "team")
    page.get_by_label("Email address").fill("grace@demo.invalid")
    page.get_by_role("button", name="Invite", exact=True).click()
    where = page.locator("#link").text_content() or ""
    assert faults(page) == []
    shoot(page, "team-invited")
    page.context.clear_cookies()
    page.context.add_cookies(cookies["curator"])
    look_at(page, "invitation", where[where.index("/invitations/") :])
    page.get_by_role("button", name="Decline").click()
    expect(page.get_by_role("status").first).to_contain_text("You declined the invitation.")


def test_announcement_appears_on_the_benchmark_page(page: Page, cookies: dict[str, Any]) -> None:
    page.context.add_cookies(cookies["curator"])
    page.goto("/manage/benchmarks/graph-claims/announcements/")
    page.get_by_label("Title").fill("<b>Relation names</b> corrected")
    page.get_by_label("Text").fill("Version 2 of the inputs is here.\n\nScores did not change.")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("status").first).to_contain_text("The announcement was published.")
    assert faults(page) == []
    shoot(page, "manage-announcements")
    page.context.clear_cookies()
    look_at(page, "benchmark-graph-announced", "/benchmarks/graph-claims/")
    expect(page.get_by_role("heading", name="<b>Relation names</b> corrected")).to_be_visible()


def test_two_systems_are_chosen_by_keyboard(page: Page) -> None:
    page.goto("/benchmarks/mirror-claims/test/head-to-head/")
    second = page.get_by_label("Second system")
    second.focus()
    page.keyboard.press("End")
    chosen = second.evaluate("one => one.value")
    page.get_by_role("button", name="Compare").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**b={chosen}**")
    expect(page.get_by_label("Second system")).to_have_value(chosen)


def test_new_token(page: Page, cookies: dict[str, Any]) -> None:
    page.context.add_cookies(cookies["ada"])
    page.goto("/me/tokens/")
    page.get_by_label("Name").fill("nightly job")
    page.get_by_role("button", name="Create token").click()
    expect(page.locator("#token")).to_have_text(re.compile(r"^\w{40,}$"))
    assert faults(page) == []
    shoot(page, "my-tokens-made")
    page.get_by_role("button", name=re.compile("^Revoke")).first.click()
    expect(page.get_by_role("status").first).to_contain_text("was revoked")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_contrast_in_both_colour_schemes(chromium: Browser, site: Site, scheme: Any) -> None:
    with chromium.new_context(base_url=site.url, color_scheme=scheme) as context:
        page = context.new_page()
        boards = ("board-mirror-head-to-head", "board-mirror-significance", "board-mirror-progress")
        boards += ("board-atlas-property", "board-mirror-symmetric", "board-graph-scenarios", "board-open-side")
        boards += ("board-graph-roc", "board-rated-agreement", "board-mirror-pairs")
        for name in ("home", "benchmark-mirror", *boards, "sign-up"):
            page.goto(ANYBODY[name])
            assert faults(page) == []
            if scheme == "dark":
                shoot(page, f"{name}-dark")
