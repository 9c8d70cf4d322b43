"""The end of a container's output, sanitized: without escape sequences, control or invisible characters."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MOST_READ = 8 << 20  # bytes; an engine stores two files of a megabyte
# ECMA-48: control sequences, operating system commands and the like with their text, and other two-byte escapes.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_].*?(?:\x1b\\|\x07|\Z)|\x1b[ -/]*[0-~]?|\x9b[0-?]*[ -/]*[@-~]", re.S
)


def tail(pieces: Iterable[bytes], most: int) -> tuple[str, bool]:
    """Return (the last `most` bytes of the output as sanitized text, True if the output was longer).

    Of a long output only about the first _MOST_READ bytes are read; the result is then the last part of these.
    """
    last = b""
    read = 0
    for piece in pieces:
        read += len(piece)
        last = (last + piece)[-most:]
        if read > _MOST_READ:
            break
    return cleaned(last), read > most


def cleaned(content: bytes) -> str:
    text = _ESCAPES.sub("", content.decode("utf-8", "replace")).replace("\r\n", "\n").replace("\r", "\n")
    return "".join(character for character in text if character in "\n\t" or character.isprintable())
