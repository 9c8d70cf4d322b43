"""Gold as a table: uploads are converted in the sandbox and stored as JSON Lines; curators download gold as tables."""

from __future__ import annotations

import gzip
import io
import json
import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from evaluator.errors import GoldError, ProblemList
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.tables import FORMATS, line_chunks, write_table
from leaderboard.core.storage import opened
from leaderboard.models import AuditEntry, Correction, Split
from tests.evaluator.jsonl.test_tables import repacked
from tests.leaderboard.benchmarks.test_manage_pages import client_of
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.api_calls import person
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import DRAFT, LABELS, World, build, gold_lines

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
GOLD_URL = "/manage/benchmarks/tiny/splits/test/gold/"

SWAPPED = {"a1": "REFUTES", "a2": "SUPPORTS", "a3": "SUPPORTS", "a4": "REFUTES"}


world, _django_db_helper = shared_states(world=build)


def upload(world: World, content: bytes, name: str) -> Any:
    form = {"file": SimpleUploadedFile(name, content), "reason": "From a spreadsheet."}
    return client_of(world.curator).post(GOLD_URL, form)


def decoded(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.splitlines()]


@pytest.mark.parametrize("kind", FORMATS)
def test_gold_is_downloaded_changed_and_uploaded_as_a_table(world: World, kind: str) -> None:
    Split.objects.update(**DRAFT)
    response = client_of(world.curator).get(f"{GOLD_URL}1/", {"format": kind})
    assert response["Content-Disposition"] == f'attachment; filename="tiny-test-gold-1.{kind}"'
    assert "no-store" in response["Cache-Control"]
    entry = AuditEntry.objects.get(action="gold.read")
    assert entry.actor == world.curator and entry.detail == {"number": 1, "format": kind}
    problems = ProblemList(f"gold.{kind}", GoldError)
    lines = b"".join(line_chunks(io.BytesIO(response.content), ReadLimits(), problems))
    assert decoded(lines) == decoded(gold_lines())
    changed = write_table(gold_lines(SWAPPED).splitlines(), kind)
    assert upload(world, changed, f"my gold.{kind}").status_code == 302
    gold = world.split.gold_versions.get(number=2)
    with opened(gold.file, sha256=gold.sha256) as stored:
        assert decoded(stored.read()) == decoded(gold_lines(SWAPPED))


def test_errors_have_the_rows_of_the_spreadsheet_and_nothing_is_stored(world: World) -> None:
    Split.objects.update(**DRAFT)
    wrong = write_table(gold_lines({**LABELS, "a2": "MAYBE"}).splitlines(), "xlsx")
    response = upload(world, wrong, "gold.xlsx")
    page = text(response)
    assert response.status_code == 422 and "Row 1 is the header." in page
    assert "gold.xlsx:3 unknown label" in " ".join(re.sub("<[^>]*>", "", page).split())
    for content, name, expected in (
        (b"PK\x03\x04 no workbook", "gold.xlsx", "not a readable XLSX file"),
        (b"id;claim\n1;2\n", "gold.csv", "wrong separator"),
        (b"PAR1 no table", "gold.parquet", "not a readable Parquet file"),
    ):
        response = upload(world, content, name)
        assert response.status_code == 422 and expected in text(response)
    assert world.split.gold_versions.count() == 1


def plain(response: Any) -> str:
    """Return the text of a page, whose elements are separated by what the page has between them."""
    return " ".join(re.sub("<[^>]*>", "", text(response)).split())


def test_problems_of_a_table_are_told_apart_and_have_rows(world: World) -> None:
    Split.objects.update(**DRAFT)
    rows = b"".join(b"a%d,c,e,SUPPORTS,x%d\n" % (n, n) for n in range(4))
    table = b"id,claim,evidence_text,label,slices:json\n" + rows
    page = plain(upload(world, table, "gold.csv"))
    assert "4 rows:" in page and 'row 2: "x0"; row 3: "x1"; row 4: "x2"; row 5: "x3"' in page.replace("&quot;", '"')


def test_a_stray_quotation_mark_publishes_no_labels(world: World) -> None:
    Split.objects.update(**DRAFT)
    before = world.split.inputs_sha256
    rows = [
        "id,claim,evidence_text,label",
        "a1,x,e,SUPPORTS",
        'a2,"Weird Al,e,REFUTES',
        'a3,a drive of 5.25",e,SUPPORTS',
    ]
    page = plain(upload(world, "\n".join(rows).encode(), "gold.csv"))
    assert "gold.csv:3 claim could be several rows" in page and "written twice" in page
    world.split.refresh_from_db()
    assert world.split.inputs_sha256 == before and world.split.gold_versions.count() == 1


def test_warnings_name_the_table_and_its_rows(world: World) -> None:
    Split.objects.update(**DRAFT)
    table = write_table(gold_lines(SWAPPED).splitlines(), "csv").replace(b"slices:json", b"slice:origin", 1)
    assert upload(world, table, "sentiment.csv").status_code == 302
    (warning,) = world.split.gold_versions.get(number=2).warnings
    assert warning.startswith(
        'sentiment.csv: key "slice:origin" is not part of the format, ignored in 4 rows, first in row 2'
    )
    assert warning.endswith('; slices are an object in the column slices:json: {"origin": ...}')


def test_the_time_of_refused_gold_counts_against_its_user(world: World, settings: Any) -> None:
    Split.objects.update(**DRAFT)
    far = b'<row r="1000000000000000000"><c r="A1000000000000000000"><v>1</v></c></row></sheetData>'
    sheet = "xl/worksheets/sheet1.xml"
    content = write_table(gold_lines().splitlines(), "xlsx")
    content = repacked(content, sheet, lambda part: part.replace(b"</sheetData>", far))
    for number, (name, refused) in enumerate((("gold.xlsx", content), ("gold.jsonl", b"{}\n")), 1):
        assert upload(world, refused, name).status_code == 422
        entry = AuditEntry.objects.filter(action="gold.refused", actor=world.curator).latest("at")
        assert entry.detail["reason"] == "bad_gold" and 0 < entry.detail["cpu_seconds"] < 5
        assert AuditEntry.objects.filter(action="gold.refused").count() == number
    settings.REFUSED_SECONDS = 0
    response = upload(world, write_table(gold_lines(SWAPPED).splitlines(), "csv"), "gold.csv")
    assert response.status_code == 429 and world.split.gold_versions.count() == 1
    settings.REFUSED_SECONDS = 600
    assert upload(world, write_table(gold_lines(SWAPPED).splitlines(), "csv"), "gold.csv").status_code == 302


@pytest.mark.parametrize("name", ["gold.csv.gz", "GOLD.JSONL.GZ"])
def test_compressed_gold_is_known_by_its_name(world: World, name: str) -> None:
    Split.objects.update(**DRAFT)
    lines = gold_lines(SWAPPED)
    content = write_table(lines.splitlines(), "csv") if ".csv" in name else lines
    assert upload(world, gzip.compress(content), name).status_code == 302
    gold = world.split.gold_versions.get(number=2)
    with opened(gold.file, sha256=gold.sha256) as stored:
        read = stored.read()
    assert decoded(read if name.endswith("csv.gz") else gzip.decompress(read)) == decoded(lines)


def test_a_table_is_proposed_as_a_correction(world: World) -> None:
    changed = write_table(gold_lines(SWAPPED).splitlines(), "csv")
    assert upload(world, changed, "gold.csv").status_code == 302
    correction = Correction.objects.get()
    assert correction.name == "gold.jsonl"
    with opened(correction.file, sha256=correction.sha256) as stored:
        assert {line["id"] for line in decoded(stored.read())} == set(LABELS)


def test_only_curators_download_gold(world: World) -> None:
    organiser = person("olga")
    world.benchmark.organisers.add(organiser)
    for user in (organiser, world.researcher):
        assert client_of(user).get(f"{GOLD_URL}1/", {"format": "csv"}).status_code == 404
    assert client_of(world.curator).get(f"{GOLD_URL}1/", {"format": "ods"}).status_code == 404
    assert not AuditEntry.objects.filter(action="gold.read").exists()
    assert "?format=xlsx" in client_of(world.curator).get(f"{GOLD_URL}1/").content.decode()
