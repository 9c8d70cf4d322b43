"""A whole Holdout as the README starts it, on a data folder of its own, and a real browser before it.

Nothing here looks into the database: a browser test knows what a person with a browser knows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

# Playwright keeps an event loop running in this process, and Django's database refuses to work beside one, also in the
# tests that a parallel run (-n) brings here afterwards. None of them is asynchronous.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

ROOT = Path(__file__).resolve().parent.parent.parent
SHOTS = ROOT / "artifacts" / "screenshots"
PATIENCE = 600.0
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
def site() -> Iterator[Site]:
    """Started and seeded by `manage.py serve`, on the embedded default whatever the other tests run on."""
    with tempfile.TemporaryDirectory(prefix="holdout-browser-") as folder, _serving(Path(folder)) as url:
        lines = (Path(folder) / "demo-logins").read_text().splitlines()
        yield Site(url, Path(folder), {line.split()[0]: line.split()[1] for line in lines})


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("HOLDOUT_", "DJANGO_"))}
    if base := os.environ.get("TEST_BASE_IMAGE"):
        # With it and an engine the demonstration builds its systems and runs them: their costs are on its boards.
        own["HOLDOUT_BASE_IMAGE"] = base
    log = folder / "serve.log"
    with log.open("wb") as output:
        server = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--port", "0"],
            cwd=ROOT,
            env={**own, "HOLDOUT_DATA": str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield _address(server, log)
    finally:
        server.terminate()
        server.wait(60)


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    """The address that the server prints, once it also says that it is ready."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and server.poll() is None:
        said = log.read_text(errors="replace")
        if "holdout: ready" in said:
            return said.split("Holdout is at ")[1].split()[0].rstrip("/")
        time.sleep(0.2)
    pytest.fail(f"the site did not get ready:\n{log.read_text(errors='replace')[-6000:]}")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        yield browser
        browser.close()


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
    """A picture of the whole page at each width, kept as an artifact, and that nothing sticks out sideways."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    for label, width in WIDTHS.items():
        page.set_viewport_size({"width": width, "height": 900})
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
