"""Progress messages of long commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from evaluator.cli.output import Progress, say
from evaluator.progress import progress_listener

SECONDS_BETWEEN_LINES = 10.0  # seconds between lines when standard error is not a terminal


@contextmanager
def progress_reported(what: str) -> Iterator[None]:
    """Report the progress of the code inside the context on standard error, as `WHAT: 40 %`.

    On a terminal one line is overwritten; elsewhere a line is printed every SECONDS_BETWEEN_LINES. what: the name of
    the work.
    """
    progress, begun = Progress(), time.monotonic()
    live, printed = sys.stderr.isatty(), begun

    def hear(share: float) -> None:
        nonlocal printed
        text, moment = f"{what}: {100 * share:.0f} %", time.monotonic()
        if live:
            progress.show(text)
        elif moment - printed >= SECONDS_BETWEEN_LINES and share < 1:
            printed = moment
            say(f"{text} after {moment - begun:.0f} s")

    try:
        with progress_listener(hear):
            yield
    finally:
        progress.end()
