"""ETags of boards, computed from revisions in one small query before the board is read.

They are used for requests without a session or token, which all get the same response. Logged-in users may see more,
and their pages are personalised: the ETag of such a response is a digest of its rendered bytes.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet, Subquery, Sum
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import parse_etags
from django.utils.translation import get_language
from django.views.decorators.http import conditional_page

from leaderboard.core import response_cache
from leaderboard.core.compiled_queries import PreparedQuery, parse_datetime
from leaderboard.models import Benchmark, Leaderboard, Phase, ReportedResult, Standing

View = TypeVar("View", bound=Callable[..., Any])
# `ranked_sequence` also counts submissions that change no board: on a ladder, nobody may see that there was one.
_PHASE_FIELDS = [field.attname for field in Phase._meta.concrete_fields if field.attname != "ranked_sequence"]
_RELATED_FIELDS = (
    "benchmark__title",
    "benchmark__summary",
    "benchmark__facts",
    "benchmark__dataset__title",
    "split__name",
    "split__gold_public",
    "split__options",
    "split__state",
    "split__retired_at",
    "split__retired_reason",
)


def with_etag(view: View) -> View:
    """Decorate a board view: answer 304 without reading the board if If-None-Match is current, else set the ETag."""
    with_digest = conditional_page(view)

    @functools.wraps(view)
    def wrapped(request: HttpRequest, slug: str, phase: str, **kwargs: Any) -> HttpResponse:
        tag = tag_of(slug, phase, address=request.get_full_path()) if is_anonymous(request) else None
        if tag is None:
            answer = cast(HttpResponse, with_digest(request, slug=slug, phase=phase, **kwargs))
            if answer.status_code >= 400:
                del answer["ETag"]  # an error of the API has the request's id, so its digest never matches
            return answer
        # A proxy that compresses the page makes its ETag weak.
        known = [known.removeprefix("W/") for known in parse_etags(request.headers.get("If-None-Match", ""))]
        if tag in known:
            response: HttpResponse = HttpResponseNotModified()
        else:
            response = response_cache.get_or_render(
                tag,
                f"{request.method} {get_language()} {request.build_absolute_uri()}",
                lambda: view(request, slug=slug, phase=phase, **kwargs),
            )
        if response.status_code in (200, 304):
            response["ETag"] = tag
            # The response depends on the user, so caches must revalidate.
            patch_vary_headers(response, ["Cookie", "Authorization"])
            patch_cache_control(response, private=True, no_cache=True)
        return response

    return cast(View, wrapped)


def tag_of(slug: str, phase: str, *, address: str) -> str | None:
    """Return the ETag of the public content of a phase's boards.

    None if the phase is not public, or if a board is being prepared: its progress is shown and changes every second.
    address: path and query of the request. It is part of the ETag, so that the ETag of one page never yields a 304 for
    another address, in particular for one that has to be answered with 404.
    """
    at = timezone.now()
    rows = BOARDS.raw(slug, phase, at)
    if not rows or any(row[-1] for row in rows):
        return None
    parts = [_code_digest(), address, at.date(), [_dates_passed(row, at) for row in rows], rows]
    return f'"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'


def is_anonymous(request: HttpRequest) -> bool:
    """Return whether a request has neither session nor token, so that its response is the same for everybody."""
    names = (settings.SESSION_COOKIE_NAME, "messages")
    return "Authorization" not in request.headers and not any(name in request.COOKIES for name in names)


def _boards(slug: str, phase: str, at: datetime) -> QuerySet[Any, Any]:
    """Return one row per board of the phase, with every value on which its public pages depend at the time `at`."""
    boards = Leaderboard.objects.filter(
        phase__slug=phase, phase__benchmark__slug=slug, phase__benchmark__state=Benchmark.State.PUBLIC
    )
    preparing = Leaderboard.objects.filter(phase=OuterRef("phase"), state=Leaderboard.State.PREPARING)
    anonymous = Standing.objects.filter(leaderboard=OuterRef("pk"), system__anonymous_until__gt=at)
    reported = ReportedResult.objects.filter(benchmark=OuterRef("phase__benchmark"))
    reported_of_benchmark = reported.order_by().values("benchmark")
    phase_fields = [f"phase__{name}" for name in (*_PHASE_FIELDS, *_RELATED_FIELDS)]
    ranking_fields = [f"ranking__{name}" for name in ("changes", "covered", "failures", "computed_at")]
    annotations = {
        "n_hidden": Subquery(anonymous.order_by().values("leaderboard").annotate(n=Count("*")).values("n")),
        "n_reported": Subquery(reported_of_benchmark.annotate(n=Count("*")).values("n")),
        "last_reported": Subquery(reported_of_benchmark.annotate(last=Max("pk")).values("last")),
        # The titles and the order of the benchmark's phases, to which each of their boards links.
        "phase_changes": Subquery(
            Phase.objects.filter(benchmark=OuterRef("phase__benchmark"))
            .order_by()
            .values("benchmark")
            .annotate(total=Sum("n_entries"))
            .values("total")
        ),
        # Any edit that a curator makes in Django's admin.
        "last_edit": Subquery(LogEntry.objects.order_by("-pk").values("pk")[:1]),
        "is_preparing": Exists(preparing),
    }
    return (
        boards.order_by("pk")
        .annotate(opens=F("phase__opens_at"), closes=F("phase__closes_at"), **annotations)
        .values_list("pk", "state", "revision", *phase_fields, *ranking_fields, "opens", "closes", *annotations)
    )


BOARDS = PreparedQuery(_boards, str, str, datetime)


def _dates_passed(row: tuple[Any, ...], at: datetime) -> list[bool]:
    """Return [whether the phase's opens_at has passed at `at`, whether its closes_at has]. row: a result of `_boards`.

    Pages show whether these dates have passed, but no row changes when they pass, so the ETag contains this in
    addition.
    """
    dates = (value and parse_datetime(value) for value in row[-8:-6])
    return [value is not None and value < at for value in dates]


@functools.cache
def _code_digest() -> str:
    """Return a digest of the site's code, templates and assets, so that each deployment invalidates all ETags."""
    digest = hashlib.sha256()
    folder = Path(__file__).resolve().parents[2]
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".html", ".css", ".js", ".svg") and "vendor" not in path.parts:
            digest.update(path.read_bytes())
    return digest.hexdigest()
