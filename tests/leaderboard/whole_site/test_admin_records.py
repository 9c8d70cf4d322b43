"""Records in the admin: their history, export, import, and how a deadline is moved."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from tablib import Dataset

from leaderboard.admin import files, reported_rows
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.models import AuditEntry, Extension, Phase, ReportedResult, System, Team, User
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
ROW = {
    "benchmark": "tiny",
    "system": "BERT",
    "paper": "Somebody 2019",
    "table": "2",
    "split": "test",
    "same_split": "1",
    "values": json.dumps([{"measure": "accuracy", "value": 0.583, "shown": "58.3"}]),
    "track": "",
    "note": "",
    "position": "0",
}


world, _django_db_helper = shared_states(world=build)


@pytest.fixture
def admin_client(world: World) -> Client:
    """A client of a superuser who is a curator."""
    User.objects.filter(pk=world.curator.pk).update(is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(User.objects.get(pk=world.curator.pk))
    return client


def as_csv(*rows: dict[str, str]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, ROW)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def preview(admin_client: Client, content: bytes, name: str = "rows.csv", form: str = "0") -> Any:
    file = SimpleUploadedFile(name, content)
    import_url = "/admin/leaderboard/reportedresult/import/"
    return admin_client.post(import_url, {"import_file": file, "format": form, "resource": "0"})


def confirm(admin_client: Client, previewed: Any) -> Any:
    hidden_inputs = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', previewed.content.decode())
    fields = {name: value for name, value in hidden_inputs if name != "csrfmiddlewaretoken"}
    return admin_client.post("/admin/leaderboard/reportedresult/process_import/", {**fields, "confirm": "1"})


def phase_form(phase: Phase, **changes: str) -> dict[str, str]:
    fields = {
        "title": phase.title,
        "quota_per_day": "5",
        "quota_total": "100",
        "finals_per_team": "1",
        "takes_predictions": "on",
        "limits": "{}",
        "gpus": "0",
        "gpu_memory_gb": "0",
        "shows_logs": "unknown",
        "position": "0",
    }
    for name in ("opens_at", "closes_at"):
        at = getattr(phase, name)
        fields[f"{name}_0"], fields[f"{name}_1"] = (f"{at:%Y-%m-%d}", f"{at:%H:%M:%S}") if at else ("", "")
    return {**fields, **changes}


def closing(world: World) -> Phase:
    world.phase.closes_at = timezone.now().replace(microsecond=0) + timedelta(days=3)
    world.phase.save()
    return world.phase


def later(phase: Phase, **by: int) -> dict[str, str]:
    assert phase.closes_at is not None
    end = phase.closes_at + timedelta(**by)
    return {"closes_at_0": f"{end:%Y-%m-%d}", "closes_at_1": f"{end:%H:%M:%S}"}


def test_the_history_of_a_record_has_its_authors_and_former_values(admin_client: Client, world: World) -> None:
    form = {"title": "Tiny, renamed", "summary": "Four.", "description": "", "rules": "", "contact": ""}
    url = f"/admin/leaderboard/benchmark/{world.benchmark.pk}/"
    answer = admin_client.post(f"{url}change/", {**form, "organisers": [str(world.researcher.pk)]})
    assert answer.status_code == 302, answer.content.decode()
    page = admin_client.get(f"{url}history/").content.decode()
    assert "Tiny claims" in page and "Tiny, renamed" in page and world.curator.username in page
    last = world.benchmark.history.first()
    assert (last.history_user, last.title) == (world.curator, "Tiny, renamed")
    assert [row.user for row in last.organisers.all()] == [world.researcher]


def test_the_history_cannot_restore_values_without_the_actions(admin_client: Client, world: World) -> None:
    first = world.benchmark.history.last()
    world.benchmark.title = "Another"
    world.benchmark.save()
    url = f"/admin/leaderboard/benchmark/{world.benchmark.pk}/history/{first.pk}/"
    assert 'name="_save"' not in admin_client.get(url).content.decode()
    admin_client.post(url, {"title": "Tiny claims", "_save": "Revert"})
    world.benchmark.refresh_from_db()
    assert world.benchmark.title == "Another"


def test_a_deadline_moved_in_the_admin_is_an_extension(admin_client: Client, world: World) -> None:
    phase = closing(world)
    url = f"/admin/leaderboard/phase/{phase.pk}/change/"
    answer = admin_client.post(
        url, phase_form(phase, reason="The server was away.", quota_per_day="7", **later(phase, days=2))
    )
    assert answer.status_code == 302, answer.content.decode()
    extension = Extension.objects.get(phase=phase)
    assert (extension.before, extension.reason, extension.created_by) == (
        phase.closes_at,
        "The server was away.",
        world.curator,
    )
    before = phase.closes_at
    phase.refresh_from_db()
    assert phase.closes_at == extension.closes_at == before + timedelta(days=2)
    assert phase.quota_per_day == 7
    assert AuditEntry.objects.filter(action="phase.extended", actor=world.curator).count() == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"days": 2}, "The reason has 0 characters"),
        ({"days": -1, "reason": "Sooner is better."}, "cannot be moved earlier"),
        ({"reason": "For good."}, "a deadline cannot be removed"),
    ],
)
def test_invalid_changes_of_a_deadline_are_refused(
    admin_client: Client, world: World, changes: dict[str, Any], message: str
) -> None:
    phase = closing(world)
    reason = changes.get("reason", "")
    moved = later(phase, days=changes["days"]) if "days" in changes else {"closes_at_0": "", "closes_at_1": ""}
    answer = admin_client.post(
        f"/admin/leaderboard/phase/{phase.pk}/change/", phase_form(phase, reason=reason, **moved)
    )
    assert answer.status_code == 200
    assert message in answer.content.decode()
    assert Phase.objects.get(pk=phase.pk).closes_at == phase.closes_at
    assert not Extension.objects.exists()


def test_exported_text_is_no_formula_and_is_imported_unchanged(admin_client: Client, world: World) -> None:
    nasty = "=HYPERLINK(1)"
    ReportedResult.objects.create(
        benchmark=world.benchmark,
        system=nasty,
        paper="P",
        split="test",
        values=[{"measure": "accuracy", "value": -0.5}],
    )
    answer = admin_client.post("/admin/leaderboard/reportedresult/export/", {"format": "0", "resource": "0"})
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (row["system"], row["benchmark"]) == ("'" + nasty, "tiny")
    assert AuditEntry.objects.get(action="records.exported").detail == {"n": 1, "format": "csv"}
    numbers = json.dumps([{"measure": "accuracy", "value": -0.5, "shown": "-0.5"}])
    previewed = preview(admin_client, as_csv({**ROW, **row, "values": numbers}))
    assert confirm(admin_client, previewed).status_code == 302, previewed.content.decode()
    assert ReportedResult.objects.get().system == nasty


def test_fields_omitted_from_the_page_are_not_exported(admin_client: Client, world: World) -> None:
    answer = admin_client.post("/admin/leaderboard/goldversion/export/", {"format": "1", "resource": "0"})
    (row,) = json.loads(answer.content)
    assert "file" not in row and row["sha256"] == world.gold.sha256
    world.insert_run()
    answer = admin_client.post("/admin/leaderboard/prediction/export/", {"format": "1", "resource": "0"})
    assert "file" not in json.loads(answer.content)[0]


def test_rows_are_previewed_and_stored_on_confirmation(admin_client: Client, world: World) -> None:
    previewed = preview(admin_client, as_csv(ROW))
    assert "BERT" in previewed.content.decode()
    assert "style=" not in previewed.content.decode(), "the policy of the pages forbids inline styles"
    assert not ReportedResult.objects.exists()
    assert confirm(admin_client, previewed).status_code == 302
    stored = ReportedResult.objects.get()
    assert stored.values == [{"measure": "accuracy", "value": 0.583, "shown": "58.3"}]
    assert AuditEntry.objects.get(action="reported.imported").actor == world.curator
    # The same file again changes nothing; another note changes that row and adds none.
    confirm(admin_client, preview(admin_client, as_csv({**ROW, "note": "of the appendix"})))
    assert ReportedResult.objects.get().note == "of the appendix"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"benchmark": "nowhere"}, "benchmark is &#x27;nowhere&#x27;"),
        ({"values": "[]"}, "there are no values"),
        ({"values": "{"}, "Row 2, values"),
        ({"values": '[{"measure": "beauty", "value": 1, "shown": "1"}]'}, "beauty"),
        ({"values": '[{"measure": "accuracy", "value": "1", "shown": "1"}]'}, "Expected `float`"),
        ({"values": '[{"measure": "accuracy", "value": 1, "shown": "1", "slice": {"a": [1]}}]'}, "slice"),
        ({"system": "x" * 201}, "at most 200 characters"),
    ],
)
def test_an_invalid_row_is_named_and_nothing_is_stored(
    admin_client: Client, world: World, changes: dict[str, str], message: str
) -> None:
    page = preview(admin_client, as_csv(ROW, {**ROW, "table": "3", **changes})).content.decode()
    assert message in page
    assert "Row 2" in page and "Row 1" not in page
    assert "Traceback" not in page and "confirm" not in re.findall(r'type="submit"[^>]*name="(\w+)"', page)
    assert not ReportedResult.objects.exists()


def test_a_preview_writes_nothing_and_queries_once_per_file(admin_client: Client, world: World) -> None:
    """On SQLite a transaction that writes, or may write, blocks everybody else's."""
    query_counts = []
    for n in (2, 40):
        with CaptureQueriesContext(connection) as queries:
            page = preview(
                admin_client, as_csv(*({**ROW, "table": f"{n}-{index}"} for index in range(n)))
            ).content.decode()
        assert f"Row {n}: new" in page
        assert {query["sql"].split()[0] for query in queries} == {"SELECT"}
        query_counts.append(len(queries))
    assert query_counts[0] == query_counts[1]
    assert not ReportedResult.objects.exists() and not AuditEntry.objects.filter(action="reported.imported").exists()


def test_a_file_of_too_many_rows_is_not_read(
    admin_client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reported_rows.MOST_ROWS == 500
    monkeypatch.setattr(reported_rows, "MOST_ROWS", 20)
    rows = [{**ROW, "table": str(index)} for index in range(reported_rows.MOST_ROWS + 1)]
    assert "The file has 21 rows; expected at most 20" in preview(admin_client, as_csv(*rows)).content.decode()
    previewed = preview(admin_client, as_csv(*rows[:-1]))
    assert confirm(admin_client, previewed).status_code == 302
    assert ReportedResult.objects.count() == reported_rows.MOST_ROWS


def test_duplicate_rows_in_a_file_are_refused(admin_client: Client, world: World) -> None:
    page = preview(admin_client, as_csv(ROW, {**ROW, "table": "3"}, {**ROW, "note": "again"})).content.decode()
    assert "Row 3: duplicates row 1" in page and 'name="confirm"' not in page


def test_import_needs_permission_to_change_rows(world: World) -> None:
    looking = User.objects.create_user("looking", "looking@holdout.example", "correct horse", is_staff=True)
    looking.user_permissions.add(Permission.objects.get(codename="view_reportedresult"))
    client = Client()
    client.force_login(looking)
    assert client.get("/admin/leaderboard/reportedresult/").status_code == 200
    assert client.get("/admin/leaderboard/reportedresult/import/").status_code == 403
    assert client.get("/admin/leaderboard/reportedresult/export/").status_code == 200
    assert client.get("/admin/leaderboard/system/export/").status_code == 403
    assert System.objects.exists()


def test_organisers_cannot_use_the_admin(world: World) -> None:
    world.benchmark.organisers.add(world.researcher)
    client = Client()
    client.force_login(world.researcher)
    for page in ("", "export/", "import/", f"{world.phase.pk}/history/"):
        answer = client.get(f"/admin/leaderboard/phase/{page}")
        assert answer.status_code == 302 and "/login/" in answer["Location"]


def typed(world: World, **changes: str) -> dict[str, str]:
    """The record's own form, filled in."""
    return {**ROW, "benchmark": str(world.benchmark.pk), **changes}


AT_FAULT = [
    ('{"a": 1}', "Expected `array`"),
    ('[{"measure": "beauty", "value": 1, "shown": "1"}]', "measure is &#x27;beauty&#x27;"),
    ('[{"measure": "accuracy", "value": "1", "shown": "1"}]', "Expected `float`"),
    ('[{"measure": "accuracy", "value": 1, "shown": "1", "slice": {"a": {"b": 1}}}]', "slice"),
    ('[{"measure": "accuracy", "value": NaN, "shown": "1"}]', "not finite"),
]


@pytest.mark.parametrize(("values", "message"), AT_FAULT)
def test_a_row_from_the_form_is_checked_like_an_imported_one(
    admin_client: Client, world: World, values: str, message: str
) -> None:
    answer = admin_client.post("/admin/leaderboard/reportedresult/add/", typed(world, values=values))
    assert answer.status_code == 200 and message in answer.content.decode()
    assert not ReportedResult.objects.exists()
    sound = admin_client.post("/admin/leaderboard/reportedresult/add/", typed(world))
    assert sound.status_code == 302, sound.content.decode()
    stored = ReportedResult.objects.get()
    url = f"/admin/leaderboard/reportedresult/{stored.pk}/change/"
    assert message in admin_client.post(url, typed(world, values=values)).content.decode()
    assert ReportedResult.objects.get().values == stored.values
    assert [cells for _, cells in reported_of(world.benchmark).table] == [["58.3"]]


def test_ranking_fields_of_a_system_are_read_only_in_the_admin(admin_client: Client, world: World) -> None:
    other = Team.objects.create(name="Others")
    url = f"/admin/leaderboard/system/{world.system.pk}/change/"
    markup = admin_client.get(url).content.decode()
    fields = dict(re.findall(r'name="(\w+)"[^>]*?value="([^"]*)"', markup)) | {"name": "Renamed"}
    answer = admin_client.post(url, {**fields, "kind": System.Kind.ORGANISER, "team": str(other.pk)})
    assert answer.status_code == 302, answer.content.decode()
    system = System.objects.get(pk=world.system.pk)
    assert (system.name, system.kind, system.team) == ("Renamed", world.system.kind, world.system.team)
    assert 'name="kind"' not in markup and 'name="team"' not in markup
    assert 'name="kind"' in admin_client.get("/admin/leaderboard/system/add/").content.decode()


def test_csv_export_and_import_preserve_text() -> None:
    """With texts that a spreadsheet would execute, and texts that look like escaped ones."""
    texts = ["=1+1", "'=1+1", "''=1+1", "@x", "'x", "plain", "-0.5", "'-0.5", "-a"]
    texts += ["a;=1", "a;'=1", 'a"; "=1', "a|@x", "\t=1", "a\n\n+1", "a; b", "a;-0.5", "a, -0.5", ";", ""]
    out = files.SafeCSV().export_data(Dataset(*[[text] for text in texts], headers=["text"]))
    assert all(not line.lstrip('"').startswith(("=", "@", "-a")) for line in out.splitlines())
    assert [row[0] for row in files.SafeCSV().create_dataset(out)] == texts
