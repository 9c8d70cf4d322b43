"""What a person may reach. Everything else is a 404, the same as for what does not exist.

Each look-up is one query that knows who asks, so a refusal takes as long as a miss.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404

from leaderboard.models import Benchmark, Phase, Split, User


class PersonRequest(HttpRequest):
    """A request of somebody who is logged in."""

    user: User


def phase_or_404(user: User, slug: str, phase: str) -> Phase:
    """A phase of a benchmark that this person can see."""
    return get_object_or_404(
        Phase.objects.select_related("benchmark", "split__dataset"),
        benchmark__in=Benchmark.objects.visible_to(user),
        benchmark__slug=slug,
        slug=phase,
    )


def managed_or_404(user: User, slug: str) -> Benchmark:
    """A benchmark that this person manages."""
    rows = Benchmark.objects.all() if user.is_curator else user.benchmarks.all()
    return get_object_or_404(rows.select_related("dataset"), slug=slug)


def managed_split_or_404(user: User, slug: str, split: str) -> tuple[Benchmark, Split]:
    """A split of the dataset of a benchmark that this person manages."""
    benchmark = managed_or_404(user, slug)
    return benchmark, get_object_or_404(benchmark.dataset.splits.select_related("dataset"), name=split)


def needs(permission: str) -> Callable[[Callable[..., HttpResponseBase]], Callable[..., HttpResponseBase]]:
    """For views that only some may know of: others who are logged in get a 404."""

    def decorate(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
        @login_required
        @wraps(view)
        def guarded(request: PersonRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not request.user.has_perm(permission):
                raise Http404
            return view(request, *args, **kwargs)

        return guarded

    return decorate
