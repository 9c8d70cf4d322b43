"""The documentation on the site: built by Sphinx, or rendered from its files, with links that lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.core.web import docs
from leaderboard.core.web.docs import FOLDER, GROUPS, TITLES

pytestmark = pytest.mark.django_db


@pytest.fixture
def unbuilt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "BUILT", tmp_path / "missing")


@pytest.fixture
def built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with three built files, and make it the documentation."""
    folder = tmp_path / "built"
    for name in ("index.html", "adr/0001-one/index.html", "_static/site.css"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"content of {name}")
    monkeypatch.setattr(docs, "BUILT", folder)
    return folder


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


@pytest.mark.usefixtures("unbuilt")
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


@pytest.mark.usefixtures("unbuilt")
def test_tables_code_and_images(pages: dict[str, str]) -> None:
    assert page("researchers", pages).count('<pre tabindex="0">') > 5
    table = '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table'
    assert table in page("boards", pages)
    (image,) = set(re.findall(r'src="(/docs/images/[^"]*)"', page("boards", pages)))
    response = Client().get(image)
    assert response["Content-Type"] == "image/png" and b"".join(response)[:4] == b"\x89PNG"


@pytest.mark.usefixtures("unbuilt")
def test_files_that_need_sphinx_and_missing_files_are_no_pages() -> None:
    for address in ("/docs/reference/http-api/", "/docs/nothing/", "/docs/images/nothing.png", "/docs/curators.md"):
        assert Client().get(address).status_code == 404, address
    assert Client().get("/docs/researchers").headers["Location"] == "/docs/researchers/"
    start = Client().get("/docs/").content.decode()
    assert all(f'href="/docs/{name}/"' in start for name in TITLES) and next(iter(GROUPS)) == "Tutorials"


@pytest.mark.usefixtures("built")
def test_built_pages_replace_rendered_ones() -> None:
    assert Client().get("/docs/").content == b"content of index.html"
    response = Client().get("/docs/adr/0001-one/")
    assert response.content == b"content of adr/0001-one/index.html"
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert "unsafe" not in response["Content-Security-Policy"]
    assert Client().get("/docs/adr/0001-one/", headers={"If-None-Match": response["ETag"]}).status_code == 304
    redirect = Client().get("/docs/adr/0001-one")
    assert redirect.status_code == 301 and redirect["Location"] == "/docs/adr/0001-one/"


@pytest.mark.usefixtures("built")
def test_built_files_with_a_digest_are_stored_for_a_year() -> None:
    assert "Cache-Control" not in Client().get("/docs/_static/site.css").headers
    response = Client().get("/docs/_static/site.css?v=1234")
    assert response["Content-Type"].startswith("text/css") and "immutable" in response["Cache-Control"]


def test_no_address_leads_out_of_the_built_folder(built: Path) -> None:
    (built.parent / "secret").write_text("secret")
    for address in ("/docs/../secret", "/docs/_static/../../secret", "/docs/%2e%2e/secret", "/docs//etc/passwd"):
        response = Client().get(address)
        assert response.status_code in (400, 404) and b"secret\n" not in response.content, address
