"""Text that somebody else wrote, for mails: quoted, and without anything of which a mail client makes a link."""

from __future__ import annotations

import re

from leaderboard.core.plain_text import one_line

_LINKED = re.compile(r"(?<=\w)[.\u3002\uff0e\uff61](?=[^\W\d])|(?<=\w):(?=\S)|@")
"""A dot before a letter (`evil.example`), a colon after a word (`https://`, `tel:1`), and an at sign."""


def unlinked(text: str) -> str:
    """Return the text in one line, in which brackets around some signs keep mail clients from making links.

    So `evil.example` becomes `evil[.]example`.
    """
    return _LINKED.sub(lambda sign: f"[{sign[0]}]", one_line(text))


def quoted(text: str) -> str:
    """Return the text as lines of a quotation in a mail, each as `unlinked` returns it."""
    return "\n".join(f"> {unlinked(line)}".rstrip() for line in text.splitlines())
