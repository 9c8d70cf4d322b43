"""The attacks over HTTP: the site's answers equal those of the same test set in process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from django.test import Client

from evaluator.disclosure import attacks
from evaluator.disclosure.attacks import ATTACKS, Learnt
from evaluator.disclosure.attacks.target import Answer, Guess, Target
from evaluator.outcomes.table import Dimension
from leaderboard.boards.disclosure.policies import policy_of
from leaderboard.models import Phase, Run, State
from leaderboard.scoring.actions import runs
from tests.support.rows.many_groups import KINDS, LABELS, a_phase, a_split, labels_of
from tests.support.rows.tiny_world import World, build, prediction_lines, uploaded

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
SEED = 1
PHASES: dict[str, dict[str, Any]] = {
    "ladder": {"disclosure": "ladder", "detailed_answers": None},
    "full": {"disclosure": "full"},
    "full, exact": {"disclosure": "full", "exact_scores": True, "detailed_answers": None, "least_groups": 1},
}


class Site:
    """Uploads a file, has it scored, and reads the answer from the API."""

    def __init__(self, world: World, n: int, phase: dict[str, Any]) -> None:
        self.labels = labels_of(n, SEED)
        created = a_phase(world, a_split(world, self.labels), disclosure=phase["disclosure"])
        Phase.objects.filter(pk=created.pk).update(**phase)
        self.phase = Phase.objects.select_related("split").get(pk=created.pk)
        self.client = Client()
        self.client.force_login(world.researcher)

    def __call__(self, guess: Guess) -> Answer:
        said = ["NOT ENOUGH INFO" if np.isnan(label) else LABELS[int(label)] for label in guess]
        file = uploaded(prediction_lines(dict(zip(self.labels, said, strict=True))))
        where = f"/api/v1/benchmarks/tiny/phases/{self.phase.slug}/submissions/"
        try:
            response = self.client.post(where, {"file": file, "system": "Attack"})
        finally:
            file.close()
        assert response.status_code == 201, response.content
        for run in Run.objects.filter(state=State.QUEUED):
            runs.WORK.run(run.pk)
        scores = self.client.get(f"/api/v1/submissions/{response.json()['id']}/scores/").json()["scores"]
        return {(score["measure"], tuple(sorted(score["slice"].items()))): score for score in scores}


class Both(Target):
    """A test set in process that also sends each file to the site, and expects equal answers."""

    site: Site

    def __call__(self, guess: Guess) -> Answer:
        answer = super().__call__(guess)
        assert numbers(self.site(guess)) == numbers(answer)
        return answer


def numbers(answer: Answer) -> dict[Any, Any]:
    """Return the values and numbers of units of accuracy, overall and by kind: the test set has no other slices."""
    return {
        key: (row["value"], row["n"])
        for key, row in answer.items()
        if key[0] == "accuracy" and {name for name, _ in key[1]} <= {"kind"}
    }


def run_attack(world: World, attack: str, phase: dict[str, Any], *, k: int, n: int) -> Learnt:
    site = Site(world, n, phase)
    labels = np.array([LABELS.index(label) for label in site.labels.values()], dtype=np.int8)
    kinds = Dimension((np.arange(n) % len(KINDS)).astype(np.int32), KINDS, declared=True, within_groups=False)
    target = Both(labels, np.arange(n, dtype=np.int32), {"kind": kinds}, policy_of(site.phase))
    target.site = site
    learnt = attacks.run(attack, target, k, np.random.default_rng([SEED, k]))
    assert Run.objects.filter(state=State.DONE).count() == learnt.answers
    assert max(learnt.known, learnt.excess) <= target.bound()
    return learnt


@pytest.mark.parametrize("phase", PHASES)
def test_a_dozen_answers_equal_those_of_the_attack_in_process(phase: str) -> None:
    run_attack(build(), "boosting by slice", PHASES[phase], k=12, n=400)


@pytest.mark.slow
@pytest.mark.parametrize("attack", [name for name in ATTACKS if name != "order code"])
@pytest.mark.parametrize("phase", PHASES)
def test_fifty_answers_equal_those_of_the_attack_in_process(attack: str, phase: str) -> None:
    run_attack(build(), attack, PHASES[phase], k=50, n=1000)
