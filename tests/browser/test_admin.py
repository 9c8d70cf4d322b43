"""The admin in a real browser: its pages violate no content security policy and no accessibility rule, at any width."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import Site, faults, shoot
from tests.conftest import ROOT
from tests.support.full_run import FULL

pytestmark = pytest.mark.browser
RECORDS = "/admin/leaderboard"
PAGES = {
    "admin": "/admin/",
    "admin-app": f"{RECORDS}/",
    "admin-list": f"{RECORDS}/benchmark/",
    "admin-list-filtered": f"{RECORDS}/auditentry/?q=gold",
    "admin-list-work": f"{RECORDS}/run/",
    "admin-record": f"{RECORDS}/run/1/change/",
    "admin-benchmark": f"{RECORDS}/benchmark/1/change/",
    "admin-phase": f"{RECORDS}/phase/1/change/",
    "admin-person": f"{RECORDS}/user/1/change/",
    "admin-team": f"{RECORDS}/team/1/change/",
    "admin-delete": f"{RECORDS}/team/1/delete/",
    "admin-reported": f"{RECORDS}/reportedresult/",
}
ONLY_DJANGO_CAN_MEND = {
    # Its SelectFilter2.js turns the help next to each of the two boxes into a <span aria-label>.
    "admin-benchmark": {"aria-prohibited-attr"},
    "admin-person": {"aria-prohibited-attr"},
}


def no_faults(page: Page, name: str) -> None:
    """Check that axe finds exactly the exceptions above, so that the list is shortened once Django fixes one."""
    found = faults(page)
    assert {fault.partition(":")[0] for fault in found} == ONLY_DJANGO_CAN_MEND.get(name, set()), found


@pytest.fixture(scope="module")
def operator(site: Site) -> str:
    """Create a superuser who is a curator, as in docs/operators.md."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "DJANGO_"))}
    env = {**ours, "HOLDOUT_DATA": str(site.data), "DJANGO_SUPERUSER_PASSWORD": "seven quiet herons"}
    who = ["--username", "operator-of-tests", "--email", "operator@holdout.example"]
    for words in (["createsuperuser", "--noinput", *who], ["make_curator", "operator-of-tests"]):
        subprocess.run([sys.executable, "manage.py", *words], cwd=ROOT, env=env, check=True)
    site.passwords["operator-of-tests"] = "seven quiet herons"
    return "operator-of-tests"


def _at_the_desk(page: Page, site: Site, operator: str) -> Page:
    page.goto("/admin/")
    page.get_by_label("Username or email").fill(operator)
    page.get_by_label("Password", exact=True).fill(site.passwords[operator])
    page.get_by_role("main").get_by_role("button", name="Log in", exact=True).click()
    page.goto("/admin/")
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violations(chromium: Browser, site: Site, operator: str, scheme: Any) -> None:
    """Uses a context without checks of the policy: axe itself sets styles, which the policy blocks."""
    suffix = "-dark" if scheme == "dark" else ""
    with chromium.new_context(base_url=site.url, color_scheme=scheme, reduced_motion="reduce") as context:
        page = _at_the_desk(context.new_page(), site, operator)
        # Every other page; all of them in the full run, because most are Django's own templates.
        for name, address in islice(PAGES.items(), 0, None, 1 if FULL else 2):
            response = page.goto(address)
            assert response is not None and response.status == 200, name
            no_faults(page, name)
            shoot(page, f"{name}{suffix}")
        page.goto(f"{RECORDS}/benchmark/?q=mirror-claims")
        page.get_by_role("link", name="Mirror Claims").first.click()
        page.get_by_label("Contact").fill(f"https://holdout.example/{scheme}")
        page.get_by_role("button", name="Save and continue editing").click()
        with page.expect_navigation():
            page.get_by_role("link", name="History").click()
        no_faults(page, "admin-history")
        shoot(page, f"admin-history{suffix}")
