"""Selections of systems of a large board by filters that few of them pass, through indexes of systems and teams."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from leaderboard.boards.queries.as_of import standings_of
from leaderboard.boards.queries.board import Board
from leaderboard.boards.queries.request import BoardQuery
from leaderboard.models import System

SHORTEST_INDEXED = 3
"""Length of a trigram: an index finds words of at least this length."""


def few_systems(board: Board, query: BoardQuery, viewer: Any, most: int) -> list[int] | None:
    """Return the ids of systems among which are all that pass the query's filters; None if they would exceed `most`.

    Filters with an index are used: by own systems, kind, and words of at least SHORTEST_INDEXED letters. Systems with
    such a word may be on other boards. Of other words the names on the board are read, until too many have them.
    """
    if query.own:
        return _at_most(_on(board).filter(pk__in=own_systems(viewer)), most)
    if query.kind and query.kind != System.Kind.PARTICIPANT:
        return _at_most(_on(board).filter(kind=query.kind), most)
    for word in sorted(query.words, key=len, reverse=True)[:2]:
        if len(word) >= SHORTEST_INDEXED and (systems := _named(board, word, most)) is not None:
            return systems
    return _matching(board, query, most) if any(len(word) > 1 for word in query.words) else None


def own_systems(viewer: Any) -> QuerySet[System, int]:
    """Return the ids of the systems of the viewer's teams; the public has none."""
    return System.objects.filter(team__members=getattr(viewer, "pk", None) or 0).values_list("pk", flat=True)


def systems_shown_as(name: str, most: int = 100) -> list[int]:
    """Return the ids of systems that have this name or, while they are anonymous, may be shown under it."""
    number = name.removeprefix("Anonymous ")
    is_shown = Q(name=name)
    if number.isascii() and number.isdigit() and len(number) < 10:
        is_shown |= Q(anonymous_number=int(number))
    return list(System.objects.filter(is_shown).order_by("pk").values_list("pk", flat=True)[:most])


def _named(board: Board, word: str, most: int) -> list[int] | None:
    """Return the ids of the systems in whose name, or whose team's name, a word occurs, and of all anonymous systems.

    These are shown under other names. None: there are more than `most`.
    """
    systems = set[int]()
    for condition in (
        Q(name__icontains=word),
        Q(team__name__icontains=word),
        Q(anonymous_until__gt=timezone.now(), pk__in=_on(board).values("pk")),
    ):
        matches = _at_most(System.objects.filter(condition), most)
        if matches is None:
            return None
        systems.update(matches)
    return list(systems) if len(systems) <= most else None


def _matching(board: Board, query: BoardQuery, most: int) -> list[int] | None:
    """Return the ids of the systems of a board that may have all words, kind and track; None: more than `most`."""
    standings = standings_of(board).order_by()
    for word in query.words:
        is_named = Q(system__name__icontains=word) | Q(system__team__name__icontains=word)
        standings = standings.filter(is_named | Q(system__anonymous_until__gt=timezone.now()))
    if query.kind:
        standings = standings.filter(system__kind=query.kind)
    if query.track:
        standings = standings.filter(release__submission__track=query.track)
    systems = list(standings.values_list("system", flat=True)[: most + 1])
    return systems if len(systems) <= most else None


def _on(board: Board) -> QuerySet[System]:
    """Return the systems of a board, as of its day."""
    return System.objects.filter(pk__in=standings_of(board).order_by().values("system"))


def _at_most(systems: QuerySet[System], most: int) -> list[int] | None:
    """Return the ids of the systems; None: there are more than `most`."""
    pks = list(systems.order_by().values_list("pk", flat=True)[: most + 1])
    return pks if len(pks) <= most else None
