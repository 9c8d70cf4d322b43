"""docs/operators.md agrees with the settings."""

from __future__ import annotations

import re

from leaderboard.environment import PREFIX, VARIABLES
from leaderboard.operations.processes import ROLES
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "operators.md").read_text()


def test_table_has_every_variable_with_default_meaning_and_reason() -> None:
    rows = dict(re.findall(rf"^\| `{PREFIX}(\w+)` \|(.*)\|$", PAGE, flags=re.MULTILINE))
    assert [*rows] == [*VARIABLES]
    for name, variable in VARIABLES.items():
        assert rows[name].endswith(f" | {variable.doc} | {variable.why} "), f"{PREFIX}{name}: the page lacks its words"
        shown = ",".join(variable.default) if isinstance(variable.default, list) else str(variable.default)
        assert (f"`{shown}`" in rows[name] or f"`{shown.lower()}`" in rows[name]) or shown == ""


def test_the_page_names_no_variable_that_is_not_read() -> None:
    named = set(re.findall(rf"{PREFIX}([A-Z0-9_]+)", PAGE))
    assert named <= set(VARIABLES)


def test_compose_and_page_name_every_process() -> None:
    compose = (ROOT / "compose.yaml").read_text()
    for role in ROLES:
        assert f"\n  {role}:\n" in compose
        assert f"| `{role}` |" in PAGE


def test_compose_sets_no_variable_that_is_not_read() -> None:
    set_there = set(re.findall(rf"^  {PREFIX}(\w+):", (ROOT / "compose.yaml").read_text(), flags=re.MULTILINE))
    assert set_there <= set(VARIABLES)
    assert "SECRET_KEY" in set_there
