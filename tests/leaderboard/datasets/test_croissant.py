"""Croissant metadata: what mlcroissant reads from it, where it is, and what it never contains."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.core import storage
from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.datasets.actions import downloads
from leaderboard.datasets.queries import croissant, record_fields
from leaderboard.datasets.queries.record_fields import RecordField, fields_in
from leaderboard.models import Benchmark, Dataset, Download, GoldVersion, Split
from tests.leaderboard.datasets import croissant_reader
from tests.support.rows.gold_uploads import close_all, uploaded
from tests.support.rows.tiny_world import DRAFT, World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
PAGE = "/benchmarks/tiny/"
ADDRESS = "/benchmarks/tiny/croissant.json"
ODD = [
    {"id": 1, "two words": "a", "ratings": [4, 5], "facts": [], "about": {"who is": "A", "where": {"town": "B"}}},
    {"id": 2, "ratings": [], "facts": [{"s": "A", "names": ["B", None]}, {"s": "C"}], "share": 1, "about": {}},
    {"id": 3, "nested": [[["x", 1]], [["y", None]]], "share": 0.25, "is_new": True, "empty": None, "about": None},
]


@pytest.fixture
def world() -> Iterator[World]:
    yield build()
    close_all()


def offer(world: World, rows: list[dict[str, Any]], filename: str = "odd.jsonl", name: str = "odd") -> Download:
    content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    file = uploaded(gzip.compress(content) if filename.endswith(".gz") else content, filename)
    return downloads.add(dataset=world.split.dataset, name=name, title="Odd rows", file=file, by=world.curator)


def document(client: Client | None = None) -> dict[str, Any]:
    response = (client or Client()).get(ADDRESS)
    assert (response.status_code, response["Content-Type"]) == (200, "application/ld+json")
    decoded: dict[str, Any] = response.json()
    return decoded


def in_page(client: Client | None = None) -> list[str]:
    page = (client or Client()).get(PAGE).content.decode()
    return re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)


def content_of(path: str) -> bytes:
    response = Client().get(path)
    assert response.status_code == 200
    return b"".join(response.streaming_content)


@pytest.fixture
def server(settings: Any) -> Iterator[dict[str, bytes]]:
    """A server on 127.0.0.1 at the site's address, with the contents that the test puts into the dict, by path."""
    contents: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(contents[self.path])

        def log_message(self, *_: Any) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        settings.BASE_URL = f"http://127.0.0.1:{running.server_address[1]}"
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield contents
        running.shutdown()
        thread.join()


def test_mlcroissant_reads_every_record(
    world: World, server: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Split.objects.update(gold_public=True)
    Dataset.objects.update(licence="CC0-1.0", citation="Nobody, 2026.")
    Benchmark.objects.update(shown_organisers="Ada King, Analytical Society, https://ada.example\nThe Society")
    offer(world, ODD)
    offer(world, ODD[::-1], "odd.jsonl.gz", "packed")
    described = document()
    for file in described["distribution"]:
        path = urlsplit(file["contentUrl"]).path
        server[path] = content_of(path)
        assert file["contentSize"] == f"{len(server[path])} B"

    def fetch(address: str) -> bytes:
        return server[urlsplit(address).path]

    assert croissant_reader.check(described, fetch, tmp_path, monkeypatch) == 4 + 4 + 3 + 3
    assert described["creator"] == [
        {
            "@type": "sc:Person",
            "name": "Ada King",
            "affiliation": {"@type": "sc:Organization", "name": "Analytical Society"},
            "url": "https://ada.example",
        },
        {"@type": "sc:Organization", "name": "The Society"},
    ]


def test_fields_are_found_in_the_lines() -> None:
    assert fields_in(ODD) == (
        RecordField(("id",), "integer"),
        RecordField(("two words",), "text"),
        RecordField(("ratings",), "integer", is_list=True),
        RecordField(
            ("facts",), is_list=True, parts=(RecordField(("s",), "text"), RecordField(("names",), "text", is_list=True))
        ),
        RecordField(("about",), parts=(RecordField(("who is",), "text"), RecordField(("where", "town"), "text"))),
        RecordField(("share",), "float"),
        RecordField(("nested",), "text", is_list=True),
        RecordField(("is_new",), "boolean"),
        RecordField(("empty",), "text"),
    )
    assert fields_in([{"a": {"b": 1}}, {"a": "text"}]) == (), "an object on some lines only"
    assert fields_in([{"a": [{"b": [{"c": 1}]}]}]) == (), "lists of objects in lists of objects"
    assert record_fields.json_path(("who is", "name")) == '$."who is".name'
    assert record_fields.json_path(("where", "wherever")) == '$."where".wherever', "mlcroissant reserves the word"


@pytest.mark.parametrize(("filename", "content"), [("odd.jsonl.gz", b"no gzip"), ("odd.jsonl", b"[" * 100_000 + b"\n")])
def test_a_file_that_is_not_what_its_name_says_has_no_fields(world: World, filename: str, content: bytes) -> None:
    downloads.add(
        dataset=world.split.dataset, name="odd", title="Odd", file=uploaded(content, filename), by=world.curator
    )
    assert not any("odd" in item["name"] for item in document().get("recordSet", []))


@pytest.mark.parametrize("filename", ["odd.jsonl", "odd.jsonl.gz"])
def test_a_line_that_the_sample_cuts_off_is_left_out(
    world: World, filename: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(world, [{"id": 1}, {"id": 2, "late": "x" * 200}], filename)
    monkeypatch.setattr(record_fields, "SAMPLE_BYTES", 40)
    fields = {item["name"]: item["field"] for item in document()["recordSet"]}["tiny-odd"]
    assert [field["name"] for field in fields] == ["tiny-odd/id"]


def test_the_page_and_the_api_have_the_same_document(world: World) -> None:
    described = document()
    assert list(map(json.loads, in_page())) == [described]
    address = Client().get("/api/v1/benchmarks/tiny/").json()["croissant"]
    assert Client().get(address).json() == described
    assert f'<a href="{ADDRESS}">Croissant metadata</a>' in Client().get(f"{PAGE}about/data/").content.decode()
    assert Client().get(f"{PAGE}about/rules/").content.count(b"ld+json") == 0


@pytest.mark.parametrize("address", [ADDRESS, f"/api/v1{ADDRESS}"])
def test_readers_revalidate_the_document(world: World, address: str) -> None:
    tag = Client().get(address)["ETag"]
    assert Client().get(address, HTTP_IF_NONE_MATCH=tag).status_code == 304
    Benchmark.objects.update(title="Renamed")
    response = Client().get(address, HTTP_IF_NONE_MATCH=tag)
    assert response.status_code == 200 and response["ETag"] != tag
    Benchmark.objects.update(state="draft")
    response = Client().get(address, HTTP_IF_NONE_MATCH=tag)
    assert response.status_code == 404 and not response.has_header("ETag")


def test_no_text_ends_the_script(world: World) -> None:
    hostile = "</script><script>alert(1)</script><!-- & ]]>"
    Benchmark.objects.update(title=hostile, description=hostile)
    Dataset.objects.update(citation=hostile)
    page = Client().get(PAGE).content.decode()
    assert read(page).faults == []
    (script,) = in_page()
    assert not set("<>&") & set(script)
    assert json.loads(script)["description"] == hostile


@pytest.mark.parametrize("state", ["draft", "private"])
def test_only_public_benchmarks_are_described(world: World, state: str) -> None:
    curator = Client()
    curator.force_login(world.curator)
    pinned = urlsplit(document()["distribution"][0]["contentUrl"]).path
    Benchmark.objects.update(state=state, access="invited" if state == "private" else "open")
    assert [curator.get(path).status_code for path in (ADDRESS, f"/api/v1{ADDRESS}", pinned, PAGE)] == [404] * 3 + [200]
    assert "Croissant" not in curator.get(f"{PAGE}about/data/").content.decode()
    assert in_page(curator) == [] and curator.get("/api/v1/benchmarks/tiny/").json()["croissant"] is None


def test_hidden_files_are_not_described(world: World) -> None:
    listed = {item["sha256"] for item in document()["distribution"]}
    assert listed == {world.split.inputs_sha256}
    assert world.gold.sha256 not in Client().get(PAGE).content.decode()
    Split.objects.update(inputs_public=False)
    assert "distribution" not in document()
    Split.objects.update(inputs_public=True, **DRAFT)
    assert "distribution" not in document()


def test_a_file_with_the_content_of_hidden_gold_is_not_described(world: World) -> None:
    copy = offer(world, ODD)
    path = next(urlsplit(f["contentUrl"]).path for f in document()["distribution"] if f["sha256"] == copy.sha256)
    assert Client().get(path).status_code == 200
    other = Split.objects.create(dataset=Dataset.objects.create(slug="other", title="Other", task="x"), name="test")
    fields = GoldVersion.objects.values().get(pk=world.gold.pk)
    GoldVersion.objects.create(**{**fields, "id": None, "split_id": other.pk, "sha256": copy.sha256})
    assert copy.sha256 not in {item["sha256"] for item in document()["distribution"]}
    assert Client().get(path).status_code == 404


def test_a_change_is_described_at_once(world: World) -> None:
    document()
    with CaptureQueriesContext(connection) as queries:
        assert croissant.document_of(world.benchmark)
    assert len(queries) == 1, "the document is built once for each state of the benchmark"
    Benchmark.objects.update(title="Renamed")
    Dataset.objects.update(licence="MIT")
    Split.objects.update(gold_public=True)
    offer(world, ODD)
    described = document()
    assert (described["name"], described["license"]) == ("Renamed", "https://spdx.org/licenses/MIT.html")
    assert {item["name"] for item in described["distribution"]} == {
        "tiny-test-inputs.jsonl",
        "tiny-test-gold.jsonl",
        "tiny-odd.jsonl",
    }


def test_files_with_equal_names_are_described_once(world: World) -> None:
    Split.objects.update(gold_public=True)
    offer(world, ODD, name="test-gold")
    files = [item["@id"] for item in document()["distribution"]]
    assert files == ["tiny-test-inputs.jsonl", "tiny-test-gold.jsonl"]


def test_the_page_does_not_wait_for_the_store(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise StoreUnavailableError

    record_fields._fields.cache_clear()
    with monkeypatch.context() as patched:
        patched.setattr(storage.PrivateFileStorage, "open_range", refuse)
        assert "recordSet" not in document() and len(document()["distribution"]) == 1
    assert [item["name"] for item in document()["recordSet"]] == ["tiny-test-inputs"]
