"""What everybody reads of detailed answers: how many there were, how many are left, and what is shown afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from leaderboard.accounts.actions import teams
from leaderboard.models import Phase, Split, Team, User
from leaderboard.submissions.queries.quotas import Quota, quotas_of, with_details
from tests.support.rows.many_groups import a_phase, a_split, answers, labels_of, score_all, send
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(100)


@pytest.fixture
def world() -> World:
    return build()


def detailed_phase(world: World, detailed_answers: int | None = 2, **changes: Any) -> Phase:
    phase = a_phase(world, a_split(world, LABELS), **changes)
    Phase.objects.filter(pk=phase.pk).update(detailed_answers=detailed_answers)
    return Phase.objects.select_related("split").get(pk=phase.pk)


def quota(phase: Phase, team: Team | None) -> Quota:
    return with_details(quotas_of(phases=[phase], team=team), phases=[phase], team=team)[phase.pk]


def another_team() -> Team:
    return teams.create(name="Others", by=User.objects.create_user("bea", "bea@holdout.example", "correct horse"))


def text(page: Any) -> str:
    return " ".join(page.content.decode().split())


def test_a_team_s_first_submissions_are_detailed(world: World, client: Client) -> None:
    phase = detailed_phase(world, disclosure="full")
    team = world.system.team
    assert (quota(phase, team).n_sent, quota(phase, team).left_detailed) == (0, 2)
    for wrong in (50, 60, 40):
        send(world, phase, answers(LABELS, wrong))
    assert (quota(phase, team).n_sent, quota(phase, team).left_detailed) == (3, 0)
    assert quota(phase, another_team()).left_detailed == quota(phase, None).left_detailed == 2
    client.force_login(world.researcher)
    expected = (
        "The first 2 submissions of each team are shown with slices, all measures and intervals; yours so far: 3. "
        "Later ones show the overall score alone."
    )
    assert expected in text(client.get(f"/benchmarks/tiny/{phase.slug}/submit/"))
    (of_api,) = (row for row in client.get("/api/v1/benchmarks/tiny/").json()["phases"] if row["slug"] == phase.slug)
    assert of_api["quota"]["left_detailed"] == 0
    assert "are shown with slices, all measures and intervals. Later" in text(
        client.get("/benchmarks/tiny/about/rules/")
    )


@pytest.mark.parametrize(("scope", "of_others"), [("task", 1), ("team", 0)])
def test_on_a_ladder_submissions_with_scores_count(world: World, client: Client, scope: str, of_others: int) -> None:
    phase = detailed_phase(world, scope=scope, quota_everybody=1000)
    for wrong in (50, 60, 70):
        send(world, phase, answers(LABELS, wrong))
    score_all()
    assert quota(phase, world.system.team).n_sent == 1, "the other two showed no scores"
    assert quota(phase, another_team()).n_sent == of_others
    client.force_login(world.researcher)
    counted = "so far: 1" if scope == "task" else "yours so far: 1"
    expected = f"submissions that show scores, the first 2 come with slices and all measures; {counted}."
    assert expected in text(client.get(f"/benchmarks/tiny/{phase.slug}/submit/"))


@pytest.mark.parametrize("reason", ["all are", "the gold is public"])
def test_nothing_is_said_where_all_answers_are_detailed(world: World, client: Client, reason: str) -> None:
    phase = detailed_phase(world, None if reason == "all are" else 2, disclosure="full")
    Split.objects.filter(pk=phase.split_id).update(gold_public=reason != "all are")
    phase = Phase.objects.select_related("split").get(pk=phase.pk)
    assert quota(phase, world.system.team).left_detailed is None
    client.force_login(world.researcher)
    assert "Later ones show" not in text(client.get(f"/benchmarks/tiny/{phase.slug}/submit/"))


@pytest.mark.parametrize(
    ("disclosure", "detailed_answers", "expected"),
    [
        ("full", 2, "after its first 2 submissions a team is shown the overall score"),
        ("full", 1, "after its first 1 submission a team is shown the overall score"),
        ("full", 0, "· submissions show the overall score ·"),
        ("ladder", 0, "Submissions show the overall score alone, if it is better by a step."),
    ],
)
def test_a_board_says_it_too_and_why_slices_are_missing(
    world: World, client: Client, disclosure: str, detailed_answers: int, expected: str
) -> None:
    phase = detailed_phase(world, detailed_answers, disclosure=disclosure)
    phase.least_groups, phase.exact_scores = 101, False
    phase.save()
    send(world, phase, answers(LABELS, 50))
    score_all()
    page = text(client.get(f"/benchmarks/tiny/{phase.slug}/"))
    assert expected in page and "first 0" not in page
    assert page.count("the overall score") == 1
    by_kind = text(client.get(f"/benchmarks/tiny/{phase.slug}/by/kind/"))
    assert "are shown while the gold is hidden: slices of few groups are left out" in by_kind
    assert "scorer gives no scores" not in by_kind
