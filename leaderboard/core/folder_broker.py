"""Celery broker of an installation that configures none: messages are files in a folder.

It is Kombu's `filesystem` transport, mended. Kombu creates a message's file and then fills it, so that a worker that
reads in between gets an empty message and crashes (kombu 5.7, `transport/filesystem.py`, `Channel._put`). Here the file
of a message gets its name only once it is complete. The queues are also first in, first out, as `work_queue.work`
requires; Kombu's are not.
"""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

import structlog
from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

log = structlog.get_logger(__name__)
SCHEME = "folder"


class Channel(filesystem.Channel):
    """Kombu's file system channel, in which readers never see an incomplete message."""

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]  # bases differ
        folder = Path(self.data_folder_out)
        # Readers take the files in order of their names: here that of sending, also after a restart of the machine.
        name = f"{time.time_ns()}_{uuid.uuid4()}.{queue}.msg"
        # Readers only take files that end in QUEUE.msg.
        unfinished = folder / f"{name}.part"
        try:
            unfinished.write_text(dumps(payload))
            unfinished.rename(folder / name)
        except OSError as error:
            raise ChannelError(f"cannot write the message {name} to the folder {folder}: {error.strerror}") from error

    def _restore(self, message: Any) -> None:
        """Put a message back that a worker gave back. On a full disk it is lost, and the sweep sends another one."""
        try:
            super()._restore(message)
        except ChannelError as error:
            log.warning("message_lost", error=str(error))


class Transport(filesystem.Transport):
    """Kombu transport for broker URLs that begin with `folder://`."""

    Channel = Channel


def register() -> None:
    """Register the URL scheme `folder://` with Kombu."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
