"""The organisers' overview: what waits for them, counts, and all submissions and scores as CSV."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.benchmarks.queries import management
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    NearDuplicate,
    Phase,
    Registration,
    Release,
    Run,
    Split,
    State,
    Submission,
    System,
)
from tests.support.rows import audited_splits, corrected_gold
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared
from tests.support.rows.tiny_world import DRAFT, World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
DESK = "/manage/benchmarks/tiny/"

world, _django_db_helper = shared(build)


@pytest.fixture
def curator(world: World) -> Client:
    client = Client()
    client.force_login(world.curator)
    return client


def table(client: Client, name: str) -> list[dict[str, str]]:
    response: Any = client.get(f"{DESK}{name}.csv")
    assert response["Content-Disposition"] == f'attachment; filename="tiny-{name}.csv"'
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def test_what_waits_is_at_the_top_with_its_address(curator: Client, world: World) -> None:
    assert "Waiting for you" not in curator.get(DESK).content.decode()
    at = timezone.now()
    Registration.objects.create(benchmark=world.benchmark, team=world.system.team, requested_at=at)
    failed = world.insert_run(state=State.FAILED, finished_at=at).prediction.submission
    pair = (world.insert_run().prediction, world.insert_run().prediction)
    shares = {"equal": 1.0, "shared_errors": 1.0, "n_units": 4, "n_errors": 2, "detected_at": at}
    NearDuplicate.objects.create(phase=world.phase, a=pair[0], b=pair[1], **shares)
    correction = corrected_gold.waiting(world)
    audit = audited_splits.done(world.gold)
    Split.objects.filter(pk=world.split.pk).update(**DRAFT)
    page = curator.get(DESK).content.decode()
    assert read(page).faults == []
    addresses = [item.url for item in management.waiting_for_organisers(world.benchmark)]
    assert addresses == [
        f"{DESK}participants/",
        failed.get_absolute_url(),
        f"{DESK}near-duplicates/",
        f"{DESK}splits/test/corrections/{correction.pk}/",
        f"{DESK}splits/test/audits/{audit.pk}/",
    ]
    assert page.index("Waiting for you") < min(
        page.index(f'href="{address}"', page.index("Waiting")) for address in addresses
    )
    assert page.index("Waiting for you") < page.index("<h2>Phases</h2>")
    # The list of benchmarks counts the same, also with one of which nothing waits.
    other = Benchmark.objects.create(
        slug="o", title="Other", task=world.benchmark.task, dataset=world.benchmark.dataset
    )
    assert management.n_waiting([world.benchmark, other]) == {world.benchmark.pk: 5, other.pk: 2}
    listed = curator.get("/manage/").content.decode()
    assert read(listed).faults == []
    assert f'{DESK}#waiting">5<' in listed
    for rows, decided in (
        (Registration.objects.all(), {"state": Registration.State.APPROVED, "decided_at": timezone.now()}),
        (
            NearDuplicate.objects.all(),
            {"dismissed_at": timezone.now(), "dismissed_by": world.curator, "reason": "Same authors."},
        ),
    ):
        before = management.n_waiting([world.benchmark])[world.benchmark.pk]
        assert rows.update(**decided) == 1
        assert management.n_waiting([world.benchmark])[world.benchmark.pk] == before - 1


def test_counts_of_activity(world: World) -> None:
    now = timezone.now()
    assert management.activity_of(world.benchmark).submissions == 0
    for days in (0, 3, 30):
        world.insert_run(at=now - timedelta(days=days))
    again = world.insert_run(state=State.FAILED, finished_at=now)
    counts = management.activity_of(world.benchmark)
    assert (counts.teams, counts.submissions, counts.last_week, counts.failed) == (1, 4, 3, 1)
    assert counts.last == Submission.objects.latest("received_at").received_at
    # It was scored again: only the latest run counts.
    fields = {"gold_version": world.gold, "task_version": 2, "state": State.QUEUED}
    later = now + timedelta(seconds=1)
    Run.objects.create(prediction=again.prediction, queued_at=later, enqueued_at=later, **fields)
    assert management.activity_of(world.benchmark).failed == 0


def test_all_submissions_and_scores(curator: Client, world: World) -> None:
    stand(world, "Early", [score("accuracy", 0.5), score("accuracy", 0.25, origin="original")])
    waiting = world.insert_run().prediction.submission
    Submission.objects.filter(pk=waiting.pk).update(note="=1+1")
    System.objects.filter(pk=waiting.system_id).update(name="@SUM(A1)")
    rows = {row["system"]: row for row in table(curator, "submissions")}
    assert set(rows) == {"Early", "'@SUM(A1)"}
    scored, queued = rows["Early"], rows["'@SUM(A1)"]
    assert (scored["state"], scored["measure"], float(scored["value"])) == ("done", "accuracy", 0.5)
    assert (queued["note"], queued["state"], queued["value"]) == ("'=1+1", "queued", "")
    scores = table(curator, "scores")
    assert [(row["slice"], float(row["value"])) for row in scores] == [("", 0.5), ("origin=original", 0.25)]
    details = AuditEntry.objects.filter(action="submissions.downloaded").order_by("pk").values_list("detail", flat=True)
    assert list(details) == [{"file": "submissions"}, {"file": "scores"}]


def test_scores_that_a_phase_holds_back_are_not_in_them(curator: Client, world: World) -> None:
    run = stand(world, "Early", [score("accuracy", 0.5)]).run
    # Ladders rank releases in sequence: until then the result is shown to nobody, organisers included.
    Phase.objects.filter(pk=world.phase.pk).update(ranked_sequence=0)
    assert table(curator, "scores") == [] and table(curator, "submissions")[0]["value"] == ""
    Phase.objects.filter(pk=world.phase.pk).update(ranked_sequence=99)
    assert len(table(curator, "scores")) == 1
    Release.objects.filter(run=run)._raw_delete("default")
    assert table(curator, "scores") == [] and table(curator, "submissions")[0]["value"] == ""
