"""Availability of workers according to their reports, and the reason if none can run containers.

Workers with a container engine report when a message asks them to (`containers.actions.workers`), which shows that they
receive messages. Other workers report periodically without a message (`gate.Gate`), because a message would wait
in their queue behind all others; web processes and `beat` do so by `process_reports`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db.models import Count, F, Q, QuerySet

from leaderboard.core import db_clock
from leaderboard.models import Phase, Prediction, State, Submission, WorkerReport
from leaderboard.models.worker import FRESH

log = structlog.get_logger(__name__)
SELF_REPORTING = ("scoring", "notifications", "web", "beat")
"""Celery queues whose workers report without a message that asks them to, and the processes without a queue."""
REPORT_SECONDS = 30.0
NO_GPUS = "No worker with GPUs has reported."


@dataclass(frozen=True)
class Availability:
    """Availability of a queue's workers. ready: whether a worker can run containers now.

    why_not: if no worker can, the reason and a remedy, for users; otherwise empty. runtime: name of the worker's
    container runtime, such as runsc; empty if it is not known.
    """

    ready: bool
    why_not: str = ""
    runtime: str = ""


SYSTEMS_GPU = "systems-gpu"
"""Celery queue of containers that need GPUs."""


def queue_of(phase: Phase) -> str:
    """Return the name of the Celery queue of a phase's containers: `systems-gpu` if they need a GPU, else `systems`."""
    return SYSTEMS_GPU if phase.gpus else "systems"


SCORERS = "scorers"
"""Celery queue of custom scorers."""


def most_processors(queue: str) -> float | None:
    """Return the largest number of processors of a host that a ready worker of the queue has recently reported.

    None if no such worker has reported a number.
    """
    fresh = _fresh(queue).filter(ready=True)
    processors = [report.detail["processors"] for report in fresh if "processors" in report.detail]
    return max(processors, default=None)


def _fresh(queue: str) -> QuerySet[WorkerReport]:
    """Return the reports of a queue's workers that are at most FRESH old, by the database's clock."""
    return WorkerReport.objects.filter(queue=queue, seen_at__gt=db_clock.now() - FRESH)


def of_phase(phase: Phase) -> Availability:
    """Return the availability of workers that can run a phase's containers, with the GPUs that the phase asks for."""
    status = of(queue_of(phase))
    if not status.ready or not phase.gpus:
        return status
    why_not = why_no_gpus(phase.gpus, phase.gpu_memory_gb)
    return Availability(not why_not, why_not, status.runtime)


def why_no_gpus(gpus: int, memory_gb: int) -> str:
    """Return a sentence that says that no ready worker has `gpus` GPUs with `memory_gb` GB each; empty if one has.

    The sentence also names the largest offer.
    """
    offers = [report for report in _fresh(SYSTEMS_GPU) if report.starts_containers]
    if any(report.gpus >= gpus and report.gpu_memory_gb >= memory_gb for report in offers):
        return ""
    asked = f"No worker can run this: it needs {gpus_in_words(gpus, memory_gb)}"
    largest = max(((report.gpus, report.gpu_memory_gb) for report in offers), default=None)
    return f"{asked}; the largest worker offers {gpus_in_words(*largest)}." if largest else f"{asked}. {NO_GPUS}"


def gpus_offered() -> str:
    """Return a sentence that lists the GPUs that ready workers offer."""
    offers = [report for report in _fresh(SYSTEMS_GPU) if report.starts_containers]
    if not offers:
        return NO_GPUS
    return f"Workers offer {', '.join(gpus_in_words(report.gpus, report.gpu_memory_gb) for report in offers)}."


def gpus_in_words(n: int, memory_gb: int) -> str:
    """Return a phrase such as "2 GPUs of 80 GB each". memory_gb: memory of one GPU; 0 is not mentioned."""
    return f"{n} GPU{'' if n == 1 else 's'}{f' of {memory_gb:,} GB' if memory_gb else ''}" + (
        " each" if n > 1 and memory_gb else ""
    )


@dataclass(frozen=True)
class Wait:
    """How long a container has to wait in a queue of submitted containers.

    ahead: number of containers that start before it. minutes: estimated time until it starts, rounded up to one of
    WAIT_MINUTES or to whole hours; None: no worker is ready, or no container of the queue has ended yet.
    """

    ahead: int
    minutes: int | None

    @property
    def text(self) -> str:
        """The estimated wait in words."""
        if self.minutes is None:
            return "unknown: no worker is ready, or no container has run yet"
        return f"at most {self.minutes} min" if self.minutes <= WAIT_MINUTES[-1] else f"about {self.minutes // 60} h"


WAIT_MINUTES = (1, 2, 5, 10, 20, 30, 60)
"""Coarse steps of an estimated wait in minutes: finer ones could reveal how long a container took on hidden inputs."""
_RECENT = 20


def wait_in(queue: str, *, team: int | None = None, before: datetime | None = None) -> Wait:
    """Return how long a team's container has to wait in a queue, estimated from the durations of the last containers.

    team: primary key of the team; None: a team with nothing in the queue. before: time at which the container was
    queued; None: it is submitted now. Takes five queries.
    """
    with_gpus = Q(submission__phase__gpus__gt=0)
    containers = Prediction.objects.filter(
        with_gpus if queue == SYSTEMS_GPU else ~with_gpus, submission__kind=Submission.Kind.IMAGE
    )
    queued = containers.filter(state=State.QUEUED)
    ahead = _ahead(queued, team, before)
    ended = containers.filter(state__in=(State.DONE, State.REJECTED), started_at__isnull=False).order_by("-finished_at")
    took = F("finished_at") - F("started_at")
    times = [time for (time,) in ended.annotate(took=took).values_list("took")[:_RECENT]]
    if not times:
        return Wait(ahead, None)
    running = containers.filter(state=State.RUNNING).count()
    workers = _fresh(queue).filter(ready=True).count()
    if not (running or workers):
        return Wait(ahead, None)
    # A host may run several workers, which share a report. Those that run are half done on average.
    busy = running / 2 if running >= workers else 0.0
    mean = sum(times, timedelta()) / len(times)
    minutes = math.ceil((ahead + busy) * mean.total_seconds() / max(workers, running, 1) / 60)
    return Wait(ahead, next((step for step in WAIT_MINUTES if minutes <= step), math.ceil(minutes / 60) * 60))


def _ahead(queued: QuerySet[Prediction], team: int | None, before: datetime | None) -> int:
    """Return the number of queued containers that start before a container of a team.

    Teams take turns, each with its oldest container. team: primary key of the team; None: a team with nothing in the
    queue. before: time at which the team's container was queued; None: it is submitted now.
    """
    by_team = dict(queued.order_by().values_list("submission__system__team").annotate(n=Count("pk")))
    by_team.pop(team, None)
    own = queued.filter(submission__system__team=team) if team is not None else queued.none()
    own_ahead = (own if before is None else own.filter(queued_at__lt=before)).count()
    return own_ahead + sum(min(number, own_ahead + 1) for number in by_team.values())


def of(queue: str = "systems") -> Availability:
    """Return the availability of the workers of the Celery queue `queue`: whether one can run containers now.

    Takes at most one database query.
    """
    if queue == SCORERS:
        if not settings.SCORERS:
            return Availability(
                False, "Scorer images are switched off on this server; the operator can set HOLDOUT_SCORERS=on."
            )
    elif not settings.SYSTEMS:
        return Availability(
            False, "Containers are switched off on this server; the operator can set HOLDOUT_SYSTEMS=on."
        )
    fresh = [*_fresh(queue)]
    ready = next((report for report in fresh if report.starts_containers), None)
    if ready is not None:
        return Availability(True, runtime=str(ready.detail.get("runtime", "")))
    if any(report.ready for report in fresh):
        return Availability(False, "The hosts that run containers are about to be restarted; try again later.")
    if fresh:
        return Availability(False, fresh[0].message)
    if queue == SYSTEMS_GPU:
        return Availability(False, f"{NO_GPUS} Ask the operator of this site.")
    return Availability(False, f"No worker with a container engine has reported; start one: manage.py serve {queue}.")
