"""Submission of a dry run's baseline to a phase: the same predictions become an ordinary submission.

The predictions are scored again, so the baseline's row on the leaderboard has outcomes, intervals and a receipt like
any other row. The submission uses quota. No score of the dry run is reused.
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

from evaluator.tasks.registry import TASKS
from leaderboard.accounts.actions import teams
from leaderboard.core import db_clock
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import AlteredError
from leaderboard.core.uploads import sha256_of
from leaderboard.curation.actions import run_dry_run
from leaderboard.curation.actions.run_dry_run import UnsuitableGoldError
from leaderboard.curation.queries.dry_run_report import has_settings_of
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    ACTIVE,
    AuditEntry,
    Benchmark,
    DryRun,
    Membership,
    Phase,
    State,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.submissions.actions import submit as submissions
from leaderboard.work_queue.work import NotRetryableError

log = structlog.get_logger(__name__)
HEADING = "The baseline was not submitted"


def active_submissions(benchmark: Benchmark) -> dict[tuple[int, str], Submission]:
    """Return the submissions of the benchmark's baselines team, by (phase id, name of the baseline).

    Failed, rejected and cancelled submissions are left out, so that their baselines can be submitted again.
    """
    # A sealed phase has no runs yet.
    lasting = (*ACTIVE, State.DONE)
    is_active = Q(predictions__runs=None) | Q(predictions__runs__state__in=lasting)
    rows = Submission.objects.filter(
        is_active,
        predictions__state__in=lasting,
        phase__benchmark=benchmark,
        system__kind=System.Kind.BASELINE,
        system__team__baselines_of=benchmark,
    )
    return {(row.phase_id, row.system.name): row for row in rows.select_related("system").distinct()}


def is_eligible(row: DryRun, phase: Phase) -> bool:
    """Return True if a dry run on the phase's split has finished with scores.

    Its settings (options and groups) must be those that the phase or the split has now.
    """
    is_done = row.state == State.DONE and row.gold.split_id == phase.split_id
    return is_done and (has_settings_of(row, None) or has_settings_of(row, phase))


def phase_accepts(phase: Phase) -> bool:
    """Return True if the phase accepts predictions files and is open now."""
    return phase.takes_predictions and phase.is_open()


def submit(*, row: DryRun, phase: Phase, by: User, track: str = "") -> Submission:
    """Submit the baseline of a dry run to a phase, as the benchmark's baselines team, which is created on first use.

    track: the phase's track in which the baseline competes; empty: none. Raises Refused: NOT_AN_ORGANISER; NOT_READY
    if the dry run is not done for this phase, or its predictions cannot be reproduced exactly; NAME_TAKEN if the
    baseline is submitted to the phase already; and the codes of `submissions.submit`.
    """
    if not phase.benchmark.is_managed_by(by):
        raise Refused(Code.NOT_AN_ORGANISER, "You are not an organiser of this benchmark.", heading=HEADING)
    submissions.check_open(phase, db_clock.read())
    if not is_eligible(row, phase):
        raise Refused(
            Code.NOT_READY,
            f"{row.name} was not scored for {phase.title}; expected a finished dry run with the settings of this "
            "phase or of the split.",
            heading=HEADING,
        )
    if row.inputs_sha256 != phase.split.inputs_sha256:
        raise Refused(
            Code.CHANGED_MEANWHILE,
            f"The inputs of {phase.split.name} were replaced after {row.name} was scored; score it again first.",
            heading=HEADING,
        )
    check = partial(_check_not_submitted, row, phase)
    check()
    system = _system(row, _team(phase.benchmark, by))
    with _predictions(row) as file:
        # Checked again under the phase's lock: two concurrent requests both pass the check above.
        accepted = submissions.submit(phase=phase, system=system, file=file, by=by, track=track, check=check)
    AuditEntry.record("dry_run.submitted", phase, by=by, name=row.name, submission=str(accepted.submission.pk))
    return accepted.submission


def _check_not_submitted(row: DryRun, phase: Phase) -> None:
    if (phase.pk, row.name) in active_submissions(phase.benchmark):
        raise Refused(Code.ALREADY_EXISTS, f"{row.name} was already submitted to {phase.title}.", heading=HEADING)


@transaction.atomic
def _team(benchmark: Benchmark, by: User) -> Team:
    """Return the benchmark's baselines team, and make `by` a member; create the team if there is none.

    Baselines have a separate team because they should not use the quota and the name of an organiser's team.
    """
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
    """Create the benchmark's baselines team with `by` as its owner.

    The name of the team, which is reserved, gets a number from 2 to 98 if another team took the name earlier. Raises
    Refused NAME_TAKEN if all these names are taken.
    """
    name = f"Baselines of {benchmark.slug}"
    for number in range(2, 100):
        try:
            return teams.create(name=name, by=by, is_baselines=True)
        except Refused as refused:
            if refused.code is not Code.NAME_TAKEN:
                raise
        name = f"Baselines of {benchmark.slug} ({number})"
    raise Refused(
        Code.NAME_TAKEN,
        f"The team of the baselines needs a name, but Baselines of {benchmark.slug} and the same name with (2) to "
        "(98) are taken. Rename one of those teams.",
        heading=HEADING,
    )


def _system(row: DryRun, team: Team) -> System:
    """Return the system of a dry run's baseline in the baselines team `team`.

    A new system is not saved here, but with its first accepted submission, like every system. Raises Refused NAME_TAKEN
    if the team has a system of this name that is not a baseline.
    """
    system = teams.find_system(team=team, name=row.name)
    if system.pk is None:
        docs = {baseline.name: baseline.doc for baseline in TASKS[row.gold.split.dataset.task].baselines}
        system.kind = System.Kind.BASELINE
        system.description = docs.get(row.name, "") if row.kind == DryRun.Kind.TRIVIAL else ""
    elif system.kind != System.Kind.BASELINE:
        raise Refused(
            Code.NAME_TAKEN,
            f"{team} already has a system named {system}, which is not a baseline; score the baseline under another "
            "name.",
            heading=HEADING,
        )
    return system


@contextmanager
def _predictions(row: DryRun) -> Iterator[TemporaryUploadedFile]:
    """Yield the predictions of a dry run as an uploaded file: the stored file, or a new output of the baseline.

    Raises Refused: SANDBOX_UNAVAILABLE; NOT_READY if the predictions cannot be reproduced, or differ from those that
    were scored.
    """
    name = "predictions.jsonl.gz" if str(row.file.name).endswith(".gz") else "predictions.jsonl"
    with TemporaryUploadedFile(name, "application/x-ndjson", 0, None) as file:
        content = cast(IO[bytes], file.file)
        try:
            with run_dry_run.predictions(row) as stored:
                shutil.copyfileobj(stored, content)
        except sandbox_client.SandboxError as error:
            raise sandbox_client.unavailable("The predictions could not be made", error, heading=HEADING) from error
        except (NotRetryableError, UnsuitableGoldError, FileNotFoundError, AlteredError) as error:
            log.error("baseline_failed", kind="dry_run", id=str(row.pk), error=type(error).__name__)
            raise Refused(
                Code.CHANGED_MEANWHILE,
                f"The predictions of {row.name} could not be reproduced; remove its dry run and score it again.",
                heading=HEADING,
            ) from error
        file.size = content.tell()
        file.seek(0)
        scored = row.result.get("predictions_sha256", "")
        if scored and scored != sha256_of(file):
            message = (
                f"{row.name} no longer makes the predictions that were scored, because the server was upgraded. "
                "Remove its dry run and score it again."
            )
            raise Refused(Code.NOT_READY, message, heading=HEADING)
        file.seek(0)
        yield file
