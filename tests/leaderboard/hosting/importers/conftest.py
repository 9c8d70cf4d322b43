"""Fixtures that write small files in the published layouts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from leaderboard.hosting.importers import IMPORTERS, Choices, Imported

Write = Callable[[str, list[Any]], Path]
Prepare = Callable[..., Imported]


@pytest.fixture
def published(tmp_path: Path) -> Path:
    folder = tmp_path / "published"
    folder.mkdir()
    return folder


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def write(published: Path) -> Write:
    """Return a callable that writes JSON lines; strings are written unchanged."""

    def written(name: str, lines: list[Any]) -> Path:
        path = published / name
        path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
        return path

    return written


@pytest.fixture
def prepare(published: Path, work: Path) -> Prepare:
    def prepared(name: str, **choices: Any) -> Imported:
        return IMPORTERS[name](published, work, Choices(**choices))

    return prepared


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
