"""Logging of errors by type and traceback locations, never by their text, which may quote a hidden file."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from traceback import extract_tb
from types import TracebackType
from typing import Any

DEEPEST = 8
"""Number of traceback frames that are logged, innermost last."""


def traceback_locations(trace: TracebackType | None) -> str:
    """Return FILE:LINE of the innermost DEEPEST frames of a traceback, joined by " > ", the innermost last."""
    return " > ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in extract_tb(trace)[-DEEPEST:])


def drop_error_text(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace `exc_info` in a log event by `error` (the exception's class) and `at` (traceback locations).

    This is a structlog processor. Without it the exception's text would be logged, which may quote a hidden file.
    """
    info = event.pop("exc_info", None)
    if isinstance(info, BaseException):
        info = (type(info), info, info.__traceback__)
    if isinstance(info, tuple) and info[0] is not None:
        event["error"] = info[0].__name__
        event["at"] = traceback_locations(info[2])
    return event
