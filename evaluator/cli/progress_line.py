"""Progress messages of long commands."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from evaluator.cli.output import Progress, say
from evaluator.progress import progress_listener

PAUSE = 10.0  # seconds between lines when standard error is not a terminal


@contextmanager
def patience(what: str) -> Iterator[None]:
    """Report progress on standard error: one overwritten line on a terminal, else a line every PAUSE seconds."""
    progress, begun = Progress(), time.monotonic()
    live, last_shown = sys.stderr.isatty(), begun

    def hear(share: float) -> None:
        nonlocal last_shown
        text, moment = f"{what}: {100 * share:.0f} %", time.monotonic()
        if live:
            progress.show(text)
        elif moment - last_shown >= PAUSE and share < 1:
            last_shown = moment
            say(f"{text} after {moment - begun:.0f} s")

    try:
        with progress_listener(hear):
            yield
    finally:
        progress.end()
