"""The documentation on the site: every page is rendered, and every link in it leads somewhere."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.core.web.docs import FOLDER, TITLES

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return {name: Client().get(reverse("docs_page", args=[name])).content.decode() for name in TITLES}


def main_of(page: str) -> str:
    return re.sub(r"<pre.*?</pre>|<code.*?</code>", "", page.partition("<main")[2].partition("</main>")[0], flags=re.S)


@pytest.mark.parametrize("name", TITLES)
def test_links_lead_to_pages_and_sections(name: str, pages: dict[str, str]) -> None:
    text = main_of(pages[name])
    assert f"{(FOLDER / f'{name}.md').read_text().splitlines()[0].removeprefix('# ')}</h1>" in text
    assert not [link for link in re.findall(r"<a [^>]*>(.*?)</a>", text) if ".md" in link]
    for address in re.findall(r'href="([^"]*)"', text):
        path, _, anchor = address.partition("#")
        if path.startswith("http"):
            continue
        target = path.removeprefix("/docs/").strip("/") or name
        if path and not path.startswith("/docs/"):
            assert Client().get(path).status_code == 200, address
        elif anchor:
            assert f'id="{anchor}"' in pages[target], f"{name}.md leads to a missing section: {address}"


def test_tables_code_and_images(pages: dict[str, str]) -> None:
    assert pages["researchers"].count('<pre tabindex="0">') > 5
    assert '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table' in pages["boards"]
    (image,) = set(re.findall(r'src="(/docs/images/[^"]*)"', pages["boards"]))
    response = Client().get(image)
    assert response["Content-Type"] == "image/png" and b"".join(response)[:4] == b"\x89PNG"


def test_other_files_are_no_pages() -> None:
    for address in ("/docs/developers/", "/docs/adr/", "/docs/images/nothing.png"):
        assert Client().get(address).status_code == 404
    assert 'href="/docs/researchers/"' in Client().get("/docs/").content.decode()
