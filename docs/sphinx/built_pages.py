"""Sphinx extension: adapt the built pages to the site.

Its policy forbids inline scripts and styles, so they are moved to files. What Furo lacks for keyboards and screen
readers is added.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path

from sphinx.application import Sphinx

SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)
STYLE = re.compile(r"<style>(.*?)</style>", re.DOTALL)
ATTRIBUTE = re.compile(r'(<[^<>]*\s)style="([^"]*)"')

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
    """Replace inline scripts, styles and style attributes by links to files that contain them; add ACCESSIBLE."""
    if exception is not None or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    for path in folder.rglob("*.html"):
        page = path.read_text(encoding="utf-8")
        to_root = posixpath.relpath(".", path.parent.relative_to(folder).as_posix())
        files = Files(folder / "_static", f"{to_root}/_static")
        changed = SCRIPT.sub(lambda found, files=files: files.script(found[1]), page)
        changed = STYLE.sub(lambda found, files=files: files.style(found[1]), changed)
        # A rule that selects the renamed attribute has the effect of the original.
        rules = "\n".join(f'[data-style="{style}"] {{ {style} }}' for style in dict.fromkeys(_attributes(changed)))
        if rules:
            changed = ATTRIBUTE.sub(r'\1data-style="\2"', changed).replace("</head>", f"{files.style(rules)}</head>", 1)
        for found, replacement in ACCESSIBLE.items():
            changed = changed.replace(found, replacement)
        if changed != page:
            path.write_text(changed, encoding="utf-8")


def _attributes(page: str) -> Iterator[str]:
    return (found[2] for found in ATTRIBUTE.finditer(page))


class Files:
    """Files of moved code, named by the digest of their content. address: of their folder, from the page."""

    def __init__(self, folder: Path, address: str) -> None:
        self.folder, self.address = folder, address

    def script(self, code: str) -> str:
        """Return the element that loads a script."""
        return f'<script src="{self._address(code, "js")}"></script>'

    def style(self, code: str) -> str:
        """Return the element that loads styles."""
        return f'<link rel="stylesheet" href="{self._address(code, "css")}">'

    def _address(self, code: str, suffix: str) -> str:
        name = f"inline-{hashlib.sha256(code.encode()).hexdigest()[:12]}.{suffix}"
        (self.folder / name).write_text(code, encoding="utf-8")
        return f"{self.address}/{name}"
