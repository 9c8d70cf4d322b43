"""The sweeper's parts: what breaks in one of them holds up none of the others."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
from django.db import OperationalError

import leaderboard
from leaderboard import jobs
from leaderboard.work_queue.work import Work


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
    assert "sweep_failed" in told and "PermissionError" in told and "secret" not in told


def test_a_database_that_is_away_ends_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def away() -> None:
        raise OperationalError("server closed the connection")

    monkeypatch.setattr(jobs, "SWEEPS", (away, lambda: done.append("the next")))
    with pytest.raises(OperationalError):
        jobs.sweep()
    assert done == [], "the next would find the same, at as long a wait"


def test_every_sweep_and_every_kind_of_work_is_in_the_list() -> None:
    root = Path(leaderboard.__file__).parent
    texts = {
        ".".join(("leaderboard", *path.relative_to(root).with_suffix("").parts)): path.read_text(encoding="utf-8")
        for path in root.rglob("*.py")
    }
    sweeps = {name for name, text in texts.items() if "\ndef sweep() -> " in text} - {"leaderboard.jobs"}
    works = [import_module(name).WORK for name, text in texts.items() if "\nWORK = " in text]
    assert "leaderboard.scoring.actions.sealed_phases" in sweeps and len(works) >= 11
    assert sorted(one.__module__ for one in jobs.SWEEPS if not isinstance(one, Work)) == sorted(sweeps)
    assert sorted(one.name for one in jobs.SWEEPS if isinstance(one, Work)) == sorted(work.name for work in works)
