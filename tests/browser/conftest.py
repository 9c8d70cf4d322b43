"""A complete site, started as in the README, with its own data folder, and a real browser.

The browser tests do not read the database: they check what a user with a browser sees.
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

# Playwright keeps an event loop running in this process. Django's database code then refuses to run, even in tests that
# a parallel run (-n) executes here later. None of these tests is asynchronous.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

ROOT = Path(__file__).resolve().parent.parent.parent
SHOTS = ROOT / "artifacts" / "screenshots"
WIDTHS = {"wide": 1280, "phone": 390}
AXE = (Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js").read_text()
SMALL_TARGETS = """() => {
  const small = new Set();
  const controls = "a[href], button, input:not([type=hidden]), select, textarea, summary";
  for (const control of document.querySelectorAll(controls)) {
    let box = control.getBoundingClientRect();
    if (!box.width || !control.checkVisibility() || control.closest(".visually-hidden, .skip, svg")) continue;
    // A click on the label checks the box, and some targets are larger than what is seen of them.
    const label = ["checkbox", "radio"].includes(control.type) && control.labels[0];
    if (label && label.getBoundingClientRect().height > box.height) box = label.getBoundingClientRect();
    const around = getComputedStyle(control, "::after");
    const isWider = around.content !== "none" && around.position === "absolute";
    const height = isWider ? parseFloat(around.height) : box.height;
    const width = isWider ? parseFloat(around.width) : box.width;
    if (height > 23.9 && width > 23.9) continue;
    // WCAG excepts links inside a sentence.
    const line = control.closest("p, li, dd, td, th, div, figcaption, summary, label");
    const isInline = control.tagName === "A" && getComputedStyle(control).display === "inline";
    if (isInline && line && line.textContent.trim() !== control.textContent.trim()) continue;
    const text = control.textContent.trim().slice(0, 40);
    small.add(`${control.tagName} "${text}" ${Math.round(width)} x ${Math.round(height)} px`);
  }
  return [...small];
}"""
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Waits until the browser has drawn the page at a new width; else a screenshot may lack tables below the window."""
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


@dataclass
class Site:
    """A running site: its address, and the demonstration's passwords by user name."""

    url: str
    data: Path
    passwords: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Start a site of this test process with the demonstration."""
    base = tmp_path_factory.getbasetemp()
    with tempfile.TemporaryDirectory(prefix="holdout-browser-") as name:
        folder = Path(name)
        # The folder of a parallel run's worker is inside the run's folder.
        copy_of_seeded(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base, folder)
        with serving(folder) as url:
            lines = (folder / "demo-logins").read_text().splitlines()
            yield Site(url, folder, {line.split()[0]: line.split()[1] for line in lines})


@dataclass
class Watch:
    """Collects script errors, dialogs and violations of the content security policy from the browser."""

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
    """Open a page without a session; the test fails on any script error or violation of the policy."""
    context = chromium.new_context(base_url=site.url, viewport={"width": 1280, "height": 900}, accept_downloads=True)
    page = context.new_page()
    watch = Watch()
    watch.follow(page)
    yield page
    context.close()
    assert watch.faults == []


def shoot(page: Page, name: str) -> None:
    """Check at both widths that nothing scrolls sideways and targets have 24 px; TEST_SCREENSHOTS saves it."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    for label, width in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 900})
        if os.environ.get("TEST_SCREENSHOTS"):
            page.evaluate(TWO_FRAMES)
            page.screenshot(path=SHOTS / f"{name}-{label}.png", full_page=True)
        sticks_out = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert sticks_out <= 0, f"{name} at {width} px is {sticks_out} px too wide"
        # Django's admin and furo have styles of their own; for these axe checks targets and the space around them.
        if "/admin/" in page.url or "/docs/" in page.url:
            continue
        page.evaluate("document.fonts.ready.then(() => true)")
        assert page.evaluate(SMALL_TARGETS) == [], f"{name} at {width} px has targets of less than 24 px"
    page.set_viewport_size({"width": WIDTHS["wide"], "height": 900})


def faults(page: Page) -> list[str]:
    """Return the violations that axe finds: rule and first elements."""
    page.evaluate(AXE)
    found: dict[str, Any] = page.evaluate("rules => axe.run(document, rules)", RULES)
    return [
        f"{fault['id']}: {fault['help']}: {[node['target'] for node in fault['nodes']][:4]}"
        for fault in found["violations"]
    ]


def log_in(page: Page, site: Site, username: str) -> None:
    """Log in as one of the demonstration's users."""
    page.goto("/accounts/login/")
    page.get_by_label("Username or email").fill(username)
    page.get_by_label("Password", exact=True).fill(site.passwords[username])
    page.get_by_role("main").get_by_role("button", name="Log in", exact=True).click()
