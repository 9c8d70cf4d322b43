"""Decisions of a team and of a phase's organisers about a system."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import board_of, board_state, by_primary
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Leaderboard, Membership, Phase, Representative, Standing, System
from leaderboard.systems.actions import systems
from leaderboard.systems.web import edit
from tests.support.api_calls import person
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db


world, _django_db_helper = shared_states(world=build)


def of(release) -> System:
    return release.submission.system


def test_a_membership_that_ends_meanwhile_is_no_error_of_the_server(world, monkeypatch):
    chosen = stand(world, "Bernoulli", accuracy(0.4))
    systems.represent(submission=chosen.submission, by=world.researcher)
    find = edit.own_or_404

    def found_before(*args):
        system = find(*args)
        Membership.objects.filter(user=world.researcher).delete()
        return system

    monkeypatch.setattr(edit, "own_or_404", found_before)
    client = Client()
    client.force_login(world.researcher)
    response = client.post(reverse("represent_system_by_best", args=["tiny", "test", of(chosen).pk]))
    assert response.status_code == 302
    assert Representative.objects.exists()


def rows(world: World, viewer=None):
    return by_primary(board_of(Phase.objects.select_related("benchmark", "split").get(), viewer=viewer))


def accuracy(value: float | None):
    return [score("accuracy", value)]


def test_the_best_represents_a_system_until_its_team_chooses_another(world):
    best, worse = (stand(world, "Bernoulli", accuracy(value)) for value in (0.9, 0.4))
    rival = stand(world, "Carnot", accuracy(0.5), team="Others")
    assert [(row.system, row.rank) for row in rows(world)] == [("Bernoulli", 1), ("Carnot", 2)]
    systems.represent(submission=worse.submission, by=world.researcher)
    assert [(row.system, row.rank, row.submission_id) for row in rows(world)] == [
        ("Carnot", 1, rival.submission_id),
        ("Bernoulli", 2, worse.submission_id),
    ]
    later = stand(world, "Bernoulli", accuracy(1.0))
    assert rows(world)[1].submission_id == worse.submission_id, "a choice holds when a better one comes"
    systems.represent_by_best(phase=world.phase, system=of(best), by=world.researcher)
    assert rows(world)[0].submission_id == later.submission_id
    acts = AuditEntry.objects.filter(action="system.represented").order_by("pk")
    assert [act.detail["submission"] for act in acts] == [str(worse.submission_id), None]


def test_a_chosen_submission_without_a_value_takes_the_rank_away(world):
    """As when a board is scored again: the chosen submission is released on it after the others."""
    stand(world, "Bernoulli", accuracy(0.9))
    stand(world, "Carnot", accuracy(0.5), team="Others")
    chosen = stand(world, "Bernoulli", accuracy(None))
    made = {"chosen_by": world.researcher, "chosen_at": timezone.now()}
    Representative.objects.create(phase=world.phase, system=of(chosen), submission=chosen.submission, **made)
    Standing.objects.update(rank_low=1, rank_high=2)
    boards.update_standings(Leaderboard.objects.get(), [chosen])
    boards.rank(Leaderboard.objects.get())
    standing = Standing.objects.get(system=of(chosen))
    assert (standing.release_id, standing.value) == (chosen.pk, None)
    assert (standing.rank, standing.rank_low, standing.rank_high) == (None, None, None)
    assert [(row.system, row.rank) for row in rows(world)] == [("Carnot", 1), ("Bernoulli", None)]


def test_only_the_team_chooses_and_not_on_a_ladder(world):
    release = stand(world, "Bernoulli", accuracy(0.9))
    with pytest.raises(Refused) as refused:
        systems.represent(submission=release.submission, by=person("bob"))
    assert refused.value.code is Code.NOT_A_MEMBER
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
    with pytest.raises(Refused) as refused:
        systems.represent(submission=release.submission, by=world.researcher)
    assert refused.value.code is Code.NOT_POSSIBLE


def test_a_disqualified_system_keeps_its_row_and_loses_its_rank(world):
    first = stand(world, "Bernoulli", accuracy(0.9))
    stand(world, "Carnot", accuracy(0.5), team="Others")
    systems.disqualify(phase=world.phase, system=of(first), reason="trained on\nthe test set", by=world.curator)
    assert [(row.system, row.rank, row.disqualified) for row in rows(world)] == [
        ("Carnot", 1, ""),
        ("Bernoulli", None, "trained on the test set"),
    ]
    assert not rows(world)[1].competes
    stand(world, "Bernoulli", accuracy(1.0))
    assert rows(world)[1].rank is None, "a further submission does not bring it back"
    systems.reinstate(phase=world.phase, system=of(first), by=world.curator)
    assert [(row.system, row.rank) for row in rows(world)] == [("Bernoulli", 1), ("Carnot", 2)]
    assert set(AuditEntry.objects.values_list("action", flat=True)) >= {"system.disqualified", "system.reinstated"}


def test_a_disqualified_system_is_disqualified_on_the_next_board(world):
    first = stand(world, "Bernoulli", accuracy(0.9))
    systems.disqualify(phase=world.phase, system=of(first), reason="two accounts", by=world.curator)
    Standing.objects.all().delete()
    boards.update_standings(Leaderboard.objects.get(), [first])
    boards.rank(Leaderboard.objects.get())
    standing = Standing.objects.get()
    assert (standing.disqualified, standing.rank) == ("two accounts", None)


def test_a_frozen_board_is_unchanged(world):
    first = stand(world, "Bernoulli", accuracy(0.9))
    Leaderboard.objects.update(state=Leaderboard.State.FROZEN)
    before = list(Standing.objects.values())
    systems.disqualify(phase=world.phase, system=of(first), reason="two accounts", by=world.curator)
    assert list(Standing.objects.values()) == before


def test_scores_revealed_to_a_disqualified_system_on_a_ladder_stay_revealed(world):
    first = stand(world, "Bernoulli", accuracy(0.9))
    systems.disqualify(phase=world.phase, system=of(first), reason="two accounts", by=world.curator)
    assert board_state.best_shown(Leaderboard.objects.get(), "accuracy", team=world.system.team_id) == 0.9


@pytest.mark.parametrize("reason", ["", " \n ", "x" * 301])
def test_a_disqualification_needs_a_displayable_reason(world, reason):
    first = stand(world, "Bernoulli", accuracy(0.9))
    with pytest.raises(Refused):
        systems.disqualify(phase=world.phase, system=of(first), reason=reason, by=world.curator)
    assert rows(world)[0].rank == 1


def test_only_organisers_disqualify(world):
    first = stand(world, "Bernoulli", accuracy(0.9))
    with pytest.raises(Refused) as refused:
        systems.disqualify(phase=world.phase, system=of(first), reason="envy", by=world.researcher)
    assert refused.value.code is Code.NOT_AN_ORGANISER


def anonymous(world: World, release, **more) -> System:
    description = {
        "description": "steam",
        "paper_url": "https://papers.example/a",
        "code_url": "",
        "bibtex": "@misc{a}",
    }
    until = timezone.now() + timedelta(days=1)
    fields = {"system": of(release), "by": world.researcher, "anonymous_until": until, **description, **more}
    return systems.describe(**fields)


def test_only_its_team_and_the_organisers_see_the_name_of_an_anonymous_system(world):
    release = stand(world, "Bernoulli", accuracy(0.9))
    system = anonymous(world, release)
    outsider, organiser = person("bob"), person("xena")
    world.benchmark.organisers.add(organiser)
    for viewer in (None, outsider):
        row = rows(world, viewer)[0]
        assert (row.system, row.team) == ("Anonymous 1", "anonymous")
        assert (row.description, row.paper_url, row.code_url) == ("", "", "")
        assert row.anonymous_until == system.anonymous_until
    for viewer in (world.researcher, organiser, world.curator):
        row = rows(world, viewer)[0]
        assert (row.system, row.team, row.description) == ("Bernoulli", "Analytical Engines", "steam")
    other = anonymous(world, stand(world, "Carnot", accuracy(0.5)))
    assert other.anonymous_number == 2


@pytest.mark.parametrize("days", [-1, 0, 1096, 400_000])
def test_anonymity_has_a_future_date_within_the_limit(world, days):
    release = stand(world, "Bernoulli", accuracy(0.9))
    with pytest.raises(Refused) as refused:
        anonymous(world, release, anonymous_until=timezone.now() + timedelta(days=days))
    assert refused.value.code is Code.INVALID_VALUE and "expected a time in the future" in refused.value.message
    assert rows(world)[0].system == "Bernoulli" and of(release).anonymous_number is None


def test_an_unchanged_date_is_not_checked_again(world):
    release = stand(world, "Bernoulli", accuracy(0.9))
    stored_date = timezone.now() - timedelta(days=1)
    System.objects.filter(pk=of(release).pk).update(anonymous_until=stored_date, anonymous_number=7)
    assert anonymous(world, release, anonymous_until=stored_date).anonymous_until == stored_date


def test_the_name_is_shown_from_the_date_on(world):
    system = anonymous(world, stand(world, "Bernoulli", accuracy(0.9)))
    System.objects.filter(pk=system.pk).update(anonymous_until=timezone.now() - timedelta(seconds=1))
    assert rows(world)[0].system == "Bernoulli"
    second_release = anonymous(world, stand(world, "Bernoulli", accuracy(0.9)))
    assert second_release.anonymous_number == system.anonymous_number, "who knew it by its number still does"


def test_a_system_is_described_by_its_team_alone_and_with_links_that_are_links(world):
    release = stand(world, "Bernoulli", accuracy(0.9))
    with pytest.raises(Refused) as refused:
        anonymous(world, release, by=person("bob"))
    assert refused.value.code is Code.NOT_A_MEMBER
    with pytest.raises(Refused) as refused:
        anonymous(world, release, paper_url="javascript:alert(1)")
    assert refused.value.code is Code.INVALID_VALUE
    assert System.objects.get(pk=of(release).pk).anonymous_until is None
