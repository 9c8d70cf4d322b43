"""Resumable upload of an image archive by the tus protocol, version 1.0."""

from __future__ import annotations

import base64
import hashlib
import os
import time
from collections.abc import Callable
from typing import IO, Any
from uuid import UUID

from evaluator.cli.output import Progress, say
from evaluator.cli.sizes import size_text
from evaluator.client.http import RefusedError, Server, UnavailableError
from evaluator.errors import UsageError, shown

ATTEMPTS = 6
"""Number of consecutive failed requests after which an upload is given up; any progress resets the count."""
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 15.0
_CHUNK = 1 << 20
_TUS = {"Tus-Resumable": "1.0.0"}


def begin(
    server: Server, archive: IO[bytes], *, benchmark: str, phase: str, name: str, track: str = "", team: str = ""
) -> str:
    """Start an upload of an image archive and return the upload's id. Raises RefusedError, UnavailableError.

    name: the archive's file name. track, team: those of the submission that will follow the upload, so that the server
    refuses invalid ones before the bytes are sent.
    """
    size = os.fstat(archive.fileno()).st_size
    values = {"filename": name[-255:], "sha256": _sha256(archive), "track": track, "team": team}
    metadata = ",".join(f"{key} {base64.b64encode(text.encode()).decode()}" for key, text in values.items() if text)
    headers = {**_TUS, "Upload-Length": str(size), "Upload-Metadata": metadata}
    return _id(server.request("POST", f"benchmarks/{benchmark}/phases/{phase}/image-uploads/", headers=headers))


def resumed(server: Server, archive: IO[bytes], upload: str) -> str:
    """Return the id of an interrupted upload, after a check that it has the size of this archive.

    upload: the value of `--resume`. Raises UsageError if it is not an id or the sizes differ; RefusedError,
    UnavailableError.
    """
    try:
        upload = str(UUID(upload))
    except ValueError:
        raise UsageError(
            f"--resume is {shown(upload)}, expected the id that was printed when the upload was interrupted"
        ) from None
    state, size = _state(server, upload), os.fstat(archive.fileno()).st_size
    if state["bytes"] != size:
        raise UsageError(f"upload {upload} has {state['bytes']} bytes, but this archive has {size}: start a new upload")
    return upload


def send(server: Server, archive: IO[bytes], upload: str, *, pause: Callable[[float], None] = time.sleep) -> None:
    """Send the bytes of the archive that the server does not have yet.

    upload: the upload's id. pause: a function that sleeps for a number of seconds. Raises RefusedError, and
    UnavailableError after ATTEMPTS failures in a row.
    """
    progress, failures, received = Progress(), 0, 0
    while True:
        try:
            state = _state(server, upload)
            while state["received"] < state["bytes"]:
                if state["received"] > received:
                    received, failures = state["received"], 0
                _show(progress, received, state["bytes"])
                state["received"] += _send_chunk(server, archive, upload, state)
            progress.end()
            return
        except (UnavailableError, RefusedError) as error:
            # A chunk may have arrived although its response was lost, so the server's state is requested again: with
            # GET, since an error in response to HEAD has no message.
            progress.end()
            failures += 1
            if failures >= ATTEMPTS or (isinstance(error, RefusedError) and error.code != "wrong_offset"):
                raise
            say(f"{error}; trying again")
            pause(min(_FIRST_PAUSE * 2 ** (failures - 1), _LONGEST_PAUSE))


def _send_chunk(server: Server, archive: IO[bytes], upload: str, state: Any) -> int:
    """Send the part of the archive that follows the bytes received so far, and return its length in bytes.

    upload: the upload's id. state: the upload as the server last described it, with the number of bytes received and
    the size of a chunk.
    """
    archive.seek(state["received"])
    chunk = archive.read(state["chunk_bytes"])
    server.request(
        "PATCH",
        f"image-uploads/{upload}/",
        body=chunk,
        content_type="application/offset+octet-stream",
        headers={**_TUS, "Upload-Offset": str(state["received"])},
    )
    return len(chunk)


def _state(server: Server, upload: str) -> Any:
    return server.get(f"image-uploads/{upload}/")


def _id(state: Any) -> str:
    try:
        return str(UUID(state["id"]))
    except (TypeError, KeyError, ValueError):
        raise UnavailableError(
            "the server's response is not an upload: is this a Holdout server of this version?"
        ) from None


def _show(progress: Progress, received: int, size: int) -> None:
    progress.show(f"uploading: {size_text(received)} of {size_text(size)} ({received * 100 // size} %)")


def _sha256(archive: IO[bytes]) -> str:
    progress, digest = Progress(), hashlib.sha256()
    progress.show("hashing the archive")
    archive.seek(0)
    while chunk := archive.read(_CHUNK):
        digest.update(chunk)
    progress.end()
    return digest.hexdigest()
