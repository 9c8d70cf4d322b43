"""Dates that a person types on the clocks of a time zone."""

from __future__ import annotations

from typing import Any

from django import forms

from leaderboard.core import time_zones


def read_local(form: forms.Form, found: dict[str, Any], name: str, zone: str) -> None:
    """Put the moment that a date means in `zone` in its place; where the clocks skip it or show it twice, an error."""
    try:
        # Django has read it as UTC's, the site's own.
        found[name] = time_zones.moment(found[name].replace(tzinfo=None), zone)
    except ValueError as error:
        form.add_error(name, f"{str(error)[0].upper()}{str(error)[1:]}.")
