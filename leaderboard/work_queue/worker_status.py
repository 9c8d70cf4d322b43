"""The read side of what workers said: whether containers can be submitted at this moment, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings

from leaderboard.models import Phase, WorkerReport


@dataclass(frozen=True)
class Availability:
    """Whether containers of a kind run here; `why_not` is for people, with what to do about it."""

    ready: bool
    why_not: str = ""
    runtime: str = ""


def queue_of(phase: Phase) -> str:
    """Where a phase's containers run: those that ask for a GPU have a queue of their own."""
    return "systems-gpu" if phase.limits.get("gpus") else "systems"


SCORERS = "scorers"
"""The queue of organisers' own scorers."""


def most_processors(queue: str) -> float | None:
    """What the best engine behind a queue has, as its worker said; None while no worker has said it."""
    fresh = [report for report in WorkerReport.objects.filter(queue=queue, ready=True) if report.is_fresh]
    said = [report.detail["processors"] for report in fresh if "processors" in report.detail]
    return max(said, default=None)


def of(queue: str = "systems") -> Availability:
    """One query."""
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
        return Availability(False, "This phase asks for a GPU, and no worker with one has reported.")
    return Availability(False, f"No worker with a container engine has reported; start one: manage.py serve {queue}.")
