"""Small scripts of pages, each on a page of its own: searching long lists, rows of forms, and the reader's own time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.conftest import ROOT

pytestmark = pytest.mark.browser
SCRIPTS = ROOT / "leaderboard" / "static" / "js"
NAMES = [f"System {number}" for number in range(13)]


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    with chromium.new_context(timezone_id="Asia/Kolkata") as context:
        yield context.new_page()


def show(page: Page, html: str, script: str) -> None:
    page.set_content(html)
    page.add_script_tag(path=SCRIPTS / script)


def test_a_long_list_is_searched_by_keyboard(page: Page) -> None:
    options = "".join(f"<option value='{number}'>{name}</option>" for number, name in enumerate(NAMES))
    groups = f"<option value=''>New system</option><optgroup label='Here'>{options}</optgroup>"
    groups += "<optgroup label='Elsewhere'><option value='x'>Loom</option></optgroup>"
    short = "<label for='b'>Other</label><select id='b' data-filter><option>One</option></select>"
    show(
        page,
        f"<form><label for='a'>System</label><select id='a' data-filter>{groups}</select>{short}</form>",
        "filter-select.js",
    )
    search = page.get_by_role("searchbox")
    expect(search).to_have_count(1)
    expect(search).to_have_accessible_name("Search: System")
    system = page.get_by_label("System", exact=True)
    search.press_sequentially("loo")
    expect(system).to_have_value("x")
    expect(page.get_by_role("status")).to_have_text("1 of 15 match")
    search.fill("system 1")
    assert system.locator("option").all_text_contents() == ["System 1", "System 10", "System 11", "System 12"]
    expect(system).to_have_value("1")
    system.select_option("11")
    search.fill("nothing")
    expect(system).to_have_value("11")
    search.fill("")
    expect(system.locator("option")).to_have_count(15)
    expect(system).to_have_value("11")


def test_rows_are_added_and_removed(page: Page) -> None:
    row = "<tr><td><label><span class='visually-hidden'>Name of fact </span><input name='form-{}-name'></label></td>"
    row += "<td><button type='button' data-remove-row hidden>Remove</button></td></tr>"
    show(
        page,
        f"<form><input type='hidden' name='form-TOTAL_FORMS' value='1'>"
        f"<table data-rows='form' data-most='2'><tbody>{row.format(0)}</tbody></table>"
        f"<template data-row>{row.format('__prefix__')}</template>"
        f"<button type='button' data-add-row hidden>Add</button></form>",
        "rows.js",
    )
    add = page.get_by_role("button", name="Add")
    add.click()
    expect(page.locator("[name=form-1-name]")).to_be_focused()
    expect(page.get_by_label("Name of fact 2")).to_have_count(1)
    expect(add).to_be_disabled()
    page.get_by_role("button", name="Remove").first.click()
    expect(page.locator("[name=form-1-name]")).to_be_focused()
    add.click()
    expect(page.locator("[name=form-2-name]")).to_have_count(1)
    expect(page.locator("[name=form-TOTAL_FORMS]")).to_have_value("3")


def test_times_are_also_in_the_readers_zone(page: Page) -> None:
    show(
        page,
        "<time datetime='2026-03-04T20:00:00+00:00' data-deadline>2026-03-04 20:00 UTC</time>"
        "<time datetime='2026-03-04T20:00:00+00:00' title='2026-03-04 20:00 UTC'>3 days ago</time>"
        "<time datetime='2026-03-04'>2026-03-04</time>",
        "local-time.js",
    )
    deadline, relative, day = page.locator("time").all()
    local = "2026-03-05 01:30 GMT+5:30"
    expect(deadline).to_have_text(f"2026-03-04 20:00 UTC ({local})")
    expect(relative).to_have_text("3 days ago")
    expect(relative).to_have_attribute("title", f"2026-03-04 20:00 UTC = {local}")
    assert day.get_attribute("title") is None
