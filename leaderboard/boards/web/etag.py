"""A board's tag: whether it is still what a reader holds, told from its revision in one small query.

For readers without a session or a token, who are all told the same. Who is logged in may be told more, and a page
made for him has his own marks: such answers get the digest of their bytes for a tag, after they are made.
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
from django.db.models import Count, Exists, F, Max, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import parse_etags
from django.views.decorators.http import conditional_page

from leaderboard.core import response_cache
from leaderboard.core.compiled_queries import Prepared, moment
from leaderboard.models import Benchmark, Leaderboard, Phase, ReportedResult, Standing

View = TypeVar("View", bound=Callable[..., Any])
_OF_A_PHASE = [field.attname for field in Phase._meta.concrete_fields if field.attname != "arrivals"]
_BESIDE = ("benchmark__title", "benchmark__dataset__title", "split__name", "split__gold_public", "split__options")


def tagged(view: View) -> View:
    """Answers 304 before the board is read, where the reader's copy is still right; else the answer has a tag."""
    with_digest = conditional_page(view)

    @functools.wraps(view)
    def asked(request: HttpRequest, slug: str, phase: str, **more: Any) -> HttpResponse:
        tag = tag_of(slug, phase, address=request.get_full_path()) if _is_anybody(request) else None
        if tag is None:
            return cast(HttpResponse, with_digest(request, slug=slug, phase=phase, **more))
        if tag in parse_etags(request.headers.get("If-None-Match", "")):
            response: HttpResponse = HttpResponseNotModified()
        else:
            response = response_cache.answer(
                (tag, request.method, request.build_absolute_uri()),
                lambda: view(request, slug=slug, phase=phase, **more),
            )
        if response.status_code in (200, 304):
            response["ETag"] = tag
            # What is told hangs on who asks; a copy is asked for again before it is shown again.
            patch_vary_headers(response, ["Cookie", "Authorization"])
            patch_cache_control(response, private=True, no_cache=True)
        return response

    return cast(View, asked)


def tag_of(slug: str, phase: str, *, address: str) -> str | None:
    """Of all that the boards of a phase show to everybody; None: it is not public, or a board is being prepared,
    whose progress is shown and changes by the second.

    address: what is asked for, so that the tag of one page is none of another that may not even be there.
    """
    at = timezone.now()
    rows = BOARDS.raw(slug, phase, at)
    if not rows or any(row[-1] for row in rows):
        return None
    told = [_code(), address, at.date(), [_passed(row, at) for row in rows], rows]
    return f'"{hashlib.sha256(repr(told).encode()).hexdigest()[:32]}"'


def _is_anybody(request: HttpRequest) -> bool:
    names = (settings.SESSION_COOKIE_NAME, "messages")
    return "Authorization" not in request.headers and not any(name in request.COOKIES for name in names)


def _boards(slug: str, phase: str, at: datetime) -> QuerySet[Any, Any]:
    """One row a board of the phase."""
    boards = Leaderboard.objects.filter(
        phase__slug=phase, phase__benchmark__slug=slug, phase__benchmark__state=Benchmark.State.PUBLIC
    )
    preparing = Leaderboard.objects.filter(phase=OuterRef("phase"), state=Leaderboard.State.PREPARING)
    hidden = Standing.objects.filter(leaderboard=OuterRef("pk"), system__anonymous_until__gt=at)
    reported = ReportedResult.objects.filter(benchmark=OuterRef("phase__benchmark"))
    of_one = reported.order_by().values("benchmark")
    of_phase = [f"phase__{name}" for name in (*_OF_A_PHASE, *_BESIDE)]
    of_ranking = [f"ranking__{name}" for name in ("changes", "covered", "failures", "computed_at")]
    counted = {
        "n_hidden": Subquery(hidden.order_by().values("leaderboard").annotate(n=Count("*")).values("n")),
        "n_reported": Subquery(of_one.annotate(n=Count("*")).values("n")),
        "last_reported": Subquery(of_one.annotate(last=Max("pk")).values("last")),
        # Whatever a curator changes at his desk.
        "last_edit": Subquery(LogEntry.objects.order_by("-pk").values("pk")[:1]),
        "is_preparing": Exists(preparing),
    }
    return (
        boards.order_by("pk")
        .annotate(opens=F("phase__opens_at"), closes=F("phase__closes_at"), **counted)
        .values_list("pk", "state", "revision", *of_phase, *of_ranking, "opens", "closes", *counted)
    )


BOARDS = Prepared(_boards, str, str, datetime)


def _passed(row: tuple[Any, ...], at: datetime) -> list[bool]:
    """Which of the phase's dates are over: its state is shown, and nothing is written when it changes."""
    dates = (value and moment(value) for value in row[-7:-5])
    return [value is not None and value < at for value in dates]


@functools.cache
def _code() -> str:
    """What pages are made by: a tag of another version of the site is of no use."""
    digest = hashlib.sha256()
    folder = Path(__file__).resolve().parents[2]
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".html", ".css", ".js", ".svg") and "vendor" not in path.parts:
            digest.update(path.read_bytes())
    return digest.hexdigest()
