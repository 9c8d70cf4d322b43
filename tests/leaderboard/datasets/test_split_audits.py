"""Background work of a split's audit: queued once, run part by part in the sandbox, resumed, cancelled, given up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from evaluator.jobs.audit import NAMES
from leaderboard import jobs
from leaderboard.core.refusal import Code
from leaderboard.datasets.actions import audits as split_audits
from leaderboard.datasets.actions import splits
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, Split, SplitAudit, State
from tests.support.rows import audited_splits
from tests.support.rows.gold_uploads import close_all, refusal, uploaded
from tests.support.rows.tiny_world import DRAFT, World, build, gold_lines
from tests.support.simultaneous_calls import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture(autouse=True)
def _close_files() -> Iterator[None]:
    yield
    close_all()


def queued_audit(world: World) -> SplitAudit:
    return split_audits.begin(split=world.split, by=world.curator)


def after(row: Any) -> Any:
    row.refresh_from_db()
    return row


class RecordedRequests:
    """A wrapper of the sandbox client: records which parts are requested and may call a function before each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, before: Any = None) -> None:
        self.parts: list[str] = []
        self.files: list[set[str]] = []
        audit_part_of_client = sandbox_client.audit_part

        def audit_part(files: Any, **requests: Any) -> sandbox_client.Answer:
            self.parts.append(requests["part"])
            self.files.append({*files})
            if before is not None and (answer := before(len(self.parts))) is not None:
                return answer  # type: ignore[no-any-return]
            return audit_part_of_client(files, **requests)

        monkeypatch.setattr(sandbox_client, "audit_part", audit_part)


def test_the_sandbox_returns_the_same_report_as_in_process(world: World) -> None:
    audit = queued_audit(world)
    split_audits.WORK.run(audit.pk)
    assert after(audit).state == State.DONE
    # Without the check of its inputs, which the in-process report does not have: none differ from the server's inputs.
    expected = audited_splits.report()
    assert audit.report["findings"] == expected["findings"]
    assert audit.report["sizes"] == expected["sizes"] and audit.report["balance"] == expected["balance"]
    assert audit.parts == []


def test_the_audit_compares_with_public_gold_of_the_dataset(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fields = {"dataset": world.split.dataset, "kind": "train", "by": world.curator}
    train = splits.create_split(name="train", gold_public=True, **fields)
    splits.add_gold(split=train, file=uploaded(gold_lines(), "gold.jsonl"), reason="first", by=world.curator)
    hidden = splits.create_split(name="other", gold_public=False, **fields)
    changed = gold_lines().replace(b"claim 0", b"claim 7")
    splits.add_gold(split=hidden, file=uploaded(changed, "gold.jsonl"), reason="first", by=world.curator)
    requests = RecordedRequests(monkeypatch)
    audit = queued_audit(world)
    assert [gold.split for gold in audit.trains.all()] == [train]
    split_audits.WORK.run(audit.pk)
    assert all(files == {"gold", "inputs", "0"} for files in requests.files)
    errors = [finding for finding in after(audit).report["findings"] if finding["severity"] == "error"]
    assert [(finding["code"], finding["numbers"]["train"]) for finding in errors] == [
        ("leakage-simple", "train.gold.jsonl")
    ]


def test_a_second_request_returns_the_running_audit(world: World) -> None:
    first = queued_audit(world)
    assert queued_audit(world).pk == first.pk
    assert SplitAudit.objects.count() == 1
    assert AuditEntry.objects.filter(action="audit.begun").count() == 1


@pytest.mark.django_db(transaction=True)
def test_simultaneous_requests_create_one_audit(world: World) -> None:
    audits = together([lambda: queued_audit(world).pk] * 4)
    assert len({*audits}) == 1
    assert SplitAudit.objects.count() == 1


def test_a_stranger_and_an_empty_split_get_no_audit(world: World) -> None:
    refused = refusal(split_audits.begin, split=world.split, by=world.researcher)
    assert refused.code is Code.NOT_AN_ORGANISER
    blank = splits.create_split(
        dataset=world.split.dataset, name="blank", kind="test", gold_public=False, by=world.curator
    )
    assert refusal(split_audits.begin, split=blank, by=world.curator).code is Code.NOT_READY


def test_each_part_is_stored_and_another_worker_resumes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(n: int) -> None:
        if n == 4:
            raise sandbox_client.SandboxError("gone")

    audit = queued_audit(world)
    requests = RecordedRequests(monkeypatch, dies)
    split_audits.WORK.run(audit.pk)
    assert after(audit).state == State.QUEUED and len(audit.parts) == 3
    split_audits.WORK.run(audit.pk)
    assert requests.parts == [*NAMES[:4], *NAMES[3:]]
    assert (after(audit).state, audit.attempt) == (State.DONE, 2)
    assert audit.report == {**audited_splits.report(), "not_looked_at": audit.report["not_looked_at"]}


def test_parts_of_another_release_are_recomputed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = queued_audit(world)
    SplitAudit.objects.update(parts=[{"keys": {"sizes": []}, "findings": []}], code_sha256="0" * 64)
    requests = RecordedRequests(monkeypatch)
    split_audits.WORK.run(audit.pk)
    split_audits.WORK.run(audit.pk)
    assert requests.parts == [NAMES[1], *NAMES]
    assert after(audit).report["sizes"] == audited_splits.report()["sizes"]


def test_an_audit_is_given_up_after_the_maximum_of_attempts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(n: int) -> None:
        raise sandbox_client.SandboxError("gone")

    RecordedRequests(monkeypatch, dies)
    audit = queued_audit(world)
    for _ in range(settings.MAX_ATTEMPTS + 1):
        split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason, audit.attempt) == (State.FAILED, "sandbox", settings.MAX_ATTEMPTS)
    assert queued_audit(world).pk != audit.pk


SAID = {"code": "x", "found": "x", "means": "x", "do": "x", "where": {}, "numbers": {}}


@pytest.mark.parametrize(
    "report",
    [
        None,
        {"keys": {}},
        {"keys": {}, "findings": [{"severity": "error"}]},
        {"keys": {}, "findings": [SAID | {"severity": "grave"}]},
    ],
)
def test_a_malformed_report_is_rejected(world: World, monkeypatch: pytest.MonkeyPatch, report: Any) -> None:
    answer = sandbox_client.Answer("", {"ok": True, "told": report}, b"", 0.0, 0.0, {}, sandbox_client.sources.SHA256)
    RecordedRequests(monkeypatch, lambda n: answer)
    audit = queued_audit(world)
    split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason, audit.report) == (State.FAILED, "bad_report", {})


def test_reaching_a_limit_ends_the_audit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    RecordedRequests(monkeypatch, lambda n: sandbox_client.Answer("memory", {}, b"", 0.0, 0.0, {}))
    audit = queued_audit(world)
    split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason) == (State.FAILED, "memory")


def test_a_cancelled_audit_stores_no_further_part(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = queued_audit(world)

    def cancels(n: int) -> None:
        if n == 2:
            split_audits.cancel(audit=audit, by=world.curator)

    requests = RecordedRequests(monkeypatch, cancels)
    split_audits.WORK.run(audit.pk)
    assert requests.parts == [*NAMES[:2]]
    assert (after(audit).state, audit.report) == (State.CANCELLED, {})
    assert refusal(split_audits.cancel, audit=audit, by=world.curator).code is Code.NOT_CANCELLABLE
    split_audits.WORK.run(audit.pk)
    assert after(audit).state == State.CANCELLED


def test_gold_altered_in_storage_is_not_audited(world: World) -> None:
    audit = queued_audit(world)
    with Path(world.gold.file.path).open("ab") as stored:
        stored.write(b" ")
    split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason) == (State.FAILED, "storage")


def test_inputs_replaced_while_it_is_queued_end_the_audit(world: World) -> None:
    Split.objects.update(**DRAFT)
    audit = queued_audit(world)
    other = gold_lines().replace(b"claim 0", b"claim 7")
    splits.add_gold(split=world.split, file=uploaded(other, "gold.jsonl"), reason="new", by=world.curator)
    split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason) == (State.FAILED, "superseded")


def test_scoring_has_priority_over_audits_for_a_limited_time(world: World) -> None:
    assert split_audits.WORK in jobs.SWEEPS  # whose import tells each kind of work which others share its queue
    audit, run = queued_audit(world), world.insert_run()
    assert split_audits.WORK.take(audit.pk)
    assert (after(run).state, after(audit).state) == (State.DONE, State.QUEUED)
    SplitAudit.objects.update(queued_at=timezone.now() - timedelta(minutes=11))
    run = world.insert_run()
    assert split_audits.WORK.take(audit.pk)
    assert (after(run).state, after(audit).state) == (State.QUEUED, State.DONE)
