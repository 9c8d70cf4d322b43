"""`/metrics`: what an operator's Prometheus reads, of the database and the disk alone.

Counts and times; no name of anything and nobody, no score. Without the token of HOLDOUT_METRICS_TOKEN the address is
one that is not there. Every web process would tell the same, so that it does not matter which one answers.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Min, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from leaderboard.core import disk
from leaderboard.models import Notice, State, WorkerReport
from leaderboard.models.state import TERMINAL, Life

READING = ("GET", "HEAD")
LATELY = timedelta(hours=1)
NONE = (0, None, 0)
WAITING = (State.QUEUED, State.RUNNING)


# Nothing is changed here, and a missing token of a form would tell that there is something.
@csrf_exempt
def metrics(request: HttpRequest) -> HttpResponse:
    """In Prometheus' text format; 404 without the token, whatever is asked."""
    if not _is_told(request):
        raise Http404("no such page")
    if request.method not in READING:
        return HttpResponseNotAllowed(READING)
    registry = CollectorRegistry()
    registry.register(Site())
    return HttpResponse(
        generate_latest(registry), content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"}
    )


def _is_told(request: HttpRequest) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    wanted = settings.METRICS_TOKEN
    is_it = secrets.compare_digest(given.strip().encode(), wanted.encode())
    return bool(wanted) and scheme.lower() == "bearer" and is_it


class Site(Collector):
    """What is asked of the site at this moment; a few queries, whose number hangs on nothing."""

    def describe(self) -> list[Metric]:
        """Nothing: to register must read nothing."""
        return []

    def collect(self) -> Iterator[Metric]:
        yield from _work()
        yield from _notices()
        yield from _workers()
        yield GaugeMetricFamily("holdout_disk_free_bytes", "Room that is left for data.", disk.free_bytes())
        yield GaugeMetricFamily("holdout_disk_low", "1: less than HOLDOUT_DISK_ALARM_MB is left.", int(disk.is_low()))


def _work() -> Iterator[Metric]:
    """Of whatever workers do: runs, predictions, and what is asked for at the curators' desk."""
    length = GaugeMetricFamily("holdout_queue_length", "Pieces of work that wait or run.", labels=["kind", "state"])
    oldest = GaugeMetricFamily("holdout_oldest_queued_seconds", "How long the oldest waits; 0: none.", labels=["kind"])
    # No counter: what the desk throws away would make it fall, which a monitor takes for a site that began again.
    finished = GaugeMetricFamily(
        "holdout_finished_last_hour", "Pieces of work that ended so in the last hour.", labels=["kind", "outcome"]
    )
    at = timezone.now()
    ended = Count("pk", filter=Q(finished_at__gt=at - LATELY))
    for model in sorted(Life.__subclasses__(), key=lambda model: model.__name__):
        kind = str(model._meta.verbose_name).replace(" ", "_")
        lines = (
            model._default_manager.order_by()
            .values_list("state")
            .annotate(n=Count("pk"), since=Min("queued_at"), ended=ended)
        )
        found = {state: told for state, *told in lines}
        for state in WAITING:
            length.add_metric([kind, state.value], found.get(state, NONE)[0])
        since = found.get(State.QUEUED, NONE)[1]
        oldest.add_metric([kind], max(0.0, (at - since).total_seconds()) if since else 0.0)
        for state in TERMINAL:
            finished.add_metric([kind, state.value], found.get(state, NONE)[2])
    yield from (length, oldest, finished)


def _notices() -> Iterator[Metric]:
    family = GaugeMetricFamily("holdout_notices", "Mails and calls of the last 30 days.", labels=["state"])
    found = dict(Notice.objects.order_by().values_list("state").annotate(n=Count("pk")))
    for state in Notice.State:
        family.add_metric([state.value], found.get(state, 0))
    yield family


def _workers() -> Iterator[Metric]:
    """Workers with an engine say that they are there; by queue, since a host's name is nobody else's business."""
    seen = GaugeMetricFamily("holdout_worker_seen_seconds", "Since a worker last said so.", labels=["queue"])
    ready = GaugeMetricFamily("holdout_workers_ready", "Workers that said of late: ready.", labels=["queue"])
    reports: dict[str, list[WorkerReport]] = {}
    for report in WorkerReport.objects.order_by("queue"):
        reports.setdefault(report.queue, []).append(report)
    at = timezone.now()
    for queue, said in reports.items():
        seen.add_metric([queue], max(0.0, min((at - one.seen_at).total_seconds() for one in said)))
        ready.add_metric([queue], sum(one.ready and one.is_fresh for one in said))
    yield from (seen, ready)
