"""Budgets: shared by all teams, not charged for refused files; abstentions reveal no labels."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.test import Client

from leaderboard.accounts.actions import tokens
from leaderboard.core.refusal import Refused
from leaderboard.models import Phase, QuotaCharge, Release, Run, Submission
from leaderboard.scoring.queries.leakage_budget import budget_of
from leaderboard.submissions.queries.quotas import quota_of
from tests.support.api_calls import SUBMIT, person
from tests.support.rows.many_groups import a_phase, a_split, answers, labels_of, primary, score_all, send
from tests.support.rows.tiny_world import World, build, prediction_lines
from tests.support.web_server import served

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(100)


@pytest.fixture
def world() -> World:
    return build()


def test_twenty_accounts_do_not_beat_the_limit_of_all_teams() -> None:
    world = build()
    Phase.objects.filter(pk=world.phase.pk).update(quota_everybody=5)
    secrets = [tokens.issue(by=person(f"person{number}"))[1] for number in range(20)]
    together = Barrier(len(secrets))

    def post(address: str, secret: str) -> int:
        headers = {"Authorization": f"Token {secret}", "Content-Type": "application/x-ndjson"}
        request = urllib.request.Request(address, data=prediction_lines(), headers=headers)
        together.wait()
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    with served() as site, ThreadPoolExecutor(len(secrets)) as pool:
        where = f"{site.address}{SUBMIT}?system=One"
        statuses = Counter(pool.map(lambda secret: post(where, secret), secrets))
    assert statuses == {201: 5, 429: 15}
    assert Submission.objects.count() == QuotaCharge.objects.count() == 5


def test_a_server_failure_is_refunded_to_the_shared_budget(world: World) -> None:
    phase = a_phase(world, a_split(world, LABELS), scope="team", quota_everybody=2)
    for wrong in (3, 4):
        send(world, phase, answers(LABELS, wrong))
    with pytest.raises(Refused, match="All 2 submissions"):
        send(world, phase, answers(LABELS, 5))
    QuotaCharge.objects.filter(submission=Submission.objects.first()).update(refunded_at="2026-01-01T00:00:00Z")
    quota = quota_of(phase=phase, team=None)
    assert (quota.left_of_all, quota.left_total, quota.left_today) == (1, 1, 1)
    send(world, phase, answers(LABELS, 5))


def test_a_refused_file_costs_nothing_and_reveals_nothing(world: World, client: Client) -> None:
    phase = a_phase(world, a_split(world, LABELS), scope="team", quota_everybody=3)
    client.force_login(world.researcher)
    incomplete = dict(list(LABELS.items())[:-1])
    refused = {
        "a claim left out": incomplete,
        "abstained by a label of its own": {**LABELS, "c0": "ABSTAIN"},
        "abstained by nothing": {**LABELS, "c0": ""},
    }
    messages = set()
    for labels in refused.values():
        for right in (
            labels,
            {id_: "SUPPORTS" if id_ in LABELS and label in LABELS.values() else label for id_, label in labels.items()},
        ):
            with pytest.raises(Refused) as refusal:
                send(world, phase, right)
            messages.add((refusal.value.message, tuple(problem["text"] for problem in refusal.value.problems)))
    assert len(messages) == len(refused), "right and wrong answers are refused with the same message"
    assert quota_of(phase=phase, team=world.system.team).left_total == 3
    assert not Submission.objects.exists() and not Run.objects.exists() and not Release.objects.exists()
    assert budget_of(phase).bits == 0


def test_abstaining_reveals_no_label(world: World) -> None:
    """Answering one claim at a time would reveal its label if abstentions were not counted or scores were full."""
    phase = a_phase(world, a_split(world, LABELS))
    silent = dict.fromkeys(LABELS, "NOT ENOUGH INFO")
    first = send(world, phase, silent)
    guesses = [send(world, phase, {**silent, f"c{index}": "SUPPORTS"}) for index in range(8)]
    score_all()
    assert primary(first) == 0.0, "an abstention counts as wrong"
    assert {LABELS[f"c{index}"] for index in range(8)} == {"SUPPORTS", "REFUTES"}
    assert [primary(guess) for guess in guesses] == [None] * 8, "right and wrong guesses get the same answer"
