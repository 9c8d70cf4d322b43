"""A whole Holdout as the README starts it, on a data folder of its own, and a real browser before it.

Nothing here looks into the database: a browser test knows what a person with a browser knows.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.support.seeded_site import copy_of_seeded, serving

# Playwright keeps an event loop running in this process, and Django's database refuses to work beside one, also in the
# tests that a parallel run (-n) brings here afterwards. None of them is asynchronous.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

ROOT = Path(__file__).resolve().parent.parent.parent
SHOTS = ROOT / "artifacts" / "screenshots"
WIDTHS = {"wide": 1280, "phone": 390}
AXE = (Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js").read_text()
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@dataclass
class Site:
    """A running site: its address, and the demonstration's passwords by user name."""

    url: str
    data: Path
    passwords: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site of this test process with the demonstration."""
    base = tmp_path_factory.getbasetemp()
    with tempfile.TemporaryDirectory(prefix="holdout-browser-") as name:
        folder = Path(name)
        # A worker of a parallel run has its folder in the run's.
        copy_of_seeded(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base, folder)
        with serving(folder) as url:
            lines = (folder / "demo-logins").read_text().splitlines()
            yield Site(url, folder, {line.split()[0]: line.split()[1] for line in lines})


@dataclass
class Watch:
    """What a page must never do, as the browser tells it."""

    faults: list[str] = field(default_factory=list)

    def follow(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        page.on("console", self._heard)
        page.on("dialog", lambda dialog: (self.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def _heard(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text or "Content-Security-Policy" in message.text:
            self.faults.append(message.text)


@pytest.fixture
def page(chromium: Browser, site: Site) -> Iterator[Page]:
    """A page of a browser that knows nobody; the test fails on any violation of the policy and any script error."""
    context = chromium.new_context(base_url=site.url, viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    watch = Watch()
    watch.follow(page)
    yield page
    context.close()
    assert watch.faults == []


def shoot(page: Page, name: str) -> None:
    """Nothing sticks out sideways at either width. With TEST_SCREENSHOTS a picture of each is kept as an artifact."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    for label, width in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 900})
        if os.environ.get("TEST_SCREENSHOTS"):
            page.screenshot(path=SHOTS / f"{name}-{label}.png", full_page=True)
        sticks_out = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert sticks_out <= 0, f"{name} at {width} px is {sticks_out} px too wide"
    page.set_viewport_size({"width": WIDTHS["wide"], "height": 900})


def faults(page: Page) -> list[str]:
    """What axe finds wrong: rule, and the first elements."""
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{fault['id']}: {fault['help']}: {[node['target'] for node in fault['nodes']][:4]}"
        for fault in found["violations"]
    ]


def log_in(page: Page, site: Site, username: str) -> None:
    """As one of the demonstration's people."""
    page.goto("/accounts/login/")
    page.get_by_label("Username or email").fill(username)
    page.get_by_label("Password", exact=True).fill(site.passwords[username])
    page.get_by_role("main").get_by_role("button", name="Log in").click()
