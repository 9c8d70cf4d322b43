"""Executes docs/researchers.md: from the installation of the command to a row on the board of a running site."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from leaderboard.accounts.actions import tokens
from leaderboard.models import Release, User
from tests.conftest import ROOT
from tests.docs.blocks import blocks_of, indented_code, walk_of
from tests.docs.conftest import copy_project
from tests.docs.shell import shell
from tests.support.workers.running_stack import Stack

pytest_plugins = ["tests.support.workers.running_stack"]
PAGE = ROOT / "docs" / "researchers.md"


def test_every_block_of_commands_is_in_the_walk() -> None:
    assert {block.walk for block in blocks_of(PAGE)} == {"laptop"}
    assert indented_code(PAGE) == []


@pytest.mark.django_db(transaction=True)
def test_researchers_page_from_install_to_board(
    stack: Stack, live_server: Any, tmp_path: Path, needs: Callable[..., None]
) -> None:
    needs("curl")
    User.objects.create_user("maria", "maria@holdout.example", "correct horse", is_curator=True)
    ada = User.objects.create_user("ada", "ada@holdout.example", "correct horse")
    call_command("import_benchmark", "own", str(ROOT / "fixtures" / "mirror-claims"), by="maria", verbosity=0)
    (tmp_path / "holdout").mkdir()
    copy_project(tmp_path / "holdout")
    # The token that *Tokens* shows once, which the reader has saved in a file.
    (tmp_path / "token").write_text(tokens.issue(by=ada)[1])
    # pip would compile all of NumPy.
    home = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path / "config"), "PIP_NO_COMPILE": "1"}
    with shell(tmp_path, {"https://board.example": live_server.url}, **home) as laptop:
        for block in walk_of(PAGE, "laptop"):
            laptop.run(block)
    assert {release.submission.system.name for release in Release.objects.all()} == {"No means no", "From Python"}
