"""Time zones of deadlines: IANA names, and AoE, anywhere on Earth: the day is over when it is over everywhere."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

AOE = "AoE"
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
"""Of the moments that a person may give: a phase that came from elsewhere may be over, but none is older."""
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
"""And it lies before this: further than anybody keeps a promise, and far from where calendars of computers end."""


def zone(name: str) -> tzinfo:
    """Raises KeyError for an unknown name."""
    # The sign of the Etc names is turned round: it is UTC-12, the last place where a day ends.
    return ZoneInfo("Etc/GMT+12" if name == AOE else name)


@cache
def names() -> tuple[str, ...]:
    """All that may be chosen: UTC and AoE, then the IANA names of places in order."""
    places = (
        name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "posix/", "right/"))
    )
    return ("UTC", AOE, *sorted(places))


def check(moment: datetime) -> None:
    """Raises ValueError for a moment that nobody means: before EARLIEST, or not before LATEST."""
    if not EARLIEST <= moment < LATEST:
        raise ValueError(_beyond(moment))


def _beyond(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} is no date of this site; expected one from {EARLIEST.year} to {LATEST.year - 1}"


def shown(moment: datetime, name: str) -> str:
    """The moment on the zone's clocks, without UTC's own: `2026-03-01 23:59 AoE`, with seconds where it has some.

    On its own clocks where the zone's calendar has no such day: years begin at 1 and end with 9999.
    """
    try:
        return f"{moment.astimezone(zone(name)):{written(moment)}} {name}"
    except OverflowError:
        return f"{moment:{written(moment)}} UTC"


def written(moment: datetime) -> str:
    """The format of a moment: to the minute, or to the second where it lies within one."""
    return "%Y-%m-%d %H:%M:%S" if moment.second else "%Y-%m-%d %H:%M"


def in_words(moment: datetime, name: str) -> str:
    """The moment in UTC, and in the zone where that is another: `2026-03-02 11:59 UTC (2026-03-01 23:59 AoE)`."""
    told, there = shown(moment, "UTC"), shown(moment, name)
    return told if there == told else f"{told} ({there})"


def moment(local: datetime, name: str) -> datetime:
    """What a naive date on the zone's clocks means, in UTC.

    Raises ValueError where the clocks skip it or show it twice, and for what `check` refuses.
    """
    there = local.replace(tzinfo=zone(name), fold=0)
    try:
        found = there.astimezone(UTC)
    except OverflowError:
        raise ValueError(_beyond(local)) from None
    check(found)
    if found.astimezone(zone(name)).replace(tzinfo=None) != local:
        raise ValueError(f"the clocks of {name} skip {local:%Y-%m-%d %H:%M}; expected another time")
    if there.replace(fold=1).utcoffset() != there.utcoffset():
        raise ValueError(f"the clocks of {name} show {local:%Y-%m-%d %H:%M} twice; expected another time, or UTC")
    return found
