"""Moments in the admin's forms: two fields, each with a name of its own, which Django's widget leaves out."""

from __future__ import annotations

from typing import Any

from django.contrib.admin.widgets import AdminSplitDateTime
from django.db import models


class SaidSplitDateTime(AdminSplitDateTime):
    """Says beside which label its date and its time stand, to those who do not see it."""

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context(name, value, attrs)
        words = name.rpartition("-")[2].replace("_", " ").capitalize()
        for part, said in zip(context["widget"]["subwidgets"], ("date", "time"), strict=True):
            part["attrs"]["aria-label"] = f"{words}, {said}"
        return context


SAID: dict[type[models.Field[Any, Any]], dict[str, Any]] = {models.DateTimeField: {"widget": SaidSplitDateTime}}
"""For `formfield_overrides`."""
