"""Idempotency keys: a request that is sent again with the same key makes no second submission.

A client chooses a key for each submission (header `Idempotency-Key`, as the IETF draft of that name specifies it; forms
have a hidden field). The submission's row stores it, so a key is used exactly if its submission exists: a refused
request leaves its key unused. A key belongs to the user who sent it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import IntegrityError

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Submission, User

WELL_FORMED = re.compile(r"[\x21-\x7e]{1,255}")


class Key(NamedTuple):
    """text: the key that the client sent. digest: SHA-256 of the content of its request, in hexadecimal."""

    text: str
    digest: str


class RepeatedError(Exception):
    """The user has submitted the same content with the same key already, as `submission`."""

    def __init__(self, submission: Submission) -> None:
        super().__init__(str(submission.pk))
        self.submission = submission


def checked(text: str) -> str:
    """Return a key as a client sent it, without the quotation marks of a structured header; empty if there is none.

    Raises Refused INVALID_IDEMPOTENCY_KEY unless it has 1 to 255 visible ASCII characters.
    """
    key = text[1:-1] if len(text) > 1 and text[0] == text[-1] == '"' else text
    if text and not WELL_FORMED.fullmatch(key):
        raise Refused(
            Code.INVALID_IDEMPOTENCY_KEY,
            f"The Idempotency-Key has {len(key)} characters, or some that are not visible ASCII; expected 1 to 255 "
            "letters, digits or other visible ASCII characters, such as a random UUID.",
        )
    return key


def key_of(text: str, **content: Any) -> Key | None:
    """Return the key of a request; None for an empty text.

    content: everything that the request submits, such as names, digests of files and facts, as JSON values.
    """
    if not text:
        return None
    canonical = json.dumps(content, sort_keys=True, default=str)
    return Key(text, hashlib.sha256(canonical.encode()).hexdigest())


def submission_with(text: str, by: User) -> Submission | None:
    """Return the user's submission with a key, whatever its content; None if there is none, or `text` is empty."""
    return Submission.objects.filter(submitted_by=by, idempotency_key=text).first() if text else None


def check_unused(key: Key | None, by: User) -> None:
    """Raise RepeatedError if the user has made a submission with this key, and Refused if it had another content.

    The code is IDEMPOTENCY_KEY_REUSED.
    """
    earlier = submission_with(key.text, by) if key is not None else None
    if key is None or earlier is None:
        return
    if earlier.idempotency_digest != key.digest:
        raise Refused(
            Code.IDEMPOTENCY_KEY_REUSED,
            "The Idempotency-Key of this request belongs to another submission, with other content: "
            f"{earlier.pk}. Nothing was submitted; expected a new key for each submission, and the same content if a "
            "request is repeated.",
            heading="This was submitted already, with other content",
        )
    raise RepeatedError(earlier)


@contextmanager
def stored_once(key: Key | None, by: User) -> Iterator[None]:
    """Raise as `check_unused` does if the transaction in the `with` block finds the key stored when it stores it.

    This is so if the user has sent it for another split at the same time: the lock of a split waits for no other.
    """
    try:
        yield
    except IntegrityError:
        check_unused(key, by)
        raise
