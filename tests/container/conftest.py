"""Fixtures for the image and the composed services; without an engine or the image, tests are skipped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.container import engine
from tests.container.composed import Services, services

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ours = [item for item in items if item.path.parent == HERE]
    why = engine.missing() if ours else ""
    for item in ours:
        item.add_marker(pytest.mark.engine)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def site() -> Iterator[Services]:
    """Start the services of compose.yaml, with one benchmark of the demonstration."""
    seed = (
        "mkdir /tmp/one && cp -r fixtures/mirror-claims fixtures/systems /tmp/one && "
        "python manage.py seed --no-images --fixtures /tmp/one"
    )
    with services() as composed:
        seeded = composed.inside("web", "sh", "-c", seed)
        assert seeded.returncode == 0, seeded.stdout + seeded.stderr
        yield composed
