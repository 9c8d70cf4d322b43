"""Permutation of the mentions of one kind (dates, places, people) in a text and its facts (Goodrich et al. 2019)."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from evaluator.curation.corruption.dates import Date, find_dates, fits, replace_dates
from evaluator.curation.corruption.names import names_in, replace_names

Fact = tuple[str, str, str]
COMMON_YEAR = 1901


@dataclass(frozen=True)
class Permuted:
    """A text after the permutation, with its facts and its subject.

    facts: as many as before, in the same order. text, subject: None if there was none before. mentions: the number of
    distinct mentions (dates or names) of the permuted kind; replaced: the number of those that were replaced.
    """

    facts: list[Fact]
    text: str | None
    subject: str | None
    mentions: int
    replaced: int


def permute_dates(facts: Sequence[Fact], text: str | None, subject: str | None, rng: random.Random) -> Permuted:
    """Permute the dates of a text and its facts: each date gets the day and month of another, and keeps its year.

    All occurrences of a date, in any form, change together. 29 February goes to leap years only. text, subject: None if
    there is none.
    """
    ends = [end for fact in facts for end in (fact[0], fact[2])]
    dates = sorted({match.date for part in (*ends, text or "") for match in find_dates(part)})
    moved = {old: new for old, new in _permuted(dates, rng).items() if old != new}
    return Permuted(
        [(replace_dates(s, moved), relation, replace_dates(o, moved)) for s, relation, o in facts],
        None if text is None else replace_dates(text, moved),
        None if subject is None else replace_dates(subject, moved),
        len(dates),
        len(moved),
    )


def _permuted(dates: Sequence[Date], rng: random.Random) -> dict[Date, Date]:
    """Return the new date for each date: its own year, with the day and month of another date.

    The days and months are a random permutation of the old ones in which all new dates are valid.
    """
    common_days = [date for date in dates if fits(date, COMMON_YEAR)]
    leap_days = [date for date in dates if not fits(date, COMMON_YEAR)]
    # Leap days are assigned first, each to a leap year.
    leap_years = [date for date in dates if all(fits(day, date.year) for day in leap_days)]
    leap_targets = rng.sample(leap_years, len(leap_days))
    other_targets = [date for date in dates if date not in leap_targets]
    assigned = [
        *zip(leap_targets, leap_days, strict=True),
        *zip(other_targets, rng.sample(common_days, len(common_days)), strict=True),
    ]
    return {old: Date(old.year, new.month, new.day) for old, new in assigned}


def permute_names(
    facts: Sequence[Fact], text: str | None, subject: str | None, names: Collection[str], rng: random.Random
) -> Permuted:
    """Permute names in a text and its facts.

    The permuted names are those of `names` that occur in the text, or are the subject or object of a fact. text,
    subject: None if there is none.
    """
    ends = {end for fact in facts for end in (fact[0], fact[2])}
    # Names that stay, because the permutation leaves them in place or as the subject, protect the names inside them.
    whole = {*ends, *names, subject or ""}
    present = sorted((set(names) & ends) | (names_in(text, names, whole) if text else set()))
    moved = {old: new for old, new in zip(present, rng.sample(present, len(present)), strict=True) if old != new}
    return Permuted(
        [(moved.get(s, s), relation, moved.get(o, o)) for s, relation, o in facts],
        None if text is None else replace_names(text, moved, whole),
        None if subject is None else moved.get(subject, subject),
        len(present),
        len(moved),
    )
