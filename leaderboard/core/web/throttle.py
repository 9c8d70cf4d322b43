"""Limits on the time that requests may take per minute: of each API token and session, and of each network without.

The time of a request is that of this process's processor and that of its queries in the database, which is known when
the request ends. So a page that costs little may be read often, and one that costs much seldom. A process counts in
memory, and adds to the counters of all processes in Django's cache only once in BATCH seconds of such time. So counting
costs microseconds and no SQL statement, and few requests use the cache; a limit is exceeded by at most BATCH seconds
per process, and by the requests that run at the time. Static files and health checks are not counted; log-ins have
separate limits (ACCOUNT_RATE_LIMITS).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template import loader
from django.urls import reverse

from leaderboard.core import response_cache
from leaderboard.core.api import problem_details
from leaderboard.core.web.client_network import network_of

PERIOD = 60
"""Seconds in which the time is counted; then all counters begin again."""
BATCH = 1.0
OVERHEAD = 0.001
"""Seconds that the web server takes for a request before and after Django."""
CREDENTIALS_A_NETWORK = 5
"""Limit of a network's requests with tokens and sessions, as a multiple of the limit of one.

It keeps a client from evading the limit by inventing tokens, and lets several people work in one network.
"""
MESSAGE = "There were too many requests. Try again in a minute."


class Counters:
    """Seconds that requests took in one period of PERIOD seconds, for each network, token and session.

    period: number of the period since 1970. own: seconds in this process that are not in the cache yet. earlier:
    seconds in all processes, as last read from the cache. networks: (address, X-Forwarded-For) of a request -> its
    network.
    """

    def __init__(self, period: int) -> None:
        self.period = period
        self.own: dict[str, float] = {}
        self.earlier: dict[str, float] = {}
        self.networks: dict[tuple[str, str], str] = {}

    def spent(self, key: str) -> float:
        """Return the seconds of the network, token or session `key` in this period.

        This includes requests to other processes, as far as this process knows them from the cache.
        """
        return self.earlier.get(key, 0.0) + self.own.get(key, 0.0)

    def add(self, key: str, seconds: float) -> None:
        own = self.own[key] = self.own.get(key, 0.0) + seconds
        if own >= BATCH:
            known = self.spent(key)
            total = response_cache.or_none(lambda: _add_batch(f"milliseconds-{self.period}-{key}", round(1000 * own)))
            self.earlier[key] = max(known, total / 1000 if isinstance(total, int) else 0.0)
            self.own[key] = 0.0

    def network(self, request: HttpRequest) -> str:
        """Return the network from which a request comes; empty if the request has no address.

        Networks are cached for the period.
        """
        sender = (request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", ""))
        if sender not in self.networks:
            try:
                self.networks[sender] = network_of(request)
            except PermissionDenied:  # on a Unix socket, if the proxy sends no address
                self.networks[sender] = ""
        return self.networks[sender]


def _add_batch(key: str, milliseconds: int) -> int:
    cache.add(key, 0, 2 * PERIOD)
    return int(cache.incr(key, milliseconds))


class Stopwatch:
    """Measures the seconds of a request: of this thread's processor, and of its queries, for which it waits."""

    def __enter__(self) -> Stopwatch:
        self.queries = 0.0
        self._began = time.thread_time()
        self._stack = ExitStack()
        for database in connections.all():
            self._stack.enter_context(database.execute_wrapper(self._query))
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        self.seconds = OVERHEAD + time.thread_time() - self._began + self.queries

    def _query(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        began, processor = time.perf_counter(), time.thread_time()
        try:
            return execute(*arguments)
        finally:
            self.queries += time.perf_counter() - began - (time.thread_time() - processor)


def throttle_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return a middleware that returns a 429 with Retry-After for requests over a limit (see `_limits`)."""
    counters = Counters(0)
    exempt = (reverse("account_login"), reverse("api_tokens"))

    def middleware(request: HttpRequest) -> HttpResponseBase:
        nonlocal counters
        if not settings.SECONDS_PER_MINUTE or request.path in exempt:
            return get_response(request)
        now = time.time()
        if counters.period != int(now // PERIOD):
            counters = Counters(int(now // PERIOD))
        limits = list(_limits(request, counters.network(request)))
        if not limits:
            return get_response(request)
        if any(counters.spent(key) >= limit for key, limit in limits):
            return _refusal(request, int(PERIOD - now % PERIOD) + 1)
        stopwatch = Stopwatch()
        try:
            with stopwatch:
                return get_response(request)
        finally:
            for key, _ in limits:
                counters.add(key, stopwatch.seconds)

    return middleware


def _limits(request: HttpRequest, network: str) -> Iterator[tuple[str, float]]:
    """Yield (key under which the request's time counts, limit in seconds per period).

    A key is a network, a digest of a token or session, or all tokens and sessions of a network together. Requests from
    this host have no limit: behind a proxy that HOLDOUT_PROXY does not announce, all requests seem to come from it.
    """
    if not network or network.startswith("127.") or network == "::/64":
        return
    limit = settings.SECONDS_PER_MINUTE
    credential = request.META.get("HTTP_AUTHORIZATION") or request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not credential:
        yield network, limit
        return
    yield hashlib.sha256(credential.encode("utf-8", "surrogateescape")).hexdigest(), limit
    yield f"credentials-{network}", CREDENTIALS_A_NETWORK * limit


def _refusal(request: HttpRequest, seconds: int) -> HttpResponse:
    response: HttpResponse
    if request.path.startswith("/api/"):
        response = problem_details.response(request, 429, "throttled", MESSAGE)
    else:
        # Without the request: the user's name would cost a statement.
        response = HttpResponse(loader.get_template("429.html").render({"message": MESSAGE}), status=429)
    response["Retry-After"] = str(seconds)
    return response
