"""Availability of container workers from their reports, and the reason if there is none."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from leaderboard.models import Phase, WorkerReport


@dataclass(frozen=True)
class Availability:
    """Availability of containers of a kind; `why_not` is for users, and says what to do."""

    ready: bool
    why_not: str = ""
    runtime: str = ""


def queue_of(phase: Phase) -> str:
    """Return the Celery queue of a phase's containers: those that need a GPU have their own."""
    return "systems-gpu" if phase.limits.get("gpus") else "systems"


SCORERS = "scorers"
"""Celery queue of custom scorers."""


def most_processors(queue: str) -> float | None:
    """Return the largest number of processors of a queue's engines; None if no worker has reported one."""
    fresh = [report for report in WorkerReport.objects.filter(queue=queue, ready=True) if report.is_fresh]
    processors = [report.detail["processors"] for report in fresh if "processors" in report.detail]
    return max(processors, default=None)


def of(queue: str = "systems") -> Availability:
    """Return the availability of a queue, in one query."""
    if queue == SCORERS:
        if not settings.SCORERS:
            return Availability(False, "Scorer images are switched off on this server (HOLDOUT_SCORERS).")
    elif not settings.SYSTEMS:
        return Availability(False, "Containers are switched off on this server (HOLDOUT_SYSTEMS).")
    fresh = [report for report in WorkerReport.objects.filter(queue=queue) if report.is_fresh]
    ready = next((report for report in fresh if report.ready), None)
    if ready is not None:
        return Availability(True, runtime=str(ready.detail.get("runtime", "")))
    if fresh:
        return Availability(False, fresh[0].message)
    if queue == "systems-gpu":
        return Availability(False, "This phase needs a GPU, but no worker with a GPU has reported.")
    return Availability(False, f"No worker with a container engine has reported; start one: manage.py serve {queue}.")
