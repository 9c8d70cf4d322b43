"""The content security policy takes effect; test_stored_scripts.py looks for scripts in texts of users."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import Site

pytestmark = pytest.mark.browser


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
