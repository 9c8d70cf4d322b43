"""Datetimes in admin forms: two inputs with labels for screen readers, which Django's widget lacks.

Datetimes must be in the range that the site allows for all datetimes that people enter (`core.time_zones.check`).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import ValidationError
from django.db import models

from leaderboard.core import time_zones


class LabelledSplitDateTime(AdminSplitDateTime):
    """Widget whose date and time inputs have labels for screen readers."""

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        field_label = name.rpartition("-")[2].replace("_", " ").capitalize()
        for part, label in zip(context["widget"]["subwidgets"], ("date", "time"), strict=True):
            part["attrs"]["aria-label"] = f"{field_label}, {label}"
        return context


def _check(moment: datetime) -> None:
    try:
        time_zones.check(moment)
    except ValueError as error:
        raise ValidationError(f"{error}.") from error


SAID: dict[type[models.Field[Any, Any]], dict[str, Any]] = {
    models.DateTimeField: {"widget": LabelledSplitDateTime, "validators": [_check]}
}
"""Value of `formfield_overrides` for the site's admin classes: widget and validator of each datetime field."""
