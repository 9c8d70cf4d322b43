"""Builds images of systems that come with the site, on the operator's own engine: an operator's act, no visitor's.

A build runs what a Dockerfile says, outside of every sandbox. What comes of it is submitted as anybody's image is.
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
BUILD_SECONDS = 300
ANSWER_SECONDS = 20
TOLD = 300
"""How many characters of an engine's complaint are passed on."""


class CannotBuildError(Exception):
    """No image can be built here; the text says why, and what to do about it."""


def check_ready(say: Callable[[str], None] = lambda line: None) -> None:
    """Raises CannotBuildError where there is no engine, or no base image and no way to fetch it."""
    if not shutil.which("docker"):
        raise CannotBuildError(
            "there is no `docker` command here: install Debian's docker.io, or Docker's own packages"
        )
    try:
        _docker("version", "--format", "{{.Server.Version}}", seconds=ANSWER_SECONDS)
    except CannotBuildError as error:
        raise CannotBuildError(f"no container engine answers (HOLDOUT_ENGINE, DOCKER_HOST): {error}") from error
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
            "name one that it has, with Python 3.11 or later, in HOLDOUT_BASE_IMAGE"
        ) from error


@contextmanager
def built(*, system: Path, benchmark: Path) -> Iterator[Path]:
    """The packed archive that `docker save` writes of a system, built for a benchmark; gone at the end.

    `system` is the folder of its Dockerfile, `benchmark` that of the data it learns from; the build sees the folder
    that `benchmark` lies in, as far as its .dockerignore lets it, and no network. Raises CannotBuildError.
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
            # Whoever runs it loads it from the archive; the engine need not keep a copy without a name.
            with suppress(CannotBuildError):
                _docker("image", "rm", image, seconds=ANSWER_SECONDS)
        with plain.open("rb") as source, gzip.open(packed, "wb", compresslevel=1) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        plain.unlink()
        yield packed


def sources(system: Path) -> str:
    """A digest of what a system is built from, save the data and the base: twelve hexadecimal digits."""
    digest = hashlib.sha256()
    for path in sorted(path for path in system.iterdir() if path.suffix == ".py" or path.name == "Dockerfile"):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:12]


def _docker(*arguments: str, seconds: float) -> str:
    """What the command prints; raises CannotBuildError with the last line of what it complains of."""
    host = ["--host", settings.ENGINE] if settings.ENGINE else []
    try:
        done = subprocess.run(  # noqa: S603
            ["docker", *host, *arguments],  # noqa: S607
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
            # An image and nothing else: builders of today add a second one that says how it was built.
            env={**os.environ, "BUILDX_NO_DEFAULT_ATTESTATIONS": "1"},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        what = "took too long" if isinstance(error, subprocess.TimeoutExpired) else str(error)
        raise CannotBuildError(f"docker {arguments[0]}: {what}") from error
    if done.returncode:
        complaint = done.stderr.strip().splitlines() or [f"status {done.returncode}"]
        raise CannotBuildError(f"docker {arguments[0]}: {complaint[-1][:TOLD]}")
    return done.stdout.strip()
