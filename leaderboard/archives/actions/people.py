"""Users in an imported archive: matched with this server's users, and renamed where their names are taken."""

from __future__ import annotations

import re
from itertools import count

from django.contrib.auth.hashers import make_password
from django.db.models import Q

from leaderboard.archives.actions.rows import Line, Renumbered
from leaderboard.models import User

_LONGEST_NAME = 150
_STEM = _LONGEST_NAME - 7
"""Number of characters to which a user name is cut before a number is appended."""


def find_user(fields: Line, _: Renumbered) -> User | None:
    """Return this server's user who is the same as an archived user; None if there is none.

    fields: the fields of the archived user. The users have the same mail address and user name, but an earlier import
    may have appended a number to the name on this server (`prepare_users`).
    """
    numbered = rf"^{re.escape(fields['username'][:_STEM])}-\d+$"
    names = Q(username=fields["username"]) | Q(username__regex=numbered)
    return User.objects.filter(names, email__iexact=fields["email"]).first()


def address_conflict(fields: Line, numbers: Renumbered) -> str:
    """Return a line of text for the curator if a different user here has the archived user's mail address, else "".

    Mail addresses are unique. A user name that is taken is no conflict, since `prepare_users` replaces it. fields: the
    fields of the archived user. numbers: as for `conflicts.existing_rows`.
    """
    if find_user(fields, numbers) or not User.objects.filter(email__iexact=fields["email"]).exists():
        return ""
    return f"the account {fields['username']}: its email address belongs to another account on this server"


def prepare_users(lines: list[Line]) -> list[tuple[str, str]]:
    """Give archived users an unusable password, and another name if theirs is taken; `lines` is changed in place.

    A name that is taken becomes NAME-2, NAME-3 etc. Return (name in the archive, name on this server) of each renamed
    user. Users can set a password by mail. lines: the users that this server does not have yet.
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
