"""Gold as a table: uploads are converted in the sandbox and stored as JSON Lines; curators download gold as tables."""

from __future__ import annotations

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
