"""Limits on the number of requests per minute: of each API token and session, and of each network without these.

A process counts in memory, and adds to the counters of all processes in Django's cache only once in BATCH requests.
So a request costs microseconds and no SQL statement, and few requests use the cache; a limit is exceeded by at most
BATCH requests per process. Static files and health checks are not counted; log-ins have separate limits
(ACCOUNT_RATE_LIMITS).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator

from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template import loader
from django.urls import reverse

from leaderboard.core import response_cache
from leaderboard.core.api import problem_details
from leaderboard.core.web.client_network import network_of

PERIOD = 60
"""Seconds in which requests are counted; then all counters begin again."""
BATCH = 100
CREDENTIALS_A_NETWORK = 5
"""Limit of a network's requests with tokens and sessions, as a multiple of the limit of one.

It keeps a client from evading the limit by inventing tokens, and lets several people work in one network.
"""
MESSAGE = "There were too many requests. Try again in a minute."


class Counters:
    """Numbers of requests in one period of PERIOD seconds, for each network, token and session.

    period: number of the period since 1970. own: requests to this process. earlier: requests to all processes, as last
    read from the cache. networks: (address, X-Forwarded-For) of a request -> its network.
    """

    def __init__(self, period: int) -> None:
        self.period = period
        self.own: dict[str, int] = {}
        self.earlier: dict[str, int] = {}
        self.networks: dict[tuple[str, str], str] = {}

    def add(self, key: str) -> int:
        """Count a request of the network, token or session `key`; return the number of its requests in this period.

        This includes requests to other processes, as far as this process knows them from the cache.
        """
        n = self.own[key] = self.own.get(key, 0) + 1
        if n % BATCH == 0:
            total = response_cache.or_none(lambda: _add_batch(f"requests-{self.period}-{key}"))
            self.earlier[key] = max(n, total if isinstance(total, int) else 0)
            return self.earlier[key]
        return max(n, self.earlier.get(key, 0) + n % BATCH)

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


def _add_batch(key: str) -> int:
    cache.add(key, 0, 2 * PERIOD)
    return int(cache.incr(key, BATCH))


def throttle_middleware(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return a middleware that returns a 429 with Retry-After for requests over a limit (see `_limits`)."""
    counters = Counters(0)
    exempt = (reverse("account_login"), reverse("api_tokens"))

    def middleware(request: HttpRequest) -> HttpResponseBase:
        nonlocal counters
        if settings.REQUESTS_PER_MINUTE and request.path not in exempt:
            now = time.time()
            if counters.period != int(now // PERIOD):
                counters = Counters(int(now // PERIOD))
            if any(counters.add(key) > limit for key, limit in _limits(request, counters.network(request))):
                return _refusal(request, int(PERIOD - now % PERIOD) + 1)
        return get_response(request)

    return middleware


def _limits(request: HttpRequest, network: str) -> Iterator[tuple[str, int]]:
    """Yield (key under which the request counts, limit of requests per period).

    A key is a network, a digest of a token or session, or all tokens and sessions of a network together. Requests from
    this host have no limit: behind a proxy that HOLDOUT_PROXY does not announce, all requests seem to come from it.
    """
    if not network or network.startswith("127.") or network == "::/64":
        return
    limit = settings.REQUESTS_PER_MINUTE
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
