"""docs/systems.md agrees with the code."""

from __future__ import annotations

import json
import re

from evaluator.sandbox.containers import container_spec, create_settings, image_errors
from evaluator.sandbox.containers.system_contract import SystemExecution
from leaderboard.containers.actions import engine
from leaderboard.core.refusal import Code
from leaderboard.environment import PREFIX, VARIABLES
from leaderboard.evaluation import container_limits
from leaderboard.models import Reason
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "systems.md").read_text()
ROWS = [[cell.strip() for cell in row.split("|")] for row in re.findall(r"^\| (.*) \|$", PAGE, flags=re.MULTILINE)]
EXECUTION = SystemExecution(execution_id="e", image="sha256:" + "a" * 64, inputs=0, task="t")


def kinds(error: type[image_errors.ImageError]) -> set[str]:
    return {error.code}.union(*(kinds(kind) for kind in error.__subclasses__()))


def test_each_refusal_of_an_image_has_a_row() -> None:
    listed = {row[0].strip("`") for row in ROWS if len(row) == 3 and re.fullmatch(r"`\w+`", row[0])}
    assert listed == kinds(image_errors.ImageError) - {"image"}


def test_each_refusal_of_a_request_has_its_status() -> None:
    listed = {(int(row[0]), row[1].strip("`")) for row in ROWS if re.fullmatch(r"4\d\d|5\d\d", row[0])}
    assert listed <= {(code.status, code.text) for code in Code}
    needed = (Code.NOT_ACCEPTED, Code.ENGINE_UNAVAILABLE, Code.TOO_LARGE, Code.WRONG_OFFSET, Code.INVALID_REFERENCE)
    assert {(code.status, code.text) for code in needed} <= listed


def test_each_outcome_of_a_container_has_a_row() -> None:
    listed = {name for row in ROWS if len(row) == 4 for name in re.findall(r"`(\w+)`", row[1])} | {"bad_image"}
    assert {"bad_image"} <= set(re.findall(r"`(\w+)`", PAGE))
    ours = {Reason.ENGINE, Reason.STORAGE, Reason.LOST, Reason.INTERNAL, Reason.WITHDRAWN, Reason.BAD_PREDICTIONS}
    assert listed == {str(reason) for reason in {*engine.REASONS.values(), *ours, Reason.BAD_IMAGE}}


def test_each_limit_has_a_row_with_its_default() -> None:
    shown = {row[2].strip("`"): row[1] for row in ROWS if len(row) == 3 and re.fullmatch(r"`\w+`", row[2])}
    defaults = container_limits.defaults().as_dict()
    assert set(shown) == set(defaults)
    units = {"s": 1, "kB": 1000, "MB": 10**6, "GB": 10**9}
    for name, text in shown.items():
        match = re.match(r"(\d+)(?: (s|kB|MB|GB)\b)?", text)
        assert match, (name, text)
        assert int(match[1]) * units.get(match[2] or "", 1) == defaults[name], (name, text)


def test_environment_and_task_file_are_on_the_page() -> None:
    """The page has the names of environment variables and the keys of the task file."""
    row = next(row for row in ROWS if row[0] == "the environment")
    named = {name.split("=")[0] for name in re.findall(r"`([A-Z_]+(?:=[^`]*)?)`", row[1])}
    assert named == set(container_spec.system_environment(EXECUTION))
    row = next(row for row in ROWS if row[0] == "`/input/task.json`")
    assert set(re.findall(r"`(\w+)`", row[1])) == set(json.loads(container_spec.system_task(EXECUTION)))
    assert f"user {create_settings.NOBODY.split(':')[0]}" in PAGE


def test_page_names_no_unused_variable() -> None:
    named = set(re.findall(rf"{PREFIX}([A-Z_]*[A-Z])\b", PAGE))
    systems = {name.removeprefix(PREFIX) for name in container_spec.system_environment(EXECUTION)}
    assert named <= {*VARIABLES, *systems, "TOKEN", "SYSTEM"}, named
