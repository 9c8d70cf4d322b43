"""The web server's entry point freezes loaded objects for the garbage collector, which still collects later ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
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
def report() -> dict[str, object]:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    process = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False
    )
    assert process.returncode == 0, process.stderr
    return dict(json.loads(process.stdout))


def test_loaded_objects_are_frozen(report: dict[str, object]) -> None:
    frozen, watched = report["frozen"], report["watched"]
    assert isinstance(frozen, int) and isinstance(watched, int)
    assert frozen > 100 * watched
    assert not report["resolver_is_watched"]
    assert report["patterns_are_loaded"], "the first request would load them, into what is watched"


def test_garbage_of_requests_is_collected(report: dict[str, object]) -> None:
    assert report["enabled"] and report["node_is_watched"] and not report["left"]
    assert report["raised"]


def test_the_application_responds(report: dict[str, object]) -> None:
    assert (report["status"], report["body"]) == (["200 OK"], "ok\n")
