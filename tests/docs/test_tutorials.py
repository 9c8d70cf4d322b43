"""Executes the commands of the tutorials."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from leaderboard.accounts.actions import tokens
from leaderboard.models import Release, User
from tests.conftest import ROOT
from tests.docs.blocks import blocks_of, indented_code, walk_of
from tests.docs.conftest import copy_project, free_port
from tests.docs.shell import shell
from tests.support.workers.running_stack import Stack

pytest_plugins = ["tests.support.workers.running_stack"]
FOLDER = ROOT / "docs" / "tutorials"
WALKS = {"researcher": "laptop", "operator": "first-site", "developer": "task"}


def test_every_block_of_commands_is_in_a_walk() -> None:
    assert {path.stem for path in FOLDER.glob("*.md")} == set(WALKS)
    for name, walk in WALKS.items():
        assert {block.walk for block in blocks_of(FOLDER / f"{name}.md")} == {walk}
        assert indented_code(FOLDER / f"{name}.md") == []


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_researcher(stack: Stack, live_server: Any, tmp_path: Path, needs: Callable[..., None]) -> None:
    needs("curl")
    User.objects.create_user("maria", "maria@holdout.example", "correct horse", is_curator=True)
    ada = User.objects.create_user("ada", "ada@holdout.example", "correct horse")
    call_command("import_benchmark", "own", str(ROOT / "fixtures" / "mirror-claims"), by="maria", verbosity=0)
    (tmp_path / "token").write_text(tokens.issue(by=ada)[1])
    install, *walk = walk_of(FOLDER / "researcher.md", "laptop")
    # test_researchers.py executes the same installation; the command that it would create is written here.
    assert install.text == walk_of(ROOT / "docs" / "researchers.md", "laptop")[0].text
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, words in {"holdout-eval": "-m evaluator", "python": ""}.items():
        (commands / name).write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" {words} "$@"\n')
        (commands / name).chmod(0o755)
    places = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "PATH": f"{commands}:/usr/bin:/bin"}
    with shell(tmp_path, {"https://board.example": live_server.url}, **places) as laptop:
        for block in walk:
            laptop.run(block)
    assert [release.submission.system.name for release in Release.objects.all()] == ["Names and numbers"]


@pytest.mark.slow
def test_operator(project: Path, needs: Callable[..., None]) -> None:
    needs("sqlite3", "curl", "openssl", "flock")
    with shell(project, {"8000": str(free_port())}) as terminal:
        for block in walk_of(FOLDER / "operator.md", "first-site"):
            terminal.run(block)


@pytest.mark.slow
def test_developer(tmp_path: Path) -> None:
    (tmp_path / "holdout").mkdir()
    copy_project(tmp_path / "holdout")
    with shell(tmp_path, {}) as terminal:
        for block in walk_of(FOLDER / "developer.md", "task"):
            terminal.run(block)
