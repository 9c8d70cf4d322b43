"""A strict reader of HTML pages that reports forbidden and missing markup."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

VOID = {"base", "meta", "link", "input", "img", "br", "wbr", "hr", "col", "rect", "line", "circle", "path"}


@dataclass
class Page:
    """The contents and problems of one document."""

    faults: list[str] = field(default_factory=list)
    ids: Counter[str] = field(default_factory=Counter)
    links: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    labels: set[str] = field(default_factory=set)
    controls: list[str] = field(default_factory=list)
    referred: list[str] = field(default_factory=list)
    sorted_by: list[str] = field(default_factory=list)


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        page = self.page
        if tag not in VOID:
            self.open.append(tag)
        for name in attributes:
            if name == "style" or name.startswith("on"):
                page.faults.append(f"<{tag} {name}> would be refused by the content security policy")
        # Browsers do not run blocks of data.
        is_data = attributes.get("type") in ("application/json", "application/ld+json")
        if tag == "style" or (tag == "script" and "src" not in attributes and not is_data):
            page.faults.append(f"an inline <{tag}>")
        loads = tag != "a" and attributes.get("rel") != "canonical"
        for name in ("src", "href") if loads else ():
            if attributes.get(name, "").startswith(("http:", "https:", "//", "javascript:")):
                page.faults.append(f"<{tag}> loads {attributes[name]}")
        if tag == "svg" and "svg" not in self.open[:-1] and not ({"aria-label", "aria-hidden"} & attributes.keys()):
            page.faults.append("an <svg> without a text alternative")
        if tag == "img" and "alt" not in attributes:
            page.faults.append("an <img> without alt")
        if tag in ("h1", "h2", "h3", "h4"):
            page.headings.append(tag)
        if tag == "label":
            page.labels.add(attributes.get("for", ""))
        if tag in ("input", "select", "textarea") and attributes.get("type") not in ("hidden", "submit"):
            page.controls.append(attributes.get("id", ""))
        if tag == "th" and "scope" not in attributes:
            page.faults.append("a <th> without scope")
        if attributes.get("aria-sort", "none") != "none":
            page.sorted_by.append(attributes["aria-sort"])
        if tag == "a":
            page.links.append(attributes.get("href", ""))
        if "id" in attributes:
            page.ids[attributes["id"]] += 1
        page.referred += attributes.get("aria-labelledby", "").split()

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.page.faults.append(f"</{tag}> closes nothing")


def read(markup: str) -> Page:
    """Parse a page; `faults` is empty for a correct page."""
    reader = Reader()
    reader.feed(markup)
    reader.close()
    page = reader.page
    page.faults += [f"<{tag}> stays open" for tag in reader.open]
    page.faults += [f"the id {name} occurs {count} times" for name, count in page.ids.items() if count > 1]
    page.faults += [f"no element has the id {name}" for name in page.referred if name not in page.ids]
    page.faults += [f"the field {name} has no label" for name in page.controls if name not in page.labels]
    if page.headings.count("h1") != 1:
        page.faults.append(f"{page.headings.count('h1')} first headings")
    levels = [int(heading[1]) for heading in page.headings]
    page.faults += [f"h{b} after h{a}" for a, b in pairwise(levels) if b > a + 1]
    return page
