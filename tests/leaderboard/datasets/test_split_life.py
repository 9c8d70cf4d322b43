"""The life cycle of a split from draft to retired: what each state permits and who sees what."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.benchmarks.actions import benchmarks
from leaderboard.core.refusal import Code, Refused
from leaderboard.datasets.actions import audits as split_audits
from leaderboard.datasets.actions import lifecycle, splits
from leaderboard.datasets.queries import audit_results
from leaderboard.models import AuditEntry, Benchmark, Extension, Phase, QuotaCharge, Split, SplitAudit, State
from leaderboard.submissions.actions import validation
from leaderboard.submissions.queries import deadlines
from tests.leaderboard.benchmarks.test_manage_pages import client_of
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.api_calls import person
from tests.support.rows import audited_splits
from tests.support.rows.gold_uploads import close_all, refusal, uploaded
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import DRAFT, LABELS, World, build, gold_lines

pytestmark = pytest.mark.django_db
LIFE = "/manage/benchmarks/tiny/splits/test/"
REASON = "Its labels were posted on the web."


world, _django_db_helper = shared_states(world=build)


@pytest.fixture(autouse=True)
def _close_files() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def draft(world: World) -> Split:
    """The world's split, reset to a draft without an audit."""
    Split.objects.update(**DRAFT)
    world.split.refresh_from_db()
    return world.split


def finding_indexes(audit: SplitAudit, severity: str) -> list[int]:
    return [each.index for each in audit_results.findings(audit) if each.severity == severity]


def answer_findings(audit: SplitAudit, by: Any) -> SplitAudit:
    for index in finding_indexes(audit, "warning"):
        lifecycle.answer(audit=audit, finding=index, text=f"Known: {index}.", by=by)
    return audit


class TestPublishing:
    def test_held_out_gold_needs_an_audit(self, world: World, draft: Split) -> None:
        refused = refusal(lifecycle.publish, split=draft, by=world.curator)
        assert refused.code is Code.NOT_READY
        assert "has not been audited" in refused.message

    def test_an_error_blocks_publication_despite_answers(self, world: World, draft: Split) -> None:
        report = audited_splits.report()
        report["findings"][0]["severity"] = "error"
        audit = answer_findings(audited_splits.done(world.gold, report=report), world.curator)
        assert "found 1 error;" in refusal(lifecycle.publish, split=draft, by=world.curator).message
        refused = refusal(lifecycle.answer, audit=audit, finding=0, text="No matter.", by=world.researcher)
        assert refused.code is Code.NOT_AN_ORGANISER

    def test_only_errors_and_warnings_take_an_answer(self, world: World, draft: Split) -> None:
        report = audited_splits.report()
        report["findings"][0]["severity"] = "note"
        audit = audited_splits.done(world.gold, report=report)
        refused = refusal(lifecycle.answer, audit=audit, finding=0, text="Known.", by=world.curator)
        assert "Finding 0 is of the severity note; expected an error or a warning" in refused.message
        n = len(report["findings"])
        refused = refusal(lifecycle.answer, audit=audit, finding=n, text="Known.", by=world.curator)
        assert f"The audit has {n} findings, and none with the index {n}" in refused.message

    def test_each_warning_needs_an_answer(self, world: World, draft: Split) -> None:
        audit = audited_splits.done(world.gold)
        *some, last = finding_indexes(audit, "warning")
        for index in some:
            lifecycle.answer(audit=audit, finding=index, text="Known.", by=world.curator)
        assert "1 warning of the audit must be" in refusal(lifecycle.publish, split=draft, by=world.curator).message
        lifecycle.answer(audit=audit, finding=last, text="Known.", by=world.curator)
        assert lifecycle.publish(split=draft, by=world.curator).is_published
        audit.refresh_from_db()
        assert (audit.accepted_at is not None, audit.accepted_by) == (True, world.curator)
        entry = AuditEntry.objects.get(action="split.published")
        assert (entry.actor, entry.detail["audit"]) == (world.curator, audit.pk)

    def test_the_audit_of_earlier_gold_does_not_count(self, world: World, draft: Split, sandbox: str) -> None:
        answer_findings(audited_splits.done(world.gold), world.curator)
        swapped = dict(zip(LABELS, reversed(LABELS.values()), strict=True)) | {"a1": "REFUTES", "a2": "SUPPORTS"}
        other = {**swapped, "a3": "SUPPORTS", "a4": "REFUTES"}
        splits.add_gold(split=draft, file=uploaded(gold_lines(other), "gold.jsonl"), reason="better", by=world.curator)
        assert "Gold version 2" in refusal(lifecycle.publish, split=draft, by=world.curator).message

    def test_only_the_latest_audit_counts(self, world: World, draft: Split) -> None:
        answer_findings(audited_splits.done(world.gold), world.curator)
        audited_splits.done(world.gold)
        assert "must be answered" in refusal(lifecycle.publish, split=draft, by=world.curator).message

    @pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
    def test_an_unfinished_audit_does_not_count(self, world: World, draft: Split, state: str) -> None:
        audited_splits.done(world.gold, state=state, report={})
        assert "has not been audited" in refusal(lifecycle.publish, split=draft, by=world.curator).message

    def test_public_gold_needs_no_audit(self, world: World, draft: Split) -> None:
        Split.objects.update(gold_public=True)
        draft.refresh_from_db()
        assert lifecycle.publish(split=draft, by=world.curator).is_published
        assert AuditEntry.objects.get(action="split.published").detail["audit"] is None

    def test_a_split_is_published_once_and_not_by_a_stranger(self, world: World) -> None:
        assert refusal(lifecycle.publish, split=world.split, by=world.curator).code is Code.NOT_READY
        Split.objects.update(**DRAFT)
        assert refusal(lifecycle.publish, split=world.split, by=world.researcher).code is Code.NOT_AN_ORGANISER

    def test_only_an_operator_publishes_without_an_audit(self, world: World, draft: Split) -> None:
        organiser = person("olga")
        world.benchmark.organisers.add(organiser)
        assert refusal(lifecycle.publish_unaudited, split=draft, by=organiser).code is Code.NOT_AN_ORGANISER
        assert lifecycle.publish_unaudited(split=draft, by=world.curator).is_published
        page = text(Client().get("/benchmarks/tiny/splits/test/"))
        assert "No audit report." in page

    def test_a_benchmark_cannot_be_published_before_its_splits(self, world: World, draft: Split) -> None:
        Benchmark.objects.update(state="draft")
        world.benchmark.refresh_from_db()
        refused = refusal(benchmarks.publish, benchmark=world.benchmark, by=world.curator)
        assert "test is a draft" in refused.message
        lifecycle.publish_unaudited(split=draft, by=world.curator)
        assert benchmarks.publish(benchmark=world.benchmark, by=world.curator).state == "public"


class TestAnswers:
    def test_only_errors_and_warnings_of_a_done_audit_are_answered(self, world: World) -> None:
        audit = audited_splits.done(world.gold)
        (note, *_) = [*finding_indexes(audit, "note"), len(audit.report["findings"])]
        refused = refusal(lifecycle.answer, audit=audit, finding=note, text="x", by=world.curator)
        assert refused.code is Code.INVALID_VALUE
        SplitAudit.objects.filter(pk=audit.pk).update(state=State.CANCELLED)
        refused = refusal(lifecycle.answer, audit=audit, finding=0, text="x", by=world.curator)
        assert refused.code is Code.NOT_POSSIBLE and refused.message.startswith("This audit is cancelled;")

    def test_an_answer_replaces_the_previous_one_and_an_empty_one_removes_it(self, world: World) -> None:
        audit = audited_splits.done(world.gold)
        for answer_text in ("First.", "Second."):
            lifecycle.answer(audit=audit, finding=0, text=answer_text, by=world.curator)
        assert [answer.text for answer in audit.answers.all()] == ["Second."]
        lifecycle.answer(audit=audit, finding=0, text="  ", by=world.curator)
        assert not audit.answers.exists()

    def test_answers_of_a_published_split_are_final(self, world: World, draft: Split) -> None:
        audit = answer_findings(audited_splits.done(world.gold), world.curator)
        lifecycle.publish(split=draft, by=world.curator)
        refused = refusal(lifecycle.answer, audit=audit, finding=0, text="Else.", by=world.curator)
        assert refused.code is Code.NOT_POSSIBLE and refused.message.startswith("This audit is already public;")
        assert audit.answers.get(finding=0).text == "Known: 0."

    def test_an_audit_after_publishing_is_shown_with_every_answer(self, world: World) -> None:
        report = audited_splits.report()
        report["findings"][0]["severity"] = "error"
        audit = answer_findings(audited_splits.done(world.gold, report=report), world.curator)
        assert "1 of the audit's errors" in refusal(lifecycle.show_audit, audit=audit, by=world.curator).message
        lifecycle.answer(audit=audit, finding=0, text="Corrected soon.", by=world.curator)
        lifecycle.show_audit(audit=audit, by=world.curator)
        page = text(Client().get("/benchmarks/tiny/splits/test/"))
        assert "Corrected soon." in page and "No audit report" not in page


class TestDrafts:
    def test_a_draft_accepts_no_submission(self, world: World, draft: Split) -> None:
        with pytest.raises(Refused, match="not published yet"):
            world.submit()
        assert not QuotaCharge.objects.exists()

    def test_files_of_a_draft_are_visible_to_its_managers_only(self, world: World, draft: Split) -> None:
        Split.objects.update(gold_public=True)
        addresses = [f"/benchmarks/tiny/splits/test/{end}" for end in ("", "archive.zip", "inputs.jsonl", "gold.jsonl")]
        addresses += ["/benchmarks/tiny/splits/test/sample-submission.jsonl"]
        addresses += ["/api/v1/benchmarks/tiny/splits/test/inputs.jsonl"]
        for address in addresses:
            assert Client().get(address).status_code == 404, address
            assert client_of(world.researcher).get(address).status_code == 404, address
            assert client_of(world.curator).get(address).status_code == 200, address
        for page in ("/benchmarks/tiny/", "/benchmarks/tiny/about/data/"):
            assert "inputs.jsonl" not in text(Client().get(page))
        assert Client().get("/api/v1/benchmarks/tiny/").json()["splits"] == []

    def test_a_published_splits_inputs_never_change(self, world: World, sandbox: str) -> None:
        other = gold_lines().replace(b"claim 0", b"claim 7")
        fields = {"split": world.split, "file": uploaded(other, "gold.jsonl"), "reason": "new", "by": world.curator}
        refused = refusal(splits.add_gold, **fields)
        assert refused.code is Code.INPUTS_CHANGED
        assert "is published" in refused.message


class TestRetiring:
    def test_its_phases_refuse_submissions_with_a_reason(self, world: World, client: Client) -> None:
        lifecycle.retire(split=world.split, reason=REASON, by=world.curator)
        world.phase.refresh_from_db()
        with pytest.raises(Refused, match="posted on the web"):
            world.submit()
        assert not world.phase.is_open()
        assert REASON in text(client.get("/benchmarks/tiny/test/"))
        assert REASON in text(client.get("/benchmarks/tiny/splits/test/"))
        assert REASON in text(client_of(world.researcher).get("/benchmarks/tiny/test/submit/"))
        assert client.get("/benchmarks/tiny/splits/test/inputs.jsonl").status_code == 200
        assert client.get("/api/v1/benchmarks/tiny/").json()["phases"][0]["is_open"] is False

    def test_extending_a_phase_does_not_reopen_it(self, world: World) -> None:
        at = timezone.now()
        world.phase.closes_at = at
        world.phase.save()
        later, creation = at + timedelta(days=1), {"created_by": world.curator, "created_at": at}
        Extension.objects.create(
            phase=world.phase, team=world.system.team, before=at, closes_at=later, reason="x", **creation
        )
        assert deadlines.is_open(world.phase, team=world.system.team)
        lifecycle.retire(split=world.split, reason=REASON, by=world.curator)
        world.phase.refresh_from_db()
        assert not deadlines.is_open(world.phase, team=world.system.team)
        assert not deadlines.is_open_to(world.phase, world.researcher)
        with pytest.raises(Refused, match="posted on the web"):
            world.submit()

    def test_a_submission_under_validation_is_refused(
        self, world: World, sandbox: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        checked = validation.validate_now

        def check(**arguments: Any) -> Any:
            lifecycle.retire(split=Split.objects.get(pk=world.split.pk), reason=REASON, by=world.curator)
            return checked(**arguments)

        monkeypatch.setattr(validation, "validate_now", check)
        with pytest.raises(Refused, match="posted on the web"):
            world.submit()
        assert not QuotaCharge.objects.exists()

    def test_no_phase_can_be_created_on_it(self, world: World) -> None:
        lifecycle.retire(split=world.split, reason=REASON, by=world.curator)
        fields = {"slug": "more", "title": "More", "options": {}, "opens_at": None, "closes_at": None}
        fields |= {"benchmark": world.benchmark, "split": world.split, "quota_per_day": 1, "quota_total": 1}
        assert "is retired" in refusal(benchmarks.add_phase, phase=Phase(**fields), by=world.curator).message

    def test_retiring_needs_a_reason_and_happens_once(self, world: World) -> None:
        assert refusal(lifecycle.retire, split=world.split, reason=" ", by=world.curator).code is Code.INVALID_REASON
        refused = refusal(lifecycle.retire, split=world.split, reason="x", by=world.researcher)
        assert refused.code is Code.NOT_AN_ORGANISER
        lifecycle.retire(split=world.split, reason=REASON, by=world.curator)
        assert refusal(lifecycle.retire, split=world.split, reason="again", by=world.curator).code is Code.NOT_POSSIBLE
        assert AuditEntry.objects.get(action="split.retired").detail["reason"] == REASON


LATER = [("audited", False, False), ("published", False, False), ("retired", False, False)]
CORRECTED = gold_lines({name: "REFUTES" if label == "SUPPORTS" else "SUPPORTS" for name, label in LABELS.items()})


def _steps(client: Client) -> list[tuple[str, bool, bool]]:
    """Returns (name, is past, is current) of each step on the page."""
    return list(client.get(f"{LIFE}lifecycle/").context["steps"])


def test_the_whole_life_cycle_on_the_management_pages(world: World, draft: Split, sandbox: str) -> None:
    """As an organiser does it, with a worker in this process."""
    organiser = person("olga")
    world.benchmark.organisers.add(organiser)
    client = client_of(organiser)
    assert _steps(client) == [("draft", False, True), *LATER]
    assert "has not been audited" in text(client.get(f"{LIFE}lifecycle/"))
    assert client.post(f"{LIFE}audits/begin/").status_code == 302
    audit = SplitAudit.objects.get()
    assert "Waiting for a worker" in text(client.get(f"{LIFE}lifecycle/"))
    split_audits.WORK.run(audit.pk)
    assert client.post(f"{LIFE}publish/").status_code == 409
    page = client.get(f"{LIFE}audits/{audit.pk}/")
    answers = {
        f"answer-{finding.index}": f"Said to {finding.code}."
        for finding, _, asks, _ in page.context["findings"]
        if asks
    }
    assert answers and client.post(f"{LIFE}audits/{audit.pk}/", answers)["Location"] == f"{LIFE}audits/{audit.pk}/"
    assert client.post(f"{LIFE}publish/").status_code == 302
    assert _steps(client)[1:3] == [("audited", True, False), ("published", False, True)]
    assert splits.add_gold(
        split=Split.objects.get(), file=uploaded(CORRECTED, "gold.jsonl"), reason="better", by=organiser
    )
    # The corrected gold has no audit yet. The split remains one that was published with an audit.
    assert _steps(client)[1:3] == [("audited", True, False), ("published", False, True)]
    assert "left out" not in text(client.get(f"{LIFE}lifecycle/"))
    public = text(Client().get("/benchmarks/tiny/splits/test/"))
    assert all(answer in public for answer in answers.values())
    assert client.post(f"{LIFE}retire/", {"reason": REASON}).status_code == 302
    assert Split.objects.get().state == "retired"
    world.phase.refresh_from_db()
    with pytest.raises(Refused, match="posted on the web"):
        world.submit()
