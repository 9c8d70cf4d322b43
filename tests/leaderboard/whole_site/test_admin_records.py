"""Records in the admin: their history, export, and how a deadline is moved; and the page of reported results."""

from __future__ import annotations

import csv
import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from leaderboard.admin import files
from leaderboard.benchmarks.actions import edit
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.models import AuditEntry, Benchmark, Dataset, Extension, Phase, ReportedResult, System, Team, User
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
ROW = {
    "system": "BERT",
    "paper": "Somebody 2019",
    "table": "2",
    "split": "test",
    "same_split": "on",
    "values": json.dumps([{"measure": "accuracy", "value": 0.583, "shown": "58.3"}]),
}


world, _django_db_helper = shared_states(world=build)


@pytest.fixture
def admin_client(world: World) -> Client:
    """A client of a superuser who is a curator."""
    User.objects.filter(pk=world.curator.pk).update(is_staff=True, is_superuser=True)
    client = Client()
    client.force_login(User.objects.get(pk=world.curator.pk))
    return client


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
    before = Benchmark.objects.get().n_entries
    answer = admin_client.post(f"{url}change/", {**form, "organisers": [str(world.researcher.pk)]})
    assert answer.status_code == 302, answer.content.decode()
    assert Benchmark.objects.get().n_entries > before, "pages in caches show the former title"
    entry = AuditEntry.objects.get(action="record.changed")
    assert (entry.actor, entry.subject) == (world.curator, f"benchmark:{world.benchmark.pk}")
    assert entry.detail["title"] == {"before": "Tiny claims", "after": "Tiny, renamed"}
    assert entry.detail["organisers"] == {"before": [], "after": ["ada"]}
    assert "facts" not in entry.detail, "it was not changed"
    history = admin_client.get(f"{url}history/").content.decode()
    trail = admin_client.get("/manage/benchmarks/tiny/audit-trail/").content.decode()
    for page in (history, trail):
        assert "Tiny claims → Tiny, renamed" in page and world.curator.username in page


def test_changes_on_pages_are_in_the_history_too(admin_client: Client, world: World) -> None:
    state = edit.state_of(world.benchmark)
    edit.edit(benchmark=world.benchmark, values={"rules": "One."}, seen=edit.marks(state), by=world.curator)
    url = f"/admin/leaderboard/benchmark/{world.benchmark.pk}/history/"
    assert "empty → One." in admin_client.get(url).content.decode()


def test_a_record_deleted_in_the_admin_leaves_an_entry(admin_client: Client, world: World) -> None:
    spare = Dataset.objects.create(slug="spare", title="Spare", task=world.benchmark.task)
    assert admin_client.post(f"/admin/leaderboard/dataset/{spare.pk}/delete/", {"post": "yes"}).status_code == 302
    entry = AuditEntry.objects.get(action="record.deleted")
    assert (entry.actor, entry.subject, entry.detail) == (world.curator, f"dataset:{spare.pk}", {"name": "Spare"})


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


def test_exported_text_is_no_formula(admin_client: Client, world: World) -> None:
    nasty = "=HYPERLINK(1)"
    values = [{"measure": "accuracy", "value": -0.5}]
    for system in (nasty, "Other"):
        ReportedResult.objects.create(benchmark=world.benchmark, system=system, paper="P", split="test", values=values)
    answer = admin_client.get(f"/admin/leaderboard/reportedresult/export.csv?system={nasty}")
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (row["system"], row["benchmark"]) == ("'" + nasty, str(world.benchmark.pk))
    assert json.loads(row["values"]) == values
    assert AuditEntry.objects.get(action="records.exported").detail == {"n": 1, "format": "csv"}


def test_fields_omitted_from_the_page_are_not_exported(admin_client: Client, world: World) -> None:
    (row,) = json.loads(admin_client.get("/admin/leaderboard/goldversion/export.json").content)
    assert "file" not in row and row["sha256"] == world.gold.sha256
    world.insert_run()
    assert "file" not in json.loads(admin_client.get("/admin/leaderboard/prediction/export.json").content)[0]


def test_exports_have_limits(admin_client: Client, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_ROWS", 0)
    answer = admin_client.get("/admin/leaderboard/benchmark/export.csv")
    assert (answer.status_code, answer.content) == (
        422,
        b"The list has 1 records; expected at most 0. Filter the list first.",
    )
    assert admin_client.get("/admin/leaderboard/benchmark/export.xlsx").status_code == 404
    assert not AuditEntry.objects.filter(action="records.exported").exists()


def test_staff_exports_what_it_may_look_at(world: World) -> None:
    looking = User.objects.create_user("looking", "looking@holdout.example", "correct horse", is_staff=True)
    looking.user_permissions.add(Permission.objects.get(codename="view_reportedresult"))
    client = Client()
    client.force_login(looking)
    assert client.get("/admin/leaderboard/reportedresult/").status_code == 200
    assert client.get("/admin/leaderboard/reportedresult/export.csv").status_code == 200
    assert client.get("/admin/leaderboard/system/export.csv").status_code == 403
    assert System.objects.exists()


AT_FAULT = [
    ('{"a": 1}', "Expected `array`"),
    ('[{"measure": "beauty", "value": 1, "shown": "1"}]', "measure is &#x27;beauty&#x27;"),
    ('[{"measure": "accuracy", "value": "1", "shown": "1"}]', "Expected `float`"),
    ('[{"measure": "accuracy", "value": 1, "shown": "1", "slice": {"a": {"b": 1}}}]', "slice"),
    ('[{"measure": "accuracy", "value": NaN, "shown": "1"}]', "not finite"),
]


REPORTED = "/manage/benchmarks/tiny/reported/"


@pytest.mark.parametrize(("values", "message"), AT_FAULT)
def test_numbers_of_a_reported_result_are_checked(
    admin_client: Client, world: World, values: str, message: str
) -> None:
    answer = admin_client.post(REPORTED, {**ROW, "values": values})
    assert answer.status_code == 422 and message in answer.content.decode()
    assert not ReportedResult.objects.exists()


def test_organisers_add_and_remove_reported_results(world: World) -> None:
    world.benchmark.organisers.add(world.researcher)
    client = Client()
    client.force_login(world.researcher)
    assert client.post(REPORTED, ROW).status_code == 302
    stored = ReportedResult.objects.get()
    assert stored.values == [{"measure": "accuracy", "value": 0.583, "shown": "58.3"}] and stored.same_split
    assert [cells for _, cells in reported_of(world.benchmark).table] == [["58.3"]]
    again = client.post(REPORTED, ROW)
    assert again.status_code == 409 and "already exists" in again.content.decode()
    assert client.post(REPORTED, {**ROW, "table": "3", "track": "absent"}).status_code == 422
    assert client.post(f"{REPORTED}{stored.pk}/remove/").status_code == 302
    assert not ReportedResult.objects.exists()
    trail = client.get("/manage/benchmarks/tiny/audit-trail/").content.decode()
    assert "removed a reported row" in trail and "Somebody 2019" in trail


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
