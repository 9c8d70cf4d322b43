"""Building images with a fake `docker` that records its calls, and the messages when something is missing."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from leaderboard.hosting import build_image

IMAGE = "sha256:" + "5e" * 32
DOCKER = """#!/bin/sh
echo "$*" >> {notes}
case "$1 $2" in
    {failing}) echo 'first line' >&2; echo 'it says no' >&2; exit 1;;
    build*) echo {image};;
    save*) echo saved > "$3";;
esac
"""


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """A folder with a system and one with a benchmark."""
    for name in ("systems/majority", "mirror"):
        (tmp_path / "fixtures" / name).mkdir(parents=True)
    return {"system": tmp_path / "fixtures/systems/majority", "benchmark": tmp_path / "fixtures/mirror"}


@pytest.fixture
def call_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return install(tmp_path, monkeypatch)


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, failing: str = "nothing") -> Path:
    """Installs a fake `docker` as the only one. It records its arguments and fails for those that match `failing`."""
    (folder / "bin").mkdir(exist_ok=True)
    program, call_log = folder / "bin" / "docker", folder / "asked"
    program.write_text(DOCKER.format(notes=call_log, failing=failing, image=IMAGE))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return call_log


def docker_calls(call_log: Path) -> list[str]:
    return [line.split()[0] for line in call_log.read_text().splitlines()]


def test_a_build_has_no_network_and_leaves_nothing(call_log: Path, folders: dict[str, Path], settings: Any) -> None:
    settings.BASE_IMAGE = "our-base"
    before = set(settings.FILE_UPLOAD_TEMP_DIR.iterdir())
    with build_image.built_archive(**folders) as archive:
        assert gzip.decompress(archive.read_bytes()) == b"saved\n"
    assert set(settings.FILE_UPLOAD_TEMP_DIR.iterdir()) == before
    build, save, remove = call_log.read_text().splitlines()
    assert "--network none" in build
    assert "--build-arg BASE_IMAGE=our-base --build-arg BENCHMARK=mirror" in build
    assert f"--file {folders['system']}/Dockerfile " in build
    assert build.split()[-1] == str(folders["benchmark"].parent)
    assert (save.split()[-1], remove) == (IMAGE, f"image rm {IMAGE}")


def test_the_base_of_the_reference_systems_needs_an_index_or_wheels(
    call_log: Path, tmp_path: Path, settings: Any
) -> None:
    settings.ROOT, settings.BASE_IMAGE = tmp_path, "our-base"
    build_image.build_reference_base()
    (tmp_path / "wheels").mkdir()
    build_image.build_reference_base()
    by_index, by_wheels = call_log.read_text().splitlines()
    assert "--network" not in by_index and "--build-arg PIP_INDEX_URL " in by_index
    assert "--network none --build-arg PIP_NO_INDEX=1 " in by_wheels
    for build in (by_index, by_wheels):
        assert f"--tag {build_image.BASE} " in build and "--build-arg BASE_IMAGE=our-base " in build
        assert build.endswith(f"--file {tmp_path}/fixtures/systems/Dockerfile {tmp_path}")


def test_an_image_that_cannot_be_saved_is_removed_too(
    tmp_path: Path, folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    call_log = install(tmp_path, monkeypatch, failing="save*")
    with (
        pytest.raises(build_image.CannotBuildError, match="docker save: it says no"),
        build_image.built_archive(**folders),
    ):
        pass
    assert docker_calls(call_log) == ["build", "save", "image"]


def test_an_existing_base_image_is_not_pulled(call_log: Path) -> None:
    build_image.check_ready()
    assert docker_calls(call_log) == ["version", "image"]


@pytest.mark.parametrize(
    ("failing", "message", "steps"),
    [
        ("version*", "no container engine responds .*: it says no", ["version"]),
        ("image*|pull*", "lacks the base image .* cannot fetch it .* HOLDOUT_BASE_IMAGE", ["version", "image", "pull"]),
    ],
)
def test_missing_requirements_are_reported(
    failing: str, message: str, steps: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call_log = install(tmp_path, monkeypatch, failing=failing)
    with pytest.raises(build_image.CannotBuildError, match=message):
        build_image.check_ready()
    assert docker_calls(call_log) == steps


def test_a_missing_base_image_is_pulled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, failing="image*")
    messages: list[str] = []
    build_image.check_ready(messages.append)
    assert messages == ["fetching the base image python:3.11-slim-bookworm"]


def test_a_missing_command_is_reported_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(build_image.CannotBuildError, match=r"docker\.io"):
        build_image.check_ready()


def test_the_digest_of_sources_depends_on_the_code_only(folders: dict[str, Path]) -> None:
    system = folders["system"]
    (system / "Dockerfile").write_text("FROM scratch\n")
    (system / "main.py").write_text("print(1)\n")
    first = build_image.sources(system)
    (system / "README.md").write_text("# Majority\n")
    assert build_image.sources(system) == first
    (system / "main.py").write_text("print(2)\n")
    assert build_image.sources(system) != first


def test_the_digest_of_a_reference_system_depends_on_the_evaluators_code(
    folders: dict[str, Path], tmp_path: Path, settings: Any
) -> None:
    settings.ROOT, system = tmp_path, folders["system"]
    code = tmp_path / "evaluator" / "reference_systems" / "graphs" / "models.py"
    code.parent.mkdir(parents=True)
    for path in (code, tmp_path / "requirements-systems.lock", tmp_path / "fixtures/systems/Dockerfile"):
        path.write_text("first\n")
    digests = []
    for text in ("FROM scratch\n", "ARG REFERENCE_SYSTEMS=base\n"):
        (system / "Dockerfile").write_text(text)
        for version in ("first\n", "second\n"):
            code.write_text(version)
            digests.append(build_image.sources(system))
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3
