"""The documentation under `/docs/`: the Markdown files of `docs/` as pages.

Files with directives, such as the generated reference, are only in the documentation site that `bin/docs` builds
(docs/adr/0060).
"""

from __future__ import annotations

import mimetypes
import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils._os import safe_join
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import conditional_page, require_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

GROUPS: dict[str, dict[str, str]] = {
    "Tutorials": {
        "tutorials/researcher": "From predictions to a board",
        "guide-curators": "From a raw file to a public board",
        "tutorials/operator": "A server with a backup",
        "tutorials/developer": "A measure of your own",
    },
    "Take part": {
        "researchers": "From a benchmark to a score",
        "boards": "Reading boards",
        "systems": "Container images",
        "api": "The API",
        "error-codes": "Error codes of the API",
        "glossary": "Glossary",
    },
    "Host a benchmark": {
        "curators": "Hosting a benchmark",
        "curation": "Making and auditing test splits",
    },
    "How it works": {
        "evaluator": "Scoring and statistics",
        "honesty": "What keeps a board honest",
        "sandbox": "The sandbox",
        "errors": "Errors",
        "operators": "Running Holdout",
        "privacy": "Privacy",
        "terms": "Terms of use",
    },
}
"""Titles of the pages that the list of rendered files shows, by file name without suffix, in groups."""
TITLES = {name: title for pages in GROUPS.values() for name, title in pages.items()}
FOLDER = Path(__file__).resolve().parents[3] / "docs"


@dataclass(frozen=True)
class DocsPage:
    """A Markdown file of `docs/` as HTML. sections: (id of the HTML element, title) of each second-level heading."""

    name: str
    title: str
    html: SafeString
    sections: Sequence[tuple[str, str]]


@require_safe
@conditional_page
def docs(request: HttpRequest, name: str = "") -> HttpResponseBase:
    """Return the page `name` of the documentation; if the name is empty, its first page."""
    if not name:
        return render(request, "core/docs.html", {"groups": GROUPS})
    page = rendered(name)
    return render(request, "core/docs_page.html", {"groups": GROUPS, "page": page})


@require_safe
@conditional_page
def docs_file(request: HttpRequest, path: str) -> HttpResponseBase:
    """Return an image of `docs/images`.

    The address of a page without its final slash is redirected to the page. Raises Http404 for any other path, and
    SuspiciousFileOperation for one that leads out of the folder.
    """
    file = Path(safe_join(FOLDER / "images", path.removeprefix("images/")))
    if path.startswith("images/") and file.is_file():
        return HttpResponse(file.read_bytes(), content_type=mimetypes.guess_type(file.name)[0])
    if path in pages():
        return HttpResponsePermanentRedirect(reverse("docs_page", args=[path]))
    raise Http404("no such page")


@lru_cache
def pages() -> frozenset[str]:
    """Return the paths, within `docs/` and without .md, of the Markdown files that can be rendered without Sphinx.

    Files with directives, which only Sphinx understands, are left out.
    """
    files = {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in FOLDER.rglob("*.md")}
    return frozenset(name for name, path in files.items() if "```{" not in path.read_text(encoding="utf-8"))


@lru_cache
def rendered(name: str) -> DocsPage:
    """Render the Markdown file `name`, one of `pages()`. Raises Http404 for any other name."""
    if name not in pages():
        raise Http404("no such page")
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    title, sections = _with_anchors(tokens)
    for token in tokens:
        _with_site_links(token.children or [], posixpath.dirname(name))
        if token.type == "table_open":
            token.attrSet("class", "board board-plain")
    html = markdown.renderer.render(tokens, markdown.options, {})
    # Wide tables and code scroll by themselves, which a keyboard must reach.
    html = html.replace("<table", '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table')
    html = html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
    return DocsPage(name, title, mark_safe(html), sections)  # noqa: S308  # our own text, and HTML in it is escaped


def _with_anchors(tokens: Sequence[Token]) -> tuple[str, list[tuple[str, str]]]:
    """Give each heading an id made of its text, as the links in `docs/` expect.

    Return the first heading's text, and (id, text) of each second-level heading.
    """
    first, sections = "", []
    for heading, inline in pairwise(tokens):
        if heading.type != "heading_open":
            continue
        title = "".join(part.content for part in inline.children or [])
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        heading.attrSet("id", anchor)
        if heading.tag == "h2":
            sections.append((anchor, title))
        first = first or title
    return first, sections


def _with_site_links(tokens: Sequence[Token], folder: str) -> None:
    """Change links between Markdown files into links to their pages, and file names in link texts into page titles.

    Links to files that have no page become plain text. tokens: inline tokens. folder: of the file with the links, in
    `docs/`.
    """
    closes: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrs["href"])
            if not re.match(r"https?:|/|#", address):
                file, _, anchor = address.partition("#")
                page = posixpath.normpath(posixpath.join(folder, file.removesuffix(".md")))
                if page in pages():
                    token.attrSet("href", reverse("docs_page", args=[page]) + (f"#{anchor}" if anchor else ""))
                else:
                    token.tag, token.attrs = "span", {}
            closes.append(token.tag)
        elif token.type == "text" and closes:
            token.content = re.sub(r"^([\w-]+)\.md\b", lambda file: TITLES.get(file[1], file[0]), token.content)
        elif token.type == "link_close":
            token.tag = closes.pop()
        elif token.type == "image":
            image = posixpath.normpath(posixpath.join(folder, str(token.attrs["src"])))
            token.attrSet("src", reverse("docs_file", args=[image]))
