"""Text that somebody else wrote, for mails: quoted, and without anything of which a mail client makes a link.

And the check of an address that somebody else wrote.
"""

from __future__ import annotations

import re

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email

from leaderboard.core.text.plain_text import one_line

_LINKED = re.compile(r"(?<=\w)[.\u3002\uff0e\uff61](?=[^\W\d])|(?<=[^\W\d]):(?=\S)|@")
"""A dot before a letter (`evil.example`), a colon after a letter (`https://`, `tel:1`), and an at sign."""


def without_links(text: str) -> str:
    """Return the text with brackets around some signs, so that mail clients make no links of it.

    So `evil.example` becomes `evil[.]example`. Addresses of this site stay.
    """
    own = re.compile(f"({re.escape(settings.BASE_URL)}/\\S*)")
    parts = own.split(text)
    return "".join(part if n % 2 else _LINKED.sub(lambda sign: f"[{sign[0]}]", part) for n, part in enumerate(parts))


def quoted(text: str) -> str:
    """Return the text as lines of a quotation in a mail, without links and control characters."""
    return "\n".join(f"> {without_links(one_line(line))}".rstrip() for line in text.splitlines())


def check_address(address: str) -> None:
    """Raise ValidationError unless a mail can be written to the address.

    Django's validator also accepts what no mail can have in its header: letters such as U+0131, which it takes for
    ASCII letters of the other case, and names of hosts that are too long once they are encoded.
    """
    validate_email(address)
    try:
        address.rpartition("@")[0].encode("ascii")
        EmailMessage(to=[address]).message()
    except ValueError as error:
        raise ValidationError("Enter a valid email address.", code="invalid") from error
