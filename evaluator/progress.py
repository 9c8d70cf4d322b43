"""Progress of long jobs, reported to a listener if there is one: the command line sets one, the server does not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[float], None] | None] = ContextVar("listener", default=None)


@contextmanager
def progress_listener(hear: Callable[[float], None]) -> Iterator[None]:
    """Make long jobs inside the context call `hear` with the fraction that is done, from 0 to 1."""
    token = _listener.set(hear)
    try:
        yield
    finally:
        _listener.reset(token)


class Steps:
    """Progress of one job, which reports the fraction that is done to the listener.

    whole: the total amount of work, in the same unit as the argument of `add`.
    """

    def __init__(self, whole: float) -> None:
        self._whole = whole
        self._done = 0.0
        self._hear = _listener.get()

    def add(self, work: float) -> None:
        self._done += work
        if self._hear is not None and self._whole > 0:
            self._hear(min(self._done / self._whole, 1.0))
