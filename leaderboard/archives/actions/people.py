"""Users in an imported archive: matched with this server's users, and renamed where their names are taken."""

from __future__ import annotations

import re
from itertools import count
from typing import Any

from allauth.account.models import EmailAddress
from django.conf import settings
from django.db.models import Exists, OuterRef, Q

from leaderboard.core.names.names import Looks
from leaderboard.models import User

_LONGEST_NAME = 150
_STEM = _LONGEST_NAME - 7
"""Number of characters to which a user name is cut before a number is appended."""


def find_user(values: dict[str, Any]) -> User | None:
    """Return this server's user who is the same as an archived user; None if there is none.

    values: the fields of the archived user. The users have the same mail address and user name, but an earlier import
    may have appended a number to the name on this server (`Names`). If the server sends mail, an account that has not
    verified its address is nobody's: whoever signs up with a stranger's name and address would get what is theirs.
    """
    numbered = rf"^{re.escape(values['username'][:_STEM])}-\d+$"
    names = Q(username=values["username"]) | Q(username__regex=numbered)
    users = User.objects.filter(names, email__iexact=values["email"])
    if settings.SENDS_MAIL:
        unverified = EmailAddress.objects.filter(user=OuterRef("pk"), email__iexact=values["email"], verified=False)
        users = users.exclude(Exists(unverified))
    return users.first()


def address_conflict(values: dict[str, Any]) -> str:
    """Return a line of text for the curator if a different user here has the archived user's mail address, else "".

    Mail addresses are unique. A user name that is taken is no conflict, since `Names` replaces it. values: the fields
    of the archived user, whom this server does not have.
    """
    if not User.objects.filter(email__iexact=values["email"]).exists():
        return ""
    problem = "its email address belongs to another account on this server, or to one that has not verified it"
    return f"the account {values['username']}: {problem}"


class Names:
    """User names for archived users: their own, or NAME-2, NAME-3 etc. if theirs looks like that of a user here.

    renamed: (name in the archive, name on this server) of each renamed user.
    """

    def __init__(self, archived: list[str]) -> None:
        self._here = Looks(User.objects.values_list("username", flat=True).iterator())
        self._archived = {name.casefold() for name in archived}
        self.renamed: list[tuple[str, str]] = []

    def free(self, name: str) -> str:
        """Return the name for an archived user whom this server does not have."""
        if not self._here.like(name):
            return name
        candidates = (f"{name[:_STEM]}-{number}" for number in count(2))
        free = next(other for other in candidates if not self._is_taken(other))
        self._archived.add(free.casefold())
        self.renamed.append((name, free))
        return free

    def _is_taken(self, name: str) -> bool:
        return name.casefold() in self._archived or self._here.like(name) is not None
