"""The documentation on the site: its files rendered, with links that lead somewhere."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.core.web.docs import FOLDER, GROUPS, TITLES

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {}


def page(name: str, pages: dict[str, str]) -> str:
    if name not in pages:
        response = Client().get(reverse("docs_page", args=[name]))
        assert response.status_code == 200, name
        pages[name] = response.content.decode()
    return pages[name]


def main_of(page: str) -> str:
    return re.sub(r"<pre.*?</pre>|<code.*?</code>", "", page.partition("<main")[2].partition("</main>")[0], flags=re.S)


@pytest.mark.parametrize("name", TITLES)
def test_links_lead_to_pages_and_sections(name: str, pages: dict[str, str]) -> None:
    text = main_of(page(name, pages))
    assert f"{(FOLDER / f'{name}.md').read_text().splitlines()[0].removeprefix('# ')}</h1>" in text
    assert not [link for link in re.findall(r"<a [^>]*>(.*?)</a>", text) if ".md" in link]
    for address in re.findall(r'href="([^"]*)"', text):
        path, _, anchor = address.partition("#")
        if path.startswith("http"):
            continue
        target = path.removeprefix("/docs/").strip("/") or name
        if path and not path.startswith("/docs/"):
            assert Client().get(path).status_code == 200, address
        elif target != name or anchor:
            text_there = page(target, pages) if path != "/docs/" else ""
            assert not anchor or f'id="{anchor}"' in text_there, f"{name}.md leads to a missing section: {address}"


def test_tables_code_and_images(pages: dict[str, str]) -> None:
    assert page("researchers", pages).count('<pre tabindex="0">') > 5
    table = '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table'
    assert table in page("boards", pages)
    (image,) = set(re.findall(r'src="(/docs/images/[^"]*)"', page("boards", pages)))
    response = Client().get(image)
    assert response["Content-Type"] == "image/png" and b"".join(response)[:4] == b"\x89PNG"


def test_files_that_need_sphinx_and_missing_files_are_no_pages() -> None:
    for address in ("/docs/reference/http-api/", "/docs/nothing/", "/docs/images/nothing.png", "/docs/curators.md"):
        assert Client().get(address).status_code == 404, address
    assert Client().get("/docs/researchers").headers["Location"] == "/docs/researchers/"
    start = Client().get("/docs/").content.decode()
    assert all(f'href="/docs/{name}/"' in start for name in TITLES) and next(iter(GROUPS)) == "Tutorials"


def test_no_address_leads_out_of_the_folder() -> None:
    for address in (
        "/docs/../manage.py",
        "/docs/images/../../manage.py",
        "/docs/images/%2e%2e/api.md",
        "/docs//etc/passwd",
    ):
        response = Client().get(address)
        assert response.status_code in (400, 404), address


def test_an_image_is_revalidated_by_its_etag() -> None:
    address = "/docs/images/board-symmetric.png"
    etag = Client().get(address)["ETag"]
    assert Client().get(address, headers={"If-None-Match": etag}).status_code == 304
