"""Pulling images by digest from allowed and other registries."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator

import pytest

from evaluator.errors import SandboxError
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.image_errors import (
    LayerCountError,
    PlatformError,
    RegistryReferenceError,
    TooLargeError,
    VolumeError,
)
from evaluator.sandbox.containers.image_reader import ImageLimits
from tests.container import engine
from tests.container.systems.registry import Registry, registry
from tests.evaluator.sandbox.containers.archives import Image, member, packed, tarred


@pytest.fixture(scope="module")
def served() -> Iterator[Registry]:
    with registry() as opened:
        yield opened


@pytest.fixture
def puller(served: Registry) -> DockerSandbox:
    return DockerSandbox(instance="test-pull", registries=[served.address])


def put(served: Registry, image: Image) -> str:
    return served.put(image.config_bytes(), [packed(layer) for layer in image.layers])


def fresh(**more: object) -> Image:
    """Return an image with a new layer that no engine has."""
    return Image(layers=[tarred([member("file", os.urandom(100))])], **more)  # type: ignore[arg-type]


def test_an_image_is_pulled_and_has_its_own_id(served: Registry, puller: DockerSandbox) -> None:
    image = fresh()
    loaded = puller.pull(put(served, image))
    assert loaded.id == image.id()
    assert loaded.size == 100
    assert puller.forget(loaded.id)


@pytest.mark.hostile
@pytest.mark.parametrize(
    ("image", "problem"),
    [
        ({"settings": {"Cmd": ["x"], "Volumes": {"/data": {}}}}, VolumeError),
        ({"top": {"architecture": "s390x"}}, PlatformError),
    ],
)
def test_pulled_images_are_validated_and_removed(
    served: Registry, puller: DockerSandbox, image: dict[str, object], problem: type[Exception]
) -> None:
    spoilt = fresh(**image)
    with pytest.raises((problem, SandboxError)) as caught:
        puller.pull(put(served, spoilt))
    assert isinstance(caught.value, problem), caught.value
    assert engine.docker("image", "inspect", spoilt.id(), check=False).returncode


@pytest.mark.hostile
def test_pull_of_a_too_large_image_is_aborted(served: Registry) -> None:
    limits = ImageLimits(archive_bytes=1 << 20)
    image = Image(layers=[tarred([member("file", os.urandom(4 << 20))])])
    small = DockerSandbox(instance="test-pull", registries=[served.address], image_limits=limits)
    with pytest.raises(TooLargeError, match="over 1048576 compressed bytes"):
        small.pull(put(served, image))
    assert engine.docker("image", "inspect", image.id(), check=False).returncode
    bounded = dataclasses.replace(limits, archive_bytes=1 << 30, unpacked_bytes=1 << 20, layers=1)
    unpacked = DockerSandbox(instance="test-pull", registries=[served.address], image_limits=bounded)
    with pytest.raises(TooLargeError, match="expected at most 1048576"):
        unpacked.pull(put(served, image))
    with pytest.raises(LayerCountError):
        unpacked.pull(put(served, Image(layers=[*fresh().layers, *fresh().layers])))


@pytest.mark.hostile
def test_blob_with_a_wrong_digest(served: Registry, puller: DockerSandbox) -> None:
    image = fresh()
    reference = put(served, image)
    digest = next(name for name, content in served.blobs.items() if content == packed(image.layers[0]))
    served.blobs[digest] = packed(fresh().layers[0])
    with pytest.raises(SandboxError, match="pulling an image"):
        puller.pull(reference)


def test_a_registry_that_is_not_allowed(served: Registry) -> None:
    puller_elsewhere = DockerSandbox(instance="test-pull", registries=["registry.example.org"])
    with pytest.raises(RegistryReferenceError, match="expected one of: registry"):
        puller_elsewhere.pull(put(served, fresh()))


def test_image_missing_from_the_registry(served: Registry, puller: DockerSandbox) -> None:
    with pytest.raises(RegistryReferenceError, match="has no"):
        puller.pull(f"{served.address}/team/system@sha256:{'0' * 64}")
