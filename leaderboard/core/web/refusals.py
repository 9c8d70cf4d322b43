"""Pages that tell a user why an action was refused: headline, the action's message, and HTTP status."""

from __future__ import annotations

from datetime import datetime

from django.forms import BaseForm
from django.http import HttpResponse
from django.utils import timezone

from leaderboard.core.refusal import Code, Refused

HEADLINES = {
    Code.INVALID_PREDICTIONS: "The file was not accepted",
    Code.INVALID_GOLD: "The gold file was not accepted",
    Code.INVALID_REFERENCE: "The reference of the image cannot be used",
    Code.INVALID_NAME: "The name is not valid",
    Code.INVALID_REASON: "The reason is not valid",
    Code.INVALID_FACT: "A fact is not valid",
    Code.INVALID_DIGEST: "The digest is not valid",
    Code.INVALID_VALUE: "Some values are not valid",
    Code.DIGEST_MISMATCH: "The file arrived damaged",
    Code.EMPTY_FILE: "The file is empty",
    Code.NO_FILE: "No file was chosen",
    Code.TOO_LARGE: "The file is too large",
    Code.PHASE_CLOSED: "This phase takes no submissions",
    Code.NOT_POSSIBLE: "This is not possible",
    Code.CHANGED_MEANWHILE: "Something was changed in the meantime",
    Code.IN_USE: "This is in use",
    Code.ALREADY_EXISTS: "This exists already",
    Code.LIMIT_REACHED: "A limit is reached",
    Code.SCORER_FAILING: "The scorer of this phase fails",
    Code.INVITATION_GONE: "The invitation is no longer valid",
    Code.UPLOAD_INCOMPLETE: "The upload is not complete",
    Code.QUOTA_EXCEEDED: "The quota is used",
    Code.THROTTLED: "Too much in a short time",
    Code.NOT_A_MEMBER: "Not a member of the team",
    Code.NOT_AN_OWNER: "Only team owners may do this",
    Code.NOT_INVITED: "This invitation is for somebody else",
    Code.NOT_CONFIRMED: "Confirm that it is you",
    Code.LAST_OWNER: "A team needs an owner",
    Code.OTHER_TEAM: "You compete for another team in this phase",
    Code.INVALID_TRACK: "The track is not valid",
    Code.OTHER_TRACK: "The system competes in another track",
    Code.NOT_AN_ORGANISER: "Only organisers may change this",
    Code.NOT_REGISTERED: "Your team is not registered",
    Code.BARRED: "The organisers do not let you submit",
    Code.RULES_NOT_AGREED: "Agree to the rules first",
    Code.NAME_TAKEN: "That name is taken",
    Code.NOT_READY: "This was not done",
    Code.GOLD_UNCHANGED: "The gold is the same as before",
    Code.INPUTS_CHANGED: "The public inputs would change",
    Code.NOT_PREPARING: "No rescoring is in progress",
    Code.SCORER_DOES_NOT_FIT: "This scorer cannot be used here",
    Code.NOT_CANCELLABLE: "This cannot be cancelled",
    Code.SANDBOX_UNAVAILABLE: "The file could not be checked",
    Code.NOT_ACCEPTED: "This phase does not accept this",
    Code.INVALID_ARCHIVE: "The archive was not accepted",
    Code.IDEMPOTENCY_KEY_REUSED: "This key was used already",
    Code.INVALID_IDEMPOTENCY_KEY: "The key of the request is not valid",
    Code.WRONG_OFFSET: "Wrong upload offset",
    Code.CHECKSUM_MISMATCH: "The chunk arrived damaged",
    Code.UPLOAD_GONE: "This upload no longer exists",
    Code.ENGINE_UNAVAILABLE: "Containers cannot run now",
    Code.STORE_UNAVAILABLE: "Nothing can be stored at the moment",
    Code.DISK_FULL: "The server's disk is full",
}


class Refusal:
    """Template context of `core/refusal.html` for a refused action."""

    def __init__(self, refused: Refused) -> None:
        self.headline = refused.heading or HEADLINES[refused.code]
        self.code = refused.code.text
        self.message = refused.message
        self.problems = refused.problems
        self.more = refused.more
        self.status = refused.code.status


def add_to(form: BaseForm, refused: Refused) -> Refusal | None:
    """Add the refusal's message to the errors of the form field `refused.field_name`, and return None.

    If the form has no such field, return the refusal for `core/refusal.html` instead.
    """
    if refused.field_name not in form.fields:
        return Refusal(refused)
    form.add_error(refused.field_name, refused.message)
    return None


def with_retry(response: HttpResponse, refused: Refused | None) -> HttpResponse:
    """Return the response, with a Retry-After header if the refusal has a `retry_at`.

    refused: why the action was refused; None if it was not, and then the response is unchanged.
    """
    if refused is not None and refused.retry_at is not None:
        response["Retry-After"] = str(seconds_until(refused.retry_at))
    return response


def seconds_until(moment: datetime) -> int:
    """Return the whole number of seconds until a datetime, rounded up and at least 1, for the header Retry-After."""
    return max(1, int((moment - timezone.now()).total_seconds()) + 1)
