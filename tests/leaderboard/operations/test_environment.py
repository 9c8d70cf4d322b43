"""Environment variables: former names are read for one release, with a warning."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured

from leaderboard.environment import FORMER, PREFIX, VARIABLES, Environment, Variable

renamed = pytest.mark.parametrize(("former", "name"), FORMER.items())
OTHER = {bool: ("off", "on"), str: ("a", "b"), int: ("1", "2"), float: ("1.5", "2.5"), list: ("a", "a,b")}
"""Two different values of each type; neither of them is a default."""


@pytest.fixture(autouse=True)
def without_these_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for former, name in FORMER.items():
        monkeypatch.delenv(PREFIX + former, raising=False)
        monkeypatch.delenv(PREFIX + name, raising=False)


def test_a_name_is_present_or_former() -> None:
    assert FORMER.keys().isdisjoint(VARIABLES)
    assert FORMER["NOTICES"] == "NOTIFICATIONS"


@renamed
def test_a_former_name_is_read_and_a_check_names_the_present_one(
    monkeypatch: pytest.MonkeyPatch, former: str, name: str
) -> None:
    assert [warning for warning in run_checks() if warning.id == "leaderboard.W002"] == []
    monkeypatch.setenv(PREFIX + name, OTHER[VARIABLES[name].cast][0])
    expected = Environment()(name)
    monkeypatch.delenv(PREFIX + name)
    monkeypatch.setenv(PREFIX + former, OTHER[VARIABLES[name].cast][0])
    assert Environment()(name) == expected != VARIABLES[name].default
    (warning,) = [warning for warning in run_checks() if warning.id == "leaderboard.W002"]
    assert (warning.msg, warning.hint) == (
        f"{PREFIX}{former} is the former name of {PREFIX}{name}.",
        f"Set {PREFIX}{name} instead.",
    )


@renamed
def test_two_different_values_prevent_the_start(monkeypatch: pytest.MonkeyPatch, former: str, name: str) -> None:
    value, other = OTHER[VARIABLES[name].cast]
    monkeypatch.setenv(PREFIX + former, value)
    monkeypatch.setenv(PREFIX + name, value)
    Environment()(name)
    monkeypatch.setenv(PREFIX + name, other)
    with pytest.raises(ImproperlyConfigured, match=f"{PREFIX}{name} is '{other}' and {PREFIX}{former}, its former"):
        Environment()(name)


def test_the_same_value_may_be_set_under_both_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDOUT_NOTICES", "off")
    monkeypatch.setenv("HOLDOUT_NOTIFICATIONS", "false")
    assert Environment()("NOTIFICATIONS") is False


def test_a_malformed_value_is_reported_under_the_name_that_was_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(VARIABLES, "RESAMPLES", Variable(int, 1000, "resamples", why="", former="DRAWS"))
    monkeypatch.setitem(FORMER, "DRAWS", "RESAMPLES")
    monkeypatch.setenv("HOLDOUT_DRAWS", "many")
    with pytest.raises(ImproperlyConfigured, match="HOLDOUT_DRAWS is 'many', expected int: resamples"):
        Environment()("RESAMPLES")


def test_other_unknown_names_still_prevent_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDOUT_NOTICE", "off")
    with pytest.raises(ImproperlyConfigured, match="unknown environment variable HOLDOUT_NOTICE;"):
        Environment()
