"""Match an archive's users with this server's, and rename those whose names are taken."""

from __future__ import annotations

import re
from itertools import count

from django.contrib.auth.hashers import make_password
from django.db.models import Q

from leaderboard.archives.actions.rows import Line, Renumbered
from leaderboard.models import User

_LONGEST_NAME = 150
_STEM = _LONGEST_NAME - 7
"""Maximum length of a user name before a number is appended."""


def find_user(fields: Line, _: Renumbered) -> User | None:
    """Find a user by address and name, or by address and the name given at an earlier import."""
    numbered = rf"^{re.escape(fields['username'][:_STEM])}-\d+$"
    names = Q(username=fields["username"]) | Q(username__regex=numbered)
    return User.objects.filter(names, email__iexact=fields["email"]).first()


def address_conflict(fields: Line, numbers: Renumbered) -> str:
    """Describe a conflict of mail addresses, which are unique; a taken name is no conflict."""
    if find_user(fields, numbers) or not User.objects.filter(email__iexact=fields["email"]).exists():
        return ""
    return f"the account {fields['username']}: its email address belongs to another account on this server"


def prepare_users(lines: list[Line]) -> list[tuple[str, str]]:
    """Prepare users without a password or rights; they reset their password by mail. A taken name becomes NAME-2 etc.
    Return (name in the archive, name here) of each renamed user.
    """
    names = {line["fields"]["username"].casefold() for line in lines}
    renamed = []
    for line in lines:
        fields = line["fields"]
        fields["password"] = make_password(None)
        if not _is_taken(fields["username"]):
            continue
        candidates = (f"{fields['username'][:_STEM]}-{number}" for number in count(2))
        free = next(name for name in candidates if name.casefold() not in names and not _is_taken(name))
        names.add(free.casefold())
        renamed.append((fields["username"], free))
        fields["username"] = free
    return renamed


def _is_taken(name: str) -> bool:
    return User.objects.filter(username__iexact=name).exists()
