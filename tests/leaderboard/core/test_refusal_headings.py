"""The heading of a refusal says which action was refused, on each page."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from leaderboard.core.refusal import Code
from leaderboard.core.web.refusals import HEADLINES
from leaderboard.models import Benchmark, Correction, Generation, GoldVersion, Phase, Split, State
from tests.conftest import ROOT
from tests.leaderboard.benchmarks.test_manage_pages import client_of
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.rows import audited_splits
from tests.support.rows.gold_uploads import close_all
from tests.support.rows.tiny_world import DRAFT, World, build

pytestmark = pytest.mark.django_db
DESK = "/manage/benchmarks/tiny/"
LIFE = f"{DESK}splits/test/"


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


@dataclass(frozen=True)
class Case:
    """An action, the situation in which it is requested, and the heading of the answer."""

    name: str
    prepare: Callable[[World], object]
    address: str
    heading: str


def a_draft(world: World) -> None:
    Split.objects.update(**DRAFT)
    Benchmark.objects.update(state="draft")


def without_a_phase(world: World) -> None:
    Phase.objects.all().delete()
    Benchmark.objects.update(state="draft")


def a_running_preview(world: World) -> None:
    at, options = timezone.now(), {"generator": "claims", "version": 1, "seed": 1, "salt": "s"}
    Generation.objects.create(pk=7, dataset=world.split.dataset, queued_at=at, enqueued_at=at, **options)


def without_gold(world: World) -> None:
    GoldVersion.objects.all().delete()


def a_dropped_correction(world: World) -> None:
    at = timezone.now()
    finished = {"state": State.DONE, "queued_at": at, "enqueued_at": at, "finished_at": at, "expires_at": at}
    fields = {"decision": "dropped", "decided_by": world.curator, "decided_at": at, "bytes": 1, **finished}
    Correction.objects.create(pk=7, split=world.split, base=world.gold, **fields)


def nothing_else(world: World) -> None:
    return None


CASES = [
    Case("gold not audited", a_draft, f"{LIFE}publish/", "The split was not published"),
    Case("split published already", nothing_else, f"{LIFE}publish/", "The split is not a draft"),
    Case("benchmark without a phase", without_a_phase, f"{DESK}publish/", "The benchmark was not published"),
    Case("phase on a draft split", a_draft, f"{DESK}publish/", "The benchmark was not published"),
    Case("preview under way", a_running_preview, f"{DESK}new-split/previews/7/forget/", "The preview was not deleted"),
    Case("audit without gold", without_gold, f"{LIFE}audits/begin/", "There is no gold yet"),
    Case("correction dropped", a_dropped_correction, f"{LIFE}corrections/7/drop/", "The correction was not dropped"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_heading_names_the_refused_action(case: Case) -> None:
    world = build()
    case.prepare(world)
    answer = client_of(world.curator).post(case.address)
    assert (answer.status_code, answer.context["refusal"].headline) == (409, case.heading)
    assert f">{case.heading}</h2>" in answer.content.decode()


def test_unanswered_warnings_block_an_audit() -> None:
    world = build()
    audit = audited_splits.done(world.gold)
    answer = client_of(world.curator).post(f"{LIFE}audits/{audit.pk}/show/")
    assert (answer.status_code, answer.context["refusal"].headline) == (409, "The audit was not made public")


def test_a_phase_without_data_is_not_ready() -> None:
    world = build()
    without_gold(world)
    file = SimpleUploadedFile("predictions.jsonl", b"{}\n")
    data = {"system": world.system.pk, "file": file}
    assert "This phase is not ready" in text(client_of(world.researcher).post("/benchmarks/tiny/test/submit/", data))


def test_a_team_with_submissions_is_not_deleted() -> None:
    world = build()
    world.insert_run()
    answer = client_of(world.researcher).post(f"/me/teams/{world.system.team_id}/delete/")
    assert (answer.status_code, answer.context["refusal"].headline) == (409, "The team was not deleted")


def test_only_a_phase_uses_the_default_heading() -> None:
    """Every other refusal with that code has its own heading."""
    silent = {
        file.name
        for file in (ROOT / "leaderboard").glob("*/actions/**/*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node).startswith("Refused(Code.NOT_ACCEPTED")
        if not any(keyword.arg == "heading" for keyword in node.keywords)
    }
    assert silent == {"submit.py", "images.py"}


def test_without_a_heading_no_phase_is_mentioned() -> None:
    general = (Code.NOT_READY, Code.NOT_POSSIBLE, Code.CHANGED_MEANWHILE, Code.IN_USE, Code.ALREADY_EXISTS)
    assert not any("phase" in HEADLINES[code] for code in (*general, Code.LIMIT_REACHED))
