"""Drafts: organisers and the testers whom they invite use a benchmark before it is published, and nothing of it stays.

A draft needs no second mechanism: its phases take submissions, score and rank like any others. What differs is who sees
it (`Benchmark.visible_to`), that it takes submissions before its dates and on draft splits (`Phase.is_open`), and that
nobody is notified (`notifications.actions.recipients.queue`). `reset` empties it, and publishing does so too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Max

from leaderboard.containers.actions import image_files
from leaderboard.core import chunked_upload, row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.core.storage import delete_after_commit
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    Disqualification,
    Extension,
    HiddenSubmission,
    Image,
    ImageUpload,
    Leaderboard,
    Phase,
    Prediction,
    Release,
    ReleasePlot,
    Representative,
    Run,
    Split,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.models.image import images_storage

MOST_TESTERS = 100
"""Maximum number of testers of a draft, members of named teams included."""


def find_testers(names: Sequence[str]) -> list[User]:
    """Return the active user with each name, or if there is none the members of the team with that name.

    Raises Refused INVALID_VALUE for a name of no active user and no team with members, and for more than MOST_TESTERS
    users.
    """
    users: dict[int, User] = {}
    unknown = []
    for name in names:
        people = list(User.objects.filter(username=name, is_active=True))
        people = people or [user for team in Team.objects.filter(name=name) for user in team.members.all()]
        if not people:
            unknown.append(name)
        users |= {user.pk: user for user in people}
    if unknown:
        raise Refused(
            Code.INVALID_VALUE,
            f"No account or team has the name {', '.join(unknown[:10])}; expected usernames or team names.",
            field_name="testers",
        )
    if len(users) > MOST_TESTERS:
        raise Refused(
            Code.INVALID_VALUE,
            f"These names stand for {len(users)} users, members of named teams included; "
            f"expected at most {MOST_TESTERS}.",
            field_name="testers",
        )
    return list(users.values())


@transaction.atomic
def set_testers(*, benchmark: Benchmark, testers: Sequence[User], by: User) -> None:
    """Replace the testers of a draft. Submissions of former testers stay until it is reset.

    Raises Refused: NOT_AN_ORGANISER; NOT_POSSIBLE for a published benchmark.
    """
    locked = _locked(benchmark, by)
    locked.testers.set(testers)
    AuditEntry.record("draft.testers", locked, by=by, testers=sorted(tester.username for tester in testers))


@transaction.atomic
def reset(*, benchmark: Benchmark, by: User) -> int:
    """Delete all that was tried on a draft (`empty`); return the number of deleted submissions. The testers stay.

    Raises Refused: NOT_AN_ORGANISER; NOT_POSSIBLE for a published benchmark.
    """
    locked = _locked(benchmark, by)
    n_submissions = empty(locked)
    AuditEntry.record("draft.reset", locked, by=by, submissions=n_submissions)
    return n_submissions


def has_been_used(benchmark: Benchmark) -> bool:
    """Return whether a draft has submissions, which `reset` would delete."""
    return benchmark.is_draft and Submission.objects.filter(phase__benchmark=benchmark).exists()


def _locked(benchmark: Benchmark, by: User) -> Benchmark:
    """Lock the row of a draft and return it, so that it is not published meanwhile. Raises Refused as `reset` does."""
    locked = Benchmark.objects.select_for_update(of=("self",), no_key=True).get(pk=benchmark.pk)
    check_manages(locked, by)
    if not locked.is_draft:
        raise Refused(
            Code.NOT_POSSIBLE,
            "This benchmark is published: only a draft has testers and can be reset.",
            heading="Nothing was changed",
        )
    return locked


def empty(benchmark: Benchmark) -> int:
    """Delete what the use of a draft has left: submissions with everything made of them, files, and people's requests.

    Settings that organisers have made stay: phases, invited teams, bars, announcements. Returns the number of deleted
    submissions. Call in a transaction that has locked the row of the draft. It waits for uploads and scorings that are
    about to commit, and those that are running find that their rows are gone.
    """
    phases = Phase.objects.filter(benchmark=benchmark)
    splits = [row_locks.lock_split(pk) for pk in sorted(set(phases.values_list("split", flat=True)))]
    row_locks.lock_phases(phases)
    submissions = Submission.objects.filter(phase__benchmark=benchmark)
    predictions = Prediction.objects.filter(submission__phase__benchmark=benchmark)
    runs = Run.objects.filter(prediction__submission__phase__benchmark=benchmark)
    boards = Leaderboard.objects.filter(phase__benchmark=benchmark)
    # Workers insert rows that refer to these, and not all of them lock the phase.
    for rows in (submissions, predictions, runs, boards):
        list(rows.order_by("pk").select_for_update(of=("self",)).only("pk"))
    systems = list(submissions.order_by().values_list("system", flat=True).distinct())
    images = list(Image.objects.filter(submissions__in=submissions).values_list("pk", flat=True).distinct())
    files = [row.file for row in predictions.exclude(file="").only("file")]
    files += [row.outcomes for row in runs.exclude(outcomes="").only("outcomes")]
    boards.delete()
    for rows in _in_order(benchmark):
        rows.delete()
    runs.delete()
    predictions.delete()
    _, deleted = submissions.delete()
    System.objects.filter(pk__in=systems, submissions=None).delete()
    _delete_baselines_team(benchmark)
    image_files.delete_unused(images)
    uploads = ImageUpload.objects.filter(phase__benchmark=benchmark)
    for key in uploads.values_list("pk", flat=True):
        transaction.on_commit(partial(chunked_upload.delete_chunks, images_storage(), key), robust=True)
    uploads.delete()
    phases.update(ranked_sequence=0, unsealed_at=None)
    for split in splits:
        used = Prediction.objects.filter(submission__phase__split=split).aggregate(last=Max("sequence"))
        Split.objects.filter(pk=split.pk).update(last_sequence=used["last"] or 0)
    for file in files:
        delete_after_commit(file)
    return deleted.get(Submission._meta.label, 0)


def _in_order(benchmark: Benchmark) -> list[Any]:
    """Return the rows, besides boards and work, that the use of a draft leaves, in an order in which they can go.

    Only testers ask to register for a draft, and only they agree to its rules. Teams that organisers have registered
    have nobody who asked.
    """
    return [
        Disqualification.objects.filter(phase__benchmark=benchmark),
        Representative.objects.filter(phase__benchmark=benchmark),
        HiddenSubmission.objects.filter(submission__phase__benchmark=benchmark),
        ReleasePlot.objects.filter(release__phase__benchmark=benchmark),
        Release.objects.filter(phase__benchmark=benchmark),
        Extension.objects.filter(phase__benchmark=benchmark),
        benchmark.agreements.all(),
        benchmark.registrations.exclude(requested_by=None),
        benchmark.follows.all(),
    ]


def _delete_baselines_team(benchmark: Benchmark) -> None:
    """Delete the team of the benchmark's baselines if none of its systems is left; the next baselines make another."""
    team = benchmark.baselines_team
    if team is not None and not team.systems.exists():
        team.delete()
        benchmark.baselines_team = None
