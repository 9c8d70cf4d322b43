"""Periodic calls of several steps in one process: a slow step delays no other step, and is not called while it runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor

import structlog
from django.core.cache import cache
from django.db import close_old_connections

from leaderboard.core.logs import traceback_locations

log = structlog.get_logger(__name__)
TURN_SECONDS = 0.2
"""Longest wait for a step before the next one begins: one after the other they need half of the processor time."""
REST = 3
"""A step that found nothing to do is called at every REST-th sweep until it does."""
THREADS = 8
"""Number of steps that may run at the same time: more than those that wait if the file store hangs."""
COMPLETED = "sweep-completed-at"
"""Cache key of the result of `last_completed`."""
Step = Callable[[], object]


def run(
    steps: Mapping[str, Step],
    *,
    seconds: float,
    wait: Callable[[float], bool],
    is_ready: Callable[[], bool] = lambda: True,
) -> None:
    """Call each step every `seconds`, except while its last call is still running. steps: name -> function.

    A step returns whether it found something to do, such as a number of rows. One that did not rests (REST).
    wait: waits for the number of seconds that it gets; returns True, perhaps earlier, if this process is to end.
    is_ready: called before each step, which is left out if it returns False.
    """
    started = time.time()
    completed: dict[str, float] = {}
    calls: dict[str, Future[bool]] = {}
    rests: dict[str, int] = {}
    with ThreadPoolExecutor(THREADS, thread_name_prefix="sweep") as pool:
        while True:
            for name, step in (*steps.items(), ("last_sweep", lambda: _publish(steps, completed))):
                if name in calls and not calls[name].done():
                    log.warning("sweep_slow", sweep=name, seconds=round(time.time() - completed.get(name, started)))
                elif name in calls and name in steps and not calls[name].result() and rests[name] < REST - 1:
                    rests[name] += 1
                else:
                    rests[name] = 0
                    calls[name] = pool.submit(_call, name, step, completed, is_ready)
                    futures.wait([calls[name]], TURN_SECONDS)
            if wait(seconds):
                pool.shutdown(cancel_futures=True)
                return


def last_completed() -> float | None:
    """Return a Unix time since which every step has been completed at least once; None if it is not known.

    It is the time at which the step that was completed longest ago was last completed.
    """
    try:
        at: float | None = cache.get(COMPLETED)
    except Exception as error:  # noqa: BLE001  the cache may be any server
        log.warning("cache_unavailable", error=type(error).__name__)
        return None
    return at


def _call(name: str, step: Step, completed: dict[str, float], is_ready: Callable[[], bool]) -> bool:
    """Call a step; return True if it is to be called again at the next sweep."""
    try:
        if is_ready():
            found = step()
            completed[name] = time.time()
            return bool(found)
    except Exception as error:  # noqa: BLE001  logged at each sweep; the other steps must run too
        log_failure(name, error)
    finally:
        close_old_connections()
    return True


def log_failure(name: str, error: Exception) -> None:
    # The message may quote a file, so only type and location are logged.
    log.error("sweep_failed", sweep=name, error=type(error).__name__, at=traceback_locations(error.__traceback__))


def _publish(steps: Mapping[str, Step], completed: Mapping[str, float]) -> None:
    """Store the time that `last_completed` returns, once each step has been completed in this process."""
    times = [completed[name] for name in steps if name in completed]
    if len(times) == len(steps):
        cache.set(COMPLETED, min(times), None)
