"""The web server's entry leaves what it loaded out of collections, and goes on collecting what requests leave."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

ASKED = """
import gc, io, json, weakref
before = gc.get_threshold()
from leaderboard import wsgi
from django.urls import get_resolver

class Node:
    pass

loaded = {id(one) for one in gc.get_objects()}
node = Node()
node.itself = node
left = weakref.ref(node)
node_is_watched = any(one is node for one in gc.get_objects())
del node
gc.collect()
resolver = get_resolver()
started = []
status = []
body = b"".join(wsgi.application(
    {"REQUEST_METHOD": "GET", "PATH_INFO": "/health/live", "SERVER_NAME": "x", "SERVER_PORT": "80",
     "wsgi.input": io.BytesIO(), "wsgi.url_scheme": "http"},
    lambda line, headers: status.append(line),
))
print(json.dumps({
    "frozen": gc.get_freeze_count(),
    "watched": len(loaded),
    "resolver_is_watched": id(resolver) in loaded,
    "patterns_are_loaded": "url_patterns" in vars(resolver) and id(resolver.url_patterns) not in loaded,
    "enabled": gc.isenabled(),
    "raised": gc.get_threshold()[0] > before[0],
    "left": left() is not None,
    "node_is_watched": node_is_watched,
    "status": status,
    "body": body.decode(),
}))
"""


@pytest.fixture(scope="module")
def told() -> dict[str, object]:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run([sys.executable, "-c", ASKED], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_what_is_loaded_is_passed_over(told: dict[str, object]) -> None:
    frozen, watched = told["frozen"], told["watched"]
    assert isinstance(frozen, int) and isinstance(watched, int)
    assert frozen > 100 * watched
    assert not told["resolver_is_watched"]
    assert told["patterns_are_loaded"], "the first request would load them, into what is watched"


def test_what_requests_leave_is_still_collected(told: dict[str, object]) -> None:
    assert told["enabled"] and told["node_is_watched"] and not told["left"]
    assert told["raised"]


def test_it_answers(told: dict[str, object]) -> None:
    assert (told["status"], told["body"]) == (["200 OK"], "ok\n")
