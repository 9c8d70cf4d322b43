"""The plot of quality against cost, for systems that the demonstration ran as containers."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, faults, shoot

pytestmark = pytest.mark.browser
BOARD = "/benchmarks/mirror-claims/test/"


def follow(page: Page) -> None:
    """Open the plot by the board's link."""
    page.goto(BOARD)
    link = page.get_by_role("link", name="Quality and cost")
    if not link.count():
        pytest.skip("no system of the demonstration ran as a container: needs a Docker engine and TEST_BASE_IMAGE")
    link.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("quality and cost")


def test_cost_plot(page: Page) -> None:
    follow(page)
    expect(page.get_by_role("application", name="The table has the same numbers")).to_have_count(1)
    assert faults(page) == []
    shoot(page, "cost")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cost_plot_contrast(chromium: Browser, site: Site, scheme: Any) -> None:
    with chromium.new_context(base_url=site.url, color_scheme=scheme) as context:
        page = context.new_page()
        follow(page)
        assert faults(page) == []
        if scheme == "dark":
            shoot(page, "cost-dark")
