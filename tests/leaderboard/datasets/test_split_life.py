"""A split from draft to retired: what each state lets happen, and who is told what."""

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
from leaderboard.models import AuditEntry, Benchmark, Extension, QuotaCharge, Split, SplitAudit, State
from leaderboard.submissions.actions import submit
from leaderboard.submissions.queries import deadlines
from tests.leaderboard.benchmarks.test_manage_pages import client_of
from tests.leaderboard.submissions.test_people_pages import text
from tests.support import audited_splits
from tests.support.api_calls import person
from tests.support.gold_uploads import close_all, refusal, uploaded
from tests.support.tiny_world import DRAFT, LABELS, World, build, gold_lines

pytestmark = pytest.mark.django_db
LIFE = "/manage/benchmarks/tiny/splits/test/"
REASON = "Its labels were posted on the web."


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def draft(world: World) -> Split:
    """The world's split, taken back to a draft without an audit."""
    Split.objects.update(**DRAFT)
    world.split.refresh_from_db()
    return world.split


def places(audit: SplitAudit, severity: str) -> list[int]:
    return [one.index for one in audit_results.findings(audit) if one.severity == severity]


def answered(audit: SplitAudit, by: Any) -> SplitAudit:
    for place in places(audit, "warning"):
        lifecycle.answer(audit=audit, finding=place, text=f"Known: {place}.", by=by)
    return audit


class TestPublishing:
    def test_held_out_gold_needs_an_audit(self, world: World, draft: Split) -> None:
        refused = refusal(lifecycle.publish, split=draft, by=world.curator)
        assert refused.code is Code.NOT_READY
        assert "has not been audited" in refused.message

    def test_an_error_blocks_whatever_is_answered(self, world: World, draft: Split) -> None:
        report = audited_splits.report()
        report["findings"][0]["severity"] = "error"
        audit = answered(audited_splits.done(world.gold, report=report), world.curator)
        assert "found 1 error;" in refusal(lifecycle.publish, split=draft, by=world.curator).message
        refused = refusal(lifecycle.answer, audit=audit, finding=0, text="No matter.", by=world.researcher)
        assert refused.code is Code.NOT_AN_ORGANISER

    def test_each_warning_is_answered_first(self, world: World, draft: Split) -> None:
        audit = audited_splits.done(world.gold)
        *some, last = places(audit, "warning")
        for place in some:
            lifecycle.answer(audit=audit, finding=place, text="Known.", by=world.curator)
        assert "1 warning of the audit must be" in refusal(lifecycle.publish, split=draft, by=world.curator).message
        lifecycle.answer(audit=audit, finding=last, text="Known.", by=world.curator)
        assert lifecycle.publish(split=draft, by=world.curator).is_published
        audit.refresh_from_db()
        assert (audit.accepted_at is not None, audit.accepted_by) == (True, world.curator)
        entry = AuditEntry.objects.get(action="split.published")
        assert (entry.actor, entry.detail["audit"]) == (world.curator, audit.pk)

    def test_the_audit_of_earlier_gold_does_not_count(self, world: World, draft: Split, sandbox: str) -> None:
        answered(audited_splits.done(world.gold), world.curator)
        swapped = dict(zip(LABELS, reversed(LABELS.values()), strict=True)) | {"a1": "REFUTES", "a2": "SUPPORTS"}
        other = {**swapped, "a3": "SUPPORTS", "a4": "REFUTES"}
        splits.add_gold(split=draft, file=uploaded(gold_lines(other), "gold.jsonl"), reason="better", by=world.curator)
        assert "Gold version 2" in refusal(lifecycle.publish, split=draft, by=world.curator).message

    def test_the_last_audit_counts_and_not_a_better_one_before(self, world: World, draft: Split) -> None:
        answered(audited_splits.done(world.gold), world.curator)
        audited_splits.done(world.gold)
        assert "must be answered" in refusal(lifecycle.publish, split=draft, by=world.curator).message

    @pytest.mark.parametrize("state", [State.FAILED, State.CANCELLED])
    def test_an_audit_that_was_not_done_is_none(self, world: World, draft: Split, state: str) -> None:
        audited_splits.done(world.gold, state=state, report={})
        assert "has not been audited" in refusal(lifecycle.publish, split=draft, by=world.curator).message

    def test_public_gold_needs_none(self, world: World, draft: Split) -> None:
        Split.objects.update(gold_public=True)
        draft.refresh_from_db()
        assert lifecycle.publish(split=draft, by=world.curator).is_published
        assert AuditEntry.objects.get(action="split.published").detail["audit"] is None

    def test_once_is_enough_and_a_stranger_may_not(self, world: World) -> None:
        assert refusal(lifecycle.publish, split=world.split, by=world.curator).code is Code.NOT_READY
        Split.objects.update(**DRAFT)
        assert refusal(lifecycle.publish, split=world.split, by=world.researcher).code is Code.NOT_AN_ORGANISER

    def test_an_operator_publishes_without_and_organisers_do_not(self, world: World, draft: Split) -> None:
        organiser = person("olga")
        world.benchmark.organisers.add(organiser)
        assert refusal(lifecycle.publish_unaudited, split=draft, by=organiser).code is Code.NOT_AN_ORGANISER
        assert lifecycle.publish_unaudited(split=draft, by=world.curator).is_published
        page = text(Client().get("/benchmarks/tiny/splits/test/"))
        assert "No audit report." in page

    def test_a_benchmark_waits_for_its_splits(self, world: World, draft: Split) -> None:
        Benchmark.objects.update(state="draft")
        world.benchmark.refresh_from_db()
        refused = refusal(benchmarks.publish, benchmark=world.benchmark, by=world.curator)
        assert "test is a draft" in refused.message
        lifecycle.publish_unaudited(split=draft, by=world.curator)
        assert benchmarks.publish(benchmark=world.benchmark, by=world.curator).state == "public"


class TestAnswers:
    def test_only_errors_and_warnings_of_a_done_audit_are_answered(self, world: World) -> None:
        audit = audited_splits.done(world.gold)
        (note, *_) = [*places(audit, "note"), len(audit.report["findings"])]
        refused = refusal(lifecycle.answer, audit=audit, finding=note, text="x", by=world.curator)
        assert refused.code is Code.INVALID_NAME
        SplitAudit.objects.filter(pk=audit.pk).update(state=State.CANCELLED)
        assert refusal(lifecycle.answer, audit=audit, finding=0, text="x", by=world.curator).code is Code.NOT_READY

    def test_an_answer_replaces_the_one_before_and_an_empty_one_takes_it_back(self, world: World) -> None:
        audit = audited_splits.done(world.gold)
        for said in ("First.", "Second."):
            lifecycle.answer(audit=audit, finding=0, text=said, by=world.curator)
        assert [one.text for one in audit.answers.all()] == ["Second."]
        lifecycle.answer(audit=audit, finding=0, text="  ", by=world.curator)
        assert not audit.answers.exists()

    def test_what_is_public_stays(self, world: World, draft: Split) -> None:
        audit = answered(audited_splits.done(world.gold), world.curator)
        lifecycle.publish(split=draft, by=world.curator)
        refused = refusal(lifecycle.answer, audit=audit, finding=0, text="Else.", by=world.curator)
        assert refused.code is Code.NOT_READY
        assert audit.answers.get(finding=0).text == "Known: 0."

    def test_an_audit_after_publishing_is_shown_with_every_answer(self, world: World) -> None:
        report = audited_splits.report()
        report["findings"][0]["severity"] = "error"
        audit = answered(audited_splits.done(world.gold, report=report), world.curator)
        assert "1 of its errors" in refusal(lifecycle.show_audit, audit=audit, by=world.curator).message
        lifecycle.answer(audit=audit, finding=0, text="Corrected soon.", by=world.curator)
        lifecycle.show_audit(audit=audit, by=world.curator)
        page = text(Client().get("/benchmarks/tiny/splits/test/"))
        assert "Corrected soon." in page and "No audit report" not in page


class TestDrafts:
    def test_a_draft_takes_nothing(self, world: World, draft: Split) -> None:
        with pytest.raises(Refused, match="not published yet"):
            world.submit()
        assert not QuotaCharge.objects.exists()

    def test_its_files_are_its_managers_own(self, world: World, draft: Split) -> None:
        Split.objects.update(gold_public=True)
        addresses = [f"/benchmarks/tiny/splits/test/{end}" for end in ("", "archive.zip", "inputs.jsonl", "gold.jsonl")]
        addresses += ["/api/v1/benchmarks/tiny/splits/test/inputs.jsonl"]
        for address in addresses:
            assert Client().get(address).status_code == 404, address
            assert client_of(world.researcher).get(address).status_code == 404, address
            assert client_of(world.curator).get(address).status_code == 200, address
        assert "inputs.jsonl" not in text(Client().get("/benchmarks/tiny/"))
        assert Client().get("/api/v1/benchmarks/tiny/").json()["splits"] == []

    def test_a_published_splits_inputs_never_change(self, world: World, sandbox: str) -> None:
        other = gold_lines().replace(b"claim 0", b"claim 7")
        asked = {"split": world.split, "file": uploaded(other, "gold.jsonl"), "reason": "new", "by": world.curator}
        refused = refusal(splits.add_gold, **asked)
        assert refused.code is Code.INPUTS_CHANGED
        assert "is published" in refused.message


class TestRetiring:
    def test_its_phases_take_no_more_and_say_why(self, world: World, client: Client) -> None:
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

    def test_more_time_opens_nothing(self, world: World) -> None:
        at = timezone.now()
        world.phase.closes_at = at
        world.phase.save()
        later, made = at + timedelta(days=1), {"created_by": world.curator, "created_at": at}
        Extension.objects.create(
            phase=world.phase, team=world.system.team, before=at, closes_at=later, reason="x", **made
        )
        assert deadlines.is_open(world.phase, team=world.system.team)
        lifecycle.retire(split=world.split, reason=REASON, by=world.curator)
        world.phase.refresh_from_db()
        assert not deadlines.is_open(world.phase, team=world.system.team)
        assert not deadlines.is_open_to(world.phase, world.researcher)
        with pytest.raises(Refused, match="posted on the web"):
            world.submit()

    def test_what_was_being_checked_is_not_taken(
        self, world: World, sandbox: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        checked = submit._validate

        def check(**asked: Any) -> Any:
            lifecycle.retire(split=Split.objects.get(pk=world.split.pk), reason=REASON, by=world.curator)
            return checked(**asked)

        monkeypatch.setattr(submit, "_validate", check)
        with pytest.raises(Refused, match="posted on the web"):
            world.submit()
        assert not QuotaCharge.objects.exists()

    def test_no_phase_is_opened_on_it(self, world: World) -> None:
        lifecycle.retire(split=world.split, reason=REASON, by=world.curator)
        told = {"slug": "more", "title": "More", "options": {}, "opens_at": None, "closes_at": None}
        told |= {"benchmark": world.benchmark, "split": world.split, "quota_per_day": 1, "quota_total": 1}
        assert "is retired" in refusal(benchmarks.add_phase, by=world.curator, **told).message

    def test_it_needs_a_reason_and_is_done_once(self, world: World) -> None:
        assert refusal(lifecycle.retire, split=world.split, reason=" ", by=world.curator).code is Code.INVALID_NAME
        refused = refusal(lifecycle.retire, split=world.split, reason="x", by=world.researcher)
        assert refused.code is Code.NOT_AN_ORGANISER
        lifecycle.retire(split=world.split, reason=REASON, by=world.curator)
        assert refusal(lifecycle.retire, split=world.split, reason="again", by=world.curator).code is Code.NOT_READY
        assert AuditEntry.objects.get(action="split.retired").detail["reason"] == REASON


LATER = [("audited", False, False), ("published", False, False), ("retired", False, False)]
CORRECTED = gold_lines({name: "REFUTES" if label == "SUPPORTS" else "SUPPORTS" for name, label in LABELS.items()})


def _life(client: Client) -> list[tuple[str, bool, bool]]:
    """(name, behind, here) of each step, as the page has them."""
    return list(client.get(f"{LIFE}lifecycle/").context["steps"])


def test_the_whole_way_on_the_desk(world: World, draft: Split, sandbox: str) -> None:
    """As an organiser does it, with a worker in this process."""
    organiser = person("olga")
    world.benchmark.organisers.add(organiser)
    client = client_of(organiser)
    assert _life(client) == [("draft", False, True), *LATER]
    assert "has not been audited" in text(client.get(f"{LIFE}lifecycle/"))
    assert client.post(f"{LIFE}audits/begin/").status_code == 302
    audit = SplitAudit.objects.get()
    assert "Waiting for a worker" in text(client.get(f"{LIFE}lifecycle/"))
    split_audits.WORK.run(audit.pk)
    assert client.post(f"{LIFE}publish/").status_code == 409
    page = client.get(f"{LIFE}audits/{audit.pk}/")
    asked = {f"answer-{one.index}": f"Said to {one.code}." for one, asks, _ in page.context["findings"] if asks}
    assert asked and client.post(f"{LIFE}audits/{audit.pk}/", asked)["Location"] == f"{LIFE}audits/{audit.pk}/"
    assert client.post(f"{LIFE}publish/").status_code == 302
    assert _life(client)[1:3] == [("audited", True, False), ("published", False, True)]
    assert splits.add_gold(
        split=Split.objects.get(), file=uploaded(CORRECTED, "gold.jsonl"), reason="better", by=organiser
    )
    # The corrected gold has no audit yet; that the split was published with one stays true.
    assert _life(client)[1:3] == [("audited", True, False), ("published", False, True)]
    assert "left out" not in text(client.get(f"{LIFE}lifecycle/"))
    public = text(Client().get("/benchmarks/tiny/splits/test/"))
    assert all(said in public for said in asked.values())
    assert client.post(f"{LIFE}retire/", {"reason": REASON}).status_code == 302
    assert Split.objects.get().state == "retired"
    world.phase.refresh_from_db()
    with pytest.raises(Refused, match="posted on the web"):
        world.submit()
