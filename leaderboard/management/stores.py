"""Commands that read every stored file, and a store that does not answer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError
from django.core.management.base import CommandError


@contextmanager
def answering() -> Iterator[None]:
    """A bucket that is not there, or not to be reached, ends a command in a line that says so."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        told = "HOLDOUT_S3_BUCKET, HOLDOUT_S3_GOLD_BUCKET, HOLDOUT_S3_ENDPOINT and the keys are what to look at"
        raise CommandError(f"the store of files does not answer as it should ({told}): {error}") from error
