"""ETags of boards, computed from revisions in one small query before the board is read.

They are used for requests without a session or token, which all get the same response. Logged-in users may see more,
and their pages are personalised: the ETag of such a response is a digest of its rendered bytes.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils import timezone
from django.utils.cache import patch_cache_control, patch_vary_headers
from django.utils.http import parse_etags
from django.utils.translation import get_language
from django.views.decorators.http import conditional_page

from leaderboard.core import response_cache
from leaderboard.models import Phase

View = TypeVar("View", bound=Callable[..., Any])


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
    rows = _boards(slug, phase, at)
    if not rows or any(is_preparing for *_, is_preparing in rows):
        return None
    parts = [_code_digest(), address, at.date(), rows]
    return f'"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'


def is_anonymous(request: HttpRequest) -> bool:
    """Return whether a request has neither session nor token, so that its response is the same for everybody."""
    names = (settings.SESSION_COOKIE_NAME, "messages")
    return "Authorization" not in request.headers and not any(name in request.COOKIES for name in names)


_STATEMENT = """
SELECT
    board.id, board.state, board.revision, ranking.changes, ranking.covered, ranking.failures, ranking.computed_at,
    benchmark.title, benchmark.summary, benchmark.facts, dataset.title,
    split.name, split.gold_public, split.options, split.state, split.retired_at, split.retired_reason,
    {phase_columns},
    -- Pages say whether these have passed, and no row changes when they pass.
    phase.opens_at < %(at)s, phase.closes_at < %(at)s,
    (SELECT COUNT(*) FROM leaderboard_standing standing JOIN leaderboard_system system ON system.id = standing.system_id
        WHERE standing.leaderboard_id = board.id AND system.anonymous_until > %(at)s),
    (SELECT COUNT(*) FROM leaderboard_reportedresult result WHERE result.benchmark_id = benchmark.id),
    (SELECT MAX(result.id) FROM leaderboard_reportedresult result WHERE result.benchmark_id = benchmark.id),
    -- Each board links to those of the benchmark's other phases.
    (SELECT {joined_rows} FROM (
        SELECT slug, title, scorer_id, tracks, position FROM leaderboard_phase
        WHERE benchmark_id = benchmark.id ORDER BY position, id
    ) other),
    -- Any edit that a curator makes in Django's admin.
    (SELECT MAX(id) FROM django_admin_log),
    EXISTS (SELECT 1 FROM leaderboard_leaderboard other WHERE other.phase_id = phase.id AND other.state = 'preparing')
FROM leaderboard_leaderboard board
JOIN leaderboard_phase phase ON phase.id = board.phase_id
JOIN leaderboard_benchmark benchmark ON benchmark.id = phase.benchmark_id
JOIN leaderboard_dataset dataset ON dataset.id = benchmark.dataset_id
JOIN leaderboard_split split ON split.id = phase.split_id
LEFT JOIN leaderboard_ranking ranking ON ranking.leaderboard_id = board.id
WHERE phase.slug = %(phase)s AND benchmark.slug = %(slug)s AND benchmark.state = 'public'
ORDER BY board.id
"""
"""One row for each board of the phase, with every value on which its public pages depend; the last is whether a board
is in preparation. Written by hand: Django takes longer to make this statement than the database to answer it."""
_JOINED_ROWS = {
    "postgresql": "JSON_AGG(JSON_BUILD_ARRAY(slug, title, scorer_id, tracks, position))",
    "sqlite": "JSON_GROUP_ARRAY(JSON_ARRAY(slug, title, scorer_id, tracks, position))",
}


def _boards(slug: str, phase: str, at: datetime) -> list[tuple[Any, ...]]:
    """Return one row for each board of the phase, with every value on which its public pages depend at the time `at`.

    The last value is whether a board is in preparation. Empty unless the benchmark is public.
    """
    with connection.cursor() as cursor:
        # SQLite has times as text without a zone, which is UTC, as the sessions of PostgreSQL are.
        parameters = {"slug": slug, "phase": phase, "at": f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"}
        cursor.execute(_statement(connection.vendor), parameters)
        return cursor.fetchall()


@functools.cache
def _statement(vendor: str) -> str:
    # `ranked_sequence` also counts submissions that change no board: on a ladder, nobody may see that there was one.
    columns = [field.column for field in Phase._meta.concrete_fields if field.name != "ranked_sequence"]
    of_phase = ", ".join(f"phase.{column}" for column in columns)
    return _STATEMENT.format(phase_columns=of_phase, joined_rows=_JOINED_ROWS[vendor])


@functools.cache
def _code_digest() -> str:
    """Return a digest of the site's code, templates and assets, so that each deployment invalidates all ETags."""
    digest = hashlib.sha256()
    folder = Path(__file__).resolve().parents[2]
    for path in sorted(folder.rglob("*")):
        if path.suffix in (".py", ".html", ".css", ".js", ".svg") and "vendor" not in path.parts:
            digest.update(path.read_bytes())
    return digest.hexdigest()
