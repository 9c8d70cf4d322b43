"""The engine's HTTP interface, as little of it as is needed. Its failures come as EngineError."""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import docker
import docker.errors
import docker.utils
import requests
import urllib3

from evaluator.errors import SandboxError, shown

REMOVAL = 10.0  # seconds for a container to be gone that another is removing
_AGAIN = 0.1
_CONFLICT = 409
TIMEOUT = 120.0  # seconds for the engine to answer anything but a wait: a slow disk is no fault
_OLDEST = (1, 41)  # Engine 20.10
_FAILURES = (docker.errors.DockerException, requests.RequestException, urllib3.exceptions.HTTPError, OSError)


class EngineError(SandboxError):
    """The engine refused, failed, or is gone. `status`: its HTTP status, 0 if it did not answer."""

    def __init__(self, text: str, status: int = 0, said: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.said = said  # the engine's words, which may quote an image: for operators


class NotThereError(EngineError):
    """The engine has no such container, image, volume or file."""


@contextmanager
def _ours(doing: str) -> Iterator[None]:
    try:
        yield
    except docker.errors.APIError as problem:
        said = str(problem.explanation or problem)
        kind = NotThereError if problem.status_code == 404 else EngineError
        raise kind(f"{doing}: the engine says {shown(said)}", problem.status_code or 0, said) from None
    except _FAILURES as problem:
        raise EngineError(f"{doing}: the engine does not answer ({type(problem).__name__})") from None


class Engine:
    """One client of one engine. Threads may share it."""

    def __init__(self, url: str | None = None) -> None:
        """url: `unix:///path/docker.sock` or `tcp://...`; default: DOCKER_HOST, else the usual socket. Asks nothing."""
        self._url = url
        self._client: docker.APIClient | None = None

    @property
    def client(self) -> docker.APIClient:
        """Raises EngineError."""
        if self._client is None:
            with _ours("looking for a Docker engine"):
                where = {"base_url": self._url} if self._url else docker.utils.kwargs_from_env()
                client = docker.APIClient(**where, version="auto", timeout=TIMEOUT)
            version = tuple(int(part) for part in client.api_version.split("."))
            if version < _OLDEST:
                raise EngineError(f"the engine speaks API {client.api_version}, expected 1.41 (Docker 20.10) or later")
            self._client = client
        return self._client

    def info(self) -> dict[str, Any]:
        with _ours("asking the engine about itself"):
            return dict(self.client.info())

    def image(self, image: str) -> dict[str, Any]:
        with _ours("looking at an image"):
            return dict(self.client.inspect_image(image))

    def images(self) -> frozenset[str]:
        """Ids of those that something can be made from, tagged or not."""
        with _ours("listing images"):
            return frozenset(str(image["Id"]) for image in self.client.images())

    def load(self, archive: Iterable[bytes]) -> list[str]:
        """The ids that the engine says it loaded."""
        with _ours("loading an image"):
            said = list(self.client.load_image(iter(archive)))
        for word in said:
            if "error" in word:
                raise EngineError(f"loading an image: the engine says {shown(word['error'])}", said=str(word["error"]))
        text = "".join(str(word.get("stream", "")) for word in said)
        return re.findall(r"Loaded image ID: (sha256:[0-9a-f]{64})", text)

    def save(self, image: str) -> Iterator[bytes]:
        """What `docker save` writes. Raises NotThereError before the first piece."""
        with _ours("saving an image"):
            yield from self.client.get_image(image)

    def pull(self, repository: str, digest: str) -> Iterator[dict[str, Any]]:
        """What the engine tells of its progress."""
        with _ours("pulling an image"):
            for word in self.client.pull(repository, tag=digest, stream=True, decode=True):
                if "error" in word:
                    raise EngineError(f"pulling an image: the engine says {shown(word['error'])}")
                yield word

    def remove_image(self, image: str) -> None:
        with _ours("removing an image"):
            self.client.remove_image(image, noprune=False)

    def create_volume(self, labels: Mapping[str, str], options: Mapping[str, str]) -> str:
        """Its name, which the engine chooses."""
        with _ours("creating a volume"):
            made = self.client.create_volume(driver="local", driver_opts=dict(options), labels=dict(labels))
        return str(made["Name"])

    def remove_volume(self, name: str) -> None:
        """One that is gone is removed."""
        try:
            with _ours("removing a volume"):
                self.client.remove_volume(name, force=True)
        except NotThereError:
            return

    def create(self, config: Mapping[str, Any]) -> str:
        """A container's id. config: as the engine's API has it."""
        with _ours("creating a container"):
            return str(self.client.create_container_from_config(dict(config))["Id"])

    def start(self, container: str) -> None:
        with _ours("starting a container"):
            self.client.start(container)

    def wait(self, container: str, seconds: float) -> bool:
        """Whether it ended within this time. False also where the engine hung up: the next question to it will tell."""
        try:
            self.client.wait(container, timeout=max(seconds, 0.01))
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            return False
        except docker.errors.APIError as problem:
            raise EngineError("waiting for a container: it is gone", problem.status_code or 0) from None
        return True

    def kill(self, container: str) -> None:
        """One that has ended is killed."""
        try:
            with _ours("killing a container"):
                self.client.kill(container, "SIGKILL")
        except EngineError as problem:
            if problem.status not in (404, 409):
                raise

    def state(self, container: str) -> dict[str, Any]:
        return dict(self.inspect(container)["State"])

    def inspect(self, container: str) -> dict[str, Any]:
        with _ours("looking at a container"):
            return dict(self.client.inspect_container(container))

    def stats(self, container: str) -> dict[str, Any]:
        with _ours("measuring a container"):
            return dict(self.client.stats(container, stream=False, one_shot=True))

    def logs(self, container: str) -> Iterator[bytes]:
        with _ours("reading a container's log"):
            yield from self.client.logs(container, stdout=True, stderr=True, stream=True, follow=False)

    def put(self, container: str, folder: str, archive: Iterable[bytes]) -> None:
        with _ours("writing into a volume"):
            self.client.put_archive(container, folder, iter(archive))

    def get(self, container: str, path: str) -> Generator[bytes, None, None]:
        """A file or folder as tar. Raises NotThereError before the first piece.

        Close it: until the stream is at its end, the engine answers nothing about this container.
        """
        with _ours("reading from a volume"):
            pieces, _ = self.client.get_archive(container, path)
            yield from pieces

    def remove(self, container: str) -> None:
        """Killed first, with its anonymous volumes, and gone on return, whoever else is removing it."""
        deadline = time.monotonic() + REMOVAL
        while True:
            try:
                with _ours("removing a container"):
                    self.client.remove_container(container, force=True, v=True)
                return
            except NotThereError:
                return
            except EngineError as problem:
                if problem.status != _CONFLICT or time.monotonic() > deadline:
                    raise
            time.sleep(_AGAIN)

    def containers(self, label: str) -> list[dict[str, Any]]:
        """Of this label, whatever their state."""
        with _ours("listing containers"):
            return list(self.client.containers(all=True, filters={"label": label}))

    def volumes(self, label: str) -> list[dict[str, Any]]:
        with _ours("listing volumes"):
            return list(self.client.volumes(filters={"label": label})["Volumes"] or [])
