"""The attacks through the site's own door, each answer read as its sender reads it: the same answers as in process."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client

from leaderboard.models import Run, State
from leaderboard.scoring.actions import runs
from tests.support.disclosure_attacks import ATTACKS, LABELS_OF_CODES, Guess, Oracle, Told
from tests.support.many_groups import a_phase, a_split, labels_of
from tests.support.tiny_world import World, build, prediction_lines, uploaded

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
SEED = 1


class Site:
    """Uploads a guess, lets it be scored, and reads what the API tells of it."""

    def __init__(self, world: World, n: int) -> None:
        self.world = world
        self.labels = labels_of(n, SEED)
        self.phase = a_phase(world, a_split(world, self.labels))
        self.client = Client()
        self.client.force_login(world.researcher)

    def __call__(self, guess: Guess) -> Told:
        file = uploaded(
            prediction_lines({id_: LABELS_OF_CODES[code] for id_, code in zip(self.labels, guess, strict=True)})
        )
        where = f"/api/v1/benchmarks/tiny/phases/{self.phase.slug}/submissions/"
        try:
            sent = self.client.post(where, {"file": file, "system": "Attack"})
        finally:
            file.close()
        assert sent.status_code == 201, sent.content
        for run in Run.objects.filter(state=State.QUEUED):
            runs.WORK.run(run.pk)
        scores = self.client.get(f"/api/v1/submissions/{sent.json()['id']}/scores/").json()["scores"]
        found = {
            one["slice"].get("kind", ""): one["value"]
            for one in scores
            if one["measure"] == "accuracy" and set(one["slice"]) <= {"kind"}
        }
        return found


class Both:
    """Asks the site and the oracle the same, and expects the same."""

    def __init__(self, site: Site, oracle: Oracle) -> None:
        self.site, self.oracle = site, oracle

    def __call__(self, guess: Guess) -> Told:
        told = self.site(guess)
        assert told == self.oracle(guess)
        return told


def attack(world: World, name: str, *, k: int, n: int) -> float:
    oracle = Oracle("ladder", SEED, slices=True, n=n)
    ATTACKS[name](Both(Site(world, n), oracle), k, np.random.default_rng([SEED, k]), n)
    assert Run.objects.filter(state=State.DONE).count() == k and oracle.best is not None
    return oracle.best - 0.5


def test_a_dozen_answers_are_those_of_the_attack_in_process() -> None:
    attack(build(), "boosting by slice", k=12, n=400)


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_four_hundred_answers_are_those_of_the_attack_in_process(name: str) -> None:
    assert attack(build(), name, k=400, n=4000) <= 0.045
