"""The audit of a split as work: queued once, made part by part in the sandbox, resumed, cancelled, given up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from evaluator.jobs.audit import NAMES
from leaderboard.core.refusal import Code
from leaderboard.datasets.actions import audits as split_audits
from leaderboard.datasets.actions import splits
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, Run, Split, SplitAudit, State
from tests.support import audited_splits
from tests.support.gold_uploads import close_all, refusal, uploaded
from tests.support.simultaneous_calls import together
from tests.support.tiny_world import DRAFT, World, build, gold_lines

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def begun(world: World) -> SplitAudit:
    return split_audits.begin(split=world.split, by=world.curator)


def after(audit: SplitAudit) -> SplitAudit:
    audit.refresh_from_db()
    return audit


class Asked:
    """Stands between the worker and the sandbox: keeps which parts were asked for, and may do something before."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, before: Any = None) -> None:
        self.parts: list[str] = []
        self.files: list[set[str]] = []
        ask = sandbox_client.audit_part

        def audit_part(**asked: Any) -> sandbox_client.Answer:
            self.parts.append(asked["part"])
            self.files.append({*asked["files"]})
            if before is not None and (answer := before(len(self.parts))) is not None:
                return answer  # type: ignore[no-any-return]
            return ask(**asked)

        monkeypatch.setattr(sandbox_client, "audit_part", audit_part)


def test_the_sandbox_says_what_the_referee_says_in_process(world: World) -> None:
    audit = begun(world)
    split_audits.WORK.run(audit.pk)
    assert after(audit).state == State.DONE
    # Beside its inputs, which the report made in process does not have: none differ from what the server writes.
    expected = audited_splits.report()
    assert audit.report["findings"] == expected["findings"]
    assert audit.report["sizes"] == expected["sizes"] and audit.report["balance"] == expected["balance"]
    assert audit.parts == []


def test_public_gold_of_the_dataset_is_held_beside_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    told = {"dataset": world.split.dataset, "kind": "train", "by": world.curator}
    train = splits.create_split(name="train", gold_public=True, **told)
    splits.add_gold(split=train, file=uploaded(gold_lines(), "gold.jsonl"), reason="first", by=world.curator)
    hidden = splits.create_split(name="other", gold_public=False, **told)
    changed = gold_lines().replace(b"claim 0", b"claim 7")
    splits.add_gold(split=hidden, file=uploaded(changed, "gold.jsonl"), reason="first", by=world.curator)
    asked = Asked(monkeypatch)
    audit = begun(world)
    assert [gold.split for gold in audit.trains.all()] == [train]
    split_audits.WORK.run(audit.pk)
    assert all(files == {"gold", "inputs", "0"} for files in asked.files)
    errors = [one for one in after(audit).report["findings"] if one["severity"] == "error"]
    assert [(one["code"], one["numbers"]["train"]) for one in errors] == [("leakage-simple", "train.gold.jsonl")]


def test_what_is_under_way_serves_everybody(world: World) -> None:
    first = begun(world)
    assert begun(world).pk == first.pk
    assert SplitAudit.objects.count() == 1
    assert AuditEntry.objects.filter(action="audit.begun").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_who_ask_at_once_get_one(world: World) -> None:
    got = together([lambda: begun(world).pk] * 4)
    assert len({*got}) == 1
    assert SplitAudit.objects.count() == 1


def test_a_stranger_and_an_empty_split_get_none(world: World) -> None:
    refused = refusal(split_audits.begin, split=world.split, by=world.researcher)
    assert refused.code is Code.NOT_AN_ORGANISER
    blank = splits.create_split(
        dataset=world.split.dataset, name="blank", kind="test", gold_public=False, by=world.curator
    )
    assert refusal(split_audits.begin, split=blank, by=world.curator).code is Code.NOT_READY


def test_each_part_is_kept_and_who_takes_over_goes_on(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(n: int) -> None:
        if n == 4:
            raise sandbox_client.SandboxError("gone")

    audit = begun(world)
    asked = Asked(monkeypatch, dies)
    split_audits.WORK.run(audit.pk)
    assert after(audit).state == State.QUEUED and len(audit.parts) == 3
    split_audits.WORK.run(audit.pk)
    assert asked.parts == [*NAMES[:4], *NAMES[3:]]
    assert (after(audit).state, audit.attempt) == (State.DONE, 2)
    assert audit.report == {**audited_splits.report(), "not_looked_at": audit.report["not_looked_at"]}


def test_parts_of_another_release_are_told_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = begun(world)
    SplitAudit.objects.update(parts=[{"keys": {"sizes": []}, "findings": []}], code_sha256="0" * 64)
    asked = Asked(monkeypatch)
    split_audits.WORK.run(audit.pk)
    split_audits.WORK.run(audit.pk)
    assert asked.parts == [NAMES[1], *NAMES]
    assert after(audit).report["sizes"] == audited_splits.report()["sizes"]


def test_it_is_given_up_after_some_attempts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(n: int) -> None:
        raise sandbox_client.SandboxError("gone")

    Asked(monkeypatch, dies)
    audit = begun(world)
    for _ in range(settings.MAX_ATTEMPTS + 1):
        split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason, audit.attempt) == (State.FAILED, "sandbox", settings.MAX_ATTEMPTS)
    assert begun(world).pk != audit.pk


SAID = {"code": "x", "found": "x", "means": "x", "do": "x", "where": {}, "numbers": {}}


@pytest.mark.parametrize(
    "told",
    [
        None,
        {"keys": {}},
        {"keys": {}, "findings": [{"severity": "error"}]},
        {"keys": {}, "findings": [SAID | {"severity": "grave"}]},
    ],
)
def test_no_report_but_a_sound_one_is_kept(world: World, monkeypatch: pytest.MonkeyPatch, told: Any) -> None:
    answer = sandbox_client.Answer("", {"ok": True, "told": told}, b"", 0.0, 0.0, {}, sandbox_client.sources.SHA256)
    Asked(monkeypatch, lambda n: answer)
    audit = begun(world)
    split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason, audit.report) == (State.FAILED, "bad_report", {})


def test_a_limit_that_is_reached_ends_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    Asked(monkeypatch, lambda n: sandbox_client.Answer("memory", {}, b"", 0.0, 0.0, {}))
    audit = begun(world)
    split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason) == (State.FAILED, "memory")


def test_a_cancelled_one_is_not_heard_any_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    audit = begun(world)

    def cancels(n: int) -> None:
        if n == 2:
            split_audits.cancel(audit=audit, by=world.curator)

    asked = Asked(monkeypatch, cancels)
    split_audits.WORK.run(audit.pk)
    assert asked.parts == [*NAMES[:2]]
    assert (after(audit).state, audit.report) == (State.CANCELLED, {})
    assert refusal(split_audits.cancel, audit=audit, by=world.curator).code is Code.NOT_CANCELLABLE
    split_audits.WORK.run(audit.pk)
    assert after(audit).state == State.CANCELLED


def test_gold_that_was_altered_where_it_lies_is_not_audited(world: World) -> None:
    audit = begun(world)
    with Path(world.gold.file.path).open("ab") as stored:
        stored.write(b" ")
    split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason) == (State.FAILED, "storage")


def test_inputs_that_were_replaced_while_it_waited_end_it(world: World) -> None:
    Split.objects.update(**DRAFT)
    audit = begun(world)
    other = gold_lines().replace(b"claim 0", b"claim 7")
    splits.add_gold(split=world.split, file=uploaded(other, "gold.jsonl"), reason="new", by=world.curator)
    split_audits.WORK.run(audit.pk)
    assert (after(audit).state, audit.reason) == (State.FAILED, "superseded")


def test_who_waits_for_a_score_goes_first_but_not_for_ever(world: World) -> None:
    audit = begun(world)
    world.insert_run()
    assert Run.objects.get().state == State.QUEUED
    split_audits.WORK.run(audit.pk)
    assert after(audit).state == State.QUEUED
    SplitAudit.objects.update(queued_at=timezone.now() - timedelta(minutes=11))
    split_audits.WORK.run(audit.pk)
    assert after(audit).state == State.DONE
