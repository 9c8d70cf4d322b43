"""Loading, pulling and removing of images on an engine. Images are checked before they are run."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from evaluator.errors import SandboxError
from evaluator.sandbox.containers.engine import Engine, EngineError, EngineTimeoutError, NotFoundError
from evaluator.sandbox.containers.engine_refusals import Step, raise_if_image_is_at_fault
from evaluator.sandbox.containers.image_config import check_layers, check_platform, check_settings
from evaluator.sandbox.containers.image_errors import (
    ImageMismatchError,
    LoadTimeError,
    RegistryReferenceError,
    TooLargeError,
)
from evaluator.sandbox.containers.image_reader import ImageArchive, ImageLimits
from evaluator.sandbox.containers.image_reference import Reference
from evaluator.sandbox.containers.system_contract import ImageMissingError, LoadedImage


def inspect_image(engine: Engine, image: str) -> dict[str, Any]:
    """Return the engine's description of an image. Raises ImageMissingError, EngineError."""
    try:
        return engine.image(image)
    except NotFoundError:
        raise ImageMissingError(f"the engine has no image {image[:80]}: load or pull it again") from None


def load(
    engine: Engine,
    archive: ImageArchive,
    *,
    has_containerd_store: bool,
    seconds: float,
    probe: Callable[[], bool],
) -> LoadedImage:
    """Implement `DockerSandbox.load`: load an image that `image_reader.read_image` has read.

    has_containerd_store: True if the engine keeps images in containerd's store. Then an image's id is the digest of its
    manifest; otherwise it is the digest of its config, which is known from the archive. seconds: the time limit for
    loading. probe: runs the health check and returns True if it passes.
    """
    try:
        ids = engine.load(archive.clean(), seconds)
    except EngineTimeoutError:
        if not probe():
            raise
        raise LoadTimeError(f"the engine did not unpack the image within {seconds:g} seconds") from None
    except EngineError as problem:
        raise_if_image_is_at_fault(Step.LOAD, problem)
        raise
    if not has_containerd_store:
        ids = [archive.id]
    if len(ids) != 1:
        raise ImageMismatchError(f"the engine loaded {len(ids)} images from the archive, expected one")
    image = inspect_image(engine, ids[0])
    if _layers(image) != list(archive.diff_ids):
        raise ImageMismatchError("the layers of the loaded image differ from those in the archive's config")
    check_settings(image.get("Config") or {})
    return LoadedImage(id=ids[0], size=_size(image))


def pull(engine: Engine, reference: Reference, *, limits: ImageLimits, architecture: str) -> LoadedImage:
    """Implement `DockerSandbox.pull`. A pulled image that must not be run is removed again.

    limits: limits on the image. architecture: the one that the image must have, such as amd64.
    """
    _fetch(engine, reference, limits.archive_bytes)
    image = inspect_image(engine, str(reference))
    loaded = LoadedImage(id=str(image["Id"]), size=_size(image))
    try:
        if loaded.size > limits.unpacked_bytes:
            raise TooLargeError(f"{reference} has {loaded.size} bytes, expected at most {limits.unpacked_bytes}")
        check_platform(str(image.get("Os")), str(image.get("Architecture")), architecture)
        check_layers(len(_layers(image)), limits.layers)
        check_settings(image.get("Config") or {})
    except Exception:
        with contextlib.suppress(SandboxError):  # the original error is the one to report
            engine.remove_image(str(reference))
        raise
    return loaded


def forget(engine: Engine, image: str) -> bool:
    """Implement `DockerSandbox.forget`: remove an image by its id.

    Return False if it is missing, in use, or has a tag.
    """
    try:
        if engine.image(image).get("RepoTags"):
            return False
        engine.remove_image(image)
    except EngineError as problem:
        if problem.status in (404, 409):
            return False
        raise
    return True


def _fetch(engine: Engine, reference: Reference, most: int) -> None:
    """Pull an image. most: the maximum number of bytes of its compressed layers.

    Raises TooLargeError, which aborts the pull, for a larger image; RegistryReferenceError if the registry has no such
    image or does not allow reading it; EngineError.
    """
    sizes: dict[str, int] = {}
    try:
        for message in engine.pull(reference.repository, reference.digest):
            progress = message.get("progressDetail") or {}
            packed = max(int(progress.get("total") or 0), int(progress.get("current") or 0))
            sizes[str(message.get("id"))] = max(sizes.get(str(message.get("id")), 0), packed)
            if sum(sizes.values()) > most:
                raise TooLargeError(f"{reference} has over {most} compressed bytes, expected at most {most}")
    except EngineError as problem:
        if isinstance(problem, NotFoundError) or "manifest unknown" in problem.engine_message:
            raise RegistryReferenceError(
                f"the registry has no {reference}, or does not allow this server to read it"
            ) from None
        raise_if_image_is_at_fault(Step.LOAD, problem)
        raise


def _layers(image: dict[str, Any]) -> list[str]:
    return list((image.get("RootFS") or {}).get("Layers") or [])


def _size(image: dict[str, Any]) -> int:
    return int(image.get("Size") or 0)
