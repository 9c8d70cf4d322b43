"""Form dates in a time zone."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.core import time_zones


def read_local(form: forms.Form, cleaned: dict[str, Any], name: str, zone: str) -> None:
    """Convert a cleaned local datetime of `zone` to UTC in place; a nonexistent or ambiguous one is a form error."""
    try:
        # Django has parsed it in UTC, the site's time zone.
        cleaned[name] = time_zones.moment(cleaned[name].replace(tzinfo=None), zone)
    except ValueError as error:
        form.add_error(name, f"{str(error)[0].upper()}{str(error)[1:]}.")
