"""How long a system may stay without a name."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.models import System
from leaderboard.systems.web.forms import DescribeForm


def form(until: datetime | None, kept: datetime | None = None) -> DescribeForm:
    given = f"{until:%Y-%m-%dT%H:%M}" if until else ""
    return DescribeForm({"anonymous_until": given}, instance=System(anonymous_until=kept))


@pytest.mark.parametrize("days", [1, 1000])
def test_a_date_to_come_is_taken(days: int) -> None:
    asked = form(timezone.now() + timedelta(days=days))
    assert "anonymous_until" not in asked.errors


@pytest.mark.parametrize("days", [-1, 1200, 400_000])
def test_what_has_passed_or_is_far_is_refused_in_words(days: int) -> None:
    (told,) = form(timezone.now() + timedelta(days=days)).errors["anonymous_until"]
    assert told.startswith("Expected a time in the future")


def test_a_date_that_is_kept_is_not_asked_again() -> None:
    kept = timezone.now() - timedelta(days=9)
    asked = form(kept, kept)
    assert "anonymous_until" not in asked.errors and asked.cleaned_data["anonymous_until"] == kept
    assert "anonymous_until" not in form(None, kept).errors
