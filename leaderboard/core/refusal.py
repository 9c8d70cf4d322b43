"""Exceptions for refused actions, with messages for the user."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any

from django.http import Http404


class Code(Enum):
    """Codes of refused actions: (code as the API returns it, HTTP status). Each stands for one cause.

    INVALID_VALUE is the code of a value for which there is no other code; `field_name` names it where there is a form.
    """

    INVALID_PREDICTIONS = ("invalid_predictions", 422)
    INVALID_GOLD = ("invalid_gold", 422)
    INVALID_ARCHIVE = ("invalid_archive", 422)
    INVALID_REFERENCE = ("invalid_reference", 422)
    INVALID_NAME = ("invalid_name", 422)
    INVALID_REASON = ("invalid_reason", 422)
    INVALID_FACT = ("invalid_fact", 422)
    INVALID_TRACK = ("invalid_track", 422)
    INVALID_DIGEST = ("invalid_digest", 422)
    INVALID_VALUE = ("invalid_value", 422)
    DIGEST_MISMATCH = ("digest_mismatch", 422)
    EMPTY_FILE = ("empty_file", 422)
    NO_FILE = ("no_file", 422)
    TOO_LARGE = ("too_large", 413)
    PHASE_CLOSED = ("phase_closed", 409)
    NOT_ACCEPTED = ("not_accepted", 409)
    NOT_POSSIBLE = ("not_possible", 409)
    NOT_READY = ("not_ready", 409)
    CHANGED_MEANWHILE = ("changed_meanwhile", 409)
    IN_USE = ("in_use", 409)
    ALREADY_EXISTS = ("already_exists", 409)
    NAME_TAKEN = ("name_taken", 409)
    SCORER_FAILING = ("scorer_failing", 409)
    SCORER_DOES_NOT_FIT = ("scorer_does_not_fit", 409)
    QUOTA_EXCEEDED = ("quota_exceeded", 429)
    LIMIT_REACHED = ("limit_reached", 429)
    THROTTLED = ("throttled", 429)
    NOT_A_MEMBER = ("not_a_member", 403)
    NOT_AN_OWNER = ("not_an_owner", 403)
    NOT_CONFIRMED = ("reauthentication_required", 403)
    NOT_AN_ORGANISER = ("not_an_organiser", 403)
    NOT_INVITED = ("not_invited", 403)
    NOT_REGISTERED = ("not_registered", 403)
    BARRED = ("barred", 403)
    RULES_NOT_AGREED = ("rules_not_agreed", 403)
    INVITATION_GONE = ("invitation_gone", 410)
    LAST_OWNER = ("last_owner", 409)
    OTHER_TEAM = ("other_team", 409)
    OTHER_TRACK = ("other_track", 409)
    GOLD_UNCHANGED = ("gold_unchanged", 409)
    INPUTS_CHANGED = ("inputs_changed", 409)
    NOT_PREPARING = ("not_preparing", 409)
    NOT_CANCELLABLE = ("not_cancellable", 409)
    IDEMPOTENCY_KEY_REUSED = ("idempotency_key_reused", 422)
    INVALID_IDEMPOTENCY_KEY = ("invalid_idempotency_key", 422)
    WRONG_OFFSET = ("wrong_offset", 409)
    UPLOAD_INCOMPLETE = ("upload_incomplete", 409)
    CHECKSUM_MISMATCH = ("checksum_mismatch", 460)
    UPLOAD_GONE = ("upload_gone", 410)
    SANDBOX_UNAVAILABLE = ("sandbox_unavailable", 503)
    ENGINE_UNAVAILABLE = ("engine_unavailable", 503)
    STORE_UNAVAILABLE = ("store_unavailable", 503)
    DISK_FULL = ("disk_full", 507)

    def __init__(self, text: str, status: int) -> None:
        self.text = text
        self.status = status


class NotFound(Http404):
    """A 404 whose message the API shows to the user; the messages of other 404s are not shown."""


@dataclass
class Refused(Exception):
    """Error: an action was refused; nothing was changed or charged to the quota.

    message: complete sentences for the user.
    problems: problems in a file, as dicts with the keys file, line, what, found, expected and text.
    more: number of problems in the file that are not in `problems`.
    retry_at: the time from which a retry may succeed; None: not known.
    heading: title of the error page; empty: the title that belongs to the code.
    field_name: the form field at which the message is shown; empty: the message concerns no single field.
    """

    code: Code
    message: str
    problems: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    retry_at: datetime | None = None
    heading: str = ""
    field_name: str = ""

    def __str__(self) -> str:
        return self.message
