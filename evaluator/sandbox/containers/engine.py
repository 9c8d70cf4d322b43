"""Client for the parts of the Docker Engine API that the sandbox needs. Failures are raised as EngineError."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import docker
import docker.errors
import docker.tls
import docker.utils
import requests
import urllib3

from evaluator.errors import SandboxError, causes_of, shown
from evaluator.sandbox.containers.engine_address import CA, CERT, KEY, engine_address

REMOVAL = 10.0  # seconds to wait for another client's removal of a container
_AGAIN = 0.1
CONFLICT = 409
_REMOVE = 30.0  # seconds to wait for the removal of a container; the engine continues it afterwards
TIMEOUT = 120.0  # seconds to wait for a response, since disks may be slow; `wait` has its own limit
_OLDEST = (1, 41)  # Engine 20.10
_FAILURES = (docker.errors.DockerException, requests.RequestException, urllib3.exceptions.HTTPError, OSError)

_Piece = TypeVar("_Piece")


class EngineError(SandboxError):
    """The engine refused a request, failed, or is gone. `status`: the HTTP status of its response; 0: no response."""

    def __init__(self, text: str, status: int = 0, engine_message: str = "") -> None:
        super().__init__(text)
        self.status = status
        self.engine_message = (
            engine_message  # the engine's message, which may quote content of an image: for operators only
        )


class NotFoundError(EngineError):
    """The engine has no such container, image, volume or file."""


class NameTakenError(EngineError):
    """The name for a new container is taken by another container."""


class EngineTimeoutError(EngineError):
    """The engine did not respond in time. It may still carry out the request later."""


@contextmanager
def _translated_errors(doing: str) -> Iterator[None]:
    try:
        yield
    except docker.errors.APIError as problem:
        message = str(problem.explanation or problem)
        kind = NotFoundError if problem.status_code == 404 else EngineError
        raise kind(f"{doing}: the engine reports {shown(message)}", problem.status_code or 0, message) from None
    except requests.Timeout:
        raise EngineTimeoutError(f"{doing}: the engine does not respond in time") from None
    except _FAILURES as problem:
        causes = list(causes_of(problem))
        if any(isinstance(cause, TimeoutError) for cause in causes):  # while a request was sent
            raise EngineTimeoutError(f"{doing}: the engine does not respond in time") from None
        refusal = next((cause for cause in causes if isinstance(cause, ssl.SSLError)), None)
        if refusal is not None:
            raise EngineError(f"{doing}: {_tls_failure(refusal)}") from None
        reply = next((cause for cause in causes if isinstance(cause, docker.errors.APIError)), None)
        if reply is not None:  # to the first request of a new client
            raise EngineError(f"{doing}: the engine reports {shown(str(reply.explanation or reply))}") from None
        why = next((cause.strerror for cause in causes if isinstance(cause, OSError) and cause.strerror), "")
        raise EngineError(f"{doing}: the engine does not respond{f' ({why})' if why else ''}") from None


def _until(deadline: float, pieces: Iterable[_Piece]) -> Iterator[_Piece]:
    """Yield the pieces of a response. Raises EngineTimeoutError for a piece that arrives after `deadline`.

    deadline: a monotonic time.
    """
    for piece in pieces:
        if time.monotonic() > deadline:
            raise EngineTimeoutError("loading an image: the engine did not finish in time")
        yield piece


def _tls_failure(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return (
            f"the engine's certificate is refused ({error.verify_message}), expected one that is valid for the host of "
            f"the address and signed by {CA}"
        )
    return (
        f"TLS with the engine fails ({error.reason or error}), expected an engine that speaks TLS at this address "
        f"(--tlsverify) and accepts {CERT}"
    )


class _Client(docker.APIClient):  # type: ignore[misc]  # the package has no types
    """Docker's API client, which takes no proxy and no certificate authority from the environment.

    The variable REQUESTS_CA_BUNDLE would otherwise replace the engine's own authority.
    """

    @property
    def trust_env(self) -> bool:
        return False

    @trust_env.setter
    def trust_env(self, value: bool) -> None:
        pass


class Engine:
    """Client of one Docker engine. Threads may share it."""

    def __init__(self, url: str | None = None, *, certs: str | None = None, allow_plain: bool = False) -> None:
        """Remember the engine's address; the connection is made on first use.

        url: `unix:///path/docker.sock` or `tcp://...`; None: DOCKER_HOST, or else Docker's usual socket. certs,
        allow_plain: for `tcp`, as in `engine_address`.
        """
        self._url = url
        self._certs = certs
        self._allow_plain = allow_plain
        self._client: docker.APIClient | None = None

    @property
    def client(self) -> docker.APIClient:
        """Docker's API client, connected on first use. Raises EngineError."""
        if self._client is None:
            with _translated_errors("connecting to a Docker engine"):
                client = _Client(**self._options(), version="auto", timeout=TIMEOUT)
            version = tuple(int(part) for part in client.api_version.split("."))
            if version < _OLDEST:
                raise EngineError(f"the engine speaks API {client.api_version}, expected 1.41 (Docker 20.10) or later")
            self._client = client
        return self._client

    @contextmanager
    def _client_that_waits(self, seconds: float) -> Iterator[docker.APIClient]:
        """Yield a client that waits up to `seconds` for each response, instead of TIMEOUT as `client` does."""
        version = self.client.api_version
        client = _Client(**self._options(), version=version, timeout=max(seconds, 0.01))
        try:
            yield client
        finally:
            client.close()

    def _options(self) -> dict[str, Any]:
        address = engine_address(self._url, self._certs, allow_plain=self._allow_plain)
        options: dict[str, Any] = {"base_url": address.url} if address.url else {}
        if address.certs:
            options["tls"] = docker.tls.TLSConfig(
                client_cert=(address.certificate(CERT), address.certificate(KEY)),
                ca_cert=address.certificate(CA),
                verify=True,
            )
        return options

    def info(self) -> dict[str, Any]:
        with _translated_errors("reading the engine's information"):
            return dict(self.client.info())

    def image(self, image: str) -> dict[str, Any]:
        with _translated_errors("inspecting an image"):
            return dict(self.client.inspect_image(image))

    def images(self) -> frozenset[str]:
        """Return the ids of all images except intermediate ones, tagged or not."""
        with _translated_errors("listing images"):
            return frozenset(str(image["Id"]) for image in self.client.images())

    def load(self, archive: Iterable[bytes], seconds: float = TIMEOUT) -> list[str]:
        """Load an archive of `docker save` and return the image ids that the engine reports.

        Raises EngineTimeoutError after `seconds`, or if the engine neither reads nor writes for TIMEOUT; it may load
        the image later.
        """
        deadline = time.monotonic() + seconds
        with _translated_errors("loading an image"), self._client_that_waits(min(seconds, TIMEOUT)) as client:
            messages = list(_until(deadline, client.load_image(_until(deadline, archive))))
        for message in messages:
            if "error" in message:
                raise EngineError(
                    f"loading an image: the engine reports {shown(message['error'])}",
                    engine_message=str(message["error"]),
                )
        text = "".join(str(message.get("stream", "")) for message in messages)
        return re.findall(r"Loaded image ID: (sha256:[0-9a-f]{64})", text)

    def save(self, image: str) -> Iterator[bytes]:
        """Yield an image's archive as `docker save` writes it.

        Raises NotFoundError, before the first piece, if the engine does not have the image.
        """
        with _translated_errors("saving an image"):
            yield from self.client.get_image(image)

    def pull(self, repository: str, digest: str) -> Iterator[dict[str, Any]]:
        """Pull an image and yield the engine's progress messages.

        repository: the image's name with the registry. digest: `sha256:...`.
        """
        with _translated_errors("pulling an image"):
            for message in self.client.pull(repository, tag=digest, stream=True, decode=True):
                if "error" in message:
                    raise EngineError(
                        f"pulling an image: the engine reports {shown(message['error'])}",
                        engine_message=str(message["error"]),
                    )
                yield message

    def remove_image(self, image: str) -> None:
        with _translated_errors("removing an image"):
            self.client.remove_image(image, noprune=False)

    def create_volume(self, labels: Mapping[str, str], options: Mapping[str, str]) -> str:
        """Create a volume and return its name, which the engine chooses. options: those of the driver `local`."""
        with _translated_errors("creating a volume"):
            volume = self.client.create_volume(driver="local", driver_opts=dict(options), labels=dict(labels))
        return str(volume["Name"])

    def remove_volume(self, name: str) -> None:
        """Remove a volume; a missing one is not an error."""
        try:
            with _translated_errors("removing a volume"):
                self.client.remove_volume(name, force=True)
        except NotFoundError:
            return

    def create(self, config: Mapping[str, Any], seconds: float = TIMEOUT, *, name: str | None = None) -> str:
        """Create a container and return its id.

        config: the body of the Engine API's request, as from `create_settings`. name: None: the engine chooses one.
        Raises NameTakenError if another container has the name, and EngineTimeoutError after `seconds`; the engine may
        then create the container later.
        """
        with _translated_errors("creating a container"), self._client_that_waits(seconds) as client:
            try:
                return str(client.create_container_from_config(dict(config), name)["Id"])
            except docker.errors.APIError as problem:
                if name and problem.status_code == CONFLICT:
                    raise NameTakenError(f"a container has the name {name}", CONFLICT) from None
                raise

    def start(self, container: str, seconds: float = TIMEOUT) -> None:
        """Start a container. Raises EngineTimeoutError after `seconds`; the engine may then start it later."""
        with _translated_errors("starting a container"), self._client_that_waits(seconds) as client:
            client.start(container)

    def wait(self, container: str, seconds: float) -> bool:
        """Wait up to `seconds` for a container to end. Return True if it has ended.

        False means that the time is over or that the connection broke; in the second case the next call raises
        EngineError. Raises EngineError if the engine reports an error, such as a container that does not exist.
        """
        try:
            self.client.wait(container, timeout=max(seconds, 0.01))
        except (requests.RequestException, urllib3.exceptions.HTTPError):
            return False
        except docker.errors.APIError as problem:
            message = str(problem.explanation or problem)
            raise EngineError(
                f"waiting for a container: the engine reports {shown(message)}", problem.status_code or 0
            ) from None
        return True

    def kill(self, container: str) -> None:
        """Kill a container; an ended or missing one is not an error."""
        try:
            with _translated_errors("killing a container"):
                self.client.kill(container, "SIGKILL")
        except EngineError as problem:
            if problem.status not in (404, 409):
                raise

    def state(self, container: str) -> dict[str, Any]:
        return dict(self.inspect(container)["State"])

    def inspect(self, container: str) -> dict[str, Any]:
        with _translated_errors("inspecting a container"):
            return dict(self.client.inspect_container(container))

    def stats(self, container: str) -> dict[str, Any]:
        with _translated_errors("reading a container's resource usage"):
            return dict(self.client.stats(container, stream=False, one_shot=True))

    def logs(self, container: str) -> Iterator[bytes]:
        with _translated_errors("reading a container's log"):
            yield from self.client.logs(container, stdout=True, stderr=True, stream=True, follow=False)

    def put(self, container: str, folder: str, archive: Iterable[bytes]) -> None:
        with _translated_errors("writing to a volume"):
            self.client.put_archive(container, folder, iter(archive))

    def get(self, container: str, path: str) -> Generator[bytes, None, None]:
        """Yield a file or folder of a container as tar.

        Raises NotFoundError, before the first piece, if `path` does not exist. Close the generator after use: until the
        stream ends, the engine answers no other request about this container.
        """
        with _translated_errors("reading from a volume"):
            pieces, _ = self.client.get_archive(container, path)
            yield from pieces

    def file_status(self, container: str, path: str) -> dict[str, Any]:
        """Return the engine's description of a file in a container without opening the file.

        The keys of the description are `mode`, as of Go's os.FileMode, `size`, and `linkTarget`, which is empty unless
        the file is a symlink. Docker's client only offers this together with the file's content, for which an engine
        would look up the file's owner in the container's own /etc/passwd and /etc/group. Raises NotFoundError.
        """
        url = f"{self.client.base_url}/v{self.client.api_version}/containers/{container}/archive"
        with _translated_errors("inspecting a file"):
            response = self.client.head(url, params={"path": path}, timeout=TIMEOUT)
            if response.status_code == 404:
                raise NotFoundError(f"the container has no file {shown(path)}", 404)
            if not response.ok:  # such a response has no message
                raise EngineError(
                    f"inspecting a file: the engine reports status {response.status_code}", response.status_code
                )
            return dict(docker.utils.decode_json_header(response.headers["X-Docker-Container-Path-Stat"]))

    def remove(self, container: str) -> None:
        """Kill and remove a container and its anonymous volumes. A missing container is not an error.

        If another client is removing the container, this waits until it is gone. Raises EngineError after REMOVAL
        seconds.
        """
        deadline = time.monotonic() + REMOVAL
        while True:
            try:
                with _translated_errors("removing a container"), self._client_that_waits(_REMOVE) as client:
                    client.remove_container(container, force=True, v=True)
                return
            except NotFoundError:
                return
            except EngineError as problem:
                if problem.status != CONFLICT or time.monotonic() > deadline:
                    raise
            time.sleep(_AGAIN)

    def containers(self, *labels: str) -> list[dict[str, Any]]:
        """Return the engine's descriptions of the containers with all these labels, in any state."""
        with _translated_errors("listing containers"):
            return list(self.client.containers(all=True, filters={"label": list(labels)}))

    def volumes(self, *labels: str) -> list[dict[str, Any]]:
        with _translated_errors("listing volumes"):
            return list(self.client.volumes(filters={"label": list(labels)})["Volumes"] or [])
