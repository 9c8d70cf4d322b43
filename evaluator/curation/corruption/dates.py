"""Dates in a text: finding them in the forms that people and Wikidata write, and replacing them in the same form."""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from collections.abc import Iterator, Mapping
from typing import NamedTuple

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SHORT = 3
_NAMES = "|".join(f"{name}|{name[:_SHORT]}\\b" for name in MONTHS) + "|Sept\\b"
_DAY = r"(?P<{0}>[0-9]{{1,2}})(?P<{0}th>st|nd|rd|th)?"
_FORMS = (
    rf"(?<![\w.,-]){_DAY.format('d1')}(?: of)? (?P<m1>{_NAMES})\.?,? (?P<y1>[0-9]{{4}})(?!\w)",
    rf"(?<!\w)(?P<m2>{_NAMES})\.? {_DAY.format('d2')},? (?P<y2>[0-9]{{4}})(?!\w)",
    r"(?<![\w-])(?P<y3>[0-9]{4})-(?P<m3>[0-9]{2})-(?P<d3>[0-9]{2})(?![0-9-])",
)
_DATE = re.compile("|".join(_FORMS))


class Date(NamedTuple):
    """A valid calendar date."""

    year: int
    month: int
    day: int


class DateMatch(NamedTuple):
    """A date in a text, and its regular-expression match.

    form: 1 for day first, 2 for month first, 3 for ISO (`1901-05-03`).
    """

    date: Date
    match: re.Match[str]
    form: int


def find_dates(text: str) -> Iterator[DateMatch]:
    """Yield the dates of a text: `3 May 1901`, `3rd of May 1901`, `May 3, 1901`, `3 Sept. 1901`, `1901-05-03`.

    They come from left to right. Invalid dates (31 April) are skipped.
    """
    for match in _DATE.finditer(text):
        form = next(form for form in (1, 2, 3) if match[f"y{form}"])
        year, day, month = int(match[f"y{form}"]), int(match[f"d{form}"]), _month(match[f"m{form}"])
        if 1 <= month <= 12 and year and 1 <= day <= monthrange(year, month)[1]:
            yield DateMatch(Date(year, month, day), match, form)


def replace_dates(text: str, moved: Mapping[Date, Date]) -> str:
    """Return the text with its dates replaced, each in the form that it had.

    moved: date -> its new date; other dates stay.
    """
    pieces, end = [], 0
    for hit in find_dates(text):
        if hit.date in moved:
            pieces += [text[end : hit.match.start()], _written(hit, moved[hit.date])]
            end = hit.match.end()
    return "".join([*pieces, text[end:]])


def fits(date: Date, year: int) -> bool:
    """Return True if the day and month of the date exist in the year, as 29 February does in leap years only."""
    return (date.month, date.day) != (2, 29) or isleap(year)


def _month(written: str) -> int:
    if written.isdigit():
        return int(written)
    return next(number for number, name in enumerate(MONTHS, 1) if name.startswith(written[:_SHORT]))


def _written(occurrence: DateMatch, date: Date) -> str:
    match, form = occurrence.match, occurrence.form
    day, month = match[f"d{form}"], match[f"m{form}"]
    changes = [(match.span(f"d{form}"), f"{date.day:0{2 if day.startswith('0') or form == 3 else 1}d}")]
    if form == 3:
        changes.append((match.span("m3"), f"{date.month:02d}"))
    else:
        # "May" is written the same in full and abbreviated.
        full = month in MONTHS and month != "May"
        name = MONTHS[date.month - 1]
        short = len(month) <= 4 and not full and (month != "May" or _stopped(match, form))
        changes.append((match.span(f"m{form}"), name[:_SHORT] if short else name))
        if match[f"d{form}th"]:
            changes.append((match.span(f"d{form}th"), _ordinal(date.day)))
    text, start = match[0], match.start()
    for (first, end), new in sorted(changes, reverse=True):
        text = text[: first - start] + new + text[end - start :]
    return text


def _stopped(match: re.Match[str], form: int) -> bool:
    """Return True if the month of the matched date is followed by the full stop of an abbreviation.

    form: the form of the date, as in `DateMatch`.
    """
    return match.string[match.end(f"m{form}") : match.end(f"m{form}") + 1] == "."


def _ordinal(day: int) -> str:
    return "th" if 10 < day < 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
