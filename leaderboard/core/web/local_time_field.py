"""Conversion of a form's local dates to UTC."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.core import time_zones


def read_local(form: forms.Form, cleaned: dict[str, Any], name: str, zone: str) -> None:
    """Convert the datetime `cleaned[name]`, a local time in the time zone `zone`, to UTC, in place.

    A local time that does not exist, occurs twice or is out of range becomes an error of the form's field `name`.
    """
    try:
        # Django has parsed it in UTC, the site's time zone.
        cleaned[name] = time_zones.local_to_utc(cleaned[name].replace(tzinfo=None), zone)
    except ValueError as error:
        form.add_error(name, f"{str(error)[0].upper()}{str(error)[1:]}.")
