"""ORCID iDs that their owners have verified, by linking their account at ORCID."""

from __future__ import annotations

from typing import Any

from allauth.socialaccount.models import SocialAccount
from django.db.models import Exists, OuterRef, QuerySet

from leaderboard.core.login_providers import ORCID
from leaderboard.models import Profile, Team, User


def linked(user: User) -> str:
    """Return the ORCID iD that the user has linked; "" if there is none."""
    return SocialAccount.objects.filter(provider=ORCID, user=user).values_list("uid", flat=True).first() or ""


def with_verification(profiles: QuerySet[Profile]) -> QuerySet[Any]:
    """Annotate profiles with `orcid_is_verified`: their ORCID iD is that of the linked account."""
    own = SocialAccount.objects.filter(provider=ORCID, user=OuterRef("pk"), uid=OuterRef("orcid"))
    return profiles.annotate(orcid_is_verified=Exists(own))


def public_members(team: Team) -> QuerySet[Any]:
    """Return the profiles of a team's members who show them to everybody, with `orcid_is_verified`."""
    return with_verification(Profile.objects.filter(is_public=True, user__teams=team, user__is_active=True))


def verified_members(team: Team) -> QuerySet[Any]:
    """Return those of `public_members` whose ORCID iD is verified."""
    return public_members(team).filter(orcid_is_verified=True)
