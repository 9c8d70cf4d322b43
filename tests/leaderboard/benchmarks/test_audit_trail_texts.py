"""Every action in a benchmark's audit trail has a description."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from leaderboard.benchmarks.web.manage_audit_trail import ACTS
from leaderboard.models import AuditEntry
from leaderboard.submissions.actions import refused_uploads
from tests.conftest import ROOT
from tests.leaderboard.benchmarks.test_manage_pages import client_of
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.rows.tiny_world import build

NOT_IN_A_TRAIL = re.compile(
    r"(team|profile|token|user|webhook|curator|final|image|image_upload|raw_upload|submission|archive|records|worker)\."
    r"|system\.(anonymous|created|described|represented)$|dataset\.discarded$"
)
"""Actions on teams and people, actions that never concern a benchmark, and actions whose subject is deleted."""


def recorded_actions() -> Iterator[str]:
    """First argument of each `AuditEntry.record(...)` that is a literal, and the actions of refused uploads."""
    yield from refused_uploads.ACTIONS
    for file in (ROOT / "leaderboard").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "AuditEntry.record":
                first_argument = node.args[0]
                for part in (
                    (first_argument.body, first_argument.orelse)
                    if isinstance(first_argument, ast.IfExp)
                    else (first_argument,)
                ):
                    if isinstance(part, ast.Constant):
                        yield str(part.value)


def test_each_action_has_a_description() -> None:
    actions = set(recorded_actions())
    assert {"draft.reset", "submission.refused", "export.asked", "gold.read", "team.created"} <= actions
    assert sorted(name for name in actions if name not in ACTS and not NOT_IN_A_TRAIL.match(name)) == []


@pytest.mark.django_db
def test_the_page_shows_no_action_codes() -> None:
    world = build()
    for action in ("draft.testers", "draft.reset"):
        AuditEntry.record(action, world.benchmark, by=world.curator)
    AuditEntry.record("baselines.submitted", world.phase, by=world.curator, names=["random"])
    AuditEntry.record("export.downloaded", world.benchmark, by=world.curator)
    page = text(client_of(world.curator).get("/manage/benchmarks/tiny/audit-trail/"))
    for code in ("draft.testers", "draft.reset", "baselines.submitted", "export.downloaded"):
        assert ACTS[code] in page and code not in page


@pytest.mark.django_db
def test_details_are_in_words_and_digests_are_short() -> None:
    world = build()
    AuditEntry.record("split.published", world.split, by=world.curator, unaudited=True, inputs_sha256="ab" * 32)
    AuditEntry.record("phase.created", world.phase, by=world.curator, disclosure="ladder")
    AuditEntry.record("hosting.began", world.split.dataset, by=world.curator, parts={"slug": "cd" * 32})
    page = text(client_of(world.curator).get("/manage/benchmarks/tiny/audit-trail/"))
    assert '<span class="soft">without an audit</span>' in page and "unaudited" not in page
    assert f'<bdi title="{"ab" * 32}">{"ab" * 6}\N{HORIZONTAL ELLIPSIS}</bdi>' in page
    assert '<span class="soft">kind</span> <bdi>Ladder</bdi>' in page
    assert "cdcdcd" not in page
