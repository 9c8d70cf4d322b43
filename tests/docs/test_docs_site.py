"""The documentation site that Sphinx builds, through Django: links, anchors, the site's policy, a browser.

CI builds it once and names the folder in TEST_DOCS; without it the site is built here. Any warning is an error.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from django.test import Client
from playwright.sync_api import Browser, expect

from leaderboard.core.web import docs
from tests.browser.conftest import Watch, faults, shoot
from tests.conftest import ROOT
from tests.support.full_run import FULL

FROM_CODE = {"genindex/", "py-modindex/", "search/"}
"""Pages that Sphinx adds, and that no page's text has to link."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if os.environ.get("TEST_DOCS"):
        return Path(os.environ["TEST_DOCS"])
    folder = tmp_path_factory.mktemp("docs")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-b", "dirhtml", "-d", folder / "doctrees", "docs"]
    # Sphinx fails if the locale of the environment is not installed.
    subprocess.run([*command, folder / "html"], cwd=ROOT, env={**os.environ, "LC_ALL": "C"}, check=True)
    return folder / "html"


@pytest.fixture(autouse=True)
def _served(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "BUILT", built)


class Parsed(HTMLParser):
    """A page's ids, links, and what the policy forbids: inline scripts and styles, resources of other hosts."""

    def __init__(self, address: str, text: str) -> None:
        super().__init__()
        self.address = address
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.forbidden: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if "id" in values:
            self.ids.add(values["id"])
        for name in ("href", "src"):
            if name in values:
                self.links.add(urljoin(self.address, values[name]))
                if tag != "a" and "//" in values[name]:
                    self.forbidden.append(f"<{tag}> loads {values[name]}")
        if tag == "style" or (tag == "script" and "src" not in values):
            self.forbidden.append(f"inline <{tag}>")
        self.forbidden += [f"<{tag} {name}>" for name in values if name == "style" or name.startswith("on")]


@pytest.mark.django_db
def test_every_link_leads_to_a_page_and_an_anchor(built: Path) -> None:
    client = Client()
    pages: dict[str, Parsed | None] = {}
    waiting, wanted = ["/docs/"], {}
    while waiting:
        address = waiting.pop()
        response = client.get(unquote(address))
        assert response.status_code == 200, f"{address}, linked from {wanted.get(address)}"
        if not response["Content-Type"].startswith("text/html"):
            pages[address] = None
            continue
        pages[address] = page = Parsed(address, response.content.decode())
        if not address.startswith("/docs/"):
            continue
        assert page.forbidden == [], address
        for link in page.links:
            target = urldefrag(link)
            parts = urlsplit(target.url)
            if parts.scheme or parts.netloc:
                continue
            path = parts.path
            wanted.setdefault(path, address)
            if path not in pages and path not in waiting:
                waiting.append(path)
    missing = [
        f"{address} -> {link}"
        for address, page in pages.items()
        if page is not None and address.startswith("/docs/")
        for link in page.links
        if (target := urldefrag(link)).fragment
        and (there := pages.get(urlsplit(target.url).path)) is not None
        and unquote(target.fragment) not in there.ids
    ]
    assert missing == []
    files = {path.parent.relative_to(built).as_posix() + "/" for path in built.rglob("index.html")} - {"./"}
    assert files - FROM_CODE <= {address.removeprefix("/docs/") for address in pages}
    # Each Markdown file has a page, and old addresses have stayed.
    sources = {path.relative_to(docs.FOLDER).with_suffix("").as_posix() for path in docs.FOLDER.rglob("*.md")}
    assert {re.sub(r"(^|/)index$", r"\1", name).rstrip("/") + "/" for name in sources} - {"/"} <= files


@pytest.mark.django_db
def test_reference_has_commands_calls_and_classes() -> None:
    def text_of(name: str) -> str:
        return re.sub(r"<[^>]+>", "", Client().get(f"/docs/reference/{name}/").content.decode())

    commands = text_of("commands")
    assert (
        "holdout-eval submit" in commands and "import_benchmark" in commands and "holdout-eval split folds" in commands
    )
    assert "/api/v1/benchmarks/{slug}/phases/{phase}/submissions/" in text_of("http-api")
    assert "score_outcomes" in text_of("python") and "MessageField" not in text_of("python")


MAIN = ("", "tutorials/researcher/", "reference/python/", "search/?q=ladder")
LONG = ("operators/", "reference/http-api/", "reference/commands/")


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_main_pages_in_a_browser(live_server: Any, chromium: Browser) -> None:
    """The policy is not violated, axe finds no fault, nothing is too wide for a phone, dark mode and search work."""
    context = chromium.new_context(base_url=live_server.url, reduced_motion="reduce", color_scheme="dark")
    page, watch = context.new_page(), Watch()
    watch.follow(page)
    wrong: list[str] = []
    for path in (*MAIN, *(LONG if FULL else ())):
        page.goto(f"/docs/{path}")
        if path.startswith("search"):
            expect(page.get_by_role("main").get_by_role("link", name=re.compile("ladder")).first).to_be_visible()
        wrong += [f"{path}: {fault}" for fault in faults(page)]
        shoot(page, f"docs-{path.partition('?')[0].strip('/').replace('/', '-')}")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(19, 22, 21)"
    context.close()
    assert not wrong, "\n".join(wrong)
    assert watch.faults == []
