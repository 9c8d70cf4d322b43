"""Audits of the demonstration: answered from the manifest and published, or left to the organisers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.core.refusal import Refused
from leaderboard.datasets.actions import audits
from leaderboard.hosting import audit_demonstrations
from leaderboard.models import GoldVersion, SplitAudit, State, User
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
ANSWERS = {"near-duplicates": "The texts are made from templates."}


@pytest.fixture
def world() -> World:
    return build()


def found(monkeypatch: pytest.MonkeyPatch, world: World, *codes: str, state: str = State.DONE) -> list[SplitAudit]:
    """Let each audit end at once with warnings of these codes; return the audits that were begun."""
    begun: list[SplitAudit] = []

    def begin(*, split: Any, by: User) -> SplitAudit:
        rows: Sequence[dict[str, Any]] = [{"severity": "warning", "code": code, "found": "SECRET"} for code in codes]
        counts = {"errors": 0, "warnings": len(rows), "notes": 0}
        gold = GoldVersion.objects.get(split=split)
        at = timezone.now()
        fields = {
            "requested_by": by,
            "queued_at": at,
            "enqueued_at": at,
            "started_at": at,
            "finished_at": at,
            "attempt": 1,
        }
        report = {"findings": rows, "counts": counts, "publishable": True}
        begun.append(SplitAudit.objects.create(gold=gold, state=state, report=report, options={}, **fields))
        return begun[-1]

    monkeypatch.setattr(audits, "begin", begin)
    return begun


def audit(world: World, answers: dict[str, str] = ANSWERS) -> list[str]:
    lines: list[str] = []
    audit_demonstrations.audit(
        benchmark=world.benchmark, answers=answers, by=world.curator, seconds=1, say=lines.append
    )
    return lines


def page(world: World) -> str:
    return Client().get(f"/benchmarks/tiny/splits/{world.split.name}/").content.decode()


def test_the_report_and_its_answers_become_public(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = found(monkeypatch, world, "near-duplicates")
    assert "No audit report." in page(world)
    assert audit(world)[-1].endswith(": audited")
    text = page(world)
    assert "No audit report." not in text and ANSWERS["near-duplicates"] in text
    assert "SECRET" not in text, "findings may quote gold"
    n = len(begun)
    assert audit(world) == [] and len(begun) == n, "it was audited again"


def test_a_finding_without_an_answer_is_left_to_the_organisers(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    found(monkeypatch, world, "near-duplicates", "one-label")
    assert "the audit was not published" in audit(world)[-1]
    assert "No audit report." in page(world)


def test_only_curators_and_organisers_may(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.curator.is_curator = False
    world.curator.save()
    with pytest.raises(Refused):
        audit(world)


def test_a_worker_that_does_not_come_is_not_waited_for(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda *_: None)
    with pytest.raises(TimeoutError, match="no background work has moved for 0 s"):
        audit_demonstrations.audit(benchmark=world.benchmark, answers={}, by=world.curator, seconds=0)
