"""The sweeper's parts: what breaks in one of them holds up none of the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import OperationalError

import leaderboard
from leaderboard import jobs


def test_a_sweep_that_breaks_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    def breaks() -> None:
        raise PermissionError("/somewhere/secret")

    monkeypatch.setattr(jobs, "SWEEPS", (breaks, lambda: done.append("the next")))
    jobs.sweep()
    assert done == ["the next"]
    told = caplog.text
    assert "sweep_broke" in told and "PermissionError" in told and "secret" not in told


def test_a_database_that_is_away_ends_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def away() -> None:
        raise OperationalError("server closed the connection")

    monkeypatch.setattr(jobs, "SWEEPS", (away, lambda: done.append("the next")))
    with pytest.raises(OperationalError):
        jobs.sweep()
    assert done == [], "the next would find the same, at as long a wait"


def test_every_action_with_a_sweep_is_swept() -> None:
    """`background.sweep` is what others sweep by."""
    root = Path(leaderboard.__file__).parent
    having = {
        ".".join(("leaderboard", *path.relative_to(root).with_suffix("").parts))
        for path in root.rglob("*.py")
        if "\ndef sweep() -> " in path.read_text(encoding="utf-8")
    } - {"leaderboard.jobs"}
    swept = [one.__module__ for one in jobs.SWEEPS]
    assert "leaderboard.scoring.actions.sealed_phases" in having and sorted(swept) == sorted(having)
