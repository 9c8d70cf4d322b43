"""The documentation site that Sphinx builds: links, anchors, the reference, a browser.

CI builds it once and names the folder in TEST_DOCS; without it the site is built here. Any warning is an error.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from playwright.sync_api import Browser, expect

from leaderboard.core.api.schema import schema
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


class Parsed(HTMLParser):
    """A page's ids, links, and resources of other hosts. address: of the page, from the site's root."""

    def __init__(self, address: str, text: str) -> None:
        super().__init__()
        self.address = address
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.foreign: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        if "id" in values:
            self.ids.add(values["id"])
        for name in ("href", "src"):
            if name in values:
                self.links.add(urljoin(self.address, values[name]))
                if tag != "a" and "//" in values[name]:
                    self.foreign.append(f"<{tag}> loads {values[name]}")


def test_every_link_leads_to_a_page_and_an_anchor(built: Path) -> None:
    pages = {
        "/" + path.parent.relative_to(built).as_posix().removeprefix(".") + "/": path
        for path in built.rglob("index.html")
    }
    pages = {address.replace("//", "/"): path for address, path in pages.items()}
    parsed = {address: Parsed(address, path.read_text()) for address, path in pages.items()}
    missing = []
    for address, page in parsed.items():
        assert page.foreign == [], address
        for link in page.links:
            target, anchor = urldefrag(link)
            if urlsplit(target).scheme or urlsplit(target).netloc:
                continue
            path = unquote(urlsplit(target).path)
            if path in parsed:
                if anchor and unquote(anchor) not in parsed[path].ids:
                    missing.append(f"{address} -> {link}")
            elif not (built / path.lstrip("/")).is_file():
                missing.append(f"{address} -> {link}")
    assert missing == []
    linked = {urlsplit(link).path for page in parsed.values() for link in page.links}
    assert parsed.keys() - linked - {f"/{name}" for name in FROM_CODE} == set()
    # Each Markdown file has a page.
    sources = {path.relative_to(docs.FOLDER).with_suffix("").as_posix() for path in docs.FOLDER.rglob("*.md")}
    assert {"/" + re.sub(r"(^|/)index$", r"\1", name).rstrip("/") + "/" for name in sources} - {"//"} <= parsed.keys()


def test_reference_has_commands_calls_and_classes(built: Path) -> None:
    def text_of(name: str) -> str:
        return re.sub(r"<[^>]+>", "", (built / "reference" / name / "index.html").read_text())

    commands, calls = text_of("commands"), text_of("http-api")
    assert (
        "holdout-eval submit" in commands and "import_benchmark" in commands and "holdout-eval split folds" in commands
    )
    operations = [call for methods in schema()["paths"].values() for call in methods.values()]
    samples = [
        sample["source"] for call in operations if not call.get("deprecated") for sample in call["x-codeSamples"]
    ]
    # The site's address is in the samples, so only what follows it is compared.
    assert len(re.findall(r"^curl ", calls, flags=re.MULTILINE)) * 2 == len(samples)
    assert re.search(r"file\s+file\s+required", calls), "an uploaded file is no address"
    assert "hidden_by" in calls and "or empty" in calls and "BlankEnum" not in calls
    assert "score_outcomes" in text_of("python") and "MessageField" not in text_of("python")


MAIN = ("", "tutorials/researcher/", "reference/python/", "search/?q=ladder")
LONG = ("operators/", "reference/http-api/", "reference/commands/")


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder at /docs/."""

    def translate_path(self, path: str) -> str:
        return super().translate_path(path.removeprefix("/docs"))


@pytest.fixture
def address(built: Path) -> Iterator[str]:
    """Serve the built site, and return its address."""
    handler = partial(Handler, directory=str(built))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.browser
def test_main_pages_in_a_browser(address: str, chromium: Browser) -> None:
    """axe finds no fault, nothing is too wide for a phone, dark mode and search work."""
    context = chromium.new_context(base_url=address, reduced_motion="reduce", color_scheme="dark")
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
