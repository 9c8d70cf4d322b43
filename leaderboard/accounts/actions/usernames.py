"""User names: nobody may look like another user."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from leaderboard.core.names import names
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import User


def checked(name: str, *, but: int = 0, reserved: Iterable[str] = ()) -> str:
    """Return the name if a user may take it.

    but: primary key of the user who is to be renamed; 0: a new user. reserved: names that nobody may look like. Raises
    Refused: INVALID_NAME for an invalid name, NAME_TAKEN if it looks like a reserved name or another user's.
    """
    name = names.checked(name, of="user", longest=150)
    if names.is_of_deleted_account(name):
        raise Refused(Code.INVALID_NAME, f"The name {name} is reserved for deleted accounts; expected another one.")
    others = User.objects.exclude(pk=but).values_list("username", flat=True)
    if names.first_confusable(name, chain(reserved, others.iterator())) is not None:
        raise Refused(
            Code.NAME_TAKEN,
            f"{name} looks like a reserved name or the name of another user; expected one that looks different.",
        )
    return name
