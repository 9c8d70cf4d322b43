"""The reference systems' folders: what their images are made of, and that a build is let have nothing hidden."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from leaderboard.benchmarks import manifest
from tests.unit.reference_systems import FIXTURES

SYSTEMS = sorted(path.parent for path in FIXTURES.glob("systems/*/Dockerfile"))
PLANS = {path.parent.name: manifest.read(path) for path in sorted(FIXTURES.glob("*/benchmark.json"))}


def let_in() -> list[str]:
    first, *rest = [line for line in (FIXTURES / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    assert first == "*"
    assert all(line.startswith("!") for line in rest)
    return [line.removeprefix("!") for line in rest]


def test_a_build_is_let_have_the_systems_and_public_data_alone() -> None:
    public = {f"{slug}/{split.gold}" for slug, plan in PLANS.items() for split in plan.splits if split.gold_public}
    public |= {f"{slug}/{download.file}" for slug, plan in PLANS.items() for download in plan.downloads}
    assert set(let_in()) - {"systems/"} <= public
    assert all((FIXTURES / name).exists() for name in let_in())


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda path: path.name)
def test_an_image_is_made_of_what_a_build_may_have(system: Path) -> None:
    text = (system / "Dockerfile").read_text()
    benchmark = re.search(r"^ARG BENCHMARK=(.+)$", text, re.MULTILINE)
    assert benchmark
    assert "ARG BASE_IMAGE=python:3.11-slim-bookworm\nFROM ${BASE_IMAGE}\n" in text
    copied = [
        name.replace("${BENCHMARK}", benchmark[1])
        for line in re.findall(r"^COPY (.+) /system/$", text, re.MULTILINE)
        for name in line.split()
    ]
    code = {str(path.relative_to(FIXTURES)) for name in copied for path in FIXTURES.glob(name) if path.suffix == ".py"}
    assert code == {str(path.relative_to(FIXTURES)) for path in system.glob("*.py")}
    data = [name for name in copied if not name.endswith(".py")]
    assert len(data) == 1
    assert data[0] in let_in()
    # It runs as nobody, and a clone may have been made with a strict umask.
    assert "chmod -R a+rX /system" in text
    assert "docker build --network none" in (system / "README.md").read_text()


def test_every_reference_system_is_on_a_board_and_in_the_list() -> None:
    named = {
        (FIXTURES / slug / system.image).resolve().name
        for slug, plan in PLANS.items()
        for system in plan.systems
        if system.image
    }
    assert named == {system.name for system in SYSTEMS}
    listed = re.findall(
        r"^\| \[(.+?)\]\(\1/README\.md\)", (FIXTURES / "systems" / "README.md").read_text(), re.MULTILINE
    )
    assert sorted(listed) == [system.name for system in SYSTEMS]
