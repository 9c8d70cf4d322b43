"""Executes the commands of docs/operators.md for compose.yaml on running services."""

from __future__ import annotations

import tarfile
from pathlib import Path

from tests.container import engine
from tests.container.composed import Services
from tests.docs.blocks import walk_of
from tests.docs.shell import shell


def test_production_setup_and_backup(site: Services, tmp_path: Path) -> None:
    compose = " ".join(engine.compose_command())
    substitutions = {
        # The services already run, from the image under test.
        "docker compose up --build --detach": f"{compose} ps",
        "docker compose": compose,
    }
    project = {"COMPOSE_FILE": str(engine.ROOT / "compose.yaml"), "COMPOSE_PROJECT_NAME": site.project}
    with shell(tmp_path, substitutions, **{**site.environment, **project}) as terminal:
        for block in walk_of(engine.ROOT / "docs" / "operators.md", "compose"):
            terminal.run(block)
    assert (tmp_path / "holdout.dump").read_bytes().startswith(b"PGDMP")
    with tarfile.open(tmp_path / "files.tgz") as files:
        assert any(name.startswith("files/gold/") for name in files.getnames())
    assert (tmp_path / ".env").read_text().count("=") == 3
