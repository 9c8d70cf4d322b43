"""Simultaneous requests start one preview."""

from __future__ import annotations

import pytest

from leaderboard.core.refusal import Code
from leaderboard.curation.actions import request_preview
from leaderboard.models import Generation
from tests.support.rows import generator_previews
from tests.support.rows.tiny_world import World, build
from tests.support.simultaneous_calls import together

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    return build()


def started(world: World) -> Generation:
    return request_preview.begin(
        dataset=world.split.dataset,
        generator="holdout",
        sources={"gold": [world.split.dataset.raw_files.first() or generator_previews.raw(world)]},
        parameters={"parts": "a=0.5,b=0.5", "by": "group"},
        options={},
        seed=5,
        by=world.curator,
    )


def test_one_of_several_simultaneous_requests_starts_a_preview(world: World) -> None:
    generator_previews.raw(world)
    answers = together([lambda: started(world)] * 3)
    assert answers.count(Code.NOT_READY) == 2, answers
    assert Generation.objects.count() == 1
