"""Crawls everything that a user can reach, by links in pages and addresses in responses."""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import urldefrag, urljoin, urlsplit

from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.support.full_run import FULL

LINK = re.compile(rb'(?:href|src|action|hx-get|data-[a-z-]+)="([^"]+)"')
ADDRESS = re.compile(rb'"(http://testserver/[^"]*)"')
KEY = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+|(?<=/docs/)[\w-]+")
"""What differs between addresses of one kind; pages of the documentation are the same for everybody."""
VARIANTS = 5 if FULL else 2
"""Maximum number of queries and keys per path: a board has hundreds of orders, the admin hundreds of rows."""


@dataclass(frozen=True)
class Answer:
    """The response of one address."""

    address: str
    status: int
    text: bytes


def patterns(found: Any = None, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield (route, name) of every URL pattern of the site, including those of included modules."""
    for pattern in (found or get_resolver()).url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from patterns(pattern, route)
        elif isinstance(pattern, URLPattern):
            yield route, pattern.name or ""


def read(client: Client, address: str) -> Answer:
    """GET an address, and return its headers and whole body."""
    answer = client.get(address)
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    headers = {name: value for name, value in answer.items() if name != "X-Request-ID"}  # of each request
    return Answer(address, answer.status_code, str(headers).encode() + b"\n" + body)


def crawl(client: Client, starts: Iterable[str]) -> Iterator[Answer]:
    """Yield every response that can be reached from these addresses by GET."""
    waiting = list(starts)
    visited, variants = set(waiting), Counter[str]()
    while waiting:
        answer = read(client, waiting.pop(0))
        yield answer
        for link in (*LINK.findall(answer.text), *ADDRESS.findall(answer.text)):
            address = _here(answer.address, html.unescape(link.decode("utf-8", "replace")))
            shape = KEY.sub("N", (address or "").split("?")[0])
            if address and address not in visited and variants[shape] < VARIANTS:
                variants[shape] += 1
                visited.add(address)
                waiting.append(address)


def _here(base: str, link: str) -> str | None:
    """Return the address as a path of this site; None for other sites, static files and log-outs."""
    parts = urlsplit(urldefrag(urljoin(f"http://testserver{base}", link)).url)
    if parts.netloc != "testserver" or parts.path.startswith("/static/") or "logout" in parts.path:
        return None
    return parts.path + (f"?{parts.query}" if parts.query else "")
