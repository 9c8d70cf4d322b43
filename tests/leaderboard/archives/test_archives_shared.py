"""Archives of two benchmarks with a system in common: each contains the decisions of its benchmark and no others."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from leaderboard.archives.actions import tables
from leaderboard.models import AuditEntry, Benchmark, Dataset, Phase, Submission, System, Team, User
from leaderboard.scoring.actions import board_histories
from leaderboard.systems.actions import systems
from tests.support.rows.many_groups import a_phase, a_split, answers, labels_of, score_all, send
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(40)
REASONS = {"tiny": "it was trained on the test", "second": "its team wrote the gold"}


@pytest.fixture
def two_benchmarks() -> Iterator[World]:
    """One system in two benchmarks, disqualified in both for two reasons; the second reinstated it once in between."""
    world = build()
    dataset = Dataset.objects.create(slug="second", title="Second", task=world.benchmark.task)
    fields = {"slug": "second", "title": "Second", "summary": "Forty.", "task": world.benchmark.task, "state": "public"}
    second = Benchmark.objects.create(dataset=dataset, **fields)
    phases = {}
    for benchmark in (world.benchmark, second):
        world.split.dataset = benchmark.dataset  # for this object only: `a_split` reads it
        benchmark_world = replace(world, benchmark=benchmark)
        phases[benchmark.slug] = a_phase(benchmark_world, a_split(benchmark_world, LABELS), disclosure="full")
        submissions = [send(benchmark_world, phases[benchmark.slug], answers(LABELS, wrong)) for wrong in (9, 3)]
    score_all()
    systems.represent(submission=submissions[0], by=world.researcher)
    for slug in ("second", "tiny", "second"):
        target: dict[str, Any] = {"phase": phases[slug], "system": world.system, "by": world.curator}
        if slug == "second" and AuditEntry.objects.filter(action="system.disqualified").exists():
            systems.reinstate(**target)
        systems.disqualify(**target, reason=REASONS[slug])
    systems.describe(system=world.system, by=world.researcher, bibtex="", anonymous_until=None)
    yield world


@pytest.fixture
def archives(two_benchmarks: World, tmp_path: Path) -> dict[str, Path]:
    key = tmp_path / "key.txt"
    call_command("archive_key", key, stdout=StringIO())
    public = key.read_text().splitlines()[0].removeprefix("# public key: ")
    paths = {slug: tmp_path / f"{slug}.zip" for slug in REASONS}
    for slug, path in paths.items():
        call_command("export_benchmark", slug, path, "--to", public, stdout=StringIO())
    return paths


def wiped_site() -> None:
    """Another site, whose own rows have the numbers of phases, systems and submissions."""
    call_command("flush", interactive=False, verbosity=0)
    shutil.rmtree(settings.DATA / "files", ignore_errors=True)
    build()
    Benchmark.objects.update(slug="other")
    Dataset.objects.update(slug="other")
    Team.objects.update(name="Others")
    User.objects.filter(username="ada").update(username="bob", email="bob@holdout.example")
    for number in range(3):
        first = Phase.objects.filter(benchmark__slug="other").order_by("pk")[0]
        Phase.objects.create(benchmark=first.benchmark, slug=f"more-{number}", title="More", split=first.split)


def import_archive(archive: Path) -> None:
    call_command("import_archive", archive, "--key", archive.parent / "key.txt", stdout=StringIO())


def as_of_today(slug: str) -> bytes:
    board_histories.sweep()
    day = timezone.now().date().isoformat()
    answer = Client().get(f"/api/v1/benchmarks/{slug}/phases/many/leaderboard/", {"as_of": day})
    assert answer.status_code == 200
    return answer.content


def decisions(slug: str) -> list[tuple[Any, ...]]:
    """Decisions about systems in a benchmark, in order, without row numbers."""
    within = tables.decided_in(Benchmark.objects.get(slug=slug))
    entries = (
        AuditEntry.objects.filter(action__startswith="system.").order_by("at").values_list("action", "at", "detail")
    )
    return [
        (action, at, detail.get("reason")) for action, at, detail in entries if tables.is_decided_in(detail, within)
    ]


@pytest.mark.parametrize("order", [("tiny", "second"), ("second", "tiny")])
def test_two_benchmarks_with_a_disqualified_system_are_restored_unchanged(
    two_benchmarks: World, archives: dict[str, Path], order: tuple[str, str]
) -> None:
    before = {slug: (as_of_today(slug), decisions(slug)) for slug in order}
    assert all(REASONS[slug].encode() in board for slug, (board, _) in before.items())
    assert [len(acts) for _, acts in (before["tiny"], before["second"])] == [1, 4]
    wiped_site()
    for slug in order:
        import_archive(archives[slug])
    assert {slug: (as_of_today(slug), decisions(slug)) for slug in order} == before
    assert System.objects.filter(name="Bernoulli", team__name="Analytical Engines").count() == 1


def test_an_archive_does_not_contain_reasons_from_another_benchmark(
    two_benchmarks: World, archives: dict[str, Path]
) -> None:
    wiped_site()
    import_archive(archives["tiny"])
    entries = [act for act in AuditEntry.objects.filter(subject__startswith="system:") if act.detail]
    assert {act.detail.get("reason") for act in entries} == {REASONS["tiny"]}
    assert not AuditEntry.objects.filter(action="system.described").exists(), "the team's own action"
    assert Submission.objects.filter(phase__benchmark__slug="tiny").exists()
