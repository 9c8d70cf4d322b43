"""Choice of the container that a worker starts next (`Work.choose`), made in the database.

A worker locks its host's report while it chooses, so that the containers of one host together take no more resources
than the host offers. Containers that fit are started in this order: first those whose worker died; then one of each
team in turn; within a team, those whose image the host has, then those that have waited longest. For IMAGE_WAIT, a
container is left to another host that has its image. If the first container in this order does not fit now, smaller
ones are started before it for at most ROOM_WAIT.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, Value, When

from leaderboard.core import db_clock
from leaderboard.evaluation import container_limits
from leaderboard.evaluation.container_limits import Resources
from leaderboard.models import Phase, Placement, Prediction, Reason, State, WorkerReport
from leaderboard.models.worker import FRESH
from leaderboard.work_queue.worker_status import queue_of

IMAGE_WAIT = timedelta(seconds=30)
"""How long after it was queued a container waits for a host that has its image."""
ROOM_WAIT = timedelta(minutes=5)
"""How long after a container was queued a host stops starting smaller ones before it, to make room."""
SEEN = timedelta(days=1)
"""Age of a host's last report from which the host is no longer expected to come back."""


def offer_of(worker: WorkerReport) -> Resources:
    """Return the resources that a worker's host offers to containers, according to its report."""
    return Resources(
        cpus=worker.cpus, memory_bytes=worker.memory_bytes, gpus=worker.gpus, gpu_memory_gb=worker.gpu_memory_gb
    )


def running_on(host: str) -> QuerySet[Placement]:
    """Return the placements of the containers that are running on a host."""
    return Placement.objects.filter(worker__host=host, prediction__state=State.RUNNING)


def choose(waiting: QuerySet[Prediction], queue: str) -> Prediction | None:
    """Return the prediction whose container this host starts next, and record the resources that the container takes.

    waiting: the predictions that are queued. queue: name of the Celery queue that this worker serves. The returned row
    is locked until the transaction ends. None if no container fits, if this host must wait until there is room for
    the next container in order, or if the worker is draining or ending.
    """
    worker = _locked(queue)
    if worker.draining or worker.ending:
        return None
    taken = [Resources(**resources) for resources in running_on(worker.host).values_list("resources", flat=True)]
    demands = _demands(waiting, queue)
    room = offer_of(worker).without(taken)
    fitting = {phase for phase, demand in demands.items() if demand.fits(room)}
    runnable = {phase for phase, demand in demands.items() if demand.fits(offer_of(worker))}
    if not taken:
        alone = _runnable_nowhere(demands, worker)
        fitting, runnable = fitting | alone, runnable | alone
    if not fitting:
        return None
    at = db_clock.read()
    ordered = _in_order(waiting, worker)
    first = ordered.filter(submission__phase__in=runnable).values_list("submission__phase", "queued_at").first()
    if first is None or (first[0] not in fitting and first[1] < at - ROOM_WAIT):
        return None
    # Another host may have locked, and be about to claim, the first one.
    fit = ordered.filter(submission__phase__in=fitting)
    chosen = fit.select_for_update(skip_locked=True, of=("self",)).first()
    if chosen is not None:
        image = chosen.submission.image
        assert image is not None, "a constraint of the database ensures that a container submission has an image"
        Placement.objects.update_or_create(
            prediction=chosen,
            defaults={
                "worker": worker,
                "team": chosen.submission.system.team,
                "image": image,
                "resources": asdict(demands[chosen.submission.phase_id]),
                "claimed_at": at,
            },
        )
    return chosen


def is_servable(queue: str) -> bool:
    """Return whether a container waits in the queue that a ready worker's host can run, now or once it has room."""
    demands = _demands(Prediction.objects.filter(state=State.QUEUED, submission__image__isnull=False), queue)
    offers = [offer_of(worker) for worker in _ready(queue)]
    return any(demand.fits(offer) for demand in demands.values() for offer in offers)


def _locked(queue: str) -> WorkerReport:
    """Lock all reports of this host, and return the one for the queue, which is created if there is none."""
    host = socket.gethostname()
    absent = {"ready": False, "message": "It has not reported yet.", "seen_at": db_clock.read()}
    WorkerReport.objects.get_or_create(queue=queue, host=host, defaults=absent)
    reports = WorkerReport.objects.select_for_update().filter(host=host).order_by("pk")
    return next(report for report in reports if report.queue == queue)


def _ready(queue: str) -> list[WorkerReport]:
    reports = WorkerReport.objects.filter(queue=queue, seen_at__gt=db_clock.now() - FRESH)
    return [report for report in reports if report.starts_containers]


def _demands(waiting: QuerySet[Prediction], queue: str) -> dict[int, Resources]:
    """Return primary key of a phase -> resources that each of its containers takes.

    The phases are those that have waiting containers and whose containers go to the queue.
    """
    phases = Phase.objects.filter(pk__in=waiting.order_by().values("submission__phase"))
    return {phase.pk: container_limits.of(phase).resources for phase in phases if queue_of(phase) == queue}


def _runnable_nowhere(demands: dict[int, Resources], worker: WorkerReport) -> set[int]:
    """Return the keys of the phases in `demands` whose containers take more processors or memory than any host offers.

    The worker's host may start such a container while no other runs there; its engine decides whether it can run.
    Phases whose containers need GPUs that the host does not have are left out.
    """
    seen = WorkerReport.objects.filter(queue=worker.queue, seen_at__gt=db_clock.now() - SEEN)
    offers = [offer_of(report) for report in seen]
    own = offer_of(worker)
    return {
        phase
        for phase, demand in demands.items()
        if replace(demand, cpus=0.0, memory_bytes=0).fits(own) and not any(demand.fits(offer) for offer in offers)
    }


def _in_order(waiting: QuerySet[Prediction], worker: WorkerReport) -> QuerySet[Prediction]:
    """Return the waiting predictions that this worker may take, in the order in which it takes them."""
    others = _images(report for report in _ready(worker.queue) if report.pk != worker.pk)
    here = _images([worker])
    is_recent = Q(queued_at__gt=db_clock.now() - IMAGE_WAIT)
    served = Placement.objects.filter(team=OuterRef("submission__system__team")).order_by("-claimed_at")
    overtaken = is_recent & ~Q(submission__image__digest__in=here)
    order: list[Any] = [
        Case(When(reason=Reason.LOST, then=Value(0)), default=Value(1)),
        F("served").asc(nulls_first=True),
        Case(When(overtaken, then=Value(1)), default=Value(0)),
        "queued_at",
        "pk",
    ]
    left_to_others = is_recent & ~Q(reason=Reason.LOST) & Q(submission__image__digest__in=others - here)
    # All that wait are sorted, so only their own columns are read.
    waiting = waiting.select_related(None)
    return waiting.exclude(left_to_others).annotate(served=Subquery(served.values("claimed_at")[:1])).order_by(*order)


def _images(reports: Iterable[WorkerReport]) -> set[str]:
    return {digest for report in reports for digest in report.images}
