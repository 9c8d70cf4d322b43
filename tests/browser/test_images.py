"""Upload of an image's archive in a real browser: in pieces, over lost connections and reloads."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from tests.browser.conftest import Site, faults, log_in, shoot
from tests.support import container_images

pytestmark = [
    pytest.mark.browser,
    pytest.mark.engine,
    pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing()),
]
PAGE = "/benchmarks/mirror-claims/containers/submit-image/"
UPLOAD = re.compile(r"/image-uploads/[0-9a-f-]{36}/$")
PIECE = 16_000_000
SLOW = 60_000
"""Timeout in milliseconds: pieces pass through the test's own process."""


@pytest.fixture(scope="module")
def phase(chromium: Browser, site: Site) -> None:
    """Create a phase on the pages, as a curator, that takes only images and has its own limits."""
    with chromium.new_context(base_url=site.url) as context:
        page = context.new_page()
        log_in(page, site, "curator")
        page.goto("/manage/benchmarks/mirror-claims/phases/create/")
        page.get_by_role("link", name="Open", exact=True).click()
        page.get_by_label("Title").fill("Containers")
        page.get_by_label("Short name").fill("containers")
        page.get_by_label("Split").select_option(label="test (test)")
        page.get_by_text("Container images", exact=True).click()
        page.get_by_label("Accepts predictions files").uncheck()
        page.get_by_label("Accepts container images").check()
        page.get_by_label("Container time limit, in seconds").fill("90")
        assert faults(page) == []
        shoot(page, "manage-phase-containers")
        page.get_by_role("button", name="Add phase").click()
        expect(page.get_by_role("status").first).to_contain_text("The phase Containers was added.")
        page.get_by_text("Limits of containers in Containers").click()
        assert faults(page) == []
        shoot(page, "manage-benchmark-containers")


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """Write three pieces of data that are no image: rejected files cost nothing, so each test may send them."""
    path = tmp_path / "mine.tar"
    path.write_bytes(os.urandom(2 * PIECE + 3_000_000))
    return path


def offset_of(request: Request) -> int | None:
    """Return the offset of a request that sends a piece; None for other requests."""
    return int(request.headers["upload-offset"]) if request.method == "PATCH" else None


def choose(page: Page, archive: Path, name: str) -> None:
    page.get_by_label("Name of the new system").fill(name)
    page.get_by_label("Archive of the image").set_input_files(archive)


def arrives(page: Page, archive: Path) -> None:
    """Check that the submission's page appears with the digest of this file."""
    expect(page).to_have_url(re.compile(r"/submissions/[0-9a-f-]{36}/$"), timeout=SLOW)
    expect(page.get_by_role("main")).to_contain_text(hashlib.sha256(archive.read_bytes()).hexdigest())


def test_upload_resumes_after_a_reload(page: Page, site: Site, phase: None, archive: Path) -> None:
    log_in(page, site, "ada")
    page.goto(PAGE)

    def first_alone(route: Route) -> None:
        route.abort() if offset_of(route.request) else route.continue_()

    page.route(UPLOAD, first_alone)
    choose(page, archive, "Again")
    page.get_by_role("button", name="Upload and submit").click()
    expect(page.get_by_text(re.compile("trying again in"))).to_be_visible(timeout=SLOW)
    page.unroute(UPLOAD)
    page.reload()
    unfinished = page.get_by_role("region", name="Unfinished uploads")
    expect(unfinished).to_contain_text("mine.tar")
    assert faults(page) == []
    shoot(page, "submit-image-unfinished")
    sent: list[int | None] = []
    page.on("request", lambda request: sent.append(offset_of(request)))
    choose(page, archive, "Again")
    page.get_by_role("button", name="Upload and submit").click()
    arrives(page, archive)
    assert [offset for offset in sent if offset is not None] == [PIECE, 2 * PIECE]


def test_resuming_needs_the_same_file_and_giving_up_deletes_the_upload(
    page: Page, site: Site, phase: None, archive: Path, tmp_path: Path
) -> None:
    log_in(page, site, "emil")
    page.goto(PAGE)
    page.route(UPLOAD, lambda route: route.continue_() if offset_of(route.request) is None else route.abort())
    choose(page, archive, "Never")
    page.get_by_role("button", name="Upload and submit").click()
    expect(page.get_by_text(re.compile("trying again in"))).to_be_visible(timeout=SLOW)
    page.reload()
    page.get_by_role("link", name="Resume mine.tar").click()
    expect(page.get_by_text("Choose the same file again to resume the upload")).to_be_visible()
    other = tmp_path / "other.tar"
    other.write_bytes(b"another")
    choose(page, other, "Never")
    page.get_by_role("button", name="Upload and submit").click()
    expect(page.get_by_text("This is a different file")).to_be_visible()
    choose(page, archive, "Never")
    page.get_by_role("button", name="Upload and submit").click()
    expect(page.get_by_text(re.compile("trying again in"))).to_be_visible(timeout=SLOW)
    with page.expect_response(lambda response: response.request.method == "DELETE") as gone:
        page.get_by_role("button", name="Cancel upload", exact=True).click()
    assert gone.value.status == 204
    expect(page.get_by_text("The uploaded pieces were deleted.")).to_be_visible()
    page.reload()
    expect(page.get_by_text("Unfinished uploads")).to_have_count(0)


def test_upload_without_scripts_in_one_request(chromium: Browser, site: Site, phase: None, archive: Path) -> None:
    with chromium.new_context(base_url=site.url, java_script_enabled=False) as context:
        page = context.new_page()
        log_in(page, site, "emil")
        page.goto(PAGE)
        expect(page.get_by_text("Without JavaScript an archive is uploaded in one piece")).to_be_visible()
        choose(page, archive, "By hand")
        page.get_by_role("button", name="Upload and submit").click()
        arrives(page, archive)
