"""Croissant metadata of the demonstration: in a browser's page, and read by mlcroissant from the running site."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import ROOT, Site
from tests.leaderboard.datasets import croissant_reader

pytestmark = pytest.mark.browser
BENCHMARKS = sorted(path.parent.name for path in ROOT.glob("fixtures/*/benchmark.json"))


def test_the_page_contains_the_document_and_breaks_no_policy(page: Page) -> None:
    """The fixture fails on any violation of the content security policy, which forbids inline scripts."""
    page.goto(f"/benchmarks/{BENCHMARKS[0]}/")
    (embedded,) = page.locator('script[type="application/ld+json"]').all_text_contents()
    assert json.loads(embedded) == page.request.get(f"/benchmarks/{BENCHMARKS[0]}/croissant.json").json()


@pytest.mark.slow
@pytest.mark.parametrize("slug", BENCHMARKS)
def test_mlcroissant_reads_the_demonstration(
    site: Site, slug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch(address: str) -> bytes:
        with urllib.request.urlopen(address) as response:
            content: bytes = response.read()
        return content

    document = fetch(f"{site.url}/benchmarks/{slug}/croissant.json").decode()
    address = urlsplit(json.loads(document)["url"])
    served = json.loads(document.replace(f"{address.scheme}://{address.netloc}", site.url))
    assert croissant_reader.check(served, fetch, tmp_path, monkeypatch) > 100
