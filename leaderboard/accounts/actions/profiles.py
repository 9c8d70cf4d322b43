"""A user's public profile."""

from __future__ import annotations

import re

from django.db import transaction

from leaderboard.core.names import names
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Profile, User


@transaction.atomic
def update(*, by: User, is_public: bool, name: str, affiliation: str = "", url: str = "", orcid: str = "") -> Profile:
    """Store a user's profile. is_public: True: everybody may see the profile; False: only the user.

    Raises Refused: INVALID_NAME for an invalid or reserved name, INVALID_VALUE for another invalid value.
    """
    name = names.checked(name, of="name", longest=100)
    if names.is_the_sites(name) and not by.is_curator:
        raise Refused(Code.INVALID_NAME, f"The name {name} is reserved on this site; expected another one.")
    names.check_signs(affiliation, of="affiliation")
    fields = {"is_public": is_public, "name": name, "affiliation": affiliation, "url": url, "orcid": orcid_of(orcid)}
    profile, _ = Profile.objects.update_or_create(user=by, defaults=fields)
    AuditEntry.record("profile.saved", by, by=by, is_public=is_public)
    return profile


def orcid_of(text: str) -> str:
    """Return an ORCID iD with hyphens; "" for "". `text` may be the URL of the iD, and may lack the hyphens.

    Raises Refused INVALID_VALUE for another text, or if the check digit (ISO 7064, MOD 11-2) is wrong.
    """
    bare = re.sub(r"^(https?://)?(www\.)?orcid\.org/", "", text.strip())
    if not bare:
        return ""
    digits = bare.replace("-", "").upper()
    if not re.fullmatch(r"[0-9]{15}[0-9X]", digits):
        raise Refused(
            Code.INVALID_VALUE, f"The ORCID iD is {text.strip()[:60]!r}; expected 16 digits, as in 0000-0002-1825-0097."
        )
    total = 0
    for digit in digits[:-1]:
        total = (total + int(digit)) * 2
    if "0123456789X"[(12 - total % 11) % 11] != digits[-1]:
        raise Refused(
            Code.INVALID_VALUE, f"The ORCID iD {text.strip()[:60]!r} has a wrong digit; expected a valid one."
        )
    return "-".join(digits[start : start + 4] for start in range(0, 16, 4))
