"""What a log line tells of an error: its kind and its places, never its words, which may quote a file."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from traceback import extract_tb
from types import TracebackType
from typing import Any

DEEPEST = 8
"""Calls that a line names, innermost last."""


def places(trace: TracebackType | None) -> str:
    """file:line of the innermost calls."""
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in extract_tb(trace)[-DEEPEST:])


def without_words(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor: `exc_info` becomes `error` and `at`.

    Left alone it would be written as it is: the error's own text, and a traceback's address in memory.
    """
    info = event.pop("exc_info", None)
    if isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if isinstance(info, tuple) and info[0] is not None:
        event["error"] = info[0].__name__
        event["at"] = places(info[2])
    return event
