"""The read side of a submission: how far it has come. Pages and API tell the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Prefetch, QuerySet

from leaderboard.models import Prediction, Reason, Release, Run, State, Submission


@dataclass(frozen=True)
class Progress:
    """A submission with its file, its newest run, and what that run revealed."""

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
    def state(self) -> State:
        return State(self._life.state) if self._life else State.QUEUED

    @property
    def reason(self) -> Reason:
        return Reason(self._life.reason) if self._life else Reason.NONE

    @property
    def is_over(self) -> bool:
        return self._life is not None and self._life.is_over

    @property
    def is_refunded(self) -> bool:
        charge = getattr(self.submission, "charge", None)
        return charge is not None and charge.refunded_at is not None

    @cached_property
    def place(self) -> int | None:
        """How many runs are before this one; None once it has been taken. One query."""
        if self.run is None or self.run.state != State.QUEUED:
            return None
        return Run.objects.filter(state=State.QUEUED, queued_at__lt=self.run.queued_at).count()

    @property
    def warnings(self) -> list[str]:
        """Those of the upload and those of the scoring, each once."""
        sources = [source for source in (self.prediction, self.run) if source]
        return list(dict.fromkeys(warning for source in sources for warning in source.warnings))

    @property
    def problems(self) -> list[dict[str, Any]]:
        return self.run.problems if self.run else []

    @property
    def receipt(self) -> dict[str, Any]:
        """What the numbers were made of; empty until there are numbers."""
        return self.run.provenance if self.run else {}


def followed(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """With all that `of` reads: the same few queries however many rows there are."""
    return submissions.select_related("system__team", "phase__benchmark", "submitted_by", "charge").prefetch_related(
        Prefetch("predictions", Prediction.objects.order_by("-queued_at")),
        Prefetch("predictions__runs", Run.objects.order_by("-queued_at")),
        Prefetch("releases", Release.objects.order_by("-sequence")),
    )


def of(submission: Submission) -> Progress:
    """The progress of a submission that came through `followed`."""
    prediction = _first(submission.predictions.all())
    run = _first(prediction.runs.all()) if prediction else None
    return Progress(submission, prediction, run, _first(submission.releases.all()))


def _first(rows: Iterable[Any]) -> Any:
    return next(iter(rows), None)
