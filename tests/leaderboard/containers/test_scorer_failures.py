"""After a few failures of a scorer a team gets no more answers: whether it fails would leak information."""

from __future__ import annotations

import pytest
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import QuotaCharge, Reason, Run, State, Submission
from leaderboard.submissions.actions import failure_limit
from tests.support import custom_scorers
from tests.support.api_calls import person
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def world() -> World:
    world = build(quota_per_day=100)
    custom_scorers.scores_by(world, custom_scorers.row(world))
    return world


def end_as_failed(submission: Submission, reason: str = Reason.SCORER) -> None:
    """Ends a run as scorer_runs does when its scorer failed."""
    at = timezone.now()
    Run.objects.filter(prediction__submission=submission).update(state=State.FAILED, reason=reason, finished_at=at)
    QuotaCharge.objects.filter(submission=submission).update(refunded_at=at)


def refusal_of(world: World, **options: object) -> Refused:
    with pytest.raises(Refused) as refusal:
        world.submit(**options)  # type: ignore[arg-type]
    return refusal.value


def test_after_three_failures_a_team_waits_for_the_next_scorer(world: World) -> None:
    for _ in range(failure_limit.A_TEAM):
        end_as_failed(world.submit())
    before = Submission.objects.count()
    refusal = refusal_of(world)
    assert (refusal.code, "scorer of this phase has failed" in str(refusal)) == (Code.SCORER_FAILING, True)
    assert Submission.objects.count() == before
    custom_scorers.scores_by(world, custom_scorers.row(world, number=2))
    assert Run.objects.get(prediction__submission=world.submit()).scorer == world.phase.scorer


def test_other_teams_and_other_failures_do_not_count(world: World) -> None:
    grace = person("grace")
    other = teams.system(team=teams.create(name="Compilers", by=grace), name="A-0", by=grace)
    for _ in range(failure_limit.A_TEAM - 1):
        end_as_failed(world.submit())
    for _ in range(failure_limit.A_TEAM):
        end_as_failed(world.submit(system=other, by=grace))
        end_as_failed(world.submit(), Reason.ENGINE)
    assert world.submit()
    assert refusal_of(world, system=other, by=grace).code == Code.SCORER_FAILING


def test_failures_of_many_teams_together_are_limited(world: World) -> None:
    for number in range(failure_limit.ALL):
        member = person(f"person{number}")
        system = teams.system(team=teams.create(name=f"Team {number}", by=member), name="S", by=member)
        end_as_failed(world.submit(system=system, by=member))
    assert refusal_of(world).code == Code.SCORER_FAILING


def test_a_failure_during_the_submission_is_counted_under_the_lock(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first check is before the sandbox, the second in the transaction."""
    for _ in range(failure_limit.A_TEAM):
        end_as_failed(world.submit())
    checks: list[int] = []
    real = failure_limit.check

    def second_only(**kwargs: object) -> None:
        checks.append(1)
        if len(checks) > 1:
            real(**kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(failure_limit, "check", second_only)
    assert refusal_of(world).code == Code.SCORER_FAILING
    assert len(checks) == 2
