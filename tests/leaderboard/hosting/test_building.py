"""Building images with a `docker` that only notes what it is asked: what is said when something is missing."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from leaderboard.hosting import build_image

IMAGE = "sha256:" + "5e" * 32
DOCKER = """#!/bin/sh
echo "$*" >> {notes}
case "$1" in --host) shift 2;; esac
case "$1 $2" in
    {failing}) echo 'first line' >&2; echo 'it says no' >&2; exit 1;;
    build*) echo {image};;
    save*) echo saved > "$3";;
esac
"""


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """A system and a benchmark side by side."""
    for name in ("systems/majority", "mirror"):
        (tmp_path / "fixtures" / name).mkdir(parents=True)
    return {"system": tmp_path / "fixtures/systems/majority", "benchmark": tmp_path / "fixtures/mirror"}


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return install(tmp_path, monkeypatch)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, failing: str = "nothing") -> Path:
    """The only `docker` there is; `failing` is the shell pattern of what it refuses. It notes what it is asked."""
    (folder / "bin").mkdir(exist_ok=True)
    program, notes = folder / "bin" / "docker", folder / "asked"
    program.write_text(DOCKER.format(notes=notes, failing=failing, image=IMAGE))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return notes


def asked(notes: Path) -> list[str]:
    return [line.split()[0] for line in notes.read_text().splitlines()]


def test_a_build_has_no_network_and_leaves_nothing(notes: Path, folders: dict[str, Path], settings: Any) -> None:
    settings.BASE_IMAGE = "our-base"
    before = set(settings.FILE_UPLOAD_TEMP_DIR.iterdir())
    with build_image.built_archive(**folders) as archive:
        assert gzip.decompress(archive.read_bytes()) == b"saved\n"
    assert set(settings.FILE_UPLOAD_TEMP_DIR.iterdir()) == before
    build, save, remove = notes.read_text().splitlines()
    assert "--network none" in build
    assert "--build-arg BASE_IMAGE=our-base --build-arg BENCHMARK=mirror" in build
    assert f"--file {folders['system']}/Dockerfile " in build
    assert build.split()[-1] == str(folders["benchmark"].parent)
    assert (save.split()[-1], remove) == (IMAGE, f"image rm {IMAGE}")


def test_an_image_that_cannot_be_saved_is_removed_too(
    tmp_path: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = install(tmp_path, monkeypatch, failing="save*")
    with (
        pytest.raises(build_image.CannotBuildError, match="docker save: it says no"),
        build_image.built_archive(**folders),
    ):
        pass
    assert asked(notes) == ["build", "save", "image"]


def test_the_engine_that_the_site_names_is_asked(notes: Path, settings: Any) -> None:
    settings.ENGINE = "tcp://engine:2375"
    build_image.check_ready()
    assert all(line.startswith("--host tcp://engine:2375 ") for line in notes.read_text().splitlines())


def test_a_base_image_that_is_there_is_not_fetched(notes: Path) -> None:
    build_image.check_ready()
    assert asked(notes) == ["version", "image"]


@pytest.mark.parametrize(
    ("failing", "told", "steps"),
    [
        ("version*", "no container engine responds .*: it says no", ["version"]),
        ("image*|pull*", "lacks the base image .* cannot fetch it .* HOLDOUT_BASE_IMAGE", ["version", "image", "pull"]),
    ],
)
def test_what_is_missing_is_said(
    failing: str, told: str, steps: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = install(tmp_path, monkeypatch, failing=failing)
    with pytest.raises(build_image.CannotBuildError, match=told):
        build_image.check_ready()
    assert asked(notes) == steps


def test_a_base_image_that_is_fetched_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, failing="image*")
    said: list[str] = []
    build_image.check_ready(said.append)
    assert said == ["fetching the base image python:3.11-slim-bookworm"]


def test_without_the_command_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(build_image.CannotBuildError, match=r"docker\.io"):
        build_image.check_ready()


def test_sources_change_with_the_code_and_with_nothing_else(folders: dict[str, Path]) -> None:
    system = folders["system"]
    (system / "Dockerfile").write_text("FROM scratch\n")
    (system / "main.py").write_text("print(1)\n")
    first = build_image.sources(system)
    (system / "README.md").write_text("# Majority\n")
    assert build_image.sources(system) == first
    (system / "main.py").write_text("print(2)\n")
    assert build_image.sources(system) != first
