"""Celery broker of an installation that configures none: messages are files in a folder.

It is Kombu's `filesystem` transport, mended. Kombu creates a message's file and then fills it, so that a worker that
reads in between gets an empty message and crashes (kombu 5.7, `transport/filesystem.py`, `Channel._put`). Here the file
of a message gets its name only once it is complete. The queues are also first in, first out, as `work_queue.work`
requires; Kombu's are not. And a worker that waits for a message sleeps until the kernel reports one (inotify), instead
of listing the folder twenty times a second.
"""

from __future__ import annotations

import ctypes
import os
import select
import time
import uuid
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

import structlog
from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

log = structlog.get_logger(__name__)
SCHEME = "folder"
POLL_SECONDS = 0.05
"""Longest time until a worker notices that it may take another message, or, without inotify, that there is one."""
_IN_MOVED_TO = 0x80  # linux/inotify.h
_LIBC = ctypes.CDLL(None, use_errno=True)


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
    _events: int | None = None

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Deliver the next message. Raises TimeoutError if there is none for `timeout` seconds; None: no limit."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            # Looked up first: if it may consume and finds nothing, then only a new message ends the wait.
            may_consume = all(channel.qos.can_consume() for channel in connection.channels)
            try:
                self.cycle.get(self._deliver, timeout=timeout)  # type: ignore[union-attr]  # while it is open
            except Empty:
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError from None
                self._wait(left, is_full=not may_consume)
            else:
                return

    def _wait(self, seconds: float | None, *, is_full: bool) -> None:
        """Return when a message has come or `seconds` have passed. is_full: return after POLL_SECONDS in any case."""
        if self._events is None:
            # Without a pause: a message may have come before the kernel watched.
            self._events = _watch(self.client.transport_options["data_folder_in"])  # type: ignore[union-attr]
        elif is_full or self._events < 0:
            time.sleep(POLL_SECONDS if seconds is None else min(POLL_SECONDS, seconds))
        elif select.select([self._events], [], [], seconds)[0]:
            with suppress(BlockingIOError):
                os.read(self._events, 1 << 16)

    def close_connection(self, connection: Any) -> None:
        super().close_connection(connection)
        if self._events is not None and self._events >= 0:
            os.close(self._events)
        self._events = None


def _watch(folder: str) -> int:
    """Return a descriptor that can be read when a file was moved into the folder; -1 if the kernel offers none.

    The kernel limits how many of them a user has.
    """
    events = int(_LIBC.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
    if events >= 0 and _LIBC.inotify_add_watch(events, os.fsencode(folder), _IN_MOVED_TO) < 0:
        os.close(events)
        return -1
    return events


def register() -> None:
    """Register the URL scheme `folder://` with Kombu."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
