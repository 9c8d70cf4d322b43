"""Cost of a container: copied from its prediction to the release, immutable there, and kept by the migration."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from leaderboard.boards.disclosure import costs
from leaderboard.boards.queries import board_of
from leaderboard.models import Phase, Prediction, Release, Run, State
from tests.support.rows.board_rows import publish, stand, symmetric_scores
from tests.support.rows.tiny_world import World, build

MEASURED = {"wall_seconds": 2.9, "cpu_seconds": 0.2, "peak_memory_bytes": 70_000_000, "image_bytes": 128_000_000}
TOLD = {"wall_seconds": 4.0, "cpu_seconds": 1.0, "memory_mb": 90.5, "image_mb": 128.0}


def board(world: World) -> Any:
    phase = Phase.objects.select_related("benchmark", "split").get(pk=world.phase.pk)
    return board_of(phase)


@pytest.mark.django_db
def test_a_release_shows_coarse_steps_and_never_the_measured_cost():
    world = build()
    assert stand(world, "Contained", spent=MEASURED).cost == TOLD


@pytest.mark.django_db
def test_an_uploaded_file_has_no_cost_and_its_row_gives_the_reason():
    world = build()
    assert stand(world, "Uploaded").cost is None
    (row,) = board(world).rows
    assert row.cost is None and row.cost_of("wall_seconds") is None
    assert row.no_cost.startswith("uploaded as a file")
    assert list(board(world).cost_kinds) == []


@pytest.mark.django_db
def test_a_board_has_the_kinds_of_cost_that_some_row_shows():
    world = build()
    stand(world, "Uploaded")
    stand(world, "Contained", spent={"wall_seconds": 700.0, "image_bytes": 5})
    board_now = board(world)
    assert list(board_now.cost_kinds) == ["wall_seconds", "image_mb"]
    assert board_now.n_inputs == 4
    assert {row.system: row.cost_of("wall_seconds") for row in board_now.rows} == {"Uploaded": None, "Contained": 724.0}


@pytest.mark.django_db
def test_a_rescored_release_has_the_cost_of_its_prediction():
    world = build()
    first = stand(world, "Contained", spent=MEASURED)
    at = timezone.now()
    rescored = Run.objects.create(
        prediction=Prediction.objects.get(pk=first.run.prediction_id),
        gold_version=world.gold,
        task_version=2,
        queued_at=at,
        enqueued_at=at,
        finished_at=at,
        state=State.DONE,
        attempt=1,
        outcomes="outcomes",
        outcomes_sha256="0" * 64,
    )
    second = publish(rescored, scores=symmetric_scores(), at=at)
    assert second.cost == first.cost == TOLD


@pytest.mark.django_db
def test_a_released_cost_stays_when_the_prediction_changes():
    world = build()
    release = stand(world, "Contained", spent=MEASURED)
    Prediction.objects.update(cost={})
    assert Release.objects.get(pk=release.pk).cost == TOLD
    with pytest.raises(DatabaseError), transaction.atomic():
        Release.objects.filter(pk=release.pk).update(cost=None)


@pytest.mark.django_db
def test_an_unknown_policy_shows_no_cost():
    world = build()
    Phase.objects.update(disclosure="whatever")
    with pytest.raises(ValueError, match="unknown disclosure policy"):
        stand(world, "Contained", spent=MEASURED)


@pytest.mark.parametrize("value", [0.0, 1.0, 1.2, 1.4142135623, 2.0, 2.1, 100.0, 1420.0])
def test_a_step_is_at_least_its_value_and_not_far_above(value):
    step = costs.step(value)
    assert step is not None
    # Three digits are printed: rounding may be off by a half in a thousand.
    assert max(1.0, value) <= step * 1.005 and step <= max(1.0, value) * 2**0.5 * 1.005
