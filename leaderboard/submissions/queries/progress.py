"""Progress of submissions for pages and API: state, reason, queue position, receipt, and the revealed scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID

from django.core.files import File
from django.db.models import Case, F, OuterRef, Prefetch, Q, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce
from django.http import Http404
from django.shortcuts import get_object_or_404

from leaderboard.boards.queries.board_state import primary_value
from leaderboard.boards.queries.submission_result import SubmissionResult, result_of
from leaderboard.models import HiddenSubmission, Leaderboard, Phase, Prediction, Reason, Release, Run, State, Submission
from leaderboard.work_queue import worker_status


class Revealed(StrEnum):
    """Kinds of information that a phase reveals about a submission's scores to its team."""

    NOTHING = "nothing"
    """There are no scores yet, or there will be none."""
    SCORES = "scores"
    NO_IMPROVEMENT = "no_improvement"
    """The phase is a ladder, and the submission does not beat the best revealed score by a step."""
    SEALED = "sealed"
    """The predictions are valid, and the phase is sealed; finals are scored when it is unsealed."""
    NOT_FINAL = "not_final"
    """The phase was unsealed, and the submission is none of its team's finals."""


@dataclass(frozen=True)
class Progress:
    """A submission with its latest prediction, that prediction's current run (`current_run`), and the run's release.

    prediction, run, release: None until there is one. for_manager: True if the viewer manages the benchmark.
    """

    submission: Submission
    prediction: Prediction | None
    run: Run | None
    release: Release | None
    for_manager: bool = False

    @property
    def _leased_work(self) -> Prediction | Run | None:
        """Return the row whose state is the submission's state: the prediction until it is done, then its run.

        None if there is neither yet.
        """
        waits = self.prediction is not None and self.prediction.state != State.DONE
        return self.prediction if waits or self.run is None else self.run

    @property
    def _is_held(self) -> bool:
        """Return whether the run is scored but waits for earlier runs on a ladder, or for its release to be ranked.

        The submission is shown as running meanwhile.
        """
        if self.run is None or self._leased_work is not self.run or self.run.state != State.DONE:
            return False
        phase = self.submission.phase
        if self.release is None:
            return phase.disclosure == Phase.Disclosure.LADDER
        return self.release.sequence > phase.ranked_sequence

    @property
    def state(self) -> State:
        if self._is_held:
            return State.RUNNING
        return State(self._leased_work.state) if self._leased_work else State.QUEUED

    @property
    def reason(self) -> Reason:
        return Reason(self._leased_work.reason) if self._leased_work else Reason.NONE

    @property
    def is_over(self) -> bool:
        return self._leased_work is not None and self._leased_work.is_over and not self._is_held

    @property
    def finished_at(self) -> datetime | None:
        return self._leased_work.finished_at if self._leased_work and self.is_over else None

    @property
    def revealed(self) -> Revealed:
        if self.release is not None:
            return Revealed.SCORES if self.release.values else Revealed.NO_IMPROVEMENT
        phase = self.submission.phase
        if phase.disclosure == Phase.Disclosure.SEALED and self.state == State.DONE:
            return Revealed.SEALED if phase.is_sealed else Revealed.NOT_FINAL
        return Revealed.NOTHING

    @property
    def is_final(self) -> bool:
        """Return whether the submission is one of its team's finals in a sealed phase, chosen or by default."""
        return getattr(self.submission, "final", None) is not None

    @property
    def hidden(self) -> HiddenSubmission | None:
        """Return the row that hides the submission from boards now, with date and reason; None if it is not hidden.

        If both the organisers and the team hide the submission, the organisers' row is returned.
        """
        row: HiddenSubmission | None = _first(self.submission.hidings.all())
        return row

    @cached_property
    def result(self) -> SubmissionResult | None:
        """Return the submission's result on the current board: its system's rank, and differences from other scores.

        None unless the submission is scored, not hidden, and its system on that board.
        """
        if self.release is None or not self.is_over or self.hidden:
            return None
        return result_of(self.release)

    @property
    def is_taken_off(self) -> bool:
        """Return whether the team itself hides the submission."""
        return any(row.by_team for row in self.submission.hidings.all())

    @property
    def is_refunded(self) -> bool:
        charge = getattr(self.submission, "charge", None)
        return charge is not None and charge.refunded_at is not None

    @cached_property
    def queue_position(self) -> int | None:
        """Return the number of runs, containers or validations ahead of the submission's in their queue.

        None if the submission is not queued. Runs and validations start in the order in which they were queued. Teams
        take turns with their containers.
        """
        work = self._leased_work
        if work is None or work.state != State.QUEUED:
            return None
        if self.wait is not None:
            return self.wait.ahead
        # Containers and validations of uploaded files wait in different queues.
        same = {"submission__kind": self.submission.kind} if work is self.prediction else {}
        return type(work)._default_manager.filter(state=State.QUEUED, queued_at__lt=work.queued_at, **same).count()

    @cached_property
    def wait(self) -> worker_status.Wait | None:
        """Return the estimated wait of the submission's container; None unless a container is queued."""
        if not self.is_container or self.prediction is None or self.prediction.state != State.QUEUED:
            return None
        queue = worker_status.queue_of(self.submission.phase)
        return worker_status.wait_in(queue, team=self.submission.system.team_id, before=self.prediction.queued_at)

    @property
    def warnings(self) -> list[str]:
        """Return the distinct warnings about the predictions: from the validation, then from the scoring.

        Of the warnings from the scoring, only those are returned that the phase reveals.
        """
        sources = [source for source in (self.prediction, self.release) if source]
        return list(dict.fromkeys(warning for source in sources for warning in source.warnings))

    @property
    def problems(self) -> list[dict[str, Any]]:
        sources = [source.problems for source in (self.prediction, self.run) if source]
        return [problem for problems in sources for problem in problems]

    @property
    def is_container(self) -> bool:
        """Return whether a container writes the predictions."""
        return self.submission.kind == Submission.Kind.IMAGE

    @property
    def container_waits_or_runs(self) -> bool:
        """Return whether the submission's container is queued or running."""
        return self.is_container and self.prediction is not None and not self.prediction.is_over

    @property
    def is_being_validated(self) -> bool:
        """Return whether an uploaded predictions file waits to be validated or is being validated in the background."""
        return self._is_made_now and bool(self.prediction and self.prediction.file)

    @property
    def is_being_computed(self) -> bool:
        """Return whether the predictions are those of a baseline, and wait for the server or are being computed."""
        return self._is_made_now and not self.is_being_validated

    @property
    def _is_made_now(self) -> bool:
        return not self.is_container and self.prediction is not None and not self.prediction.is_over

    @property
    def stage(self) -> str:
        """Return the current stage of the predictions: `validating` (an uploaded file) or a container's `Stage`.

        Empty if neither applies.
        """
        if self.is_being_validated:
            return "validating"
        return self.prediction.stage if self.prediction else ""

    @property
    def file_is_shown(self) -> bool:
        """Return whether the team may download the predictions.

        The team may not if a container wrote them and the phase's inputs are hidden: a container could copy the inputs
        into its predictions.
        """
        return not self.is_container or self.submission.phase.split.inputs_public

    @property
    def log(self) -> str:
        """Return the container's log if the phase shows logs to the submission's team, else an empty string."""
        shown = self.prediction is not None and self.submission.phase.logs_are_shown
        return self.prediction.log if shown and self.prediction else ""

    @property
    def receipt(self) -> dict[str, Any]:
        """Return the provenance of the scores; empty until there are scores.

        If the phase's inputs are hidden, values that a container can control (the digest of its predictions, times) are
        left out: the container could encode the inputs in them. The digest of hidden gold, and the seed that follows
        from it, are only for managers of the benchmark: anybody could use them to test guesses about the gold offline.
        """
        if self.run is None or self._is_held or not self.run.provenance:
            return {}
        left_out = set() if self.file_is_shown else {*_CONTAINER_CONTROLLED}
        if not (self.for_manager or self.submission.phase.split.gold_public):
            left_out |= {"gold_sha256", "seed"}
        shown = {name: value for name, value in self.run.provenance.items() if name not in left_out}
        return {**shown, "container": self.container} if self.is_container else shown

    @property
    def container(self) -> dict[str, Any]:
        """Return `image`, `runtime` and `limits` of the container's execution, by key; empty until it has ended."""
        execution = self.prediction.execution if self.prediction and self.is_container else {}
        return {name: execution[name] for name in ("image", "runtime", "limits") if name in execution}

    @property
    def value(self) -> float | None:
        """Return the revealed overall value of the primary measure; None if there is none."""
        return primary_value(self.release) if self.release else None

    @property
    def board_is_current(self) -> bool:
        return self.run is not None and _board(self.run) == Leaderboard.State.CURRENT


_CONTAINER_CONTROLLED = ("predictions_sha256", "seconds", "sandbox_start_seconds")

_BOARD = Subquery(
    Leaderboard.objects.filter(
        phase=OuterRef("prediction__submission__phase"),
        gold_version=OuterRef("gold_version"),
        task_version=OuterRef("task_version"),
    ).values("state")
)
_NEWEST = ("-gold_version__number", "-task_version", "-queued_at")
_LEAST_SHOWN = Case(
    When(Q(state=State.CANCELLED) | Q(board=Leaderboard.State.CANCELLED), then=2),
    When(board=Leaderboard.State.PREPARING, then=1),
    default=0,
)
"""Orders the runs of a prediction, annotated with `board`, as `current_run` prefers them."""
_HELD = Q(state=State.DONE) & (
    Q(release__sequence__gt=F("prediction__submission__phase__ranked_sequence"))
    | Q(release=None, prediction__submission__phase__disclosure=Phase.Disclosure.LADDER)
)
"""Condition on a run that is shown as running, as `Progress._is_held`."""


def with_related(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Return the queryset with all related rows that `of` and `published` read, in a fixed number of queries."""
    return submissions.select_related(
        "system__team", "phase__benchmark", "phase__split", "image", "submitted_by", "charge", "final"
    ).prefetch_related(
        Prefetch("predictions", Prediction.objects.order_by("-queued_at")),
        Prefetch(
            "predictions__runs", Run.objects.select_related("gold_version").annotate(board=_BOARD).order_by(*_NEWEST)
        ),
        Prefetch("hidings", HiddenSubmission.objects.now().order_by("by_team")),
        "releases",
    )


def state_column() -> Coalesce:
    """Return an expression for the state of a submission, equal to `Progress.state`."""
    runs = Run.objects.filter(prediction__submission=OuterRef("pk")).annotate(
        board=_BOARD, shown=Case(When(_HELD, then=Value(State.RUNNING)), default=F("state"))
    )
    # The prediction of a container has no run before the container has finished.
    predictions = Prediction.objects.filter(submission=OuterRef("pk")).order_by("-queued_at").values("state")
    current = runs.order_by(_LEAST_SHOWN, *_NEWEST).values("shown")
    return Coalesce(Subquery(current[:1]), Subquery(predictions[:1]))


def of(submission: Submission, *, for_manager: bool = False) -> Progress:
    """Return the progress of a submission that was fetched from a queryset of `with_related`."""
    prediction = _first(submission.predictions.all())
    run = current_run(list(prediction.runs.all())) if prediction else None
    release = _first(release for release in submission.releases.all() if run and release.run_id == run.pk)
    return Progress(submission, prediction, run, release, for_manager)


def of_accepted(submission: Submission, prediction: Prediction | None = None, run: Run | None = None) -> Progress:
    """Return the progress of a submission that was just accepted, without reading its rows from the database again.

    prediction: None if it is not known. run: the queued run of the prediction; None if there is none yet. Changes by a
    worker since then are left out.
    """
    # Where Django keeps related rows that it has read.
    if prediction is not None:
        vars(prediction)["_prefetched_objects_cache"] = {"runs": [run] if run else []}
    predictions = [prediction] if prediction else []
    vars(submission)["_prefetched_objects_cache"] = {"predictions": predictions, "hidings": [], "releases": []}
    submission._state.fields_cache["final"] = None
    return Progress(submission, prediction, run, None)


def published(progress: Progress) -> list[Progress]:
    """Return a submission's `Progress` on each public board, current or frozen, for which it has a release.

    Each has the run and release on that board; the newest gold version comes first.
    """
    submission = progress.submission
    releases = {release.run_id: release for release in submission.releases.all()}
    return [
        Progress(submission, prediction, run, releases[run.pk], progress.for_manager)
        for prediction in submission.predictions.all()
        for run in prediction.runs.all()
        if run.pk in releases and _board(run) in Leaderboard.PUBLIC
    ]


def current_run(runs: Sequence[Run]) -> Run | None:
    """Return the run of a prediction that its page shows; None if there are no runs.

    It is the first run for a current or frozen board, else the first that is not cancelled and whose board is not
    cancelled, else the first. Thus an ongoing or cancelled rescoring does not hide a submission's result. runs: sorted,
    the newest gold version first; each must have been fetched from a queryset of `with_related`.
    """
    active = [run for run in runs if run.state != State.CANCELLED and _board(run) != Leaderboard.State.CANCELLED]
    shown = [run for run in active if _board(run) != Leaderboard.State.PREPARING]
    return _first(shown or active or runs)


def _board(run: Run) -> str | None:
    """Return the state of the run's board, which `with_related` has annotated; None if the run has no board."""
    return getattr(run, "board", None)


def _first(rows: Iterable[Any]) -> Any:
    return next(iter(rows), None)


def progress_or_404(user: Any, pk: UUID) -> Progress:
    """Return the progress of the submission with the id `pk`.

    Raises Http404 unless the submission is of a team of the user or to a benchmark that the user manages.
    """
    submission = get_object_or_404(with_related(Submission.objects.visible_to(user)), pk=pk)
    return of(submission, for_manager=submission.phase.benchmark.is_managed_by(user))


def open_predictions_or_404(user: Any, pk: UUID) -> tuple[Prediction, File[bytes]]:
    """Return the latest prediction of the submission with the id `pk`, and its file opened for reading.

    Raises Http404 as `progress_or_404` does, and if there is no file or it may not be shown.
    """
    progress = progress_or_404(user, pk)
    prediction = progress.prediction
    if prediction is None or not prediction.file or not progress.file_is_shown:
        raise Http404
    try:
        return prediction, prediction.file.open("rb")
    except FileNotFoundError as error:
        raise Http404 from error
