"""Sphinx extension: add to the built pages what Furo lacks for keyboards and screen readers."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

ACCESSIBLE = {
    'class="caption" role="heading">': 'class="caption" role="heading" aria-level="2">',
    '<aside class="sidebar-drawer">': '<aside class="sidebar-drawer" aria-label="All pages">',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    '<div id="search-results">': '<h1>Search</h1>\n<div id="search-results">',
    # Wide tables and code scroll by themselves, which a keyboard must reach.
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" role="group" aria-label="Table" class="table-wrapper',
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension."""
    app.connect("build-finished", adapt_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def adapt_pages(app: Sphinx, exception: Exception | None) -> None:
    """Replace the parts of pages that ACCESSIBLE lists."""
    if exception is not None or app.builder.format != "html":
        return
    for path in Path(app.outdir).rglob("*.html"):
        page = changed = path.read_text(encoding="utf-8")
        for found, replacement in ACCESSIBLE.items():
            changed = changed.replace(found, replacement)
        if changed != page:
            path.write_text(changed, encoding="utf-8")
