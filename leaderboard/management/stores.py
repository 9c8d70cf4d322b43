"""Handling of file storage errors in commands that read every stored file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from leaderboard.core.store_errors import StoreUnavailableError


@contextmanager
def storage_errors_as_command_errors() -> Iterator[None]:
    """Turn errors of an unreachable or missing S3 bucket into a CommandError of one line that says what to check."""
    try:
        yield
    except StoreUnavailableError as error:
        text = "check HOLDOUT_S3_BUCKET, HOLDOUT_S3_GOLD_BUCKET, HOLDOUT_S3_ENDPOINT and the keys"
        raise CommandError(f"the file storage does not respond correctly ({text}): {error.__cause__}") from error
