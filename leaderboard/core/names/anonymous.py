"""Under which name a system is shown: its own, or "Anonymous N" until its team's date has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Case, CharField, F, Q, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Concat
from django.utils import timezone

from leaderboard.models import Benchmark, System

NOBODY = "anonymous"
"""In the place of a team's name."""


@dataclass(frozen=True)
class Shown:
    """What a reader is told of a system. anonymous_until: others are told no name until then; None: everybody is."""

    system: str
    team: str
    description: str
    paper_url: str
    code_url: str
    bibtex: str
    anonymous_until: datetime | None
    is_hidden: bool = False


def is_anonymous(system: System, at: datetime | None = None) -> bool:
    """Whether the public is told no name of it at that moment."""
    return system.anonymous_until is not None and (at or timezone.now()) < system.anonymous_until


def shown(system: System, *, knows: bool) -> Shown:
    """knows: the reader is of its team, or organises where it competes. `system` comes with its team selected."""
    until = system.anonymous_until if is_anonymous(system) else None
    if until is not None and not knows:
        return Shown(f"Anonymous {system.anonymous_number}", NOBODY, "", "", "", "", until, is_hidden=True)
    told = {name: getattr(system, name) for name in ("description", "paper_url", "code_url", "bibtex")}
    return Shown(system=system.name, team=system.team.name, anonymous_until=until, **told)


def names_for(reader: Any, benchmark: Benchmark) -> Callable[[System], Shown]:
    """How systems of a benchmark are shown to a person; None: to the public. Asks who it is once, if it matters."""
    kept: dict[str, Any] = {}

    def knows(system: System) -> bool:
        if not is_anonymous(system) or not getattr(reader, "is_authenticated", False):
            return False
        if not kept:
            kept["teams"] = set(reader.teams.values_list("pk", flat=True))
            kept["manages"] = benchmark.is_managed_by(reader)
        return kept["manages"] or system.team_id in kept["teams"]

    return lambda system: shown(system, knows=knows(system))


def told_names(reader: Any, benchmark: Benchmark, system: str) -> dict[str, Combinable]:
    """`told_system` and `told_team` as `names_for` tells them, for queries over rows whose field `system` names one.

    What is searched and ordered by these says nothing of a name that is hidden.
    """
    name, team = F(f"{system}__name"), F(f"{system}__team__name")
    hidden = Q(**{f"{system}__anonymous_until__gt": timezone.now()})
    if getattr(reader, "is_authenticated", False):
        if benchmark.is_managed_by(reader):
            return {"told_system": name, "told_team": team}
        hidden &= ~Q(**{f"{system}__team__in": list(reader.teams.values_list("pk", flat=True))})
    number = Concat(Value("Anonymous "), Cast(F(f"{system}__anonymous_number"), CharField()))
    text = CharField()
    return {
        "told_system": Case(When(hidden, then=number), default=name, output_field=text),
        "told_team": Case(When(hidden, then=Value(NOBODY)), default=team, output_field=text),
    }
