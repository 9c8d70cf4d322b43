"""The documentation as pages of the site: the Markdown files of `docs/`, rendered once a process."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from django.http import FileResponse, Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import conditional_page, require_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

GROUPS: dict[str, dict[str, str]] = {
    "Take part": {
        "researchers": "From a benchmark to a score",
        "boards": "Reading boards",
        "systems": "Container images",
        "api": "The API",
        "error-codes": "Error codes of the API",
        "glossary": "Glossary",
    },
    "Host a benchmark": {
        "guide-curators": "From a raw file to a public board",
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
"""Titles of the documentation's pages by file name without suffix, in groups. Other files are no pages."""
TITLES = {name: title for pages in GROUPS.values() for name, title in pages.items()}
FOLDER = Path(__file__).resolve().parents[3] / "docs"


@dataclass(frozen=True)
class DocsPage:
    """A rendered file. sections: (anchor, title) of each second-level heading."""

    name: str
    html: SafeString
    sections: Sequence[tuple[str, str]]


@require_safe
@conditional_page
def docs(request: HttpRequest, name: str = "") -> HttpResponseBase:
    """Render one file of the documentation; without a name, the list of all."""
    if not name:
        return render(request, "core/docs.html", {"groups": GROUPS})
    if name not in TITLES:
        raise Http404("no such page")
    return render(request, "core/docs_page.html", {"groups": GROUPS, "page": rendered(name), "title": TITLES[name]})


@require_safe
def docs_image(request: HttpRequest, name: str) -> FileResponse:
    """Return an image of the documentation."""
    path = FOLDER / "images" / f"{name}.png"
    if not path.is_file():
        raise Http404("no such image")
    return FileResponse(path.open("rb"), content_type="image/png")


@lru_cache
def rendered(name: str) -> DocsPage:
    """Render a file of the documentation. Raises Http404 if this installation does not contain the file."""
    try:
        text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    except FileNotFoundError:
        raise Http404("this installation does not contain the documentation") from None
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(text)
    sections = _with_anchors(tokens)
    for token in tokens:
        _with_site_links(token.children or [])
        if token.type == "table_open":
            token.attrSet("class", "board board-plain")
    html = markdown.renderer.render(tokens, markdown.options, {})
    # Wide tables and code scroll by themselves, which a keyboard must reach.
    html = html.replace("<table", '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table')
    html = html.replace("</table>", "</table></div>").replace("<pre>", '<pre tabindex="0">')
    return DocsPage(name, mark_safe(html), sections)  # noqa: S308  # our own text, and HTML in it is escaped


def _with_anchors(tokens: Sequence[Token]) -> list[tuple[str, str]]:
    """Give each heading the id that links in the files use; return (id, title) of those of the second level."""
    sections = []
    for heading, inline in pairwise(tokens):
        if heading.type != "heading_open":
            continue
        title = "".join(part.content for part in inline.children or [])
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        heading.attrSet("id", anchor)
        if heading.tag == "h2":
            sections.append((anchor, title))
    return sections


def _with_site_links(tokens: Sequence[Token]) -> None:
    """Point links between files to their pages, and call these by their titles; other files' links become text."""
    closes: list[str] = []
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrs["href"])
            if not re.match(r"https?:|/|#", address):
                file, _, anchor = address.partition("#")
                page = file.removesuffix(".md")
                if page in TITLES:
                    token.attrSet("href", reverse("docs_page", args=[page]) + (f"#{anchor}" if anchor else ""))
                else:
                    token.tag, token.attrs = "span", {}
            closes.append(token.tag)
        elif token.type == "text" and closes:
            token.content = re.sub(r"^([\w-]+)\.md\b", lambda file: TITLES.get(file[1], file[0]), token.content)
        elif token.type == "link_close":
            token.tag = closes.pop()
        elif token.type == "image":
            name = str(token.attrs["src"]).removeprefix("images/").removesuffix(".png")
            token.attrSet("src", reverse("docs_image", args=[name]))
