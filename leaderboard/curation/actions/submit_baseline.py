"""Submit the baseline of a dry run to a phase: the same predictions, as an ordinary submission.

So its row on the board has its own outcomes, intervals and receipt, and uses quota; no score of the dry run is reused.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import IO, cast

import structlog
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from evaluator.tasks.registry import TASKS
from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import AlteredError
from leaderboard.core.uploads import sha256_of
from leaderboard.curation.actions import run_dry_run
from leaderboard.curation.actions.run_dry_run import UnsuitableGoldError
from leaderboard.evaluation.sandbox_client import SandboxError
from leaderboard.models import AuditEntry, Benchmark, DryRun, Membership, Phase, State, Submission, System, Team, User
from leaderboard.submissions.actions import submit as submissions
from leaderboard.work_queue.work import NoAnswerError

log = structlog.get_logger(__name__)
ACTIVE_STATES = (State.QUEUED, State.RUNNING, State.DONE)
HEADING = "The baseline was not submitted"


def active_submissions(benchmark: Benchmark) -> dict[tuple[int, str], Submission]:
    """Return submitted baselines by phase id and baseline name, without failed and withdrawn ones."""
    # A sealed phase has no runs yet.
    is_active = Q(predictions__runs=None) | Q(predictions__runs__state__in=ACTIVE_STATES)
    rows = Submission.objects.filter(
        is_active,
        predictions__state=State.DONE,
        phase__benchmark=benchmark,
        system__kind=System.Kind.BASELINE,
        system__team__baselines_of=benchmark,
    )
    return {(row.phase_id, row.system.name): row for row in rows.select_related("system").distinct()}


def is_eligible(row: DryRun, phase: Phase) -> bool:
    """Return True if a dry run was scored for this phase, or for no phase in particular."""
    return row.state == State.DONE and row.gold.split_id == phase.split_id and row.scored_as in ("", phase.slug)


def phase_accepts(phase: Phase) -> bool:
    """Return True if the phase accepts predictions and is open."""
    return phase.takes_predictions and phase.is_open()


def submit(*, row: DryRun, phase: Phase, by: User, track: str = "") -> Submission:
    """Submit a baseline as the benchmark's baselines team, created on first use. For managers of the benchmark.

    Raises Refused: NOT_AN_ORGANISER, NOT_READY where there is nothing to submit or the predictions differ from those
    that were scored, NAME_TAKEN where it was submitted already, and all that `submissions.submit` raises.
    """
    if not phase.benchmark.is_managed_by(by):
        raise Refused(Code.NOT_AN_ORGANISER, "You are not an organiser of this benchmark.", heading=HEADING)
    submissions.check_open(phase, timezone.now())
    if not is_eligible(row, phase):
        raise Refused(Code.NOT_READY, f"{row.name} was not scored for {phase.title}.", heading=HEADING)
    if row.inputs_sha256 != phase.split.inputs_sha256:
        raise Refused(Code.NOT_READY, "The inputs were replaced after it was scored.", heading=HEADING)
    check = partial(_check_not_submitted, row, phase)
    check()
    system = _system(row, _team(phase.benchmark, by))
    with _predictions(row) as file:
        # Checked again under the phase's lock: two concurrent requests both pass the check above.
        submission = submissions.submit(phase=phase, system=system, file=file, by=by, track=track, check=check)
    AuditEntry.record("dry_run.submitted", phase, by=by, name=row.name, submission=str(submission.pk))
    return submission


def _check_not_submitted(row: DryRun, phase: Phase) -> None:
    if (phase.pk, row.name) in active_submissions(phase.benchmark):
        raise Refused(Code.NAME_TAKEN, f"{row.name} was already submitted to {phase.title}.", heading=HEADING)


@transaction.atomic
def _team(benchmark: Benchmark, by: User) -> Team:
    """Return the baselines team, not one of the organisers' own, whose quota and name baselines should not use."""
    # The lock makes two concurrent first requests create one team.
    locked = Benchmark.objects.select_for_update(no_key=True).get(pk=benchmark.pk)
    team = locked.baselines_team
    if team is None:
        team = _create_team(locked, by)
        Benchmark.objects.filter(pk=locked.pk).update(baselines_team=team)
    else:
        Membership.objects.get_or_create(team=team, user=by, defaults={"is_owner": True})
    return team


def _create_team(benchmark: Benchmark, by: User) -> Team:
    """Create the baselines team, numbered if its name was taken before such names were reserved."""
    name = f"Baselines of {benchmark.slug}"
    for number in range(2, 100):
        try:
            return teams.create(name=name, by=by, is_baselines=True)
        except Refused as refused:
            if refused.code is not Code.NAME_TAKEN:
                raise
        name = f"Baselines of {benchmark.slug} ({number})"
    raise Refused(Code.NAME_TAKEN, f"All names like Baselines of {benchmark.slug} are taken.", heading=HEADING)


def _system(row: DryRun, team: Team) -> System:
    """Return the baseline's system, unsaved if new: the first accepted file stores it, as for every system."""
    system = teams.find_system(team=team, name=row.name)
    if system.pk is None:
        docs = {baseline.name: baseline.doc for baseline in TASKS[row.gold.split.dataset.task].baselines}
        system.kind = System.Kind.BASELINE
        system.description = docs.get(row.name, "") if row.kind == DryRun.Kind.TRIVIAL else ""
    elif system.kind != System.Kind.BASELINE:
        raise Refused(Code.NAME_TAKEN, f"{team} has a system {system} that is not a baseline.", heading=HEADING)
    return system


@contextmanager
def _predictions(row: DryRun) -> Iterator[TemporaryUploadedFile]:
    """Open the predictions as an uploaded file: the stored one, or a new run of the baseline."""
    name = "predictions.jsonl.gz" if str(row.file.name).endswith(".gz") else "predictions.jsonl"
    with TemporaryUploadedFile(name, "application/x-ndjson", 0, None) as file:
        content = cast(IO[bytes], file.file)
        try:
            with run_dry_run.predictions(row) as stored:
                shutil.copyfileobj(stored, content)
        except SandboxError as error:
            log.error("sandbox_unavailable", error=str(error))
            message = "The server's sandbox does not respond. Try again soon."
            raise Refused(Code.SANDBOX_UNAVAILABLE, message, heading=HEADING) from error
        except (NoAnswerError, UnsuitableGoldError, FileNotFoundError, AlteredError) as error:
            log.error("baseline_failed", error=type(error).__name__, dry_run=row.pk)
            raise Refused(
                Code.NOT_READY, f"The predictions of {row.name} could not be reproduced.", heading=HEADING
            ) from error
        file.size = content.tell()
        file.seek(0)
        scored = row.result.get("predictions_sha256", "")
        if scored and scored != sha256_of(file):
            message = f"{row.name} no longer makes the predictions that were scored, because the server was upgraded."
            raise Refused(Code.NOT_READY, message, heading=HEADING)
        file.seek(0)
        yield file
