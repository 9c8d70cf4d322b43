"""Leakage budget of a phase: what its answers showed, in bits, for each policy, and the page in plain words."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluator.disclosure import bits
from leaderboard.accounts.actions import teams
from leaderboard.models import Phase, Split, Submission, System, User
from leaderboard.scoring.actions import sealed_phases
from leaderboard.scoring.queries.leakage_budget import FORECAST_ANSWERS, Budget, budget_of
from tests.support.rows import many_groups
from tests.support.rows.many_groups import a_split, answers, labels_of, score_all, send, soon
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(100)


@pytest.fixture
def world() -> World:
    return build()


def a_phase(
    world: World,
    split: Split,
    *,
    exact_scores: bool = False,
    least_groups: int = 25,
    detailed_answers: int | None = 10,
    **changes: Any,
) -> Phase:
    phase = many_groups.a_phase(world, split, **changes)
    Phase.objects.filter(pk=phase.pk).update(
        exact_scores=exact_scores, least_groups=least_groups, detailed_answers=detailed_answers
    )
    return Phase.objects.select_related("split", "benchmark").get(pk=phase.pk)


def sent(world: World, phase: Phase, *n_wrong: int) -> Budget:
    """Send a file with each number of errors, score all, and return the phase's budget."""
    for number in n_wrong:
        send(world, phase, answers(LABELS, number))
    score_all()
    return budget_of(Phase.objects.select_related("split", "benchmark").get(pk=phase.pk))


def page(world: World, phase: Phase, client: Client) -> str:
    client.force_login(world.curator)
    address = reverse("manage_leakage_budget", args=[phase.benchmark.slug, phase.slug])
    return " ".join(client.get(address).content.decode().split())


def test_before_any_answer_nothing_was_shown(world: World, client: Client) -> None:
    phase = a_phase(world, a_split(world, LABELS))
    budget = budget_of(phase)
    assert (budget.bits, budget.gained, budget.answers, budget.learnt.known) == (0, 0, [], 0)
    assert "Nothing has been shown yet." in page(world, phase, client)


def test_a_ladder_costs_what_it_showed(world: World) -> None:
    phase = a_phase(world, a_split(world, LABELS))
    first = sent(world, phase, 60)
    unchanged = sent(world, phase, 61, 62, 60)
    improved = sent(world, phase, 20)
    assert [answer.has_scores for answer in improved.answers] == [True, False, False, False, True]
    assert first.bits > improved.bits - unchanged.bits > unchanged.bits - first.bits > 0
    assert {"which", "overall", "slices", "units"} == set(improved.by_kind)
    assert improved.gained == bits.most_gained(improved.bits, 100) < 1
    assert sum(answer.bits for answer in improved.answers) == pytest.approx(improved.bits)
    assert improved.over_time[-1] == pytest.approx(improved.gained)
    assert list(improved.over_time) == sorted(improved.over_time) and improved.over_time[0] == 0


def test_where_all_scores_are_shown_answers_cost_alike_until_details_end(world: World) -> None:
    split = a_split(world, LABELS)
    phase = a_phase(world, split, disclosure="full", scope="team", detailed_answers=2)
    budget = sent(world, phase, 60, 50, 40, 30)
    detailed, again, later, last = (answer.bits for answer in budget.answers)
    assert detailed == again > later == last > 0
    assert [answer.detailed for answer in budget.answers] == [True, True, False, False]
    assert not budget.is_useful
    (team,) = budget.teams
    assert (team.answers, team.detailed, team.with_scores) == (4, 2, 4)
    assert budget.forecast_bits > 2 * detailed + (FORECAST_ANSWERS - 2) * later


def test_the_forecast_of_a_phase_without_details_has_none(world: World) -> None:
    split = a_split(world, LABELS)
    briefly = sent(world, a_phase(world, split, slug="brief", disclosure="full", detailed_answers=0), 50)
    in_detail = sent(world, a_phase(world, split, slug="long", disclosure="full", detailed_answers=None), 50)
    assert 0 < briefly.forecast_bits < in_detail.forecast_bits / 2


def test_each_team_has_its_own_details(world: World) -> None:
    phase = a_phase(world, a_split(world, LABELS), disclosure="full", detailed_answers=1)
    sent(world, phase, 60, 50)
    person = User.objects.create_user("bea", "bea@holdout.example", "correct horse")
    system = System.objects.create(team=teams.create(name="Others", by=person), name="Another")
    world.submit(answers(LABELS, 40), phase=phase, system=system, by=person)
    score_all()
    assert [answer.detailed for answer in budget_of(phase).answers] == [True, False, True]
    assert [row.answers for row in budget_of(phase).teams] == [2, 1]


def test_exact_scores_cost_more_than_rounded_ones(world: World, client: Client) -> None:
    split = a_split(world, LABELS)
    rounded = sent(world, a_phase(world, split, slug="rounded", disclosure="full"), 30)
    phase = a_phase(world, split, slug="exact", disclosure="full", exact_scores=True, least_groups=1)
    exact = sent(world, phase, 30)
    assert exact.own_bits > 3 * rounded.own_bits
    assert "This phase shows exact scores." in page(world, phase, client)


def test_phases_on_the_same_groups_are_added(world: World, client: Client) -> None:
    split = a_split(world, LABELS)
    phase, other = (a_phase(world, split, slug=slug) for slug in ("one", "two"))
    alone = sent(world, phase, 60)
    sent(world, other, 60)
    together = budget_of(phase)
    assert together.own_bits == alone.bits
    assert together.bits == pytest.approx(2 * alone.bits)
    assert dict(together.lines)["other phases on the same groups"] == pytest.approx(alone.bits)
    assert "Other phases on the same groups" in page(world, phase, client)


@pytest.mark.parametrize("disclosure", ["ladder", "sealed"])
def test_a_phase_without_answers_says_first_what_others_have_shown(
    world: World, client: Client, disclosure: str
) -> None:
    split = a_split(world, LABELS)
    dates = {"closes_at": soon(), "sealed_until": soon()} if disclosure == "sealed" else {}
    phase = a_phase(world, split, slug="later", disclosure=disclosure, **dates)
    sent(world, a_phase(world, split, slug="before", disclosure="full"), 60)
    expected = "There is no useful bound: whoever read what other phases on the same groups have shown might know more"
    shown = page(world, phase, client)
    assert f'<p class="lede">{expected}' in shown and "Nothing has been shown" not in shown


@pytest.mark.parametrize("scope", ["task", "team"])
def test_the_page_says_that_the_attacks_share_a_ladder_where_teams_do_not(
    world: World, client: Client, scope: str
) -> None:
    phase = a_phase(world, a_split(world, LABELS), scope=scope, quota_everybody=100)
    sent(world, phase, 60)
    assert ("with one ladder for all teams" in page(world, phase, client)) == (scope == "team")


def test_scores_of_baselines_alone_count(world: World, client: Client) -> None:
    phase = a_phase(world, a_split(world, LABELS))
    System.objects.update(kind=System.Kind.BASELINE)
    assert sent(world, phase, 60).bits > 0
    assert "hoever read the scores of the baselines" in page(world, phase, client)


def test_a_sealed_phase_shows_nothing_until_it_is_opened(world: World, client: Client) -> None:
    split = a_split(world, LABELS)
    phase = a_phase(world, split, disclosure="sealed", closes_at=soon(), sealed_until=soon())
    send(world, phase, answers(LABELS, 30))
    assert budget_of(phase).bits == 0
    assert "this phase shows no scores before it is unsealed" in page(world, phase, client)
    past = timezone.now() - timedelta(hours=1)
    Phase.objects.filter(pk=phase.pk).update(closes_at=past, sealed_until=past)
    sealed_phases.sweep()
    score_all()
    phase = Phase.objects.select_related("split", "benchmark").get(pk=phase.pk)
    budget = budget_of(phase)
    assert budget.bits > 0 and not budget.may_go_on and budget.learnt.answers == 1


def test_public_gold_has_nothing_to_protect(world: World, client: Client) -> None:
    split = a_split(world, LABELS)
    phase = a_phase(world, split, disclosure="full")
    sent(world, phase, 30)
    Split.objects.filter(pk=split.pk).update(gold_public=True, inputs_public=True)
    shown = page(world, phase, client)
    assert "There is nothing to protect" in shown and "Bound" not in shown


def test_the_page_says_first_what_may_be_known(world: World, client: Client) -> None:
    labels = labels_of(2000)
    phase = a_phase(world, a_split(world, labels), least_groups=1000)
    for wrong in (1000, 1000, 1000):
        send(world, phase, answers(labels, wrong))
    score_all()
    budget = budget_of(phase)
    assert budget.is_useful
    expected = (
        f"Whoever sent all 3 submissions so far can know the labels of at most {budget.n_labels} of the 2,000 groups"
    )
    shown = page(world, phase, client)
    assert expected in shown and shown.index(expected) < shown.index("<dl")
    full = a_phase(world, phase.split, slug="full", disclosure="full", scope="team", least_groups=1)
    for wrong in range(1000, 1100, 10):
        send(world, full, answers(labels, wrong))
    score_all()
    assert "There is no useful bound: whoever sent all 10 submissions" in page(world, full, client)


def test_the_queries_do_not_grow_with_the_submissions(world: World, django_assert_max_num_queries: Any) -> None:
    phase = a_phase(world, a_split(world, LABELS))
    sent(world, phase, 60, 50)
    with django_assert_max_num_queries(50) as few:
        budget_of(phase)
    sent(world, phase, 40, 30, 20, 10)
    with django_assert_max_num_queries(len(few.captured_queries)):
        budget_of(phase)
    assert Submission.objects.count() == 6
