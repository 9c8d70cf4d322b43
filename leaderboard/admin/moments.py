"""Date-times in admin forms: two inputs with labels for screen readers, which Django's widget lacks.

Values must be within the bounds of all date-times entered by people.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import ValidationError
from django.db import models

from leaderboard.core import time_zones


class LabelledSplitDateTime(AdminSplitDateTime):
    """Labels its date and time inputs for screen readers."""

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
"""Value for `formfield_overrides`."""
