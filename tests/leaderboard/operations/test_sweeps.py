"""The sweep's functions: an error in one of them does not stop the others."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest
from django.db import OperationalError

import leaderboard
from leaderboard import jobs
from leaderboard.work_queue.work import Work


def test_a_failing_sweep_does_not_stop_the_others(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    completed: list[str] = []

    def breaks() -> None:
        raise PermissionError("/somewhere/secret")

    monkeypatch.setattr(jobs, "SWEEPS", (breaks, lambda: completed.append("the next")))
    jobs.sweep()
    assert completed == ["the next"]
    log = caplog.text
    assert "sweep_failed" in log and "PermissionError" in log and "secret" not in log


def test_an_unavailable_database_ends_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    completed: list[str] = []

    def away() -> None:
        raise OperationalError("server closed the connection")

    monkeypatch.setattr(jobs, "SWEEPS", (away, lambda: completed.append("the next")))
    with pytest.raises(OperationalError):
        jobs.sweep()
    assert completed == [], "the next would find the same, at as long a wait"


def test_every_sweep_and_every_kind_of_work_is_in_the_list() -> None:
    root = Path(leaderboard.__file__).parent
    texts = {
        ".".join(("leaderboard", *path.relative_to(root).with_suffix("").parts)): path.read_text(encoding="utf-8")
        for path in root.rglob("*.py")
    }
    sweeps = {name for name, text in texts.items() if re.search(r"\ndef sweep\(.*\) -> ", text)} - {"leaderboard.jobs"}
    works = [import_module(name).WORK for name, text in texts.items() if "\nWORK = " in text]
    assert "leaderboard.scoring.actions.sealed_phases" in sweeps and len(works) >= 11
    assert sorted(
        sweep_or_work.__module__ for sweep_or_work in jobs.SWEEPS if not isinstance(sweep_or_work, Work)
    ) == sorted(sweeps)
    assert sorted(sweep_or_work.name for sweep_or_work in jobs.SWEEPS if isinstance(sweep_or_work, Work)) == sorted(
        work.name for work in works
    )
