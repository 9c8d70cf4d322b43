"""Builds of container images of the bundled systems, on the operator's container engine, by a command of the operator.

A build runs the commands of a Dockerfile outside every sandbox, so visitors cannot start one. The built image is
submitted like any other image.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

PULL_SECONDS = 180
BASE_SECONDS = 600
BUILD_SECONDS = 300
ANSWER_SECONDS = 20
MAX_ERROR_CHARS = 300
"""Maximum number of characters of an engine's error message that are passed on."""
BASE = "holdout-reference-systems"
"""Name of the image on which the images of the evaluator's reference systems are based."""
BASE_SOURCE = Path("fixtures", "systems", "Dockerfile")


class CannotBuildError(Exception):
    """An image cannot be built on this machine. The message says why and, if known, what to do."""


def check_ready(say: Callable[[str], None] = lambda line: None) -> None:
    """Raise CannotBuildError unless a container engine responds and has the base image, or can fetch it.

    The base image is the setting BASE_IMAGE. say: called with a line of progress before the image is fetched.
    """
    if not shutil.which("docker"):
        raise CannotBuildError(
            "the `docker` command is not installed: install Debian's docker.io, or Docker's own packages"
        )
    try:
        _docker("version", "--format", "{{.Server.Version}}", seconds=ANSWER_SECONDS)
    except CannotBuildError as error:
        raise CannotBuildError(f"no container engine responds (DOCKER_HOST): {error}") from error
    try:
        _docker("image", "inspect", "--format", "{{.Id}}", settings.BASE_IMAGE, seconds=ANSWER_SECONDS)
    except CannotBuildError:
        say(f"fetching the base image {settings.BASE_IMAGE}")
        _fetch_base()


def _fetch_base() -> None:
    try:
        _docker("pull", "--quiet", settings.BASE_IMAGE, seconds=PULL_SECONDS)
    except CannotBuildError as error:
        raise CannotBuildError(
            f"the engine lacks the base image {settings.BASE_IMAGE} and cannot fetch it ({error}): "
            "set HOLDOUT_BASE_IMAGE to an image that it has, with Python 3.11 or later"
        ) from error


def is_reference_system(system: Path) -> bool:
    """Return True if a system's Dockerfile is based on the image BASE. system: the folder of the Dockerfile."""
    return "ARG REFERENCE_SYSTEMS=" in (system / "Dockerfile").read_text(encoding="utf-8")


def build_reference_base() -> None:
    """Build the image BASE from this installation's evaluator; a repeated build from the same files does nothing.

    The build fetches packages from the package index unless there is a folder `wheels` that has them. Raises
    CannotBuildError.
    """
    # A build argument without a value has that of the environment, if there is one.
    source = ["--build-arg", "PIP_INDEX_URL"]
    if (settings.ROOT / "wheels").is_dir():
        source = ["--network", "none", "--build-arg", "PIP_NO_INDEX=1"]
    _docker(
        *("build", "--quiet", "--force-rm", "--tag", BASE, *source),
        *("--build-arg", f"BASE_IMAGE={settings.BASE_IMAGE}", "--file", str(settings.ROOT / BASE_SOURCE)),
        str(settings.ROOT),
        seconds=BASE_SECONDS,
    )


@contextmanager
def built_archive(*, system: Path, benchmark: Path) -> Iterator[Path]:
    """Build a system's image; yield the path of the image's compressed `docker save` archive, which is deleted at exit.

    system: the folder of the Dockerfile. benchmark: the folder of the training data. The build context is the parent
    folder of `benchmark`, limited by that folder's .dockerignore; the build has no network. A reference system needs
    `build_reference_base` first. Raises CannotBuildError.
    """
    image = _docker(
        *("build", "--quiet", "--force-rm", "--network", "none", "--file", str(system / "Dockerfile")),
        *("--build-arg", f"BASE_IMAGE={settings.BASE_IMAGE}", "--build-arg", f"BENCHMARK={benchmark.name}"),
        str(benchmark.parent),
        seconds=BUILD_SECONDS,
    )
    with tempfile.TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        try:
            plain, packed = Path(folder, "plain.tar"), Path(folder, f"{system.name}.tar.gz")
            _docker("save", "--output", str(plain), image, seconds=BUILD_SECONDS)
        finally:
            # The image will be loaded from the archive, so the engine need not keep an untagged copy.
            with suppress(CannotBuildError):
                _docker("image", "rm", image, seconds=ANSWER_SECONDS)
        with plain.open("rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        plain.unlink()
        yield packed


def sources(system: Path) -> str:
    """Return a digest of a system's sources as twelve hexadecimal digits. system: the folder of the Dockerfile.

    The sources are the Dockerfile and .py files in the folder. For a reference system they include the .py files of the
    evaluator's reference systems, and the Dockerfile and requirements of BASE.
    """
    paths = sorted(path for path in system.iterdir() if path.suffix == ".py" or path.name == "Dockerfile")
    if is_reference_system(system):
        paths += [settings.ROOT / BASE_SOURCE, settings.ROOT / "requirements-systems.lock"]
        paths += sorted((settings.ROOT / "evaluator" / "reference_systems").rglob("*.py"))
    digest = hashlib.sha256()
    for path in paths:
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def _docker(*arguments: str, seconds: float) -> str:
    """Run `docker` with these arguments and return its standard output without surrounding white space.

    Raises CannotBuildError if the command takes longer than `seconds` or fails; the message then has the last line of
    its error output.
    """
    try:
        completed = subprocess.run(  # noqa: S603
            ["docker", *arguments],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            # Current builders otherwise add a second manifest to the image, the provenance attestation.
            env={**os.environ, "BUILDX_NO_DEFAULT_ATTESTATIONS": "1"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        reason = f"took longer than {seconds:g} s" if isinstance(error, subprocess.TimeoutExpired) else str(error)
        raise CannotBuildError(f"docker {arguments[0]}: {reason}") from error
    if completed.returncode:
        complaint = completed.stderr.strip().splitlines() or [f"status {completed.returncode}"]
        raise CannotBuildError(f"docker {arguments[0]}: {complaint[-1][:MAX_ERROR_CHARS]}")
    return completed.stdout.strip()
