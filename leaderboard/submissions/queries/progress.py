"""The read side of a submission: how far it has come. Pages and API tell the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Prefetch, QuerySet, Subquery
from django.shortcuts import get_object_or_404

from leaderboard.boards.disclosure.policies import reveals_all
from leaderboard.boards.queries.board_state import primary_value
from leaderboard.models import HiddenSubmission, Leaderboard, Phase, Prediction, Reason, Release, Run, State, Submission


class Revealed(StrEnum):
    """What its owner is told of a submission's scores."""

    NOTHING = "nothing"
    """There are none yet, or none ever."""
    SCORES = "scores"
    NO_IMPROVEMENT = "no_improvement"
    """A ladder: it was scored, and does not beat the best that was told by a step."""
    SEALED = "sealed"
    """Received and valid; the finals are scored when the phase is opened."""
    NOT_FINAL = "not_final"
    """The phase was opened, and this was none of the finals."""


@dataclass(frozen=True)
class Progress:
    """A submission with its file, the run that counts, and what that run revealed."""

    submission: Submission
    prediction: Prediction | None
    run: Run | None
    release: Release | None

    @property
    def _life(self) -> Prediction | Run | None:
        """What the state is told by: the file until it is there, then its scoring."""
        waits = self.prediction is not None and self.prediction.state != State.DONE
        return self.prediction if waits or self.run is None else self.run

    @property
    def _is_held(self) -> bool:
        """Scored on a ladder, and waiting for those before it: that it was scored is not told before what of it is."""
        is_scored = self.run is not None and self._life is self.run and self.run.state == State.DONE
        return is_scored and self.release is None and self.submission.phase.disclosure == Phase.Disclosure.LADDER

    @property
    def state(self) -> State:
        if self._is_held:
            return State.RUNNING
        return State(self._life.state) if self._life else State.QUEUED

    @property
    def reason(self) -> Reason:
        return Reason(self._life.reason) if self._life else Reason.NONE

    @property
    def is_over(self) -> bool:
        return self._life is not None and self._life.is_over and not self._is_held

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
        """In a sealed phase: whether it was chosen, or is a final by default."""
        return getattr(self.submission, "final", None) is not None

    @property
    def hidden(self) -> HiddenSubmission | None:
        """Why and since when no board shows it; None: it is not hidden."""
        row: HiddenSubmission | None = _first(self.submission.hidings.all())
        return row

    @property
    def is_refunded(self) -> bool:
        charge = getattr(self.submission, "charge", None)
        return charge is not None and charge.refunded_at is not None

    @cached_property
    def place(self) -> int | None:
        """How many runs, or containers, are before this one; None once it has been taken. One query."""
        life = self._life
        if life is None or life.state != State.QUEUED:
            return None
        return type(life)._default_manager.filter(state=State.QUEUED, queued_at__lt=life.queued_at).count()

    @property
    def warnings(self) -> list[str]:
        """Those of the upload and those of the scoring, each once, as far as the phase tells them."""
        told = self.run if reveals_all(self.submission.phase) else self.release
        sources = [source for source in (self.prediction, told) if source]
        return list(dict.fromkeys(warning for source in sources for warning in source.warnings))

    @property
    def problems(self) -> list[dict[str, Any]]:
        sources = [source.problems for source in (self.prediction, self.run) if source]
        return [problem for problems in sources for problem in problems]

    @property
    def is_made(self) -> bool:
        """Whether a container makes the predictions."""
        return self.submission.kind == Submission.Kind.IMAGE

    @property
    def container_waits_or_runs(self) -> bool:
        """Whether there is still something to withdraw: what has made its predictions is only scored."""
        return self.is_made and self.prediction is not None and not self.prediction.is_over

    @property
    def file_is_shown(self) -> bool:
        """A container could write hidden inputs into its predictions, so nobody gets those."""
        return not self.is_made or self.submission.phase.split.inputs_public

    @property
    def log(self) -> str:
        """What the container printed, where the phase lets its owner read it."""
        shown = self.prediction is not None and self.submission.phase.logs_are_shown
        return self.prediction.log if shown and self.prediction else ""

    @property
    def receipt(self) -> dict[str, Any]:
        """What the numbers were made of; empty until there are numbers.

        What a container chooses (its file's digest) and what it can stretch (times) are left out on hidden inputs.
        """
        if self.run is None or self._is_held or not self.run.provenance:
            return {}
        if not self.is_made:
            return self.run.provenance
        kept = {
            name: value for name, value in self.run.provenance.items() if self.file_is_shown or name not in _ITS_OWN
        }
        return {**kept, "container": self.container}

    @property
    def container(self) -> dict[str, Any]:
        """What the container ran under: image, limits, runtime; empty until it ran."""
        execution = self.prediction.execution if self.prediction and self.is_made else {}
        return {name: execution[name] for name in ("image", "runtime", "limits") if name in execution}

    @property
    def value(self) -> float | None:
        """The primary measure as revealed."""
        return primary_value(self.release) if self.release else None

    @property
    def board_is_current(self) -> bool:
        return self.run is not None and _board(self.run) == Leaderboard.State.CURRENT


_ITS_OWN = ("predictions_sha256", "seconds", "sandbox_start_seconds")

_BOARD = Subquery(
    Leaderboard.objects.filter(
        phase=OuterRef("prediction__submission__phase"),
        gold_version=OuterRef("gold_version"),
        task_version=OuterRef("task_version"),
    ).values("state")
)
_NEWEST = ("-gold_version__number", "-task_version", "-queued_at")


def followed(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """With all that `of` reads: the same few queries however many rows there are."""
    return submissions.select_related(
        "system__team", "phase__benchmark", "phase__split", "image", "submitted_by", "charge", "final"
    ).prefetch_related(
        Prefetch("predictions", Prediction.objects.order_by("-queued_at")),
        Prefetch(
            "predictions__runs", Run.objects.select_related("gold_version").annotate(board=_BOARD).order_by(*_NEWEST)
        ),
        Prefetch("hidings", HiddenSubmission.objects.now()),
        "releases",
    )


def of(submission: Submission) -> Progress:
    """The progress of a submission that came through `followed`."""
    prediction = _first(submission.predictions.all())
    run = counting(list(prediction.runs.all())) if prediction else None
    release = _first(release for release in submission.releases.all() if run and release.run_id == run.pk)
    return Progress(submission, prediction, run, release)


def published(submission: Submission) -> list[Progress]:
    """The submission as each board has it that is or was shown, newest gold first; it came through `followed`."""
    releases = {release.run_id: release for release in submission.releases.all()}
    return [
        Progress(submission, prediction, run, releases[run.pk])
        for prediction in submission.predictions.all()
        for run in prediction.runs.all()
        if run.pk in releases and _board(run) in Leaderboard.PUBLIC
    ]


def counting(runs: Sequence[Run]) -> Run | None:
    """The run whose board is shown; while there is none, the one on its way to a board. `runs` come newest gold first.

    A rescoring neither takes a submission's result away while it goes on, nor when it is cancelled.
    """
    kept = [run for run in runs if run.state != State.CANCELLED and _board(run) != Leaderboard.State.CANCELLED]
    shown = [run for run in kept if _board(run) != Leaderboard.State.PREPARING]
    return _first(shown or kept or runs)


def _board(run: Run) -> str | None:
    """The state of the run's board, if it has one, as `followed` has looked it up."""
    return getattr(run, "board", None)


def _first(rows: Iterable[Any]) -> Any:
    return next(iter(rows), None)


def progress_or_404(user: Any, pk: UUID) -> Progress:
    """A submission of the asker's team, or of a benchmark that the asker manages."""
    return of(get_object_or_404(followed(Submission.objects.visible_to(user)), pk=pk))
