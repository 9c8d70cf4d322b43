"""Notices to organisers that a phase has shown much about its hidden gold: half of what is bearable, or all of it.

The bound is that of the phase's page (`leaderboard/scoring/queries/leakage_budget.py`). A phase of exact scores has no
notices: its organisers chose them, and the page tells what that means.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.urls import reverse

from evaluator.disclosure import bits
from evaluator.disclosure.bits import USEFUL
from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Benchmark, Notice, Phase, Release
from leaderboard.notifications.actions import recipients
from leaderboard.notifications.actions.recipients import Event
from leaderboard.scoring.queries.leakage_budget import Budget, budget_of

EVENT = "leakage.bound"
LEVELS = (USEFUL, USEFUL / 2)
"""Bounds of which organisers are notified when they are exceeded, the highest first."""
_PASSED = uuid.UUID("6f0c55e1-5f0e-5f7c-8f0b-0f5c4f7a2d11")
"""UUID namespace of the ids of (phase, level). A unique constraint on `Notice` refuses a second notice with an id."""
_SEEN = "leakage-notices-seen"
_MAY_COME_LATE = 100
"""How many releases may become visible after later ones, because their transactions took longer."""


def write(since: datetime, at: datetime) -> int:
    """Queue notices of levels that phases have exceeded since `since`, for the organisers of their benchmark.

    at: the present time. Returns the number of notices written. Only phases with releases since the last call, and
    those on the same splits, are counted again.
    """
    newest = Release.objects.order_by("-pk").values_list("pk", flat=True).first()
    seen = cache.get(_SEEN)
    if newest is None or newest == seen:
        return 0
    releases = Release.objects.filter(released_at__gt=since).exclude(phase__benchmark__state=Benchmark.State.DRAFT)
    if seen is not None:
        releases = releases.filter(pk__gt=seen - _MAY_COME_LATE)
    hidden = Phase.objects.filter(split__gold_public=False, exact_scores=False, benchmark__organisers__isnull=False)
    # What a phase shows counts for the other phases on its split, too.
    phases = hidden.filter(split__in=releases.order_by().values("phase__split")).distinct().order_by("pk")
    related = phases.select_related("benchmark", "split").prefetch_related("benchmark__organisers__webhooks")
    passed = {}
    for phase in related:
        budget = budget_of(phase)
        level = _passed_since(budget, since)
        if level is not None:
            passed[uuid.uuid5(_PASSED, f"{phase.pk}:{level}")] = (budget, level)
    known = recipients.notified(passed)
    events = (
        Event(subject, budget.phase.benchmark.organisers.all(), at)
        for subject, (budget, _) in passed.items()
        if subject not in known
    )
    written = recipients.queue(
        [recipient.notice(_body(*passed[recipient.subject], at), at) for recipient in recipients.unnotified(events)]
    )
    cache.set(_SEEN, newest, timeout=None)
    return written


def is_for(notice: Notice) -> bool:
    """Return True if the recipient still organises the benchmark. Called before each delivery."""
    return notice.user.benchmarks.filter(slug=notice.body["benchmark"]).exists()


def words(notice: Notice) -> tuple[str, str]:
    """Return (subject, text) of the mail about a phase's bound, without the footer that all mails get."""
    fields = {name: one_line(str(value)) for name, value in notice.body.items()}
    phase = f"{fields['benchmark_title']}, {fields['phase_title']}"
    if notice.body["is_useful"]:
        subject = f"{phase}: half of the leakage budget is used"
        begin = (
            f"Whoever has all results of {phase} can know at most {notice.body['known']} of the labels beyond guessing."
        )
        begin += f" From {USEFUL} on, this bound is not useful."
    else:
        subject = f"{phase}: no useful bound of what is known of the labels"
        begin = f"The results of {phase} have shown so much that there is no useful bound any more of what somebody who"
        begin += f" has them all can know of the labels: it has passed {USEFUL}."
    text = (
        f"{begin} A limit for all teams together, or an earlier deadline, keeps it from growing. "
        f"This page has the details:\n\n{fields['page']}\n"
    )
    return subject, text


def _passed_since(budget: Budget, since: datetime) -> float | None:
    """Return the highest level that the bound has exceeded since a time; None if it has exceeded none."""
    shown = 0.0
    for each in (budget, *budget.others):
        n_before = each.phase.releases.filter(released_at__lte=since).count()
        shown += each.own_over_time[min(n_before, len(each.answers))]
    before = bits.most_gained(shown, budget.n_groups)
    return next((level for level in LEVELS if before <= level < budget.gained), None)


def _body(budget: Budget, level: float, at: datetime) -> dict[str, Any]:
    phase, benchmark = budget.phase, budget.phase.benchmark
    return {
        "event": EVENT,
        "at": at.isoformat(),
        "benchmark": benchmark.slug,
        "benchmark_title": benchmark.title,
        "phase": phase.slug,
        "phase_title": phase.title,
        "known": round(budget.gained, 3),
        "is_useful": level < USEFUL,
        "page": settings.BASE_URL + reverse("manage_leakage_budget", args=[benchmark.slug, phase.slug]),
    }
