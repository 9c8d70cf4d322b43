"""Time zones of deadlines: IANA names, and AoE (anywhere on Earth, UTC-12)."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

AOE = "AoE"
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
"""Earliest datetime that users may enter. Imported phases may lie in the past, but not before this date."""
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
"""Exclusive upper bound of datetimes that users may enter, far from the limits of datetime types."""


def zone(name: str) -> tzinfo:
    """Return the tzinfo of a time zone, given its IANA name or "AoE". Raises KeyError for an unknown name."""
    # Etc names have inverted signs: this is UTC-12, where a day ends last.
    return ZoneInfo("Etc/GMT+12" if name == AOE else name)


@cache
def names() -> tuple[str, ...]:
    """Return all zone names that can be selected: UTC and AoE, then the IANA names of regions, sorted."""
    regions = (
        name for name in available_timezones() if "/" in name and not name.startswith(("Etc/", "posix/", "right/"))
    )
    return ("UTC", AOE, *sorted(regions))


def check(moment: datetime) -> None:
    """Raise ValueError for a datetime before EARLIEST, or at or after LATEST."""
    if not EARLIEST <= moment < LATEST:
        raise ValueError(_beyond(moment))


def _beyond(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} is out of range; expected a year from {EARLIEST.year} to {LATEST.year - 1}"


def shown(moment: datetime, name: str) -> str:
    """Format a datetime in the time zone `name`: `2026-03-01 23:59 AoE`, with seconds if they are not zero.

    Uses UTC if the datetime in that zone would be outside the years 1 to 9999.
    """
    try:
        return f"{moment.astimezone(zone(name)):{written(moment)}} {name}"
    except OverflowError:
        return f"{moment:{written(moment)}} UTC"


def written(moment: datetime) -> str:
    """Return the strftime format that shows a datetime to the minute, or to the second if its seconds are not zero."""
    return "%Y-%m-%d %H:%M:%S" if moment.second else "%Y-%m-%d %H:%M"


def describe(moment: datetime, name: str) -> str:
    """Format a datetime in UTC and in the time zone `name`: `2026-03-02 11:59 UTC (2026-03-01 23:59 AoE)`.

    The part in parentheses is left out if the zone is UTC.
    """
    utc, local = shown(moment, "UTC"), shown(moment, name)
    return utc if local == utc else f"{utc} ({local})"


def local_to_utc(local: datetime, name: str) -> datetime:
    """Convert a naive local datetime in the time zone `name` to UTC.

    Raises ValueError for a local time that does not exist or occurs twice because clocks change, and for a datetime
    before EARLIEST, or at or after LATEST.
    """
    aware = local.replace(tzinfo=zone(name), fold=0)
    try:
        utc = aware.astimezone(UTC)
    except OverflowError:
        raise ValueError(_beyond(local)) from None
    check(utc)
    if utc.astimezone(zone(name)).replace(tzinfo=None) != local:
        raise ValueError(f"{local:%Y-%m-%d %H:%M} does not exist in {name} (clock change); expected another time")
    if aware.replace(fold=1).utcoffset() != aware.utcoffset():
        raise ValueError(
            f"{local:%Y-%m-%d %H:%M} occurs twice in {name}: clocks go back; expected another time, or UTC"
        )
    return utc
