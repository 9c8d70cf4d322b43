"""The local Docker engine: finds an image, and reads it as the server would."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from evaluator.cli.output import Progress
from evaluator.cli.sizes import size_text
from evaluator.errors import SandboxError, UsageError, shown
from evaluator.sandbox.containers.image_reader import read_image

if TYPE_CHECKING:
    from evaluator.sandbox.containers.docker import DockerSandbox
    from evaluator.sandbox.containers.engine import Engine

INSTANCE = "holdout-run"
_NEVER = 1e9  # seconds
_NO_ENGINE = (
    "this command needs a Docker engine that you may use: install one (Debian: apt-get install docker.io), check "
    "that `docker version` works, or set DOCKER_HOST to its address"
)


@dataclass(frozen=True)
class Local:
    """A local Docker engine that has responded, and the sandbox that runs containers on it, confined as on a server."""

    engine: Engine
    sandbox: DockerSandbox


def connect_engine() -> Engine:
    """Return a client of the local Docker engine, after the engine has responded.

    Raises SandboxError, with advice on what to install, where the engine or its Python package is missing.
    """
    try:
        from evaluator.sandbox.containers.engine import Engine
    except ModuleNotFoundError as error:
        raise SandboxError(
            f"connecting to a Docker engine needs the Python package {error.name}: "
            "pip install 'holdout-eval[systems]', or, from the project's folder, pip install '.[systems]'"
        ) from None
    engine = Engine(allow_plain=True)  # the user's own engine, reached as by Docker's own client
    try:
        engine.info()
    except SandboxError as error:
        raise SandboxError(f"{_NO_ENGINE}. ({error})") from None
    return engine


def connect(runtime: str) -> Local:
    """Connect to the local Docker engine and set up the sandbox on it.

    runtime: the engine's OCI runtime, such as `runc`. Raises SandboxError if the engine does not respond, and
    UsageError for an invalid runtime name.
    """
    engine = connect_engine()
    from evaluator.sandbox.containers.docker import DockerSandbox

    try:
        local = Local(engine, DockerSandbox(instance=INSTANCE, runtime=runtime, allow_plain=True))
    except ValueError:
        raise UsageError(
            f"--runtime is {shown(runtime)}, expected a runtime's name such as runc or runsc: a letter or digit and "
            "then up to 62 of A-Z a-z 0-9 _ . -"
        ) from None
    # Other runs on this machine may be in progress: remove only containers that are past their deadline.
    local.sandbox.reap(min_age_seconds=_NEVER)
    return local


@contextlib.contextmanager
def open_image(local: Local, name: str, *, check: bool) -> Iterator[str]:
    """Yield the engine's id of an image.

    name: the path of an archive file, or else a tag or id of an image that the engine has. An image that was loaded
    from an archive is removed afterwards, unless the engine already had it. check: True to check also an image given by
    tag or id as the server would; an archive is always checked. Raises ImageError if the image fails the checks,
    UsageError if the engine does not have it, and SandboxError if the engine fails.
    """
    if Path(name).is_file():
        with Path(name).open("rb") as archive:
            loaded, existed = _loaded(local, archive)
        try:
            yield loaded
        finally:
            if not existed:
                with contextlib.suppress(SandboxError):
                    local.sandbox.forget(loaded)
        return
    image = id_of(local.engine, name)
    if check:
        with save_image(local.engine, image) as archive:
            _loaded(local, archive)
    yield image


def id_of(engine: Engine, name: str) -> str:
    """Return the engine's id of the image with this tag or id. Raises UsageError if the engine does not have it."""
    from evaluator.sandbox.containers.engine import NotFoundError

    try:
        return str(engine.image(name)["Id"])
    except NotFoundError:
        raise UsageError(
            f"the image is {shown(name)}, expected a tag or an id that the engine has (docker images), or an archive "
            "file (docker save -o FILE NAME)"
        ) from None


@contextlib.contextmanager
def save_image(engine: Engine, image: str) -> Iterator[IO[bytes]]:
    """Yield an unnamed temporary file with the output of `docker save` for an image.

    Raises SandboxError if the engine fails.
    """
    progress, size = Progress(), 0
    with tempfile.TemporaryFile() as archive:
        for piece in engine.save(image):
            size += archive.write(piece)
            progress.show(f"saving the image: {size_text(size)}")
        progress.end()
        archive.seek(0)
        yield archive


def _loaded(local: Local, archive: IO[bytes]) -> tuple[str, bool]:
    """Check and load an archive; return (the image's id, True if the engine already had the image)."""
    progress = Progress()
    progress.show("checking the image")
    try:
        archive.flush()
        read = read_image(archive.fileno(), architecture=local.sandbox.architecture)
        existed = _has(local.engine, read.id)
        return local.sandbox.load(read).id, existed
    finally:
        progress.end()


def _has(engine: Engine, image: str) -> bool:
    from evaluator.sandbox.containers.engine import NotFoundError

    try:
        engine.image(image)
    except NotFoundError:
        return False
    return True
