"""The attacks over HTTP: the site's answers equal those of the in-process oracle."""

from __future__ import annotations

import numpy as np
import pytest
from django.test import Client

from leaderboard.models import Run, State
from leaderboard.scoring.actions import runs
from tests.support.disclosure_attacks import ATTACKS, LABELS_OF_CODES, Guess, Oracle, Told
from tests.support.rows.many_groups import a_phase, a_split, labels_of
from tests.support.rows.tiny_world import World, build, prediction_lines, uploaded

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
SEED = 1


class Site:
    """Uploads a guess, has it scored, and reads the answer from the API."""

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
            response = self.client.post(where, {"file": file, "system": "Attack"})
        finally:
            file.close()
        assert response.status_code == 201, response.content
        for run in Run.objects.filter(state=State.QUEUED):
            runs.WORK.run(run.pk)
        scores = self.client.get(f"/api/v1/submissions/{response.json()['id']}/scores/").json()["scores"]
        answer_read = {
            score["slice"].get("kind", ""): score["value"]
            for score in scores
            if score["measure"] == "accuracy" and set(score["slice"]) <= {"kind"}
        }
        return answer_read


class Both:
    """Sends each guess to the site and to the oracle, and expects equal answers."""

    def __init__(self, site: Site, oracle: Oracle) -> None:
        self.site, self.oracle = site, oracle

    def __call__(self, guess: Guess) -> Told:
        site_answer = self.site(guess)
        assert site_answer == self.oracle(guess)
        return site_answer


def run_attack(world: World, name: str, *, k: int, n: int) -> float:
    oracle = Oracle("ladder", SEED, slices=True, n=n)
    ATTACKS[name](Both(Site(world, n), oracle), k, np.random.default_rng([SEED, k]), n)
    assert Run.objects.filter(state=State.DONE).count() == k and oracle.best is not None
    return oracle.best - 0.5


def test_a_dozen_answers_equal_those_of_the_attack_in_process() -> None:
    run_attack(build(), "boosting by slice", k=12, n=400)


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_four_hundred_answers_equal_those_of_the_attack_in_process(name: str) -> None:
    assert run_attack(build(), name, k=400, n=4000) <= 0.045
