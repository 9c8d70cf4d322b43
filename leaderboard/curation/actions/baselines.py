"""Baselines of the task on a phase: the server computes their predictions, and they are systems like any others.

A baseline reads what participants have: the phase's inputs and the dataset's public gold. Its submission belongs to the
benchmark's baselines team. A worker computes the predictions in the sandbox, and from then on they go the way of an
uploaded file: scored, released, and shown on the board without a rank.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.core.files.base import File
from django.db import transaction
from django.db.models import Q

from evaluator.tasks.baselines.base import Baseline
from evaluator.tasks.registry import TASKS
from leaderboard.accounts.actions import teams
from leaderboard.boards.actions import tracks
from leaderboard.boards.queries import board_state
from leaderboard.core import db_clock
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.core.storage import AlteredError, check_digest, deleted_on_failure, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    ACTIVE,
    AuditEntry,
    Benchmark,
    GoldVersion,
    Membership,
    Phase,
    Prediction,
    Reason,
    Split,
    State,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions import submit as submissions
from leaderboard.submissions.actions import validation
from leaderboard.submissions.actions.validation import problem
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import STORAGE_ERRORS, Failure, NotRetryableError, Urgency, Work

HEADING = "The baselines were not submitted"
MAX_TRAIN_FILES = sandbox_client.MAX_FILES - 2


def submitted(phase: Phase) -> dict[str, Submission]:
    """Return the last submission to a phase of each system of its benchmark's baselines team, by the system's name.

    Failed, rejected and cancelled submissions are left out, so that their baselines can be submitted again.
    """
    lasting = (*ACTIVE, State.DONE)
    rows = phase.submissions.filter(
        Q(predictions__runs=None) | Q(predictions__runs__state__in=lasting),  # a sealed phase has no runs yet
        predictions__state__in=lasting,
        system__team__baselines_of=phase.benchmark_id,
    )
    return {row.system.name: row for row in rows.select_related("system").order_by("received_at").distinct()}


def put(*, phase: Phase, by: User, track: str = "") -> list[Submission]:
    """Submit each baseline of the task that is not submitted to the phase yet, and queue its computation.

    It uses no quota. track: the phase's track in which the baselines compete; empty: none. Raises Refused:
    NOT_AN_ORGANISER; PHASE_CLOSED; the codes for a wrong track; NOT_READY for a phase without gold or inputs;
    NAME_TAKEN if no team or system of the baselines can be created.
    """
    check_manages(phase.benchmark, by)
    at = db_clock.read()
    submissions.check_open(phase, at)
    submissions.data_of(phase)
    tracks.check_known(phase=phase, track=track)
    with transaction.atomic():
        team = _team(phase.benchmark, by)
        # Two concurrent requests would submit each baseline twice.
        phase.split = runs.lock_split(phase)
        submissions.check_in_use(phase)
        existing = submitted(phase)
        missing = [baseline for baseline in TASKS[phase.benchmark.task].baselines if baseline.name not in existing]
        made = [
            submissions.create_and_charge(
                phase=phase,
                entry=submissions.Entry(system=_system(baseline, team), by=by, track=track),
                at=at,
                is_charged=False,
            )
            for baseline in missing
        ]
        for submission in made:
            _queue(submission)
        if made:
            AuditEntry.record("baselines.submitted", phase, by=by, names=[baseline.name for baseline in missing])
    return made


def _queue(submission: Submission) -> None:
    prediction = Prediction.objects.create(
        submission=submission,
        name="predictions.jsonl",
        inputs_sha256=submission.phase.split.inputs_sha256,
        queued_at=submission.received_at,
        enqueued_at=db_clock.now(),
    )
    WORK.enqueue(prediction)


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


def _system(baseline: Baseline, team: Team) -> System:
    """Return the system of a baseline in the baselines team, unsaved if it is new.

    Raises Refused NAME_TAKEN if the team has a system of this name that is not a baseline.
    """
    system = teams.find_system(team=team, name=baseline.name)
    if system.pk is None:
        system.kind, system.description = System.Kind.BASELINE, baseline.doc
    elif system.kind != System.Kind.BASELINE:
        raise Refused(
            Code.NAME_TAKEN, f"{team} already has a system named {system}, which is not a baseline.", heading=HEADING
        )
    return system


def _compute(lease: Lease[Prediction]) -> None:
    row, submission = lease.row, lease.row.submission
    phase = submission.phase
    gold = board_state.gold_of(phase)
    if gold is None:
        raise AlteredError("the split has no gold any more")
    options = {**phase.split.options, **phase.options}
    answer = _answer(row, phase.split, gold, submission.system.name, options)
    if not answer.ok:
        raise NotRetryableError(answer.reason or Reason.BAD_GOLD)
    if not answer.attachment:
        validation.reject(lease, [problem("The baseline makes no predictions for these inputs and this public gold.")])
        return
    with tempfile.TemporaryFile(dir=settings.FILE_UPLOAD_TEMP_DIR) as output:
        output.write(answer.attachment)
        output.seek(0)
        values = {"sha256": sha256_of(output), "bytes": len(answer.attachment), "n_lines": answer.report["n_lines"]}
        output.seek(0)
        # Only this attempt writes to this name.
        stored = row.file.storage.save(f"{row.pk.hex}-{lease.attempt}.jsonl", File(output))
    with deleted_on_failure(row.file.storage, stored):
        validation.accept(lease, file=stored, **values)


def _answer(
    row: Prediction, split: Split, gold: GoldVersion, baseline: str, options: dict[str, Any]
) -> sandbox_client.Answer:
    trains = _public_gold(split)
    with ExitStack() as stack:
        files = {"inputs": stack.enter_context(opened(split.inputs, sha256=split.inputs_sha256))}
        check_digest(files["inputs"], row.inputs_sha256)
        for index, train in enumerate(trains):
            files[str(index)] = stack.enter_context(opened(train.file))
            check_digest(files[str(index)], train.sha256)
        return sandbox_client.baseline(
            files,
            task=split.dataset.task,
            baseline=baseline,
            inputs_name=sandbox_client.INPUTS,
            train_names=[str(train.file.name) for train in trains],
            expects=gold.expects,
            options=options,
        )


def _public_gold(split: Split) -> list[GoldVersion]:
    """Return the current gold of the dataset's other splits whose gold is public, from which baselines may learn.

    At most MAX_TRAIN_FILES gold versions are returned, those of the splits that were created first.
    """
    others = split.dataset.splits.filter(gold_public=True).exclude(pk=split.pk).order_by("pk")
    return [gold for other in others if (gold := other.current_gold) is not None][:MAX_TRAIN_FILES]


WORK = Work(
    name="baseline",
    rows=Prediction.objects.filter(submission__kind=Submission.Kind.PREDICTIONS, file="").select_related(
        "submission__phase__split__dataset", "submission__phase__benchmark", "submission__system"
    ),
    do=_compute,
    urgency=Urgency.CURATION,
    errors={STORAGE_ERRORS: Failure(Reason.STORAGE)},
    on_failure=validation.on_failure,
    submission_of=lambda prediction: prediction.submission_id,
)
