"""Ranked mentions and extracted facts on the site: hosted, submitted, scored in the sandbox, and shown by slice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.benchmarks.actions import benchmarks
from leaderboard.core.refusal import Refused
from leaderboard.datasets.actions import datasets, lifecycle, splits
from leaderboard.models import Phase, Release, Run, State, User
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions import submit
from tests.support.rows.gold_uploads import close_all, uploaded
from tests.support.rows.tiny_world import EXACT

pytestmark = pytest.mark.django_db

Lines = list[dict[str, Any]]


@dataclass
class Case:
    """A gold, predictions for it, predictions that are refused with their messages, and scores computed by hand."""

    task: str
    options: dict[str, str]
    gold: Lines
    answers: Lines
    bad: Lines
    said: str
    scores: dict[tuple[str, str], float]
    dimension: str
    shown: str


CASES = [
    Case(
        task="link-prediction",
        options={"setting": "raw"},
        gold=[
            {"id": 1, "question": ["NBC-TV", "in", "?"], "answers": ["NYC", "New York"], "filtered": ["Los Angeles"]},
            {"id": 2, "question": ["?", "in", "NYC"], "answers": ["NBC-TV"], "filtered": []},
        ],
        answers=[{"id": 1, "ranking": ["Los Angeles", "New York", "NYC"]}],
        bad=[{"id": 1, "ranking": ["x"] * 1001}],
        said="ranking is too long, found 1001 mentions",
        scores={("mrr", "{}"): 0.25, ("hits@3", "{}"): 0.5, ("mrr", '{"side":"tail"}'): 0.5},
        dimension="side",
        shown="tail",
    ),
    Case(
        task="fact-extraction",
        options={},
        gold=[
            {"id": "a", "facts": [["Ada", "born in", "London"], ["Ada", "child of", "Byron"]], "text": "Ada lived."},
            {"id": "b", "facts": [["Grace", "born in", "New York"]], "text": "Grace lived."},
        ],
        answers=[
            {
                "id": "a",
                "facts": [["Ada", "born in", "London"], ["Ada", "child of", "Babbage"], ["Ada", "likes", "tea"]],
            },
            {"id": "b", "facts": []},
        ],
        bad=[{"id": "a", "facts": [["Ada", "born in"]]}],
        said="facts[0] has the wrong length",
        scores={("f1", "{}"): 1 / 3, ("fact_acc_macro_zero", "{}"): 0.25, ("fact_acc", '{"relation":"child of"}'): 0.0},
        dimension="relation",
        shown="child of",
    ),
]


@pytest.fixture(autouse=True)
def _close_files() -> Iterator[None]:
    yield
    close_all()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.task)
def test_from_gold_to_board(case: Case, sandbox: str, client: Client) -> None:
    curator = User.objects.create_user("curator", "curator@holdout.example", "correct horse", is_curator=True)
    ada = User.objects.create_user("ada", "ada@holdout.example", "correct horse")
    dataset = datasets.create(slug="data", title="Data", task=case.task, by=curator)
    split = splits.create_split(dataset=dataset, name="test", kind="test", gold_public=False, options={}, by=curator)
    gold = splits.add_gold(split=split, file=uploaded(lines(case.gold), "gold.jsonl"), reason="first", by=curator)
    lifecycle.publish_unaudited(split=split, by=curator)
    benchmark = benchmarks.create(
        slug="bench",
        title="Bench",
        task=case.task,
        dataset=dataset,
        summary="Two units.",
        description="",
        rules="",
        by=curator,
    )
    new_phase = Phase(
        benchmark=benchmark,
        slug="test",
        title="Test",
        split=split,
        options=case.options,
        opens_at=timezone.now(),
        closes_at=None,
        quota_per_day=5,
        quota_total=50,
        **EXACT,
    )
    phase = benchmarks.add_phase(phase=new_phase, by=curator)
    benchmarks.publish(benchmark=benchmark, by=curator)
    system = teams.system(team=teams.create(name="Engines", by=ada), name="Bernoulli", by=ada)
    entry = submit.Entry(system=system, by=ada)

    with pytest.raises(Refused) as refused:
        submit.submit(phase=phase, entry=entry, file=uploaded(lines(case.bad)))
    assert case.said in refused.value.problems[0]["text"]

    submit.submit(phase=phase, entry=entry, file=uploaded(lines(case.answers)))
    run = Run.objects.get()
    runs.WORK.run(run.pk)
    run.refresh_from_db()
    assert (run.state, run.gold_version) == (State.DONE, gold)
    released = {
        (value["measure"], json.dumps(value["slice"], separators=(",", ":"))): value["value"]
        for value in Release.objects.get(run=run).values
    }
    for key, value in case.scores.items():
        assert released[key] == pytest.approx(value, abs=1e-9)
    board = client.get("/benchmarks/bench/test/")
    assert board.status_code == 200 and b"Bernoulli" in board.content
    by_slice = client.get(f"/benchmarks/bench/test/by/{case.dimension}/")
    assert by_slice.status_code == 200 and case.shown.encode() in by_slice.content
    assert client.get(f"/tasks/{case.task}/").status_code == 200


def lines(objects: Lines) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in objects)
