"""Failures of the server that users are told about: the same status, error code and message for pages and API."""

from __future__ import annotations

from typing import Any, NamedTuple

from evaluator.tasks.registry import MissingTaskError
from leaderboard.core import db_locks, disk, saved
from leaderboard.core.store_errors import StoreUnavailableError


class Failure(NamedTuple):
    """status: of the response. code: the error code. message: for the user. retry: the header Retry-After, or None."""

    status: int
    code: str
    message: str
    retry: int | None = None


def failure_of(request: Any, error: BaseException | None) -> Failure | None:
    """Return what to answer to an error whose cause is known and lies with the server; None for any other error.

    The message says that nothing was saved only if that is certain.
    """
    failure = _failure_of(error)
    if failure is None or not saved.may_be_saved(request, error):
        return failure
    message = failure.message
    for certain in (db_locks.NOTHING_SAVED, disk.NOTHING_STORED):
        message = message.replace(certain, db_locks.MAY_BE_SAVED)
    return failure._replace(message=message)


def _failure_of(error: BaseException | None) -> Failure | None:
    if message := db_locks.transient_message(error):
        return Failure(503, "busy", message, db_locks.RETRY_AFTER)
    if isinstance(error, StoreUnavailableError):
        return Failure(503, "store_unavailable", str(error), db_locks.RETRY_AFTER)
    if isinstance(error, MissingTaskError):
        return Failure(503, "task_missing", str(error), db_locks.RETRY_AFTER)
    if refused := disk.refusal_of(error):
        retry = db_locks.RETRY_AFTER if refused.code.status == 503 else None
        return Failure(refused.code.status, refused.code.text, refused.message, retry)
    return None
