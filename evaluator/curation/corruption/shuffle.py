"""One text's facts after its mentions of a kind have changed places (Goodrich et al. 2019)."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evaluator.curation.corruption.dates import Date, find_dates, fits, rewritten
from evaluator.curation.corruption.names import renamed, standing_in

Fact = tuple[str, str, str]
COMMON_YEAR = 1901


@dataclass(frozen=True)
class Exchanged:
    """facts: as many as before, in their order. mentions: how many there were; moved: how many have changed places."""

    facts: list[Fact]
    text: str | None
    subject: str | None
    mentions: int
    moved: int


def exchange_dates(facts: Sequence[Fact], text: str | None, subject: str | None, rng: random.Random) -> Exchanged:
    """Day and month change places among the dates of the text and its facts; every year stays where it was.

    A date that stands there several times, in whatever form, moves as one. 29 February goes to leap years only.
    """
    ends = [end for fact in facts for end in (fact[0], fact[2])]
    dates = sorted({found.date for part in (*ends, text or "") for found in find_dates(part)})
    moved = {old: new for old, new in _permuted(dates, rng).items() if old != new}
    return Exchanged(
        [(rewritten(s, moved), relation, rewritten(o, moved)) for s, relation, o in facts],
        None if text is None else rewritten(text, moved),
        None if subject is None else rewritten(subject, moved),
        len(dates),
        len(moved),
    )


def _permuted(dates: Sequence[Date], rng: random.Random) -> dict[Date, Date]:
    """Each date's own year with the day and month of another, by a permutation drawn from all that make dates."""
    everywhere = [date for date in dates if fits(date, COMMON_YEAR)]
    leap_days = [date for date in dates if not fits(date, COMMON_YEAR)]
    # Days that only leap years have are dealt first, each to one of those years.
    leap_years = [date for date in dates if all(fits(day, date.year) for day in leap_days)]
    taken = rng.sample(leap_years, len(leap_days))
    left = [date for date in dates if date not in taken]
    dealt = [*zip(taken, leap_days, strict=True), *zip(left, rng.sample(everywhere, len(everywhere)), strict=True)]
    return {old: Date(old.year, new.month, new.day) for old, new in dealt}


def exchange_names(
    facts: Sequence[Fact], text: str | None, subject: str | None, names: Collection[str], rng: random.Random
) -> Exchanged:
    """Names change places among those of `names` that the text or one of its facts has."""
    ends = {end for fact in facts for end in (fact[0], fact[2])}
    there = sorted((set(names) & ends) | (standing_in(text, names, ends) if text else set()))
    moved = {old: new for old, new in zip(there, rng.sample(there, len(there)), strict=True) if old != new}
    return Exchanged(
        [(moved.get(s, s), relation, moved.get(o, o)) for s, relation, o in facts],
        None if text is None else renamed(text, moved, ends),
        None if subject is None else moved.get(subject, subject),
        len(there),
        len(moved),
    )
