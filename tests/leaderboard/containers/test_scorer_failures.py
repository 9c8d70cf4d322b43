"""A scorer that fails is asked no more after a few times: else whether it fails would be a free answer."""

from __future__ import annotations

import pytest
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import QuotaCharge, Reason, Run, State, Submission
from leaderboard.submissions.actions import failure_limit
from tests.support import custom_scorers
from tests.support.api_calls import person
from tests.support.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def world() -> World:
    world = build(quota_per_day=100)
    custom_scorers.scores_by(world, custom_scorers.row(world))
    return world


def fail(submission: Submission, reason: str = Reason.SCORER) -> None:
    """As scorer_runs ends a run whose scorer failed."""
    now = timezone.now()
    Run.objects.filter(prediction__submission=submission).update(state=State.FAILED, reason=reason, finished_at=now)
    QuotaCharge.objects.filter(submission=submission).update(refunded_at=now)


def refused(world: World, **more: object) -> Refused:
    with pytest.raises(Refused) as caught:
        world.submit(**more)  # type: ignore[arg-type]
    return caught.value


def test_after_three_failures_a_team_waits_for_the_next_scorer(world: World) -> None:
    for _ in range(failure_limit.A_TEAM):
        fail(world.submit())
    before = Submission.objects.count()
    refusal = refused(world)
    assert (refusal.code, "scorer of this phase has failed" in str(refusal)) == (Code.NOT_READY, True)
    assert Submission.objects.count() == before
    custom_scorers.scores_by(world, custom_scorers.row(world, number=2))
    assert Run.objects.get(prediction__submission=world.submit()).scorer == world.phase.scorer


def test_other_teams_and_other_failures_do_not_count(world: World) -> None:
    grace = person("grace")
    other = teams.system(team=teams.create(name="Compilers", by=grace), name="A-0", by=grace)
    for _ in range(failure_limit.A_TEAM - 1):
        fail(world.submit())
    for _ in range(failure_limit.A_TEAM):
        fail(world.submit(system=other, by=grace))
        fail(world.submit(), Reason.ENGINE)
    assert world.submit()
    assert refused(world, system=other, by=grace).code == Code.NOT_READY


def test_many_teams_together_are_bounded(world: World) -> None:
    for number in range(failure_limit.ALL):
        one = person(f"person{number}")
        system = teams.system(team=teams.create(name=f"Team {number}", by=one), name="S", by=one)
        fail(world.submit(system=system, by=one))
    assert refused(world).code == Code.NOT_READY


def test_one_that_was_under_way_meanwhile_is_counted_under_the_lock(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first look is before the sandbox, the second in the transaction."""
    for _ in range(failure_limit.A_TEAM):
        fail(world.submit())
    looks: list[int] = []
    real = failure_limit.check

    def second_only(**asked: object) -> None:
        looks.append(1)
        if len(looks) > 1:
            real(**asked)  # type: ignore[arg-type]

    monkeypatch.setattr(failure_limit, "check", second_only)
    assert refused(world).code == Code.NOT_READY
    assert len(looks) == 2
