"""Public files are downloaded from a bucket of their own; no hidden file is ever written to it."""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from django.test import Client

from leaderboard.core.storage import first_bytes
from leaderboard.datasets.actions import downloads, public_files
from leaderboard.models import Benchmark, Download, Split
from tests.conftest import ROOT
from tests.support import faulty_store
from tests.support.rows.gold_uploads import close_all, uploaded
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
GRAPH = b"Oslo\tcapital of\tNorway\n"
INPUTS, GOLD, FILE = (
    f"/benchmarks/tiny/{path}" for path in ("splits/test/inputs.jsonl", "splits/test/gold.jsonl", "downloads/graph")
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with faulty_store.s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def world(endpoint: str, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[World]:
    for name, value in faulty_store.KEYS.items():
        monkeypatch.setenv(name, value)
    with faulty_store.faulty_store(endpoint) as store:
        faulty_store.use_store(store, monkeypatch, settings)
        settings.S3_PUBLIC_BUCKET, settings.S3_PUBLIC_URL = "public", ""
        bucket = boto3.resource("s3", endpoint_url=endpoint).create_bucket(Bucket="public")
        bucket.objects.all().delete()
        yield build()
    close_all()


@pytest.fixture
def graph(world: World) -> Download:
    fields = {"name": "graph", "title": "The graph", "description": "", "by": world.curator}
    return downloads.add(dataset=world.split.dataset, file=uploaded(GRAPH, "graph.tsv"), **fields)


def in_public(endpoint: str) -> list[str]:
    return sorted(item.key for item in boto3.resource("s3", endpoint_url=endpoint).Bucket("public").objects.all())


def test_downloads_are_redirected_to_signed_copies(world: World, graph: Download, endpoint: str) -> None:
    assert in_public(endpoint) == [], "a file is copied when it is first downloaded"
    for path, content in ((FILE, GRAPH), (INPUTS, world.split.inputs.open().read())):
        for _ in range(2):
            answer = Client().get(path)
            assert answer.status_code == 302 and "private" in answer["Cache-Control"]
            with urllib.request.urlopen(answer["Location"]) as copy:
                assert copy.read() == content
                assert copy.headers["Content-Disposition"].startswith("attachment; filename=")
                assert "immutable" in copy.headers["Cache-Control"]
    assert "Signature" in answer["Location"]
    assert in_public(endpoint) == sorted(
        [f"{graph.sha256}/tiny-graph.tsv", f"{world.split.inputs_sha256}/tiny-test-inputs.jsonl"]
    )
    assert Client().get(FILE, headers={"If-None-Match": f'"{graph.sha256}"'}).status_code == 304


def test_a_part_of_a_file_in_the_private_bucket(world: World, graph: Download, settings: Any) -> None:
    settings.S3_PUBLIC_BUCKET = ""
    part = Client().get(FILE, headers={"Range": "bytes=5-9"})
    assert (part.status_code, b"".join(part.streaming_content)) == (206, GRAPH[5:10])  # type: ignore[attr-defined]
    assert first_bytes(graph.file, 4) == GRAPH[:4] and first_bytes(graph.file, 4000) == GRAPH


def test_addresses_of_a_cdn_are_not_signed(world: World, graph: Download, settings: Any) -> None:
    settings.S3_PUBLIC_URL = "https://files.example"
    assert Client().get(FILE)["Location"] == f"https://files.example/{graph.sha256}/tiny-graph.tsv"


def test_hidden_files_are_never_copied(world: World, graph: Download, endpoint: str) -> None:
    """Neither by a request of anybody, nor by the code that copies, whichever row it is given."""
    curator = Client()
    curator.force_login(world.curator)

    def attempt() -> list[str]:
        for client in (Client(), curator):
            for path in (INPUTS, GOLD, FILE):
                answer = client.get(path)
                b"".join(answer.streaming_content if answer.streaming else ())
        world.split.refresh_from_db()
        for row in (world.split, world.gold, Download.objects.get()):
            public_files.address(row, filename="x", content_type="text/plain")
        return in_public(endpoint)

    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    assert attempt() == []
    Benchmark.objects.update(state=Benchmark.State.PUBLIC)
    Split.objects.update(inputs_public=False)
    Download.objects.update(sha256=world.gold.sha256)
    assert attempt() == [], "hidden inputs, hidden gold, and a file with the content of hidden gold"
    Download.objects.update(sha256=world.split.inputs_sha256)
    assert attempt() == []
    Split.objects.update(inputs_public=True, state=Split.State.DRAFT, published_at=None)
    assert all("inputs" not in key for key in attempt())
    assert all(world.gold.sha256 not in key for key in in_public(endpoint))


def test_no_stored_file_is_in_the_public_bucket(settings: Any) -> None:
    site = {"HOLDOUT_S3_BUCKET": "files", "HOLDOUT_S3_GOLD_BUCKET": "gold", "HOLDOUT_S3_PUBLIC_BUCKET": "public"}
    code = (
        "from leaderboard.settings import STORAGES; "
        "print([storage['OPTIONS']['bucket_name'] for storage in STORAGES.values() if 'OPTIONS' in storage])"
    )

    def start(**changes: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "leaderboard.settings", **site, **changes}
        return subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )

    assert "public" not in start().stdout and "files" in start().stdout
    for changes in (
        {"HOLDOUT_S3_PUBLIC_BUCKET": "gold"},
        {"HOLDOUT_S3_PUBLIC_BUCKET": "files"},
        {"HOLDOUT_S3_BUCKET": ""},
    ):
        assert "expected a bucket other than" in start(**changes).stderr
