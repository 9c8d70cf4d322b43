"""*Put it on the board* pressed several times at the same moment gives one submission, one charge, one team."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from leaderboard.core.refusal import Code
from leaderboard.curation.actions import (
    request_dry_run,
    run_dry_run,
    submit_baseline,
)
from leaderboard.models import Benchmark, DryRun, Phase, QuotaCharge, State, Submission, Team
from tests.leaderboard.curation.test_dry_runs import after
from tests.support.rows.gold_uploads import close_all
from tests.support.rows.tiny_world import build
from tests.support.simultaneous_calls import together

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def test_one_of_several_simultaneous_presses_submits() -> None:
    world = build()
    Benchmark.objects.update(state="draft")
    world.split.refresh_from_db()
    rows = request_dry_run.begin(split=world.split, phase=None, by=world.curator)
    run_dry_run.WORK.run((row := next(dry_run for dry_run in rows if dry_run.name == "majority")).pk)
    assert after(row).state == State.DONE
    Benchmark.objects.update(state="public")

    def press() -> Callable[[], object]:
        phase = Phase.objects.select_related("benchmark", "split__dataset").get()
        copy_of_row = DryRun.objects.select_related("gold__split__dataset").get(pk=row.pk)
        return lambda: submit_baseline.submit(row=copy_of_row, phase=phase, by=world.curator)

    answers = together([press() for _ in range(3)])
    assert answers.count(Code.ALREADY_EXISTS) == 2, answers
    assert Submission.objects.count() == QuotaCharge.objects.count() == 1
    assert Team.objects.filter(name__startswith="Baselines of").count() == 1
