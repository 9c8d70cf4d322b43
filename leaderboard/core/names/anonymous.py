"""Names under which systems are displayed: the real name, or "Anonymous N" until a date that the team has chosen."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec
from django.utils import timezone

from leaderboard.models import Benchmark, System

NOBODY = "anonymous"
"""Text that is shown instead of the name of an anonymous system's team."""


class Shown(msgspec.Struct, frozen=True):
    """A system's details as shown to one viewer.

    anonymous_until: when the public will see the system's name; None: the public sees it now.
    is_hidden: this viewer sees "Anonymous N" instead of the names, and none of the other details.
    team_id: primary key of the team, for a link to its page; None for every viewer while the system is anonymous.
    """

    system: str
    team: str
    description: str
    paper_url: str
    code_url: str
    bibtex: str
    anonymous_until: datetime | None
    is_hidden: bool = False
    team_id: int | None = None


def is_anonymous(system: System, at: datetime | None = None) -> bool:
    """Return whether the system's name is hidden from the public at the time `at` (None: now)."""
    return system.anonymous_until is not None and (at or timezone.now()) < system.anonymous_until


def shown(system: System, *, knows: bool, at: datetime | None = None) -> Shown:
    """Return the details of a system as shown to a viewer at the time `at` (None: now).

    knows: the viewer may see the name of an anonymous system, as a member of its team or a manager of the benchmark.
    `system` should have its team selected (select_related).
    """
    until = system.anonymous_until if is_anonymous(system, at) else None
    if until is not None and not knows:
        return Shown(f"Anonymous {system.anonymous_number}", NOBODY, "", "", "", "", until, is_hidden=True)
    details = {name: getattr(system, name) for name in ("description", "paper_url", "code_url", "bibtex")}
    team_id = system.team_id if until is None else None
    return Shown(system=system.name, team=system.team.name, anonymous_until=until, team_id=team_id, **details)


def names_for(viewer: Any, benchmark: Benchmark, at: datetime | None = None) -> Callable[[System], Shown]:
    """Return a function: system of the benchmark -> its details as shown to a viewer at the time `at` (None: now).

    viewer: a user, AnonymousUser, or None for the public. The function queries the viewer's teams and rights at most
    once: when it first gets an anonymous system.
    """
    cached: dict[str, Any] = {}

    def knows(system: System) -> bool:
        if not is_anonymous(system, at) or not getattr(viewer, "is_authenticated", False):
            return False
        if not cached:
            cached["teams"] = set(viewer.teams.values_list("pk", flat=True))
            cached["manages"] = benchmark.is_managed_by(viewer)
        return cached["manages"] or system.team_id in cached["teams"]

    return lambda system: shown(system, knows=knows(system), at=at)
