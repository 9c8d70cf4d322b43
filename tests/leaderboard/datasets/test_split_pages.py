"""Pages of a split and its audit: who sees quoted gold, the archive, and the audit trail."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from leaderboard.core.storage import opened
from leaderboard.datasets.actions import audits as split_audits
from leaderboard.datasets.actions import lifecycle
from leaderboard.models import AuditEntry, Dataset, GoldVersion, Split, SplitAudit, State
from tests.leaderboard.benchmarks.test_manage_pages import client_of
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.api_calls import person
from tests.support.rows import audited_splits
from tests.support.rows.tiny_world import DRAFT, World, build

pytestmark = pytest.mark.django_db
PUBLIC = "/benchmarks/tiny/splits/test/"
MANAGE_URL = "/manage/benchmarks/tiny/"
CANARY = "the-hidden-text-of-a-finding"


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def audit(world: World) -> SplitAudit:
    """A finished audit with a finding whose every text quotes gold."""
    report = audited_splits.report()
    grave = {"severity": "warning", "code": "near-duplicates", "where": {"file": "test.gold.jsonl", "line": 1}}
    grave |= {name: f"{CANARY} {name}" for name in ("found", "means", "do")}
    report["findings"].insert(0, {**grave, "numbers": {"texts": [CANARY]}})
    return audited_splits.done(world.gold, report=report, requested_by=world.curator)


def answer_all(audit: SplitAudit, by: Any) -> None:
    for index, finding in enumerate(audit.report["findings"]):
        if finding["severity"] == "warning":
            lifecycle.answer(audit=audit, finding=index, text=f"An answer to {index}.", by=by)


class TestReport:
    def test_each_view_is_recorded_like_a_view_of_gold(self, world: World, audit: SplitAudit) -> None:
        client = client_of(world.curator)
        page = text(client.get(f"{MANAGE_URL}splits/test/audits/{audit.pk}/"))
        assert page.count(CANARY) == 4
        client.get(f"{MANAGE_URL}splits/test/lifecycle/")
        client.get(f"{MANAGE_URL}splits/test/audits/{audit.pk}/state/")
        entry = AuditEntry.objects.get(action="audit.read")
        assert (entry.actor, entry.subject) == (world.curator, f"splitaudit:{audit.pk}")
        assert CANARY not in json.dumps(entry.detail)

    def test_others_cannot_read_the_report(self, world: World, audit: SplitAudit) -> None:
        answer_all(audit, world.curator)
        lifecycle.show_audit(audit=audit, by=world.curator)
        for client in (Client(), client_of(world.researcher)):
            page = client.get(PUBLIC)
            assert CANARY not in page.content.decode()
            assert "near-duplicates" in text(page) and "An answer to 0." in text(page)
            assert client.get(f"{MANAGE_URL}splits/test/audits/{audit.pk}/").status_code in (302, 404)
        assert not AuditEntry.objects.filter(action="audit.read").exists()

    def test_codes_are_hidden_before_publication(self, world: World, audit: SplitAudit) -> None:
        answer_all(audit, world.curator)
        page = text(Client().get(PUBLIC))
        assert "near-duplicates" not in page and "An answer to" not in page
        assert "No audit report." in page

    def test_the_management_page_shows_counts_and_no_quotes(self, world: World, audit: SplitAudit) -> None:
        page = client_of(world.curator).get(f"{MANAGE_URL}splits/test/lifecycle/")
        assert CANARY not in page.content.decode()
        assert "without an answer" in text(page)

    def test_refused_answers_remain_in_their_fields(self, world: World, audit: SplitAudit) -> None:
        long = "x" * (lifecycle.LONGEST + 1)
        page = client_of(world.curator).post(f"{MANAGE_URL}splits/test/audits/{audit.pk}/", {"answer-0": long})
        assert page.status_code == 422 and long in page.content.decode()
        assert not audit.answers.exists()

    def test_answers_to_an_earlier_audit_are_suggested_and_not_stored(self, world: World, audit: SplitAudit) -> None:
        lifecycle.answer(audit=audit, finding=0, text="Said before.", by=world.curator)
        later = audited_splits.done(world.gold, report=audit.report)
        page = client_of(world.curator).get(f"{MANAGE_URL}splits/test/audits/{later.pk}/").content.decode()
        assert "Said before.</textarea>" in page and "from an earlier audit" in page
        assert not later.answers.exists()

    def test_an_audit_of_another_split_is_not_found(self, world: World, audit: SplitAudit) -> None:
        other = Split.objects.create(dataset=world.split.dataset, name="other", kind="test")
        assert client_of(world.curator).get(f"{MANAGE_URL}splits/{other.name}/audits/{audit.pk}/").status_code == 404


class TestProgress:
    def test_without_scripts_the_page_names_the_part_and_has_a_refresh_link(self, world: World) -> None:
        audit = split_audits.begin(split=world.split, by=world.curator)
        SplitAudit.objects.update(parts=[{}, {}])
        page = client_of(world.curator).get(f"{MANAGE_URL}splits/test/lifecycle/").content.decode()
        assert '<progress max="8" value="2"' in page and "Refresh" in page
        part = client_of(world.curator).get(f"{MANAGE_URL}splits/test/audits/{audit.pk}/state/")
        assert "hx-get" in part.content.decode() and "HX-Refresh" not in part

    @pytest.mark.parametrize("state", [State.DONE, State.FAILED, State.CANCELLED])
    def test_the_page_reloads_when_the_audit_ends(self, world: World, state: str) -> None:
        report = audited_splits.report() if state == State.DONE else {}
        audit = audited_splits.done(
            world.gold, state=state, report=report, reason="memory" if state == State.FAILED else ""
        )
        part = client_of(world.curator).get(f"{MANAGE_URL}splits/test/audits/{audit.pk}/state/")
        assert part["HX-Refresh"] == "true" and "hx-get" not in part.content.decode()
        assert ("exceeded the server&#x27;s memory limit" in text(part)) == (state == State.FAILED)


class TestArchive:
    def test_it_contains_the_inputs_and_their_documentation(self, world: World, client: Client) -> None:
        Dataset.objects.update(licence="CC0-1.0", citation="Somebody 2020.")
        answer = client.get(f"{PUBLIC}archive.zip")
        with zipfile.ZipFile(io.BytesIO(answer.getvalue())) as archive:
            assert archive.testzip() is None
            assert archive.namelist() == ["CITATION.txt", "LICENCE.txt", "README.txt", "SHA256SUMS", "inputs.jsonl"]
            with opened(world.split.inputs) as inputs:
                assert archive.read("inputs.jsonl") == inputs.read()
            assert archive.read("LICENCE.txt") == b"CC0-1.0\n" and b"Somebody 2020" in archive.read("CITATION.txt")
            assert world.split.inputs_sha256.encode() in archive.read("README.txt")
        assert answer["Content-Disposition"] == 'attachment; filename="tiny-test.zip"'

    def test_it_does_not_depend_on_gold(self, world: World, client: Client) -> None:
        before = client.get(f"{PUBLIC}archive.zip").getvalue()
        Path(world.gold.file.path).write_bytes(b"nothing that could be read\n")
        assert client.get(f"{PUBLIC}archive.zip").getvalue() == before
        assert b"SUPPORTS" not in before and b"REFUTES" not in before

    def test_its_bytes_depend_on_the_split_and_its_licence(self, world: World, client: Client) -> None:
        first, second = (client.get(f"{PUBLIC}archive.zip") for _ in range(2))
        assert first.getvalue() == second.getvalue()
        assert client.get(f"{PUBLIC}archive.zip", headers={"If-None-Match": first["ETag"]}).status_code == 304
        Dataset.objects.update(licence="Other")
        third = client.get(f"{PUBLIC}archive.zip", headers={"If-None-Match": first["ETag"]})
        assert third.status_code == 200 and third.getvalue() != first.getvalue()

    def test_hidden_inputs_have_no_archive(self, world: World, client: Client) -> None:
        Split.objects.update(inputs_public=False)
        assert client.get(f"{PUBLIC}archive.zip").status_code == 404
        assert "Download the archive" not in text(client.get(PUBLIC))


class TestTrail:
    def test_views_of_gold_can_be_filtered(self, world: World, audit: SplitAudit) -> None:
        organiser = person("olga")
        world.benchmark.organisers.add(organiser)
        client_of(world.curator).get(f"{MANAGE_URL}splits/test/gold/1/")
        client_of(organiser).get(f"{MANAGE_URL}splits/test/audits/{audit.pk}/")
        lifecycle.retire(split=world.split, reason="Done.", by=organiser)
        lines = client_of(world.curator).get(f"{MANAGE_URL}audit-trail/").context["lines"]
        assert [(act.by, act.action, act.read_gold) for act, _, _ in lines] == [
            ("olga", "split.retired", False),
            ("olga", "audit.read", True),
            ("curator", "gold.read", True),
        ]
        lines = client_of(organiser).get(f"{MANAGE_URL}audit-trail/?only=gold").context["lines"]
        assert [act.action for act, _, _ in lines] == ["audit.read", "gold.read"]

    def test_actions_of_other_benchmarks_and_of_teams_are_left_out(self, world: World) -> None:
        far = Dataset.objects.create(slug="far", title="Far", task=world.benchmark.task)
        AuditEntry.record("dataset.created", far, by=world.curator)
        AuditEntry.record("submission.refused", world.phase, by=world.researcher, reason="x")
        AuditEntry.record("system.disqualified", world.system, by=world.curator, phase=world.phase.pk, reason="x")
        AuditEntry.record("system.disqualified", world.system, by=world.curator, phase=world.phase.pk + 1, reason="y")
        AuditEntry.record("team.created", world.system.team, by=world.researcher)
        lines = client_of(world.curator).get(f"{MANAGE_URL}audit-trail/").context["lines"]
        assert [(act.action, act.detail["reason"]) for act, _, _ in lines] == [("system.disqualified", "x")]

    def test_it_is_paged_and_its_complete_csv_has_no_formulas(self, world: World) -> None:
        for number in range(60):
            AuditEntry.record("phase.extended", world.phase, by=world.curator, reason=f"=SUM({number})")
        client = client_of(world.curator)
        assert len(client.get(f"{MANAGE_URL}audit-trail/").context["lines"]) == 50
        assert len(client.get(f"{MANAGE_URL}audit-trail/?page=2").context["lines"]) == 10
        User = type(world.curator)
        User.objects.filter(pk=world.curator.pk).update(username="=cmd")
        answer = client.get(f"{MANAGE_URL}audit-trail/?download=csv")
        rows = list(csv.reader(io.StringIO(answer.content.decode())))
        assert len(rows) == 61 and {row[1] for row in rows[1:]} == {"'=cmd"}
        assert rows[0] == ["at", "by", "action", "what", "read_gold", "detail"]

    def test_names_take_a_constant_number_of_queries(self, world: World, django_assert_max_num_queries: Any) -> None:
        client = client_of(world.curator)
        for _ in range(40):
            AuditEntry.record("gold.read", world.gold, by=world.curator)
            AuditEntry.record("audit.read", audited_splits.done(world.gold), by=world.curator)
        with django_assert_max_num_queries(20):
            client.get(f"{MANAGE_URL}audit-trail/")


def test_the_page_of_a_corrected_split_lists_its_errata(world: World, client: Client) -> None:
    same = {name: getattr(world.gold, name) for name in ("bytes", "n_lines", "n_units", "n_groups", "dimensions")}
    same |= {name: getattr(world.gold, name) for name in ("measures", "primary", "expects", "file", "split")}
    GoldVersion.objects.create(number=2, sha256="1" * 64, reason="The fourth label was wrong.", **same)
    page = text(client.get(PUBLIC))
    assert "The fourth label was wrong." in page and "held out, version 2" in page


def test_drafts_are_marked_for_their_managers(world: World) -> None:
    Split.objects.update(**DRAFT)
    page = text(client_of(world.curator).get(PUBLIC))
    assert "A draft: only its managers" in page
