"""Choice of the container that a worker starts next (`ChosenWork.choose`), made in the database.

A worker locks its host's report while it chooses, so that the containers of one host together take no more resources
than the host offers. First come containers whose worker died, then one of each team in turn, a team's in the order of
their submission. A host takes the first one in this order that is for it (`_is_for`), as soon as it has the room.
"""

from __future__ import annotations

import socket
from dataclasses import asdict, replace

from django.db.models import Case, F, OuterRef, QuerySet, Subquery, Value, When

from leaderboard.core import db_clock
from leaderboard.evaluation import container_limits
from leaderboard.evaluation.container_limits import Resources
from leaderboard.models import Phase, Placement, Prediction, Reason, State, WorkerReport
from leaderboard.models.worker import FRESH
from leaderboard.work_queue.worker_status import queue_of


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
    is locked until the transaction ends. None if no container is for this host, if it must wait until there is room for
    the first one, or if the worker is draining or ending.
    """
    worker = _lock_reports(queue)
    if worker.draining or worker.ending:
        return None
    offer = offer_of(worker)
    others = [offer_of(other) for other in WorkerReport.objects.filter(queue=queue).exclude(pk=worker.pk)]
    demands = {phase: demand for phase, demand in _demands(waiting, queue).items() if _is_for(demand, offer, others)}
    if not demands:
        return None
    # Another host may have locked, and be about to claim, the first one.
    ordered = _in_order(waiting).filter(submission__phase__in=demands)
    chosen = ordered.select_for_update(skip_locked=True, of=("self",)).first()
    if chosen is None:
        return None
    demand = demands[chosen.submission.phase_id]
    taken = [Resources(**resources) for resources in running_on(worker.host).values_list("resources", flat=True)]
    if taken and not demand.fits(offer.without(taken)):
        return None
    image = chosen.submission.image
    assert image is not None, "a constraint of the database ensures that a container submission has an image"
    Placement.objects.update_or_create(
        prediction=chosen,
        defaults={
            "worker": worker,
            "team": chosen.submission.system.team,
            "image": image,
            "resources": asdict(demand),
            "claimed_at": db_clock.read(),
        },
    )
    return chosen


def is_servable(queue: str) -> bool:
    """Return whether a container waits in the queue that a ready worker's host can run, now or once it has room."""
    demands = _demands(Prediction.objects.filter(state=State.QUEUED, submission__image__isnull=False), queue)
    fresh = WorkerReport.objects.filter(queue=queue, seen_at__gt=db_clock.now() - FRESH)
    offers = [offer_of(report) for report in fresh if report.starts_containers]
    return any(demand.fits(offer) for demand in demands.values() for offer in offers)


def _is_for(demand: Resources, offer: Resources, others: list[Resources]) -> bool:
    """Return whether a host ever starts a container.

    It does if it offers what the container takes, and has the GPUs. If no host of the queue offers that, because a
    phase's limits exceed the machines, each of them starts it while nothing else runs there, and its engine decides.

    offer: what the host offers. others: what the others last offered; one that is away may come back.
    """
    if demand.fits(offer):
        return True
    has_gpus = replace(demand, cpus=0.0, memory_bytes=0).fits(offer)
    return has_gpus and not any(demand.fits(other) for other in others)


def _lock_reports(queue: str) -> WorkerReport:
    """Lock all reports of this host, and return the one for the queue, which is created if there is none."""
    host = socket.gethostname()
    absent = {"ready": False, "message": "It has not reported yet.", "seen_at": db_clock.read()}
    WorkerReport.objects.get_or_create(queue=queue, host=host, defaults=absent)
    reports = WorkerReport.objects.select_for_update().filter(host=host).order_by("pk")
    return next(report for report in reports if report.queue == queue)


def _demands(waiting: QuerySet[Prediction], queue: str) -> dict[int, Resources]:
    """Return primary key of a phase -> resources that each of its containers takes.

    The phases are those that have waiting containers and whose containers go to the queue.
    """
    phases = Phase.objects.filter(pk__in=waiting.order_by().values("submission__phase"))
    return {phase.pk: container_limits.of(phase).resources for phase in phases if queue_of(phase) == queue}


def _in_order(waiting: QuerySet[Prediction]) -> QuerySet[Prediction]:
    """Return the waiting predictions in the order in which hosts take them."""
    served = Placement.objects.filter(team=OuterRef("submission__system__team")).order_by("-claimed_at")
    # All that wait are sorted, so only their own columns are read.
    return (
        waiting.select_related(None)
        .annotate(served=Subquery(served.values("claimed_at")[:1]))
        .order_by(
            Case(When(reason=Reason.LOST, then=Value(0)), default=Value(1)),
            F("served").asc(nulls_first=True),
            "queued_at",
            "pk",
        )
    )
