"""CommandErrors that several commands raise: for rows that do not exist, and a file store that does not respond."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError

from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.models import Phase, User


def find_phase(benchmark: str | None, phase: str | None) -> Phase:
    """Return the phase with the slug `phase` of the benchmark with the slug `benchmark`.

    Raises CommandError if it does not exist.
    """
    row = Phase.objects.filter(benchmark__slug=benchmark, slug=phase).first()
    if row is None:
        raise CommandError(f"phase {phase} of benchmark {benchmark} does not exist; expected the slugs of both")
    return row


def find_user(username: str | None, *, more: str = "") -> User | None:
    """Return the user with this username, the value of the option --by; None for an empty one or None.

    Raises CommandError if there is no such user. more: text added to its message.
    """
    user = User.objects.filter(username=username).first() if username else None
    if username and user is None:
        raise CommandError(f"--by is {username}, expected the username of an account{more}")
    return user


@contextmanager
def storage_errors_as_command_errors() -> Iterator[None]:
    """Raise CommandError instead of a StoreUnavailableError of the `with` block.

    Its message is one line, with the settings of the S3 bucket to check and the cause.
    """
    try:
        yield
    except StoreUnavailableError as error:
        text = "check HOLDOUT_S3_BUCKET, HOLDOUT_S3_GOLD_BUCKET, HOLDOUT_S3_ENDPOINT and the keys"
        raise CommandError(f"the file storage does not respond correctly ({text}): {error.__cause__}") from error
