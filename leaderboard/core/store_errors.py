"""Errors of the file store: StoreUnavailableError, after which a request may be repeated, and counts for `/metrics`."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import structlog
from boto3.exceptions import Boto3Error
from botocore.exceptions import BotoCoreError, ClientError, ConnectTimeoutError, ReadTimeoutError
from django.core.cache import cache
from s3transfer.exceptions import RetriesExceededError

from leaderboard.core.db_locks import NOTHING_SAVED

log = structlog.get_logger(__name__)
OPERATIONS = ("check", "delete", "exists", "list", "open", "read", "save", "size")
"""Values of the metric's label `operation`."""
AWAY = f"The server's file store does not respond. {NOTHING_SAVED}"
_S3_ERRORS = (BotoCoreError, ClientError, Boto3Error, RetriesExceededError, ConnectionError, TimeoutError)


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
    except _S3_ERRORS as error:
        _record(operation, error)
        raise StoreUnavailableError from error
    except OSError as error:
        _record(operation, error)
        raise


def is_timeout(error: BaseException | None) -> bool:
    """Return True if an error is a timeout of a request to the store; False for None."""
    cause = getattr(error, "last_exception", error)
    return isinstance(cause, ConnectTimeoutError | ReadTimeoutError | TimeoutError)


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
    if isinstance(cause, ClientError):
        code = str(cause.response.get("Error", {}).get("Code", ""))
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
