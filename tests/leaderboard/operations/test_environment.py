"""Environment variables: a malformed value and an unknown name prevent the start."""

from __future__ import annotations

import pytest
from django.core.exceptions import ImproperlyConfigured

from leaderboard.environment import Environment


def test_a_malformed_value_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDOUT_MAX_FILE_MB", "many")
    with pytest.raises(ImproperlyConfigured, match="HOLDOUT_MAX_FILE_MB is 'many', expected int: "):
        Environment()("MAX_FILE_MB")


def test_unknown_names_prevent_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDOUT_NOTICES", "off")
    with pytest.raises(ImproperlyConfigured, match="unknown environment variable HOLDOUT_NOTICES;"):
        Environment()
