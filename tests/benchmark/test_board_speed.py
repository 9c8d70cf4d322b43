"""What a board costs to read, and that it costs the same with more submissions behind it.

Run with `HOLDOUT_DATABASE_URL=postgres://... bin/test -m benchmark -s tests/benchmark/test_board_speed.py`; without
the variable it measures SQLite. It prints; it asserts the right first place and sizes, never a time.

To compare with: EvalAI's board of the same 200 teams needs 143 to 167 ms of processor a request at 1,000 submissions
and 513 to 709 ms at 20,000, on two such cores.
"""

from __future__ import annotations

import json
import os
import socket

import pytest
from django.db import connection

from tests.benchmark.asking import Site, Spent, serving
from tests.benchmark.big_board import BigBoard
from tests.support.tiny_world import build

pytestmark = [pytest.mark.benchmark, pytest.mark.django_db(transaction=True)]
SIZES = [int(size) for size in os.environ.get("BOARD_SIZES", "1000,20000,200000").split(",")]
PAGE = "/benchmarks/tiny/test/"
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard/"
ROWS = 150
TIMES = 200
ANEW = {"Cookie": "messages=none"}
"""Who may have a message waiting is shown a page that is made for him."""


def test_board_cost_by_number_of_submissions(capsys: pytest.CaptureFixture[str]) -> None:
    big = BigBoard(build())
    costs: dict[str, list[float]] = {}
    with capsys.disabled():
        print(f"\n{connection.vendor}, gunicorn with 2 workers, {ROWS} rows of {len(big.world.gold.measures)} measures")
        print("submissions  what              conn  CPU ms a second  p50 ms  p99 ms")
        for size in SIZES:
            big.grow(size)
            with serving(_free_port()) as site:
                for name, path in (("JSON", f"{API}?page_size={ROWS}"), ("HTML", PAGE)):
                    tag = _check(site, name, path, big)
                    for what, headers in (("made anew", ANEW), ("kept", {}), ("not modified", {"If-None-Match": tag})):
                        for connections in (1, 4):
                            spent = site.ask(path, times=TIMES, connections=connections, headers=headers)
                            assert spent.status == (304 if what == "not modified" else 200)
                            print(_line(size, f"{name} {what}", connections, spent))
                            if connections == 1:
                                costs.setdefault(f"{name} {what}", []).append(spent.cpu)
        for what, found in costs.items():
            print(f"{what}: dearest over cheapest {max(found) / min(found):.2f}")


def _check(site: Site, name: str, path: str, big: BigBoard) -> str:
    """The board is right, and warm; its tag."""
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
            text.index(one.name) for one in big.systems if one.name in text and one.name != big.first
        )
    return headers["ETag"]


def _line(size: int, what: str, connections: int, spent: Spent) -> str:
    numbers = f"{spent.cpu:7.2f} {spent.a_second:8.0f} {spent.p50:7.2f} {spent.p99:7.2f}"
    return f"{size:11,}  {what:<17} {connections:4} {numbers}   {spent.bytes:,} bytes"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
