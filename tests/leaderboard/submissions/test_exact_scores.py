"""Exact scores of hidden gold for those who manage the benchmark: a panel on a submission's page, and a CSV file."""

from __future__ import annotations

import csv
import io

import pytest
from django.test import Client

from leaderboard.models import AuditEntry, Score
from tests.support.rows.many_groups import a_phase, a_split, answers, labels_of, score_all, send
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(100)
FILES = (
    "/manage/benchmarks/tiny/phases/many/exact-scores.csv",
    "/api/v1/benchmarks/tiny/phases/many/exact-scores.csv",
)


@pytest.fixture
def world() -> World:
    return build()


def content_of(answer: object) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[attr-defined]
    return content.decode("utf-8-sig")


@pytest.mark.parametrize("address", FILES)
def test_the_file_has_every_stored_score_with_all_digits(world: World, client: Client, address: str) -> None:
    phase = a_phase(world, a_split(world, LABELS), exact_scores=False, disclosure="full")
    submission = send(world, phase, answers(LABELS, 37))
    score_all()
    client.force_login(world.curator)
    lines = list(csv.DictReader(io.StringIO(content_of(client.get(address)))))
    stored = Score.objects.filter(run__prediction__submission=submission)
    assert {line["submission"] for line in lines} == {str(submission.pk)} and len(lines) == stored.count() == 7
    values = sorted((line["measure"], float(line["value"])) for line in lines if line["value"])
    assert values == sorted(stored.exclude(value=None).values_list("measure", "value"))
    assert AuditEntry.objects.filter(action="submissions.downloaded").exists()


def test_the_panel_has_the_overall_scores_and_only_managers_see_it(world: World, client: Client) -> None:
    phase = a_phase(world, a_split(world, LABELS), exact_scores=False, disclosure="full")
    submission = send(world, phase, answers(LABELS, 37))
    score_all()
    client.force_login(world.curator)
    response = client.get(f"/submissions/{submission.pk}/")
    shown = {score.measure: score.value for score in response.context["exact_scores"]}
    overall = Score.objects.filter(run__prediction__submission=submission, slice_key="")
    assert shown == dict(overall.values_list("measure", "value")) and shown["accuracy"] == 0.63
    assert len(response.context["exact_scores"]) == len(shown)
    client.force_login(world.researcher)
    assert "Exact scores" not in client.get(f"/submissions/{submission.pk}/").content.decode()
