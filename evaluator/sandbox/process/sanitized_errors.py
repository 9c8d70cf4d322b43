"""Sanitized descriptions of exceptions in a job, for the operator's log: type and code locations, never the message.

An exception's message may quote gold. A description is written by a job, which may be hostile, so `sanitise` checks it.
"""

from __future__ import annotations

import re
import traceback
from pathlib import Path

MOST_FRAMES = 12
_LOCATION = r" at [\w./<>-]{1,80}:\d{1,7} in [\w<>]{1,80}"
_SHAPE = re.compile(rf"[\w.]{{1,80}}(?: errno \d{{1,4}})?(?:{_LOCATION}){{0,{MOST_FRAMES}}}", re.ASCII)


def describe(problem: BaseException) -> bytes:
    """Describe an exception, such as `OSError errno 1 at package/module.py:41 in function at ...`.

    It ends with the innermost frame, and has at most MOST_FRAMES frames.
    """
    kind = type(problem)
    text = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    if isinstance(problem, OSError) and problem.errno is not None:
        text += f" errno {problem.errno}"
    frames = list(traceback.walk_tb(problem.__traceback__))[-MOST_FRAMES:]
    for frame, line in frames:
        file = "/".join(Path(frame.f_code.co_filename).parts[-3:])
        text += f" at {file}:{line} in {frame.f_code.co_name}"
    return text.encode("ascii", "replace")


def sanitise(text: bytes) -> str:
    """Return a job's description of its error, for the log; a fixed phrase if it is not in the format of `describe`."""
    decoded = text.decode("ascii", "replace")
    return decoded if _SHAPE.fullmatch(decoded) else "no valid diagnosis"
