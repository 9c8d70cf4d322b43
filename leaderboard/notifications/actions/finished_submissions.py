"""Notices to the members of a team that one of its submissions is finished: scored, rejected or failed.

A notice contains the state that the submission's page shows, but no score: the page and the API decide which scores to
disclose.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse

from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Membership, Notice, Prediction, Run, State, Submission
from leaderboard.notifications.actions import recipients
from leaderboard.notifications.actions.recipients import Event
from leaderboard.submissions.queries import progress

EVENT = "submission.finished"
ENDED = (State.DONE, State.REJECTED, State.FAILED)
"""States in which subscribers are notified of a submission: every terminal state except CANCELLED."""


def write(since: datetime, at: datetime) -> int:
    """Queue notices of submissions that finished after `since`, for the members of their teams.

    at: the present time. Returns the number of notices written.
    """
    ends = {subject: (ended_at, status) for subject, ended_at, status in _ends(since)}
    events = (
        Event(subject, status.submission.system.team.members.all(), ended_at)
        for subject, (ended_at, status) in ends.items()
    )
    unnotified = ((ends[recipient.subject][1], recipient) for recipient in recipients.unnotified(events))
    # Only those members are notified who may open its page.
    return recipients.queue(
        [
            recipient.notice(_body(status, at), at, status.submission)
            for status, recipient in unnotified
            if status.submission.phase.benchmark.is_visible_to(recipient.user)
        ]
    )


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of the mail about a finished submission, without the footer that all mails get."""
    fields = {name: one_line(str(value)) for name, value in notice.body.items()}
    where = f"{fields['benchmark_title']}, {fields['phase_title']}"
    reason = f" ({fields['reason_text']})" if fields["reason_text"] else ""
    text = f"{fields['system']} of {fields['team']}, submitted to {where}, is finished: {fields['state']}{reason}."
    return f"{fields['system']}: {fields['state']} ({where})", f"{text}\n\n{fields['page']}\n"


def _ends(since: datetime) -> Iterable[tuple[uuid.UUID, datetime, progress.Progress]]:
    """Yield (id, time, progress) for each submission that finished after `since`, if a team member lacks its notice.

    id: of the run or failed prediction with which the submission finished. time: when it finished. Rescorings cause no
    notices: runs that finished after a scored run of the same prediction are left out.
    """
    earlier = Run.objects.filter(
        prediction=OuterRef("prediction"), state=State.DONE, finished_at__lt=OuterRef("finished_at")
    )
    window = Q(state__in=ENDED, finished_at__gt=since)
    runs = (
        Run.objects.filter(window, _unnotified_member("prediction__submission__system__team"))
        .exclude(Exists(earlier))
        .values_list("pk", "finished_at", "prediction__submission")
    )
    # The prediction of a failed container has no run.
    failed_predictions = Prediction.objects.filter(
        window, _unnotified_member("submission__system__team"), state__in=(State.REJECTED, State.FAILED)
    )
    ends = [*runs, *failed_predictions.values_list("pk", "finished_at", "submission")]
    submissions = Submission.objects.filter(pk__in={submission for _, _, submission in ends})
    followed = progress.with_related(submissions).prefetch_related("system__team__members__webhooks")
    progress_of = {row.pk: progress.of(row) for row in followed}
    for pk, ended_at, submission in ends:
        status = progress_of.get(submission)
        if status is not None and ended_at is not None and status.state in ENDED:
            yield pk, ended_at, status


def _unnotified_member(team: str) -> Exists:
    """Return a condition that is true for a row if an active member of its team has no notice about it on the site.

    team: lookup path from the row (a run or a prediction) to its team.
    """
    notices = Notice.objects.filter(subject=OuterRef(OuterRef("pk")), user=OuterRef("user"), webhook=None)
    members = Membership.objects.filter(team=OuterRef(team), user__is_active=True)
    return Exists(members.exclude(Exists(notices)))


def _body(status: progress.Progress, at: datetime) -> dict[str, str]:
    submission = status.submission
    return {
        "event": EVENT,
        "at": at.isoformat(),
        "submission": str(submission.pk),
        "benchmark": submission.phase.benchmark.slug,
        "benchmark_title": submission.phase.benchmark.title,
        "phase": submission.phase.slug,
        "phase_title": submission.phase.title,
        "system": submission.system.name,
        "team": submission.system.team.name,
        "state": status.state.value,
        "reason": status.reason.value,
        "reason_text": status.reason.label if status.reason else "",
        "page": settings.BASE_URL + submission.get_absolute_url(),
        "url": settings.BASE_URL + reverse("api_submission", args=[submission.pk]),
    }
