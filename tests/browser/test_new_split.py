"""From a raw file to a draft in a real browser: by keyboard only, without scripts, over a broken connection."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Site, faults, log_in, shoot

pytestmark = pytest.mark.browser
START = "/manage/benchmarks/mirror-claims/new-split/"
BIG = 17_000_000
"""More bytes than fit into one piece."""


def claims(folder: Path, word: str) -> Path:
    """Write gold lines of twenty claims that are new to the server."""
    path = folder / f"{word}.jsonl"
    path.write_text(
        "".join(
            f'{{"id": "{hashlib.sha256(f"{word} {i}".encode()).hexdigest()[:12]}", "claim": "{word} number {i}", '
            f'"evidence_text": "text {i}", "label": "{("SUPPORTS", "REFUTES")[i % 2]}", "group": "{word}-{i}"}}\n'
            for i in range(20)
        )
    )
    return path


def tab_to(page: Page, name: str, role: str) -> None:
    """Press the tab key until the element with this name has the focus."""
    wanted = page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]
    for _ in range(120):
        if wanted.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"the tab key does not reach {name}")


def wait_for_preview(page: Page) -> None:
    page.get_by_role("heading", name="4. Make draft splits").wait_for(timeout=120_000)


def test_raw_file_to_draft_by_keyboard(page: Page, site: Site, tmp_path: Path) -> None:
    log_in(page, site, "curator")
    page.goto(START)
    assert faults(page) == []
    shoot(page, "manage-new-split")
    page.get_by_label("File to upload").set_input_files(claims(tmp_path, "keyboard"))
    tab_to(page, "Upload the raw file", "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("rowheader", name="keyboard.jsonl")).to_be_visible()
    tab_to(page, "Hold out a share", "link")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Hold out a share")).to_be_visible()
    assert faults(page) == []
    shoot(page, "manage-generator")
    tab_to(page, "Gold lines", "combobox")
    page.keyboard.type("keyboard")
    tab_to(page, "Parts and their shares (optional)", "textbox")
    page.keyboard.press("Control+A")
    page.keyboard.type("typed-dev=0.5,typed-test=0.5")
    tab_to(page, "Make a preview", "button")
    page.keyboard.press("Enter")
    wait_for_preview(page)
    assert faults(page) == []
    shoot(page, "manage-preview")
    expect(page.get_by_text("10 lines, 10 units in 10 groups")).to_have_count(2)
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert faults(page) == []
    shoot(page, "manage-preview-dark")
    page.emulate_media(color_scheme="light")
    tab_to(page, "Make draft splits", "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="typed-test", level=1)).to_be_visible()
    tab_to(page, "Publish preview", "link")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Publish preview")).to_be_visible()
    expect(page.get_by_role("region", name=re.compile(r"^Inputs, line"))).to_have_count(10)
    assert faults(page) == []
    shoot(page, "manage-beside")


@pytest.fixture
def plain(chromium: Browser, site: Site) -> Iterator[Page]:
    """Open a page of a browser without scripts."""
    context = chromium.new_context(base_url=site.url, java_script_enabled=False)
    yield context.new_page()
    context.close()


def test_new_split_without_scripts(plain: Page, site: Site, tmp_path: Path) -> None:
    log_in(plain, site, "curator")
    plain.goto(START)
    expect(plain.get_by_text("Without JavaScript a file is uploaded in one piece")).to_be_visible()
    plain.get_by_label("File to upload").set_input_files(claims(tmp_path, "scriptless"))
    plain.get_by_role("button", name="Upload the raw file").click()
    plain.get_by_role("link", name="Use the file unchanged").click()
    plain.get_by_label("Gold lines").select_option(label="scriptless.jsonl")
    plain.get_by_role("button", name="Make a preview").click()
    make = plain.get_by_role("button", name="Make draft splits")
    for _ in range(600):
        if make.is_visible():
            break
        plain.get_by_role("link", name="Refresh").click()
    plain.get_by_label("Name").fill("scriptless")
    make.click()
    expect(plain.get_by_role("heading", name="scriptless", level=1)).to_be_visible()


def test_interrupted_upload_resumes_after_the_tab_was_closed(page: Page, site: Site, tmp_path: Path) -> None:
    log_in(page, site, "curator")
    big = tmp_path / "big.txt"
    big.write_bytes(b"subject\trelation\tobject\n" * (BIG // 24))
    page.goto(START)
    page.route(
        re.compile(r"/raw-uploads/[0-9a-f-]{36}/$"),
        lambda route: route.continue_() if route.request.headers.get("upload-offset", "0") == "0" else route.abort(),
    )
    page.get_by_label("File to upload").set_input_files(big)
    page.get_by_role("button", name="Upload the raw file").click()
    news = page.locator("[data-upload-news]")
    expect(news).to_contain_text("The connection was lost; trying again")
    expect(page.get_by_text("75 % uploaded")).to_have_attribute("role", "status")
    assert faults(page) == []
    shoot(page, "manage-raw-upload-lost")
    page.get_by_role("button", name="Pause", exact=True).press("Enter")
    expect(news).to_have_text("Paused. Uploaded pieces are stored.")
    expect(page.get_by_text(re.compile("^Paused: 9. % · "))).to_be_visible()
    page.get_by_role("button", name="Resume", exact=True).press("Enter")
    expect(news).to_contain_text("The connection was lost; trying again")
    page.unroute_all(behavior="ignoreErrors")
    page.goto("/")
    page.goto(START)
    expect(page.get_by_text("16 MB of 17 MB")).to_be_visible()
    offsets: list[str] = []
    page.on(
        "request", lambda asked: offsets.append(asked.headers["upload-offset"]) if asked.method == "PATCH" else None
    )
    page.get_by_label("File to upload").set_input_files(big)
    page.get_by_role("button", name="Upload the raw file").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="big.txt"))
    expect(row).to_contain_text(hashlib.sha256(big.read_bytes()).hexdigest())
    assert offsets == ["16000000"]
    row.get_by_role("button", name="Remove big.txt").click()
    expect(page.get_by_text("The raw file big.txt was removed.")).to_be_visible()


def test_size_of_a_raw_file_is_visible_on_a_phone(page: Page, site: Site, tmp_path: Path) -> None:
    """The size is next to a long name and a digest, which may both be broken across lines."""
    log_in(page, site, "curator")
    page.goto(START)
    page.get_by_label("File to upload").set_input_files(claims(tmp_path, "collected_by_hand_" * 7))
    page.get_by_role("button", name="Upload the raw file").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="collected_by_hand"))
    page.set_viewport_size({"width": 390, "height": 900})
    expect(row.get_by_role("cell").first).to_have_text(re.compile(r"^\d+(\.\d+)? kB$"))
    right = row.get_by_role("cell").first.evaluate("cell => cell.getBoundingClientRect().right")
    frame = page.get_by_role("region", name="Raw files", exact=True).evaluate(
        "part => part.getBoundingClientRect().right"
    )
    assert right <= frame
    shoot(page, "manage-raw-file-long-name")
    row.get_by_role("button", name=re.compile("^Remove")).click()
    expect(page.get_by_text("was removed.")).to_be_visible()
