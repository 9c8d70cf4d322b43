"""Moments in the admin's forms: two fields, each with a name of its own, which Django's widget leaves out.

What is typed there lies within the bounds of all moments that a person gives.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.admin.widgets import AdminSplitDateTime
from django.core.exceptions import ValidationError
from django.db import models

from leaderboard.core import time_zones


class SaidSplitDateTime(AdminSplitDateTime):
    """Says beside which label its date and its time stand, to those who do not see it."""

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        words = name.rpartition("-")[2].replace("_", " ").capitalize()
        for part, said in zip(context["widget"]["subwidgets"], ("date", "time"), strict=True):
            part["attrs"]["aria-label"] = f"{words}, {said}"
        return context


def _check(moment: datetime) -> None:
    try:
        time_zones.check(moment)
    except ValueError as error:
        raise ValidationError(f"{error}.") from error


SAID: dict[type[models.Field[Any, Any]], dict[str, Any]] = {
    models.DateTimeField: {"widget": SaidSplitDateTime, "validators": [_check]}
}
"""For `formfield_overrides`."""
