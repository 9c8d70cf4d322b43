"""The list of sweeps is complete."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import leaderboard
from leaderboard import jobs
from leaderboard.work_queue.work import Work


def test_every_sweep_and_every_kind_of_work_is_in_the_list() -> None:
    root = Path(leaderboard.__file__).parent
    texts = {
        ".".join(("leaderboard", *path.relative_to(root).with_suffix("").parts)): path.read_text(encoding="utf-8")
        for path in root.rglob("*.py")
    }
    sweeps = {name for name, text in texts.items() if re.search(r"\ndef sweep\(.*\) -> ", text)}
    works = [import_module(name).WORK for name, text in texts.items() if "\nWORK = " in text]
    assert "leaderboard.scoring.actions.sealed_phases" in sweeps and len(works) >= 11
    assert sorted(
        sweep_or_work.__module__ for sweep_or_work in jobs.SWEEPS if not isinstance(sweep_or_work, Work)
    ) == sorted(sweeps)
    assert sorted(sweep_or_work.name for sweep_or_work in jobs.SWEEPS if isinstance(sweep_or_work, Work)) == sorted(
        work.name for work in works
    )
