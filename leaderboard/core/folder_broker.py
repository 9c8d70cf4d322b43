"""The embedded default's broker: messages are files in a folder, as in Kombu's `filesystem` transport.

Kombu opens a message's file and then fills it, so a worker that looks in between takes an empty message and dies of it
(kombu 5.7, `transport/filesystem.py`, `Channel._put`). Here a message has its name only when it is whole.
"""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

SCHEME = "folder"


class Channel(filesystem.Channel):
    """Kombu's, with messages that appear at once."""

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]  # its parents disagree
        folder = Path(self.data_folder_out)
        name = f"{round(time.monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        # Readers take what ends in QUEUE.msg; this does not.
        unfinished = folder / f"{name}.part"
        try:
            unfinished.write_text(dumps(payload))
            unfinished.rename(folder / name)
        except OSError as error:
            raise ChannelError(f"cannot add the message {name} to its folder: {error.strerror}") from error


class Transport(filesystem.Transport):
    """Named by `folder://` in the broker's address."""

    Channel = Channel


def register() -> None:
    """Lets Kombu know the scheme."""
    TRANSPORT_ALIASES[SCHEME] = f"{__name__}:Transport"
