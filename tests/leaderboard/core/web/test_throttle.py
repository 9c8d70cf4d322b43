"""Limits of requests by network, token and session, and what they cost."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext

from leaderboard.core.web import throttle
from leaderboard.models import Benchmark
from tests.support.api_calls import ROOT, error_of, person
from tests.support.strict_html import read

HOME, CAFE = "192.0.2.1", "192.0.2.2"
LIMIT = 40


class Clock:
    """Replaces the module `time`; its times change only when a test sets them. processor: seconds of this thread."""

    def __init__(self) -> None:
        self.now = 1_000_000_030.0
        self.processor = 0.0

    def time(self) -> float:
        return self.now

    def thread_time(self) -> float:
        return self.processor

    perf_counter = time


@pytest.fixture(autouse=True)
def clock(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    settings.SECONDS_PER_MINUTE = LIMIT
    cache.clear()
    clock = Clock()
    monkeypatch.setattr(throttle, "time", clock)
    monkeypatch.setattr(throttle, "BATCH", 20)
    yield clock
    cache.clear()


class Site:
    """Some web processes, of which each request reaches the next one; `reached` counts those that were served.

    seconds: what each request takes of the processor.
    """

    def __init__(self, n_processes: int = 1, seconds: float = 1.0) -> None:
        self.reached, self.seconds = 0, seconds
        self._processes = itertools.cycle([throttle.throttle_middleware(self._serve) for _ in range(n_processes)])

    def _serve(self, _: HttpRequest) -> HttpResponse:
        self.reached += 1
        throttle.time.processor += self.seconds
        return HttpResponse()

    def served(self, n: int, *, at: str = HOME, path: str = "/", **headers: str) -> int:
        """Send n requests; return the number of those that were served."""
        before = self.reached
        for _ in range(n):
            next(self._processes)(RequestFactory().get(path, REMOTE_ADDR=at, headers=headers))
        return self.reached - before


def test_a_network_is_limited_alone() -> None:
    site = Site()
    assert site.served(LIMIT + 20) == LIMIT
    assert site.served(10) == 0
    assert site.served(10, at=CAFE) == 10


def test_dear_requests_use_up_the_limit_sooner_than_cheap_ones() -> None:
    assert Site(seconds=5.0).served(LIMIT) == LIMIT // 5
    assert Site(seconds=0.0).served(20 * LIMIT, at=CAFE) == 20 * LIMIT
    slow = Site()
    assert (slow.served(LIMIT - 1, at="192.0.2.3"), slow.served(2, at="192.0.2.3")) == (LIMIT - 1, 1)


def test_the_time_that_a_request_waits_for_the_database_counts(db: None, clock: Clock) -> None:
    def read(_: HttpRequest) -> HttpResponse:
        def wait(execute: Any, *arguments: Any) -> Any:
            clock.now += LIMIT / 2
            return execute(*arguments)

        with connection.execute_wrapper(wait):
            Benchmark.objects.exists()
        return HttpResponse()

    get = throttle.throttle_middleware(read)
    clock.now -= clock.now % throttle.PERIOD
    assert [get(RequestFactory().get("/", REMOTE_ADDR=HOME)).status_code for _ in range(2)] == [200, 200]
    clock.now -= LIMIT  # the same period
    assert get(RequestFactory().get("/", REMOTE_ADDR=HOME)).status_code == 429


def test_the_limit_is_over_after_the_period(clock: Clock) -> None:
    site = Site()
    site.served(LIMIT + 1)
    clock.now += throttle.PERIOD
    assert site.served(10) == 10


def test_an_ipv6_network_is_one_visitor_and_ipv4_clients_are_not() -> None:
    site = Site()
    assert sum(site.served(1, at=f"2001:db8::{number:x}") for number in range(LIMIT + 20)) == LIMIT
    assert site.served(1, at="2001:db8:0:1::1") == 1
    assert [site.served(LIMIT, at=f"::ffff:192.0.2.{number}") for number in (7, 8)] == [LIMIT, LIMIT]


def test_people_with_a_token_or_a_session_are_not_locked_out_by_their_network() -> None:
    site = Site()
    site.served(LIMIT + 1)
    assert site.served(LIMIT + 20, Authorization="Token ada") == LIMIT
    assert site.served(10, Authorization="Token bob") == 10
    assert site.served(LIMIT + 20, Cookie="sessionid=eve") == LIMIT
    assert site.served(1, path="/accounts/login/") == 1 and site.served(1, path=f"{ROOT}/auth/tokens/") == 1


def test_invented_tokens_do_not_help() -> None:
    site = Site()
    sent = 2 * throttle.CREDENTIALS_A_NETWORK * LIMIT
    assert sum(site.served(1, Authorization=f"Token {number}") for number in range(sent)) == sent // 2
    assert site.served(1, at=CAFE, Authorization="Token ada") == 1


def test_processes_count_together(settings: Any) -> None:
    """Each learns of the others' requests once in BATCH seconds."""
    limit = settings.SECONDS_PER_MINUTE = 4 * throttle.BATCH
    assert limit <= Site(3).served(3 * limit) <= limit + 3 * throttle.BATCH


def test_hosts_count_together_on_redis(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """Each host has web processes and connections of its own, to one Redis."""
    limit = settings.SECONDS_PER_MINUTE = 4 * throttle.BATCH
    address = tmp_path / "redis.sock"
    command = ["redis-server", "--port", "0", "--unixsocket", str(address), "--save", "", "--dir", str(tmp_path)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # its end closes the pipe
    request.addfinalizer(server.communicate)
    request.addfinalizer(server.terminate)
    assert server.stdout and any("ready to accept" in line.lower() for line in server.stdout)
    hosts = [(RedisCache(f"unix://{address}", {}), Site()) for _ in range(2)]
    served = 0
    for _ in range(limit):
        for connections, site in hosts:
            monkeypatch.setattr(throttle, "cache", connections)
            served += site.served(1)
    assert limit <= served <= limit + 2 * throttle.BATCH
    total = hosts[0][0].get(f"milliseconds-{int(Clock().now // throttle.PERIOD)}-{HOME}")
    assert total >= 1000 * limit


def test_a_cache_that_fails_does_not_end_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr(throttle.cache, "add", fail)
    monkeypatch.setattr(throttle.response_cache._pause, "end", 0.0)
    assert Site().served(LIMIT + 20) == LIMIT
    monkeypatch.setattr(throttle.response_cache._pause, "end", 0.0)


def test_a_request_costs_no_statement_and_rarely_a_call_of_the_cache(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr(throttle, "_add_batch", lambda key, _: calls.append(key) or 1000 * len(calls) * throttle.BATCH)
    with CaptureQueriesContext(connection) as queries:
        assert Site().served(LIMIT) == LIMIT
    assert len(queries) == 0 and len(calls) == LIMIT // throttle.BATCH


def test_0_is_no_limit_and_this_host_has_none(settings: Any) -> None:
    assert Site().served(LIMIT + 20, at="127.0.0.1") == Site().served(LIMIT + 20, at="::1") == LIMIT + 20
    settings.SECONDS_PER_MINUTE = 0
    assert Site().served(LIMIT + 20) == LIMIT + 20


@pytest.mark.django_db
def test_page_and_api_say_when_to_try_again(settings: Any, clock: Clock) -> None:
    settings.SECONDS_PER_MINUTE = throttle.OVERHEAD / 2
    client = Client(REMOTE_ADDR=HOME)
    assert client.get("/docs/").status_code == 200
    page, answer = client.get("/docs/"), client.get(f"{ROOT}/tasks/")
    seconds = str(int(throttle.PERIOD - clock.now % throttle.PERIOD) + 1)
    assert [(response.status_code, response["Retry-After"]) for response in (page, answer)] == [(429, seconds)] * 2
    assert error_of(answer) == {"code": "throttled", "message": throttle.MESSAGE}
    assert throttle.MESSAGE in page.content.decode() and read(page.content.decode()).faults == []
    assert "Content-Security-Policy" in page
    client.force_login(person("ada"))
    assert client.get("/docs/").status_code == 200
