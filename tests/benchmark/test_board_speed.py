"""Cost of reading a board, which should not depend on the number of submissions behind it.

Run with `HOLDOUT_DATABASE_URL=postgres://... bin/test -m benchmark -s tests/benchmark/test_board_speed.py`; without
the variable it measures SQLite. It prints times, of the web workers and of a local PostgreSQL server, and asserts only
the first rank and sizes. `BOARD_SYSTEMS=5000 BOARD_SIZES=5000` measures a board of 5,000 systems.

The goals are 5 ms of Python and PostgreSQL together for a response from the cache and for one that is not modified,
17 ms for JSON that is rendered anew, and 40 ms for the page.

For comparison, EvalAI's board of the same 200 teams needs 143 to 167 ms of processor time per request at 1,000
submissions and 513 to 709 ms at 20,000, on two such cores.
"""

from __future__ import annotations

import json
import os
import socket

import pytest
from django.db import connection

from tests.benchmark.support.asking import Site, Spent, serving
from tests.benchmark.support.big_board import BigBoard
from tests.support.rows.tiny_world import build

pytestmark = [pytest.mark.benchmark, pytest.mark.django_db(transaction=True)]
SIZES = [int(size) for size in os.environ.get("BOARD_SIZES", "1000,20000,200000").split(",")]
SYSTEMS = int(os.environ.get("BOARD_SYSTEMS", "200"))
PAGE = "/benchmarks/tiny/test/"
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard/"
ROWS = 150
TIMES = 200
ANEW = {"Cookie": "messages=none"}
"""With this cookie a user may have a waiting message, so the page is rendered again."""


def test_board_cost_by_number_of_submissions(capsys: pytest.CaptureFixture[str]) -> None:
    big = BigBoard(build(), n_teams=SYSTEMS)
    costs: dict[str, list[float]] = {}
    with capsys.disabled():
        print(f"\n{connection.vendor}, gunicorn with 2 workers, {ROWS} rows of {len(big.world.gold.measures)} measures")
        print("submissions  response          conn  CPU ms   DB ms    per s  p50 ms  p99 ms")
        for size in SIZES:
            big.grow(size)
            with serving(_free_port()) as site:
                for name, path in (("JSON", f"{API}?page_size={ROWS}"), ("HTML", PAGE)):
                    tag = _check(site, name, path, big)
                    for response, headers in (
                        ("rendered", ANEW),
                        ("cached", {}),
                        ("not modified", {"If-None-Match": tag}),
                    ):
                        for connections in (1, 4):
                            spent = site.ask(path, times=TIMES, connections=connections, headers=headers)
                            assert spent.status == (304 if response == "not modified" else 200)
                            print(_line(size, f"{name} {response}", connections, spent))
                            if connections == 1:
                                costs.setdefault(f"{name} {response}", []).append(spent.cpu)
        for response, values in costs.items():
            print(f"{response}: highest / lowest cost {max(values) / min(values):.2f}")


def _check(site: Site, name: str, path: str, big: BigBoard) -> str:
    """Warm up and check the board; return its ETag."""
    for _ in range(20):
        status, headers, body = site.get(path)
    assert status == 200
    if name == "JSON":
        rows = json.loads(body)["rows"]
        assert len(rows) == ROWS and (rows[0]["rank"], rows[0]["system"]) == (1, big.first)
        assert all(score["low"] is not None for row in rows for score in row["scores"])
    else:
        text = body.decode()
        assert text.count('class="system-name"') == ROWS
        assert text.index(big.first) < min(
            text.index(system.name) for system in big.systems if system.name in text and system.name != big.first
        )
    return headers["ETag"]


def _line(size: int, response: str, connections: int, spent: Spent) -> str:
    numbers = f"{spent.cpu:7.2f} {spent.database:7.2f} {spent.per_second:8.0f} {spent.p50:7.2f} {spent.p99:7.2f}"
    return f"{size:11,}  {response:<17} {connections:4} {numbers}   {spent.bytes:,} bytes"


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
