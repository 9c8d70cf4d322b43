"""How many bytes of each page a browser with an empty cache receives, compressed as nginx does it."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from playwright.sync_api import Browser, Request

from tests.browser.conftest import Site, log_in
from tests.browser.test_every_page import ANYBODY, CURATOR, RESEARCHER

pytestmark = [pytest.mark.browser, pytest.mark.slow]
LIMIT, LIMIT_WITH_PLOTS = 100_000, 400_000
FONT_OF_OTHER_ALPHABETS = "latin-ext"
"""Loaded for letters such as ř, and not counted: which pages have such letters depends on their data."""


def size(request: Request) -> int:
    response = request.response()
    body = response.body() if response and response.ok else b""
    return len(body) if request.url.endswith((".woff2", ".png")) else len(gzip.compress(body, 5))


@pytest.mark.parametrize(
    ("username", "pages"), [("", ANYBODY), ("ada", RESEARCHER), ("curator", CURATOR)], ids=["anybody", "ada", "curator"]
)
def test_weights(chromium: Browser, site: Site, username: str, pages: dict[str, str]) -> None:
    cookies: Any = []
    if username:
        with chromium.new_context(base_url=site.url) as context:
            log_in(context.new_page(), site, username)
            cookies = context.cookies()
    weights = {}
    for name, address in pages.items():
        with chromium.new_context(base_url=site.url) as context:
            context.add_cookies(cookies)
            page = context.new_page()
            requests: list[Request] = []
            page.on("requestfinished", lambda request, into=requests: into.append(request))
            page.goto(address, wait_until="networkidle")
            sizes = {one.url: size(one) for one in requests if FONT_OF_OTHER_ALPHABETS not in one.url}
            weights[name] = sum(sizes.values()), any("/vega" in url for url in sizes)
    for name, (weight, has_plots) in sorted(weights.items(), key=lambda item: -item[1][0]):
        print(f"{weight / 1000:7.1f} kB  {name}{' (plots)' if has_plots else ''}")
    limits = {name: LIMIT_WITH_PLOTS if has_plots else LIMIT for name, (_, has_plots) in weights.items()}
    assert [name for name, (weight, _) in weights.items() if weight > limits[name]] == []
