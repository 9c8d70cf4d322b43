"""`/metrics`: Prometheus metrics, read from the database, the cache and the disk at each request.

The metrics are counts and durations, without names or scores. The path returns 404 unless the request has the token of
HOLDOUT_METRICS_TOKEN. All web processes return the same values, so it does not matter which one Prometheus scrapes.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db.models import Count, Min, Model, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from leaderboard.core import disk, store_errors
from leaderboard.core.storage import check_stores
from leaderboard.models import Notice, State, WorkerReport
from leaderboard.models.state import TERMINAL, LeasedWork
from leaderboard.operations import periodic

READING = ("GET", "HEAD")
LATELY = timedelta(hours=1)
NONE = (0, None, 0)
"""Values of a state without rows: number of rows, earliest `queued_at`, number of rows that ended within LATELY."""
WAITING = (State.QUEUED, State.RUNNING)
FORMER_KINDS = {"similarity_check": "likeness", "head_to_head": "side_by_side"}
"""Renamed values of the label `kind`, each with its former value. Both are published until the next release."""


# The view changes nothing, and a CSRF error would reveal that the path exists.
@csrf_exempt
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics in Prometheus' text format.

    A request without the token gets status 404; one with the token that is neither GET nor HEAD gets status 405.
    """
    if not _has_token(request):
        raise Http404("no such page")
    if request.method not in READING:
        return HttpResponseNotAllowed(READING)
    registry = CollectorRegistry()
    registry.register(Site())
    return HttpResponse(
        generate_latest(registry), content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"}
    )


def _has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    expected = settings.METRICS_TOKEN
    is_equal = secrets.compare_digest(token.strip().encode(), expected.encode())
    return bool(expected) and scheme.lower() == "bearer" and is_equal


class Site(Collector):
    """Prometheus collector of the site's current values, in a fixed number of queries."""

    def describe(self) -> list[Metric]:
        """Return nothing, so that registration runs no query."""
        return []

    def collect(self) -> Iterator[Metric]:
        yield from _work()
        yield from _notifications()
        yield from _workers()
        yield from _sweep()
        yield GaugeMetricFamily("holdout_disk_free_bytes", "Free space for data.", disk.free_bytes())
        yield GaugeMetricFamily(
            "holdout_disk_low", "1 while less than HOLDOUT_DISK_ALARM_MB is free, else 0.", int(disk.is_low())
        )
        yield from _store()


def _work() -> Iterator[Metric]:
    """Yield the queue length, the age of the oldest queued row, and recent results of each kind of background work."""
    length = GaugeMetricFamily(
        "holdout_queue_length", "Rows of background work that are queued or running.", labels=["kind", "state"]
    )
    oldest = GaugeMetricFamily(
        "holdout_oldest_queued_seconds",
        "Seconds since the oldest queued row was queued; 0 if none is queued.",
        labels=["kind"],
    )
    # A gauge, not a counter: deleted rows would make it decrease, which Prometheus takes for a restart of the process.
    finished = GaugeMetricFamily(
        "holdout_finished_last_hour",
        "Rows of background work that ended within the last hour, by outcome.",
        labels=["kind", "outcome"],
    )
    at = timezone.now()
    ended = Count("pk", filter=Q(finished_at__gt=at - LATELY))
    for model in sorted(LeasedWork.__subclasses__(), key=lambda model: model.__name__):
        rows = (
            model._default_manager.order_by()
            .values_list("state")
            .annotate(n=Count("pk"), since=Min("queued_at"), ended=ended)
        )
        counts = {state: values for state, *values in rows}
        since = counts.get(State.QUEUED, NONE)[1]
        for kind in _kinds(model):
            for state in WAITING:
                length.add_metric([kind, state.value], counts.get(state, NONE)[0])
            oldest.add_metric([kind], max(0.0, (at - since).total_seconds()) if since else 0.0)
            for state in TERMINAL:
                finished.add_metric([kind, state.value], counts.get(state, NONE)[2])
    yield from (length, oldest, finished)


def _kinds(model: type[Model]) -> list[str]:
    """Return the values of the label `kind` for a model: its name, and its former name if it was renamed."""
    name = str(model._meta.verbose_name).replace(" ", "_")
    return [name, FORMER_KINDS[name]] if name in FORMER_KINDS else [name]


def _notifications() -> Iterator[Metric]:
    """Yield the number of notifications by state, under the metric's present and former name."""
    counts = dict(Notice.objects.order_by().values_list("state").annotate(n=Count("pk")))
    for name, doc in (
        ("holdout_notifications", "Mails and webhook calls by state; those that ended over 30 days ago are deleted."),
        ("holdout_notices", "Deprecated: the former name of holdout_notifications."),
    ):
        family = GaugeMetricFamily(name, doc, labels=["state"])
        for state in Notice.State:
            family.add_metric([state.value], counts.get(state, 0))
        yield family


def _workers() -> Iterator[Metric]:
    """Yield the state of the workers with a container engine, summed by queue so that no host name is published."""
    seen = GaugeMetricFamily(
        "holdout_worker_seen_seconds", "Seconds since the last report of any worker of the queue.", labels=["queue"]
    )
    ready = GaugeMetricFamily(
        "holdout_workers_ready", "Workers whose latest report is recent and says that they are ready.", labels=["queue"]
    )
    reports: dict[str, list[WorkerReport]] = {}
    for row in WorkerReport.objects.order_by("queue"):
        reports.setdefault(row.queue, []).append(row)
    at = timezone.now()
    for queue, queue_reports in reports.items():
        seen.add_metric([queue], max(0.0, min((at - report.seen_at).total_seconds() for report in queue_reports)))
        ready.add_metric([queue], sum(report.ready and report.is_fresh for report in queue_reports))
    yield from (seen, ready)


def _store() -> Iterator[Metric]:
    """Yield whether the file store responded to its latest check, and the number of its errors by operation."""
    errors = CounterMetricFamily(
        "holdout_store_errors", "Failed operations of the file store, in all processes.", labels=["operation"]
    )
    for operation, count in store_errors.counts().items():
        errors.add_metric([operation], count)
    yield errors
    try:
        check_stores()
        up = 1
    except (store_errors.StoreUnavailableError, OSError):
        up = 0
    yield GaugeMetricFamily("holdout_store_up", "1 if the file store responded to its latest check, else 0.", up)


def _sweep() -> Iterator[Metric]:
    """Yield the seconds since the longest-waiting step of the sweep was completed; nothing if that is not known."""
    if (at := periodic.last_completed()) is not None:
        yield GaugeMetricFamily(
            "holdout_sweep_age_seconds",
            "Seconds since the step of the sweep was completed that has waited longest.",
            max(0.0, time.time() - at),
        )
