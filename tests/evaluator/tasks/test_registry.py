"""Tasks of installed packages: which are loaded and which are left out; one that fails does not affect the others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluator import code_digest
from evaluator.errors import UsageError
from evaluator.tasks import fact_checking, registry
from evaluator.tasks.registry import TASKS, MissingTaskError, Tasks, find_task
from tests.support.installed_packages import declare, run

GOOD = """
from evaluator.tasks.metric_correlation import MetricCorrelation

class Other(MetricCorrelation):
    name = "{}"

TASK = Other()
"""


@pytest.fixture
def tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tasks:
    """A registry that reads `tmp_path` as a folder of packages."""
    monkeypatch.syspath_prepend(tmp_path)
    return Tasks({"fact-checking": fact_checking.TASK})


def test_installed_tasks_follow_the_built_in_ones(tasks: Tasks, tmp_path: Path) -> None:
    declare(tmp_path, "holdout_t_b", "second = holdout_t_b:TASK", GOOD.format("second"))
    declare(tmp_path, "holdout_t_a", "first = holdout_t_a:TASK", GOOD.format("first"))
    assert [*tasks] == ["fact-checking", "first", "second"] and len(tasks) == 3
    assert tasks["first"].name == "first" and tasks.problems == []
    assert "third" not in tasks
    with pytest.raises(MissingTaskError, match="The task third is not installed"):
        tasks["third"]


@pytest.mark.parametrize(
    ("entry", "code", "why"),
    [
        ("fact-checking = {}:TASK", GOOD.format("fact-checking"), "the name is taken by a built-in task"),
        ("other = {}:TASK", "raise RuntimeError('no')", "{}:TASK does not load: RuntimeError: no"),
        ("other = {}:TASK", "raise SystemExit(3)", "{}:TASK does not load: SystemExit: 3"),
        ("other = {}:TASK", "import nothing_of_this_name", "No module named 'nothing_of_this_name'"),
        ("other = not-a-module:TASK", "", "not-a-module:TASK does not load: "),
        ("other = .{}", "", ".{} does not load: "),
        ("other = {}:TASK", "TASK = 5", "the object is of type int, expected an instance of"),
        ("other = {}:Other", GOOD.format("other"), "the object is the class Other, expected an instance of"),
        (
            "other = {}:TASK",
            GOOD.format("another"),
            'the task\'s name is "another", expected',
        ),
        ("Other Task = {}:TASK", GOOD.format("Other Task"), "the name is not valid"),
        ("other = {}:TASK", GOOD.format("other") + "Other.measures = ()", "the task has no measures"),
        ("other = {}:TASK", GOOD.format("other") + "Other.samples = ()", "the task has no samples"),
        ("other = {}:TASK", GOOD.format("other") + "Other.primary = lambda *_: 'x'", 'the primary measure is "x"'),
    ],
)
def test_an_unusable_package_is_left_out(
    tasks: Tasks, tmp_path: Path, request: pytest.FixtureRequest, entry: str, code: str, why: str
) -> None:
    package = f"holdout_bad_{abs(hash(request.node.name)) % 10**9}"
    declare(tmp_path, package, entry.format(package), code)
    (problem,) = tasks.problems
    assert why.format(package) in str(problem)
    assert f"of {package} 1.0 is not loaded" in str(problem)
    assert [*tasks] == ["fact-checking"] and tasks["fact-checking"] is fact_checking.TASK
    assert set(code_digest.task_packages()) <= {tmp_path / f"{package}.py"}


def test_two_packages_with_one_task_name_are_both_left_out(tasks: Tasks, tmp_path: Path) -> None:
    for package in ("holdout_twin_a", "holdout_twin_b"):
        declare(tmp_path, package, f"twin = {package}:TASK", GOOD.format("twin"))
    assert "twin" not in tasks
    assert [problem.why for problem in tasks.problems] == [
        "the name is taken twice, by holdout_twin_a 1.0 and holdout_twin_b 1.0"
    ] * 2


def test_a_built_in_task_needs_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searches: list[str] = []
    monkeypatch.setattr(registry, "entry_points", lambda *, group: searches.append(group) or [])
    tasks = Tasks(TASKS.built_in)
    assert tasks["fact-checking"] is fact_checking.TASK and "fact-checking" in tasks and not searches
    assert len(tasks) == 6 and "other" not in tasks and len(searches) == 1


def test_errors_explain_why_a_task_is_left_out(tmp_path: Path) -> None:
    declare(tmp_path, "holdout_broken", "other = holdout_broken:TASK", "raise RuntimeError('no')")
    listed = run(tmp_path, "-m", "evaluator", "tasks", "--json")
    assert listed.returncode == 0 and {line["task"] for line in json.loads(listed.stdout)} == TASKS.built_in.keys()
    why = 'task "other" of holdout_broken 1.0 is not loaded: holdout_broken:TASK does not load: RuntimeError: no'
    assert listed.stderr == f"holdout-eval: {why}\n"
    baseline = run(tmp_path, "-m", "evaluator", "run-baseline", "other")
    assert baseline.returncode == 64 and f"({why})" in baseline.stderr
    with pytest.raises(UsageError, match=r"unknown task \"other\""):
        find_task("other")


def test_a_task_whose_samples_fail_is_left_out_of_the_sandbox(tmp_path: Path) -> None:
    broken = GOOD.format("other") + "Other.score = lambda *_: 1 / 0\n"
    declare(tmp_path, "holdout_failing", "other = holdout_failing:TASK", broken)
    unread = GOOD.format("unread") + "Other.samples = ((b'no', b'no'),)\n"
    declare(tmp_path, "holdout_unread", "unread = holdout_unread:TASK", unread)
    code = "from evaluator import jobs; jobs.warm_up(); from evaluator.tasks.registry import TASKS; print(len(TASKS))"
    warm = run(tmp_path, "-c", code)
    assert (warm.returncode, warm.stdout) == (0, "6\n"), warm.stderr
    assert "its samples fail: ZeroDivisionError" in warm.stderr
    assert "its samples fail: ValueError: the gold of a sample is invalid" in warm.stderr


def test_a_slice_named_origin_means_a_symmetric_set_in_one_task_only() -> None:
    line = {"id": "a", "claim": "c", "label": "SUPPORTED", "slices": {"origin": "letter"}}
    refusing = [name for name, task in TASKS.items() if task.test_gold_problems([line], {"origin"})]
    assert refusing == ["fact-verification"]
    assert TASKS["fact-verification"].test_gold_problems([line], {"source"}) == []
