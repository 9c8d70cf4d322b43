"""Public files of a dataset: uploaded once, listed with their digest, and served as attachments."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from leaderboard.core.refusal import Code
from leaderboard.datasets.actions import downloads
from leaderboard.models import AuditEntry, Download
from tests.support.rows.gold_uploads import close_all, files_of, refusal, uploaded
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build, gold_lines
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
GRAPH = b"Oslo\tcapital of\tNorway\n"
HOSTILE = b"<script>alert(1)</script>"


world, _django_db_helper = shared_states(world=build)


@pytest.fixture(autouse=True)
def _close_files() -> Iterator[None]:
    yield
    close_all()


def upload(world: World, content: bytes = GRAPH, filename: str = "triples.tsv", **changes: Any) -> Download:
    fields = {"name": "graph", "title": "The graph", "description": "A triple a line.", "by": world.curator, **changes}
    return downloads.add(dataset=world.split.dataset, file=uploaded(content, filename), **fields)


def body_of(response: Any) -> bytes:
    return b"".join(response.streaming_content)


def test_a_file_is_served_as_an_attachment_with_its_digest(world):
    upload(world)
    response = Client().get("/benchmarks/tiny/downloads/graph")
    assert body_of(response) == GRAPH
    assert response["Content-Disposition"] == 'attachment; filename="tiny-graph.tsv"'
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Length"] == str(len(GRAPH))
    assert response["ETag"] == f'"{hashlib.sha256(GRAPH).hexdigest()}"'
    assert "private" in response["Cache-Control"]
    again = Client().get("/benchmarks/tiny/downloads/graph", headers={"If-None-Match": response["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("filename", "saved", "content_type"),
    [
        ("pages.jsonl", "tiny-graph.jsonl", "application/x-ndjson"),
        ("v1.2/pages.JSONL.gz", "tiny-graph.jsonl.gz", "application/gzip"),
        ("page.v2.html", "tiny-graph.html", "application/octet-stream"),
        ("page.svg", "tiny-graph.svg", "application/octet-stream"),
    ],
)
def test_files_are_not_served_as_pages(world, filename, saved, content_type):
    upload(world, gzip.compress(HOSTILE) if filename.endswith("gz") else HOSTILE, filename)
    response = Client().get("/benchmarks/tiny/downloads/graph")
    assert response["Content-Disposition"] == f'attachment; filename="{saved}"'
    assert response["Content-Type"] == content_type
    body_of(response)


def test_the_page_and_the_api_list_a_file(world):
    upload(world, title="The <b>graph</b>", description="Tab & newline.")
    markup = Client().get("/benchmarks/tiny/about/data/").content.decode()
    digest = hashlib.sha256(GRAPH).hexdigest()
    assert read(markup).faults == []
    assert '<a href="/benchmarks/tiny/downloads/graph" download>graph.tsv</a>' in markup
    assert "The &lt;b&gt;graph&lt;/b&gt;" in markup and "Tab &amp; newline." in markup
    assert f'<code class="digest">{digest}</code>' in markup
    (listed,) = Client().get("/api/v1/benchmarks/tiny/").json()["downloads"]
    assert listed == {
        "name": "graph",
        "filename": "tiny-graph.tsv",
        "title": "The <b>graph</b>",
        "description": "Tab & newline.",
        "bytes": len(GRAPH),
        "sha256": digest,
        "url": "http://testserver/benchmarks/tiny/downloads/graph",
    }


def test_a_benchmark_without_files_lists_none(world):
    assert "Further files" not in Client().get("/benchmarks/tiny/about/data/").content.decode()
    assert Client().get("/api/v1/benchmarks/tiny/").json()["downloads"] == []


def test_uploading_the_same_file_again_changes_nothing(world):
    first, stored = upload(world), files_of("inputs")
    entries = AuditEntry.objects.count()
    assert upload(world) == first
    assert (files_of("inputs"), AuditEntry.objects.count()) == (stored, entries)


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"content": GRAPH + b"x"}, Code.NAME_TAKEN, "A different file already has the name tiny/graph.tsv"),
        ({"name": "answers", "content": gold_lines()}, Code.INVALID_GOLD, "the hidden gold of test"),
        ({"name": "no name"}, Code.INVALID_VALUE, "name"),
        ({"name": "other", "filename": "README"}, Code.INVALID_VALUE, "suffix"),
        ({"name": "other", "filename": "a.t sv"}, Code.INVALID_VALUE, "expected one such as .tsv"),
        ({"name": "other", "title": ""}, Code.INVALID_VALUE, "title"),
    ],
)
def test_a_refused_file_stores_nothing(world, changes, code, message):
    upload(world)
    before = files_of("inputs"), AuditEntry.objects.count(), Download.objects.count()
    refused = refusal(upload, world=world, **changes)
    assert (refused.code, message in str(refused)) == (code, True), str(refused)
    assert (files_of("inputs"), AuditEntry.objects.count(), Download.objects.count()) == before


def test_only_organisers_upload_files(world):
    assert refusal(upload, world=world, by=world.researcher).code is Code.NOT_AN_ORGANISER
    world.benchmark.organisers.add(world.researcher)
    assert upload(world, by=world.researcher).bytes == len(GRAPH)


def test_public_gold_may_be_uploaded(world):
    world.split.gold_public = True
    world.split.save()
    assert upload(world, gold_lines(), "gold.jsonl").sha256 == world.gold.sha256


def pinned(download: Download) -> str:
    return f"/benchmarks/tiny/files/{download.sha256}/{download.filename}"


INPUTS = "/api/v1/benchmarks/tiny/splits/test/inputs.jsonl"


@pytest.mark.parametrize("path", ["/benchmarks/tiny/downloads/graph", "pinned", INPUTS])
def test_parts_of_files(world, path):
    download = upload(world)
    path = pinned(download) if path == "pinned" else path
    whole = Client().get(path)
    content, etag = body_of(whole), whole["ETag"]
    assert whole["Accept-Ranges"] == "bytes"
    for range_, if_range in (("bytes=5-9", None), ("bytes=5-9", etag)):
        headers = {"Range": range_} | ({"If-Range": if_range} if if_range else {})
        part = Client().get(path, headers=headers)
        assert (part.status_code, body_of(part), part["ETag"]) == (206, content[5:10], etag)
        assert part["Content-Range"] == f"bytes 5-9/{len(content)}" and part["Content-Length"] == "5"
        assert part["Content-Type"] == whole["Content-Type"] and "attachment" in part["Content-Disposition"]
    for if_range in ('"other"', f"W/{etag}", "Mon, 23 Nov 2026 00:00:00 GMT"):
        assert body_of(Client().get(path, headers={"Range": "bytes=5-9", "If-Range": if_range})) == content
    beyond = Client().get(path, headers={"Range": f"bytes={len(content)}-"})
    assert (beyond.status_code, beyond["Content-Range"], beyond.content) == (416, f"bytes */{len(content)}", b"")
    unchanged = Client().get(path, headers={"Range": "bytes=5-9", "If-None-Match": etag})
    assert unchanged.status_code == 304
    assert Client().head(path, headers={"Range": "bytes=5-9"}).status_code == 200


def test_only_an_address_with_a_digest_is_cached_for_long(world):
    download = upload(world)
    for client in (Client(), Client()):
        response = client.get(pinned(download))
        assert body_of(response) == GRAPH
        assert response["Cache-Control"] == "public, max-age=31536000, immutable"
        assert "Cookie" not in response.get("Vary", "") and not response.cookies
        client.force_login(world.curator)
    assert "immutable" not in Client().get("/benchmarks/tiny/downloads/graph")["Cache-Control"]
    for wrong in (pinned(download).replace(".tsv", ".csv"), pinned(download).replace(download.sha256, "0" * 64)):
        assert Client().get(wrong).status_code == 404
    hidden = f"/benchmarks/tiny/files/{world.gold.sha256}/tiny-test-gold.jsonl"
    assert Client().get(hidden).status_code == 404


def test_former_gold_has_no_address(world):
    world.split.gold_public = True
    world.split.save()
    path = f"/benchmarks/tiny/files/{world.gold.sha256}/tiny-test-gold.jsonl"
    assert body_of(Client().get(path)) == gold_lines()
    fields = type(world.gold).objects.values().get(pk=world.gold.pk)
    type(world.gold).objects.create(**{**fields, "id": None, "number": 2, "sha256": "0" * 64})
    assert Client().get(path).status_code == 404
