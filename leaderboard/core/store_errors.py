"""Errors of the file store: StoreUnavailableError, after which a request may be repeated, and counts for `/metrics`."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import structlog
from django.core.cache import cache

from leaderboard.core.db_locks import NOTHING_SAVED

log = structlog.get_logger(__name__)
OPERATIONS = ("check", "delete", "exists", "list", "open", "read", "save", "size")
"""Values of the metric's label `operation`."""
AWAY = f"The server's file store does not respond. {NOTHING_SAVED}"
S3_ERRORS: list[type[Exception]] = [ConnectionError, TimeoutError]
"""Errors of a store that does not respond or refuses; `s3_storage.py` adds those of its libraries."""
TIMEOUTS: list[type[Exception]] = [TimeoutError]
"""Those of them that are timeouts of a request."""


class StoreUnavailableError(Exception):
    """Error: the S3 store does not respond, or refuses a request. Its text is for the user.

    `__cause__` is the error of the S3 client.
    """

    def __init__(self) -> None:
        super().__init__(AWAY)


@contextmanager
def recorded(operation: str) -> Iterator[None]:
    """Log and count errors of the file store in the `with` block; raise StoreUnavailableError instead of S3's errors.

    operation: one of OPERATIONS, under which errors are counted. FileNotFoundError and FileExistsError are neither
    logged nor counted, and other OSErrors are raised unchanged.
    """
    try:
        yield
    except (FileNotFoundError, FileExistsError):
        raise
    except tuple(S3_ERRORS) as error:
        _record(operation, error)
        raise StoreUnavailableError from error
    except OSError as error:
        _record(operation, error)
        raise


def is_timeout(error: BaseException | None) -> bool:
    """Return True if an error is a timeout of a request to the store; False for None."""
    cause = getattr(error, "last_exception", error)
    return isinstance(cause, tuple(TIMEOUTS))


def counts() -> dict[str, int]:
    """Return operation -> number of the store's errors, in all processes since the site's cache was last cleared."""
    values = cache.get_many([_key(operation) for operation in OPERATIONS])
    return {operation: values.get(_key(operation), 0) for operation in OPERATIONS}


def describe(error: BaseException) -> str:
    """Return an error's type, and its code of S3 or the operating system (ENOSPC) if it has one, with a space between.

    The error's text is left out, because it names files.
    """
    cause = getattr(error, "last_exception", error)
    code = ""
    if response := getattr(cause, "response", None):  # botocore's ClientError
        code = str(response.get("Error", {}).get("Code", ""))
    elif isinstance(cause, OSError) and cause.errno is not None:
        code = errno.errorcode.get(cause.errno, "")
    return f"{type(cause).__name__} {code}".strip()


def _record(operation: str, error: BaseException) -> None:
    log.error("store_failed", operation=operation, error=describe(error))
    # The count is in the cache, which all processes of the site share. It must not hide the error.
    with suppress(Exception):
        cache.add(_key(operation), 0, timeout=None)
        cache.incr(_key(operation))
        cache.touch(_key(operation), timeout=None)


def _key(operation: str) -> str:
    return f"store-errors-{operation}"
