"""How far a long job is, for whoever waits in front of it. Nobody listens on a server."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_listener: ContextVar[Callable[[float], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(hear: Callable[[float], None]) -> Iterator[None]:
    """While it lasts, long jobs tell `hear` which share of them is done, from 0 to 1."""
    token = _listener.set(hear)
    try:
        yield
    finally:
        _listener.reset(token)


class Steps:
    """Work done, of all there is to do; in any unit."""

    def __init__(self, whole: float) -> None:
        self._whole = whole
        self._done = 0.0
        self._hear = _listener.get()

    def add(self, work: float) -> None:
        self._done += work
        if self._hear is not None and self._whole > 0:
            self._hear(min(self._done / self._whole, 1.0))
