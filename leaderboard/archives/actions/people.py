"""The people of an archive: who of them is here already, and what the others are called here."""

from __future__ import annotations

import re
from itertools import count

from django.contrib.auth.hashers import make_password
from django.db.models import Q

from leaderboard.archives.actions.rows import Line, Renumbered
from leaderboard.models import User

_LONGEST_NAME = 150
_STEM = _LONGEST_NAME - 7
"""What is kept of a name that is given a number."""


def known(fields: Line, _: Renumbered) -> User | None:
    """By name and address, or by the address and the name that an earlier archive's person was given here."""
    given = rf"^{re.escape(fields['username'][:_STEM])}-\d+$"
    named = Q(username=fields["username"]) | Q(username__regex=given)
    return User.objects.filter(named, email__iexact=fields["email"]).first()


def in_the_way(fields: Line, numbers: Renumbered) -> str:
    """A mail address stays one person's; a name alone is in nobody's way."""
    if known(fields, numbers) or not User.objects.filter(email__iexact=fields["email"]).exists():
        return ""
    return f"the account {fields['username']}: its mail address belongs to an account of another name here"


def as_strangers(lines: list[Line]) -> list[tuple[str, str]]:
    """Make them people without a password, who ask for a new one by mail; no right travels. Whose name somebody else
    has here gets a free one, NAME-2: (its name in the archive, here) of each such."""
    names = {line["fields"]["username"].casefold() for line in lines}
    told = []
    for line in lines:
        fields = line["fields"]
        fields["password"] = make_password(None)
        if not _is_taken(fields["username"]):
            continue
        tried = (f"{fields['username'][:_STEM]}-{number}" for number in count(2))
        free = next(name for name in tried if name.casefold() not in names and not _is_taken(name))
        names.add(free.casefold())
        told.append((fields["username"], free))
        fields["username"] = free
    return told


def _is_taken(name: str) -> bool:
    return User.objects.filter(username__iexact=name).exists()
