"""Every reference system declares itself fully, and is found by task and name."""

import pytest

from evaluator.errors import UsageError
from evaluator.reference_systems.base import System
from evaluator.reference_systems.files import FILES, INPUTS
from evaluator.reference_systems.registry import SYSTEMS, systems_of
from evaluator.tasks.registry import find_task


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_a_system_declares_itself(system: System) -> None:
    assert system.doc and system.source
    assert not system.doc.endswith(".")
    assert {*system.needs, *system.uses} <= set(FILES)
    assert all(find_task(task) for task in system.tasks)
    for option in system.options:
        option.parse(option.default)


def test_names_are_unique_within_a_task() -> None:
    for task in {task for system in SYSTEMS for task in system.tasks}:
        assert len(systems_of(task)) == sum(task in system.tasks for system in SYSTEMS)


def test_files_and_options_that_a_system_does_not_take_are_refused(tmp_path) -> None:
    system = systems_of("fact-checking")["popularity"]
    files = {INPUTS: [tmp_path], "graph": [tmp_path]}
    assert system.job("fact-checking", files, {}, 0).paths("valid") == ()
    with pytest.raises(UsageError, match="--graph is missing"):
        system.job("fact-checking", {INPUTS: [tmp_path], "graph": []}, {}, 0)
    with pytest.raises(UsageError, match="popularity does not use --train"):
        system.job("fact-checking", {**files, "train": [tmp_path]}, {}, 0)
    with pytest.raises(UsageError, match='unknown option "depth" of popularity'):
        system.job("fact-checking", files, {"depth": "1"}, 0)
