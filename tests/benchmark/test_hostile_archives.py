"""Seconds and memory that hostile and large archives cost request and worker; they are printed, not asserted."""

from __future__ import annotations

import io
import json
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from leaderboard.archives.actions import imports, reading
from leaderboard.core.refusal import Refused
from leaderboard.models import Score, State
from tests.leaderboard.archives.test_archive_pages import forged, written
from tests.leaderboard.archives.test_archives import wipe
from tests.support.api_calls import person
from tests.support.rows.archive_files import PUBLIC, SECRET, archive_with, closed_part, overlapping
from tests.support.rows.gold_uploads import close_all, uploaded
from tests.support.rows.tiny_world import build

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("sandbox"),
]
ROWS = 300_000
PAGE = 4096


class Cost:
    """Wall seconds and additional memory of a block."""

    seconds = mb = 0.0


@contextmanager
def measured() -> Iterator[Cost]:
    cost, over, before = Cost(), threading.Event(), _resident()
    thread = threading.Thread(target=_watch_memory, args=(cost, over, before))
    thread.start()
    began = time.perf_counter()
    try:
        yield cost
    finally:
        cost.seconds = time.perf_counter() - began
        over.set()
        thread.join()


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE


def _watch_memory(cost: Cost, over: threading.Event, before: int) -> None:
    while not over.wait(0.005):
        cost.mb = max(cost.mb, (_resident() - before) / 1e6)


def long_line() -> bytes:
    return zipped_table("score", iter([b"[" + b"0," * (1 << 19)] * 1024))


def many_rows_without_a_run() -> bytes:
    return zipped_table("team", (b'{"model": "leaderboard.team", "pk": 1, "fields": {}}\n' for _ in range(ROWS)))


def zipped_table(name: str, chunks: Iterator[bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(closed_part({}))) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            with new.open(member, "w", force_zip64=True) as target:
                for chunk in chunks if member == f"tables/{name}.jsonl" else [old.read(member)]:
                    target.write(chunk)
    return buffer.getvalue()


HEADER = (
    b"age-encryption.org/v1\n-> scrypt 1/dfGPzmLYUIFzzvpHh8wA 22\n+ZHR7mJz6GZV392NjnBLj5rYL3A+fgCZjA3UvThakFw\n--- "
)
HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "overlapping files, 4.2 GB": (overlapping, SECRET),
    "the same in the encrypted part": (lambda: archive_with(overlapping()), SECRET),
    "a row of 1 GiB": (lambda: archive_with(long_line()), SECRET),
    "300,000 rows that lead nowhere": (lambda: archive_with(many_rows_without_a_run()), SECRET),
    "a passphrase with 2^22 steps": (lambda: archive_with(b"", protected_key=HEADER + bytes(60)), "a long passphrase"),
    "700,000 files": (lambda: archive_with(many_files(700_000)), SECRET),
}


def many_files(n: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(n):
            archive.writestr(str(number), b"")
    return buffer.getvalue()


@pytest.mark.parametrize("kind", HOSTILE)
def test_cost_of_a_hostile_archive(kind: str) -> None:
    cora = person("cora", is_curator=True)
    make, key = HOSTILE[kind]
    content = make()
    file = uploaded(content, "x.zip")
    row = None
    with measured() as request:
        try:
            row = imports.receive(file=file, by=cora)
            outcome = "stored"
        except Refused as refused:
            outcome = refused.message
    print(f"\n{kind}: {len(content):,} bytes; request {request.seconds:.2f} s, {request.mb:.0f} MB: {outcome}")
    if row is not None:
        for step in ("check", "import"):
            if step == "import":
                row.refresh_from_db()
                if not row.may_be_imported:
                    break
                imports.begin(archive_import=row, key=key, by=cora)
            with measured() as work:
                imports.WORK.run(row.pk)
            row.refresh_from_db()
            said = "; ".join(row.problems)[:120]
            print(f"  worker, {step}: {work.seconds:.2f} s, {work.mb:.0f} MB: {row.state} {said}")
    close_all()


def test_cost_of_300_000_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the rows are inserted, no other transaction can write on SQLite."""
    costs: dict[str, float] = {}

    def timed(name: str, function: Any) -> Any:
        def call(*args: Any) -> Any:
            began = time.perf_counter()
            try:
                return function(*args)
            finally:
                costs[name] = time.perf_counter() - began

        return call

    monkeypatch.setattr(reading.inserting, "insert", timed("insertion", reading.inserting.insert))
    monkeypatch.setattr(reading, "_compare", timed("comparison of boards", reading._compare))
    world = build()
    run = world.insert_run(state=State.CANCELLED, finished_at=world.gold.created_at)
    Score.objects.create(run=run, measure="accuracy", n=1, n_groups=1, value=0.5)
    with written(world, PUBLIC).file.open() as file:
        content = file.read()

    def more(name: str, body: bytes) -> bytes:
        if name != "tables/score.jsonl":
            return body
        line = json.loads(body)
        lines = []
        for number in range(ROWS):
            line["pk"] = number + 1
            line["fields"]["slice_key"] = f'{{"relation":"{number}"}}'
            line["fields"]["slice"] = {"relation": str(number)}
            lines.append(json.dumps(line).encode())
        return b"\n".join(lines)

    content = forged(content, SECRET, more)
    close_all()
    wipe()
    cora = person("cora", is_curator=True)
    with measured() as request:
        row = imports.receive(file=uploaded(content, "x.zip"), by=cora)
    imports.WORK.run(row.pk)
    imports.begin(archive_import=row, key=SECRET, by=cora)
    with measured() as work:
        imports.WORK.run(row.pk)
    row.refresh_from_db()
    print(f"\n{ROWS:,} scores, {len(content):,} bytes, on {connection.vendor}: request {request.seconds:.2f} s")
    print(f"  worker {work.seconds:.1f} s, {work.mb:.0f} MB: {row.state} {row.problems}")
    print("  of these, in its transaction: " + ", ".join(f"{name} {cost:.2f} s" for name, cost in costs.items()))
    close_all()
