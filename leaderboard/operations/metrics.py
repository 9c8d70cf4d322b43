"""`/metrics`: Prometheus metrics, read from the database, the broker, the cache and the disk at each request.

The counters and histograms of this host's processes (`leaderboard.core.process_metrics`) follow. Metrics are counts,
sizes and durations, without names of users, benchmarks or systems, and without scores. The path returns 404 unless the
request has the token of HOLDOUT_METRICS_TOKEN. All web processes of a host return the same values, so it does not
matter which of them Prometheus scrapes.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.db.models import Count, Min, Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.views.decorators.csrf import csrf_exempt
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from leaderboard.core import db_clock, disk, process_metrics, store_errors
from leaderboard.core.storage import check_stores
from leaderboard.models import Notice, State, WorkerReport
from leaderboard.models.state import TERMINAL, LeasedWork
from leaderboard.operations import periodic
from leaderboard.work_queue import enqueue

log = structlog.get_logger(__name__)
READING = ("GET", "HEAD")
LATELY = timedelta(hours=1)


class Counts(NamedTuple):
    """The rows of one state of a kind of background work.

    n: number of rows. since: earliest `queued_at`. ended, overdue, again: numbers of rows that ended within LATELY,
    whose lease is over, and that were tried before.
    """

    n: int = 0
    since: datetime | None = None
    ended: int = 0
    overdue: int = 0
    again: int = 0


QUEUES = ("scoring", "systems", "systems-gpu", "scorers", "notifications")
"""Celery queues whose length is published."""
WAITING = (State.QUEUED, State.RUNNING)


# The view changes nothing, and a CSRF error would reveal that the path exists.
@csrf_exempt
def metrics(request: HttpRequest) -> HttpResponse:
    """Return the metrics in Prometheus' text format.

    A request without the token of HOLDOUT_METRICS_TOKEN gets status 404; one with the token that is neither GET nor
    HEAD gets status 405.
    """
    if not _has_token(request):
        raise Http404("no such page")
    if request.method not in READING:
        return HttpResponseNotAllowed(READING)
    registry = CollectorRegistry()
    registry.register(Site())
    content = generate_latest(registry) + generate_latest(process_metrics.registry())
    return HttpResponse(content, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


def _has_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    expected = settings.METRICS_TOKEN
    is_equal = secrets.compare_digest(token.strip().encode(), expected.encode())
    return bool(expected) and scheme.lower() == "bearer" and is_equal


class Site(Collector):
    """Prometheus collector of the site's current state, which takes a fixed number of database queries."""

    def describe(self) -> list[Metric]:
        """Return an empty list, so that registering this collector runs no query."""
        return []

    def collect(self) -> Iterator[Metric]:
        try:
            # All before the first is returned: the metrics of a database that fails in between are left out.
            stored, up = [*_work(), *_notifications(), *_workers(), *_clock()], 1
        except (DatabaseError, InterfaceError) as error:
            log.warning("database_unavailable", error=type(error).__name__)
            stored, up = [], 0
        yield from stored
        yield GaugeMetricFamily("holdout_database_up", "1 if the database answered the queries of this reading.", up)
        yield from _broker()
        yield from _sweep()
        yield GaugeMetricFamily(
            "holdout_processes", "Processes on this host that add to the counters.", process_metrics.n_processes()
        )
        yield GaugeMetricFamily("holdout_disk_free_bytes", "Free space for data.", disk.free_bytes())
        yield GaugeMetricFamily("holdout_disk_low", "1 while less than 2 GB is free, else 0.", int(disk.is_low()))
        yield from _store()


def _clock() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "holdout_database_clock_ahead_seconds",
        "Seconds by which the database's clock is ahead of this host's; negative: behind.",
        db_clock.offset().total_seconds(),
    )


def _work() -> Iterator[Metric]:
    """Yield metrics of each kind of background work: queue length, longest time in the queue, results, retries."""
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
    late = GaugeMetricFamily(
        "holdout_late_leases",
        "Running rows whose worker has not renewed its lease and that the sweep has not taken back yet.",
        labels=["kind"],
    )
    repeated = GaugeMetricFamily(
        "holdout_active_repeated",
        "Queued rows that a worker has tried before, and running rows after the first attempt.",
        labels=["kind"],
    )
    at = db_clock.read()
    ended = Count("pk", filter=Q(finished_at__gt=at - LATELY))
    overdue = Count("pk", filter=Q(lease_until__lt=at))
    again = Count("pk", filter=Q(state=State.QUEUED, attempt__gte=1) | Q(state=State.RUNNING, attempt__gte=2))
    for model in sorted(LeasedWork.__subclasses__(), key=lambda model: model.__name__):
        rows = (
            model._default_manager.order_by()
            .values_list("state")
            .annotate(n=Count("pk"), since=Min("queued_at"), ended=ended, overdue=overdue, again=again)
        )
        counts = {state: Counts(*values) for state, *values in rows}
        since = counts.get(State.QUEUED, Counts()).since
        kind = str(model._meta.verbose_name).replace(" ", "_")
        for state in WAITING:
            length.add_metric([kind, state.value], counts.get(state, Counts()).n)
        oldest.add_metric([kind], max(0.0, (at - since).total_seconds()) if since else 0.0)
        for state in TERMINAL:
            finished.add_metric([kind, state.value], counts.get(state, Counts()).ended)
        late.add_metric([kind], sum(row.overdue for row in counts.values()))
        repeated.add_metric([kind], sum(row.again for row in counts.values()))
    yield from (length, oldest, finished, late, repeated)


def _notifications() -> Iterator[Metric]:
    """Yield the number of notifications in each state."""
    counts = dict(Notice.objects.order_by().values_list("state").annotate(n=Count("pk")))
    family = GaugeMetricFamily(
        "holdout_notifications",
        "Notices by state; site: not sent. Those that ended over 30 days ago are deleted.",
        labels=["state"],
    )
    for state in Notice.State:
        family.add_metric([state.value], counts.get(state, 0))
    yield family


def _broker() -> Iterator[Metric]:
    """Yield metrics of the broker: the number of messages that wait in each queue, and whether the broker responded."""
    length = GaugeMetricFamily("holdout_broker_messages", "Messages that wait in a Celery queue.", labels=["queue"])
    up = 1
    try:
        for queue in QUEUES:
            length.add_metric([queue], enqueue.n_waiting(queue))
    except enqueue.BrokerError as error:
        log.warning("broker_unavailable", kind="metrics", error=str(error))
        up = 0
    yield length
    yield GaugeMetricFamily("holdout_broker_up", "1 if the broker responded to this reading, else 0.", up)


def _workers() -> Iterator[Metric]:
    """Yield metrics of the workers of each queue together, so that no host name is published."""
    seen = GaugeMetricFamily(
        "holdout_worker_seen_seconds", "Seconds since the last report of any worker of the queue.", labels=["queue"]
    )
    ready = GaugeMetricFamily(
        "holdout_workers_ready", "Workers whose latest report is recent and says that they are ready.", labels=["queue"]
    )
    draining = GaugeMetricFamily("holdout_workers_draining", "Workers that an operator is draining.", labels=["queue"])
    low = GaugeMetricFamily(
        "holdout_engine_disk_low",
        "Workers that start no container because less than 2 GB is free on their engine's disk.",
        labels=["queue"],
    )
    free = GaugeMetricFamily(
        "holdout_engine_disk_free_bytes",
        "Smallest free space on an engine's disk, where it is known.",
        labels=["queue"],
    )
    cached = GaugeMetricFamily(
        "holdout_image_cache_bytes", "Bytes of the images that the engines have cached.", labels=["queue"]
    )
    reports: dict[str, list[WorkerReport]] = {}
    for row in WorkerReport.objects.order_by("queue"):
        reports.setdefault(row.queue, []).append(row)
    at = db_clock.read()
    for queue, queue_reports in reports.items():
        seen.add_metric([queue], max(0.0, min((at - report.seen_at).total_seconds() for report in queue_reports)))
        ready.add_metric([queue], sum(report.ready and report.is_fresh for report in queue_reports))
        present = [report for report in queue_reports if report.is_fresh]
        draining.add_metric([queue], sum(report.draining for report in present))
        low.add_metric([queue], sum(report.disk_low for report in present))
        cached.add_metric([queue], sum(sum(report.images.values()) for report in present))
        known = [report.disk_free_bytes for report in present if report.disk_free_bytes is not None]
        if known:
            free.add_metric([queue], min(known))
    yield from (seen, ready, draining, low, free, cached)


def _store() -> Iterator[Metric]:
    """Yield metrics of the file store: whether it responded to its latest check, and its errors in each operation."""
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
    """Yield the age of the sweep: seconds since the time `periodic.last_completed`. Nothing if that is not known."""
    if (at := periodic.last_completed()) is not None:
        yield GaugeMetricFamily(
            "holdout_sweep_age_seconds",
            "Seconds since the last completion of a step of the sweep, of the step for which it is longest ago.",
            max(0.0, time.time() - at),
        )
