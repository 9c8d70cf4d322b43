"""Loading of archives: the image has the config's id, and other images keep their names."""

from __future__ import annotations

import io
import json
import os
import tarfile
from pathlib import Path

import pytest

from evaluator.sandbox.containers.image_errors import RegistryReferenceError
from evaluator.sandbox.containers.image_reader import read_image
from evaluator.sandbox.contract import Verdict
from tests.container import engine
from tests.container.systems.running import Systems

pytestmark = pytest.mark.hostile


def save(image: str, folder: Path) -> Path:
    path = folder / "saved.tar"
    engine.docker("save", "--output", str(path), image)
    return path


def load(systems: Systems, path: Path) -> str:
    with path.open("rb") as file:
        return systems.sandbox.load(read_image(file.fileno(), scratch=path.parent)).id


def test_two_equal_layers(systems: Systems, tmp_path: Path) -> None:
    """The engine saves the second as a link to the first."""
    image = systems.variant("RUN touch -d @0 /a && touch -d @0 /", "RUN rm /a && touch -d @0 /", "RUN touch -d @0 /a /")
    assert load(systems, save(image, tmp_path)) == image


def test_tag_spoof(systems: Systems, tmp_path: Path) -> None:
    """An archive that claims another image's name does not get it."""
    engine.docker("tag", systems.image, "holdout-test-name:latest")
    image = systems.variant(f"ENV MADE_FOR={os.urandom(4).hex()}")
    path = save(image, tmp_path)
    with tarfile.open(path) as archive:
        members = [(info, archive.extractfile(info).read() if info.isfile() else b"") for info in archive]  # type: ignore[union-attr]
    with tarfile.open(path, "w") as archive:
        for info, content in members:
            if info.name == "manifest.json":
                entry = json.loads(content)[0]
                content = json.dumps([{**entry, "RepoTags": ["holdout-test-name:latest"]}]).encode()  # noqa: PLW2901
                info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    try:
        assert load(systems, path) == image
        named = engine.docker("image", "inspect", "--format", "{{.Id}}", "holdout-test-name:latest").stdout.strip()
        assert named == systems.image
        assert engine.docker("image", "inspect", "--format", "{{json .RepoTags}}", image).stdout.strip() == "[]"
    finally:
        engine.docker("rmi", "holdout-test-name:latest", check=False)


def test_image_with_a_name_is_not_removed(systems: Systems) -> None:
    image = systems.variant(f"ENV MADE_FOR={os.urandom(4).hex()}")
    engine.docker("tag", image, "holdout-test-kept:latest")
    assert not systems.sandbox.forget(image)
    assert engine.docker("rmi", "holdout-test-kept:latest").returncode == 0


def test_no_registry_is_allowed_by_default(systems: Systems) -> None:
    with pytest.raises(RegistryReferenceError, match="uses no registry"):
        systems.sandbox.pull("registry.example.org/name@sha256:" + "0" * 64)


def test_resource_usage_of_a_run(systems: Systems) -> None:
    done = systems.run("burn", limits={"memory_bytes": 512 << 20})
    usage = done.result.usage
    assert done.result.verdict == Verdict.DONE
    assert usage.cpu_seconds is not None and 0.9 < usage.cpu_seconds < 30
    assert usage.peak_memory_bytes is not None and 90_000_000 < usage.peak_memory_bytes < 512 << 20
    assert usage.samples > 1
    assert done.result.image_bytes > 1 << 20
    assert done.result.wall_seconds > 2.5
    assert {"prepare", "start", "run", "read", "clean_up"} == set(done.result.timings)
