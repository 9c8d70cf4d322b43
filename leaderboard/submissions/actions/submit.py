"""Submission of predictions: the file is validated, then the quota is charged and a run queued in one transaction.

For a large file the quota is charged first, and the file is validated in the background (`validation`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, NamedTuple, cast

import structlog
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.db.models import Exists, OuterRef, Subquery

from evaluator.jsonl.decompress import is_packed
from leaderboard.accounts.actions import membership, teams
from leaderboard.boards.actions import facts, tracks
from leaderboard.boards.queries import board_state
from leaderboard.boards.queries.facts import Value
from leaderboard.core import db_clock, time_zones
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import deleted_on_failure, save_unique
from leaderboard.core.uploads import sha256_of
from leaderboard.models import (
    AuditEntry,
    Bar,
    Benchmark,
    GoldVersion,
    Image,
    Membership,
    Phase,
    Prediction,
    QuotaCharge,
    Run,
    State,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.models.benchmark import FIXED_ONCE_SUBMITTED
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions import failure_limit, idempotency, refused_uploads, registrations, validation
from leaderboard.submissions.queries import deadlines
from leaderboard.submissions.queries.quotas import first_of_phase, quota_of

log = structlog.get_logger(__name__)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is submitted besides the predictions or the image.

    system: may be unsaved, as `teams.find_system` returns it; the first accepted submission saves it.
    by: the user who submits.
    track: the name of one of the phase's tracks; empty if the phase has none.
    note: for the team's list of its submissions; never published.
    stated: values of the system's facts, stored with the submission as `facts.state` does.
    """

    system: System
    by: User
    track: str = ""
    note: str = ""
    stated: Mapping[str, Value | None] | None = None

    def key_of(self, text: str, **content: Any) -> idempotency.Key | None:
        """Return the idempotency key of a request that submits this; None for an empty text.

        content: what else the request submits, as for `idempotency.key_of`.
        """
        return idempotency.key_of(
            text,
            team=self.system.team_id,
            system=self.system.name,
            track=self.track,
            note=self.note,
            stated=self.stated,
            **content,
        )


class Accepted(NamedTuple):
    """The rows stored for an accepted predictions file.

    run: None in a sealed phase, and for a large file, which is validated first.
    """

    submission: Submission
    prediction: Prediction
    run: Run | None


def submit(
    *,
    phase: Phase,
    entry: Entry,
    file: UploadedFile,
    check: Callable[[], None] | None = None,
    idempotency_key: str = "",
) -> Accepted:
    """Accept a predictions file and return its rows, or raise Refused and store nothing but an audit entry.

    A refused file costs no quota. A large file is accepted before it is validated; if it is invalid, the quota charge
    is refunded. The submission and its queued run or validation are committed before a worker is notified.

    check: called with the split locked before anything is charged; it may raise Refused. None: nothing is called.
    idempotency_key: chosen by the client, see `idempotency`; empty: none.
    Raises idempotency.RepeatedError if the same was submitted with the same key before. Raises Refused: NOT_ACCEPTED if
    the phase takes only images; CHANGED_MEANWHILE if the inputs or the phase were changed meanwhile; and the codes of
    `idempotency.check_unused`, `check_may_submit` and `validation.validate_now`.
    """
    by = entry.by
    key = entry.key_of(idempotency_key, phase=phase.pk, file=sha256_of(file))
    idempotency.check_unused(key, by)
    if not phase.takes_predictions:
        raise Refused(Code.NOT_ACCEPTED, "This phase accepts only container images, not predictions files.")
    gold, received_at = check_may_submit(phase=phase, entry=entry)
    name = (file.name or "predictions.jsonl")[-255:]
    if validation.is_large(file.size or 0, packed=is_packed(name)):
        refused_uploads.check(by=by)
        state = {"state": State.QUEUED, "enqueued_at": db_clock.now()}
    else:
        n_lines, warnings = validation.validate_now(
            split=phase.split,
            gold=gold,
            file=cast(IO[bytes], file.file),
            name=name,
            options=phase.options,
            action="submission.refused",
            subject=phase,
            by=by,
        )
        state = {"state": State.DONE, "finished_at": received_at, "n_lines": n_lines, "warnings": warnings}
    prediction = Prediction(
        name=name,
        sha256=sha256_of(file),
        bytes=file.size or 0,
        inputs_sha256=phase.split.inputs_sha256,
        queued_at=received_at,
        **state,
    )
    file.seek(0)
    storage, field = prediction.file.storage, prediction.file.field
    stored = save_unique(storage, field.generate_filename(prediction, name), file)
    prediction.file = stored
    with deleted_on_failure(storage, stored), accepting(phase=phase, by=by, key=key):
        if check is not None:
            check()
        if phase.split.inputs_sha256 != prediction.inputs_sha256:
            raise Refused(
                Code.CHANGED_MEANWHILE,
                "The phase's inputs were replaced while your file was checked. Download the new inputs, and submit "
                "predictions for them.",
                heading="The inputs were replaced in the meantime",
            )
        gold = board_state.gold_of(phase) or gold
        submission = create_and_charge(phase=phase, entry=entry, at=received_at, key=key)
        prediction.submission = submission
        run = None
        if prediction.state == State.DONE:
            run = runs.on_prediction_ready(split=phase.split, phase=phase, prediction=prediction, gold=gold)
        else:
            prediction.save(force_insert=True)
            validation.WORK.enqueue(prediction)
        AuditEntry.record("submission.accepted", submission, by=by, sha256=prediction.sha256)
    return Accepted(submission, prediction, run)


def check_file(*, phase: Phase, file: UploadedFile, by: User) -> tuple[int, list[str]]:
    """Validate a predictions file without submitting it; return its number of lines and the warnings about it.

    The check costs no quota, but its processor time counts for the limit in `refused_uploads`. Raises Refused as
    `submit` does, and TOO_LARGE for a file that is too large to be validated during the request.
    """
    if not phase.takes_predictions:
        raise Refused(Code.NOT_ACCEPTED, "This phase accepts only container images, not predictions files.")
    check_open_to(phase, by, db_clock.read())
    registrations.check_person(benchmark=phase.benchmark, by=by)
    gold = data_of(phase)
    name = (file.name or "predictions.jsonl")[-255:]
    if validation.is_large(file.size or 0, packed=is_packed(name)):
        raise Refused(
            Code.TOO_LARGE,
            "This file is too large to be checked without a submission. Check it with `holdout-eval validate` instead.",
        )
    return validation.validate_now(
        split=phase.split,
        gold=gold,
        file=cast(IO[bytes], file.file),
        name=name,
        options=phase.options,
        action="submission.refused",
        subject=phase,
        by=by,
        only_check=True,
    )


def check_may_submit(*, phase: Phase, entry: Entry) -> tuple[GoldVersion, datetime]:
    """Check everything about a submission that needs no sandbox: team, dates, track, data, scorer and quota.

    Returns (the phase's current gold, the time of receipt by the database's clock). Raises Refused: the codes of
    `registrations.check`, BARRED, NOT_A_MEMBER, NOT_AN_ORGANISER, OTHER_TEAM, PHASE_CLOSED, QUOTA_EXCEEDED, the codes
    for a wrong track, and NOT_READY for a phase without gold or inputs or with a failing scorer. `create_and_charge`
    checks team, scorer, quota and track again with the rows locked.
    """
    team = entry.system.team
    at = _check_team(phase=phase, system=entry.system, by=entry.by)
    check_open(phase, at, team=team)
    tracks.check(phase=phase, system=entry.system, track=entry.track)
    gold = data_of(phase)
    failure_limit.check(phase=phase, team=team)
    _check_quota(phase=phase, team=team, at=at)
    return gold, at


def data_of(phase: Phase) -> GoldVersion:
    """Return the phase's current gold. Raises Refused NOT_READY if the phase's split has no gold or no inputs."""
    gold = board_state.gold_of(phase)
    if gold is None or not phase.split.inputs:
        missing = "gold" if gold is None else "inputs"
        raise Refused(
            Code.NOT_READY,
            f"This phase has no {missing} yet; its organisers are still preparing it.",
            heading="This phase is not ready",
        )
    return gold


def _check_team(*, phase: Phase, system: System, by: User) -> datetime:
    """Raise Refused unless the user may submit for the system's team; return the time by the database's clock.

    A new system of a team reserved for a benchmark's baselines becomes a baseline. Codes: NOT_A_MEMBER if the user is
    not in the team; NOT_AN_ORGANISER for such a team, unless the user manages that benchmark; OTHER_TEAM if the user
    competes in this phase for another team; BARRED; RULES_NOT_AGREED and NOT_REGISTERED as `registrations.check` does.
    """
    # One statement: this is checked twice for each submission.
    is_member, official, bound, is_barred, at = (
        Team.objects.filter(pk=system.team_id)
        .values_list(
            Exists(Membership.objects.filter(team=OuterRef("pk"), user=by)),
            Subquery(Benchmark.objects.filter(baselines_team=OuterRef("pk")).values("pk")[:1]),
            Subquery(first_of_phase(phase=phase, user=by).values("system__team")[:1]),
            Exists(Bar.objects.against(benchmark=phase.benchmark_id, team=OuterRef("pk"), user=by)),
            db_clock.column(),
        )
        .first()
    ) or (False, None, None, False, None)  # the team was deleted
    if not is_member:
        raise Refused(Code.NOT_A_MEMBER, "You are not a member of the system's team.")
    if official is not None and not (official == phase.benchmark_id and phase.benchmark.is_managed_by(by)):
        message = (
            f"The team {system.team} is reserved for the baselines of {Benchmark.objects.get(pk=official)}; only those "
            "who manage the benchmark may submit for it."
        )
        raise Refused(Code.NOT_AN_ORGANISER, message)
    if official is not None and system.pk is None:
        system.kind = System.Kind.BASELINE
    if is_barred:
        raise registrations.barred_error(phase.benchmark)
    registrations.check(benchmark=phase.benchmark, team=system.team, by=by)
    if system.kind == System.Kind.PARTICIPANT and bound is not None and bound != system.team_id:
        own_team = by.teams.filter(pk=bound).first()
        whose = str(own_team) if own_team else "another team"
        raise Refused(
            Code.OTHER_TEAM,
            f"You have submitted to this phase for {whose}; you can compete for only one team in a phase.",
        )
    return cast(datetime, at)


def check_open(phase: Phase, at: datetime, *, team: Team | None = None) -> None:
    """Raise Refused PHASE_CLOSED if the phase accepts no submissions of the team at `at`.

    team: None for a team without an extension of the deadline.
    """
    check_in_use(phase)
    if not deadlines.is_open(phase, team=team, at=at):
        raise Refused(Code.PHASE_CLOSED, _closed_message(phase, at))


def check_open_to(phase: Phase, by: User, at: datetime) -> None:
    """Raise Refused PHASE_CLOSED if the phase is closed to all of the user's teams at `at`."""
    check_in_use(phase)
    if not deadlines.is_open_to(phase, by, at):
        raise Refused(Code.PHASE_CLOSED, _closed_message(phase, at))


def check_in_use(phase: Phase) -> None:
    """Raise Refused PHASE_CLOSED if the phase's split is a draft or retired."""
    if phase.is_in_use:
        return
    if phase.split.is_draft:
        raise Refused(
            Code.PHASE_CLOSED,
            "The data of this phase are not published yet; the phase accepts no submissions until they are.",
        )
    raise Refused(
        Code.PHASE_CLOSED,
        "The data of this phase are retired, and the phase accepts no more submissions. Reason: "
        f"{phase.split.retired_reason}",
    )


def _closed_message(phase: Phase, at: datetime) -> str:
    if phase.opens_at and at < phase.opens_at:
        return f"This phase opens at {time_zones.describe(phase.opens_at, phase.time_zone)}."
    assert phase.closes_at is not None
    return f"This phase closed at {time_zones.describe(phase.closes_at, phase.time_zone)}."


def _check_quota(*, phase: Phase, team: Team, at: datetime) -> None:
    quota = quota_of(phase=phase, team=team, at=at)
    if quota.left_of_all == 0:
        raise Refused(
            Code.QUOTA_EXCEEDED,
            f"All {quota.of_all} submissions that this phase allows for all teams together are used.",
        )
    if quota.left_total == 0:
        raise Refused(Code.QUOTA_EXCEEDED, f"{team} has used all {quota.total} submissions of this phase.")
    if quota.left_today == 0:
        raise Refused(
            Code.QUOTA_EXCEEDED,
            f"{team} has used {quota.used_today} of {quota.per_day} submissions today; the quota "
            f"resets at {quota.resets_at:%Y-%m-%d %H:%M} UTC.",
            retry_at=quota.resets_at,
        )


@contextmanager
def accepting(*, phase: Phase, by: User, key: idempotency.Key | None) -> Iterator[None]:
    """Hold the lock of the phase's split, in a transaction that accepts a submission, and read the split again.

    key: the request's idempotency key. Raises Refused PHASE_CLOSED as `check_in_use` does; and as
    `idempotency.check_unused`, also at the end, if the key was stored for another split in the meantime.
    """
    with idempotency.stored_once(key, by), transaction.atomic():
        phase.split = runs.lock_split(phase)
        idempotency.check_unused(key, by)
        check_in_use(phase)
        yield


def create_and_charge(
    *,
    phase: Phase,
    entry: Entry,
    at: datetime,
    image: Image | None = None,
    key: idempotency.Key | None = None,
    is_charged: bool = True,
) -> Submission:
    """Create a submission, charge its team's quota, and store the values of facts that were stated with it.

    An unsaved system is saved. at: time of receipt. image: the submitted container image; None for a predictions file.
    key: the request's idempotency key. is_charged: False for what the server submits itself, which neither needs nor
    uses quota. Call within `accepting`, or without a key where the phase's split is locked. Raises Refused as
    `check_may_submit` and `_read_again` do.
    """
    system, by = entry.system, entry.by
    # The lock lets a team's concurrent submissions proceed one after another: none exceeds the quota.
    team = membership.held(system.team)
    # Checked again under the locks: the user may have left the team or submitted for another one in the meantime.
    _check_team(phase=phase, system=system, by=by)
    if is_charged:
        failure_limit.check(phase=phase, team=team)
        _check_quota(phase=phase, team=team, at=at)
    if system.pk is None:
        system = teams.system(team=team, name=system.name, by=by, kind=system.kind, description=system.description)
    _read_again(phase)
    tracks.check(phase=phase, system=system, track=entry.track)
    kind = Submission.Kind.IMAGE if image else Submission.Kind.PREDICTIONS
    submission = Submission(
        phase=phase,
        system=system,
        kind=kind,
        image=image,
        track=entry.track,
        submitted_by=by,
        received_at=at,
        note=entry.note,
    )
    if key is not None:
        submission.idempotency_key, submission.idempotency_digest = key
    submission.save(force_insert=True)
    if is_charged:
        QuotaCharge.objects.create(submission=submission, phase=phase, team=team, charged_at=at)
    if entry.stated:
        facts.state(system=system, stated=entry.stated, by=by)
    transaction.on_commit(lambda: log.info("submission_received", submission=str(submission.pk)), robust=True)
    return submission


def _read_again(phase: Phase) -> None:
    """Read the phase's tracks again now that the split is locked, since tracks may have been added meanwhile.

    Raises Refused: PHASE_CLOSED if a sealed phase was unsealed meanwhile; CHANGED_MEANWHILE if organisers have changed
    any of the FIXED_ONCE_SUBMITTED fields of the phase, against which the submission was checked, or published a draft.
    """
    fields = ("tracks", "unsealed_at", "benchmark__state", *FIXED_ONCE_SUBMITTED)
    current = Phase.objects.select_related("benchmark").only(*fields).get(pk=phase.pk)
    phase.tracks = current.tracks
    if current.unsealed_at is not None:
        raise Refused(
            Code.PHASE_CLOSED,
            "Checking your submission took so long that the phase was unsealed meanwhile. Nothing was submitted, and "
            "no quota was used.",
        )
    names = [field.attname for field in Phase._meta.concrete_fields if field.name in FIXED_ONCE_SUBMITTED]
    was_published = phase.benchmark.is_draft and not current.benchmark.is_draft
    if was_published or any(getattr(phase, name) != getattr(current, name) for name in names):
        raise Refused(
            Code.CHANGED_MEANWHILE,
            "The organisers changed the phase while your submission was checked. Submit again.",
            heading="The phase was changed in the meantime",
        )
