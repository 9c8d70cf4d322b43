"""Limits of the date until which a system is anonymous."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from leaderboard.models import System
from leaderboard.systems.web.forms import DescribeForm


def form(until: datetime | None, stored: datetime | None = None) -> DescribeForm:
    value = f"{until:%Y-%m-%dT%H:%M}" if until else ""
    return DescribeForm({"anonymous_until": value}, instance=System(anonymous_until=stored))


@pytest.mark.parametrize("days", [1, 1000])
def test_a_future_date_is_accepted(days: int) -> None:
    checked_form = form(timezone.now() + timedelta(days=days))
    assert "anonymous_until" not in checked_form.errors


@pytest.mark.parametrize("days", [-1, 1200, 400_000])
def test_past_and_distant_dates_are_refused_with_a_message(days: int) -> None:
    (message,) = form(timezone.now() + timedelta(days=days)).errors["anonymous_until"]
    assert "; expected one in the future, " in message


def test_an_unchanged_date_is_not_checked_again() -> None:
    stored = timezone.now() - timedelta(days=9)
    checked_form = form(stored, stored)
    assert "anonymous_until" not in checked_form.errors and checked_form.cleaned_data["anonymous_until"] == stored
    assert "anonymous_until" not in form(None, stored).errors
