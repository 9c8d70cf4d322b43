"""A person competes for only one team in a phase, whatever teams they join, leave or create."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from leaderboard.accounts.actions import membership, teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Membership, Phase, QuotaCharge, Submission, System, Team, User
from leaderboard.submissions.actions import validation
from leaderboard.submissions.queries.quotas import quota_of
from tests.support.api_calls import client_of, person, send
from tests.support.rows.tiny_world import World, build, prediction_lines
from tests.support.simultaneous_calls import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def world() -> World:
    return build(quota_per_day=2)


def other_system(by: User, team: str = "Second") -> System:
    return teams.system(team=teams.create(name=team, by=by), name="Other", by=by)


def refusal_code(world: World, system: System, by: User) -> Code:
    before = (Submission.objects.count(), QuotaCharge.objects.count())
    with pytest.raises(Refused) as refusal:
        world.submit(system=system, by=by)
    assert (Submission.objects.count(), QuotaCharge.objects.count()) == before
    return refusal.value.code


def test_a_second_team_is_refused_and_costs_nothing(world: World) -> None:
    second = other_system(world.researcher)
    world.submit()
    assert refusal_code(world, second, world.researcher) is Code.OTHER_TEAM
    world.submit()


def test_the_api_returns_the_error_code(world: World) -> None:
    other_system(world.researcher)
    world.submit()
    answer = send(client_of(world.researcher), prediction_lines(), team="Second")
    assert (answer.status_code, answer.json()["code"]) == (409, "other_team")
    assert "Analytical Engines" in answer.json()["message"]


def test_another_phase_accepts_the_other_team(world: World) -> None:
    world.submit()
    phase = Phase.objects.create(benchmark=world.benchmark, slug="final", title="Final", split=world.split)
    world.submit(system=other_system(world.researcher), phase=phase)
    assert Submission.objects.filter(phase=phase).count() == 1


def test_leaving_releases_nobody_and_a_joined_team_has_its_own_quota(world: World) -> None:
    bob = person("bob")
    second = other_system(bob)
    world.submit(system=second, by=bob)
    Membership.objects.create(team=second.team, user=world.researcher)
    assert quota_of(phase=world.phase, team=second.team).left_today == 1
    world.submit()
    Membership.objects.filter(team=world.system.team).update(is_owner=False)
    Membership.objects.create(team=world.system.team, user=bob, is_owner=True)
    membership.leave(team=world.system.team, by=world.researcher)
    assert refusal_code(world, second, world.researcher) is Code.OTHER_TEAM
    with pytest.raises(Refused) as refusal:
        world.submit(system=second, by=world.researcher)
    assert world.system.team.name not in refusal.value.message, (
        "the message reveals nothing about the team to a former member"
    )


def test_a_refund_releases_nobody(world: World) -> None:
    world.submit()
    QuotaCharge.objects.update(refunded_at="2026-01-01T00:00:00Z")
    assert refusal_code(world, other_system(world.researcher), world.researcher) is Code.OTHER_TEAM


def test_baselines_do_not_compete_and_commit_nobody_to_a_team(world: World) -> None:
    baseline = other_system(world.researcher)
    System.objects.filter(pk=baseline.pk).update(kind=System.Kind.BASELINE)
    baseline.refresh_from_db()
    world.submit(system=baseline)
    world.submit()
    world.submit(system=baseline)
    assert Submission.objects.count() == 3


@pytest.mark.django_db(transaction=True)
def test_of_simultaneous_submissions_for_five_teams_one_is_accepted() -> None:
    world = build(quota_per_day=1)
    systems = [other_system(world.researcher, f"Team {number}") for number in range(5)]
    answers = together(
        [lambda system=system: world.in_another_request().submit(system=system).system.team_id for system in systems]
    )
    assert len([answer for answer in answers if answer is Code.OTHER_TEAM]) == 4
    assert (Submission.objects.count(), QuotaCharge.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_a_member_removed_while_the_file_is_checked_cannot_submit(monkeypatch: pytest.MonkeyPatch) -> None:
    world = build()
    check = validation.validate_now

    def removed_meanwhile(**kwargs: object) -> object:
        Membership.objects.filter(user=world.researcher).delete()
        return check(**kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(validation, "validate_now", removed_meanwhile)
    assert refusal_code(world, world.system, world.researcher) is Code.NOT_A_MEMBER


@pytest.mark.parametrize("when", ["before", "during the check"])
@pytest.mark.parametrize("name", ["Bernoulli", "New"])
def test_a_team_deleted_meanwhile_cannot_submit(world: World, name: str, when: str, monkeypatch) -> None:
    system = teams.find_system(team=world.system.team, name=name)
    check = validation.validate_now

    def deleted_meanwhile(**kwargs: Any) -> Any:
        membership.delete(team=world.system.team, by=world.researcher)
        return check(**kwargs)

    if when == "before":
        membership.delete(team=world.system.team, by=world.researcher)
    else:
        monkeypatch.setattr(validation, "validate_now", deleted_meanwhile)
    assert refusal_code(world, system, world.researcher) is Code.NOT_A_MEMBER


def test_the_form_offers_only_the_team_for_which_the_user_competes(world: World) -> None:
    ada, own = world.researcher, world.system
    second = other_system(ada)
    browser, address = Client(), "/benchmarks/tiny/test/submit/"
    browser.force_login(ada)

    def offered() -> tuple[set[System], set[Team]]:
        fields = browser.get(address).context["form"].fields
        return set(fields["system"].queryset), set(fields["team"].queryset)

    assert offered() == ({own, second}, {own.team, second.team})
    world.insert_run()
    assert offered() == ({own}, {own.team})
    Membership.objects.create(team=own.team, user=person("bob"), is_owner=True)
    membership.leave(team=own.team, by=ada)
    page = browser.get(address).content.decode()
    assert "for a team that you have left" in page and 'type="file"' not in page
