"""A scoring warning may depend on gold, so it is an answer: a ladder shows it nowhere and to nobody."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest
from django.test import Client

from leaderboard.benchmarks.actions import benchmarks
from leaderboard.datasets.actions import datasets, lifecycle, splits
from leaderboard.models import Benchmark, Phase, Release, Run, State, User
from leaderboard.scoring.actions import runs
from leaderboard.scoring.verification.rebuild_board import differences
from tests.support.api_calls import ROOT, client_of, person, send
from tests.support.crawler import crawl, read
from tests.support.full_run import FULL
from tests.support.rows.tiny_world import EXACT, uploaded

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
TEXT = "Ada lived in old Paris, where she wrote letters to all of her friends and to some of her enemies."
WHOLE = {"subjectStart": 0, "subjectEnd": len(TEXT), "objectStart": 0, "objectEnd": len(TEXT)}
NAMES = {"propertyId": "9", "subjectUri": "ada", "objectUri": "paris"}
WARNING = "span_ratio is over"
"""The scorer's warning about spans much longer than gold's, whose length is hidden."""
READERS = ("anonymous", "A", *(["B"] if FULL else []), "X", "curator")  # B reads public pages only, as A does
PROPERTY = {"propertyId": "9", "propertyName": "PLACE_OF_RESIDENCE"}


def lines(facts: list[dict[str, Any]]) -> bytes:
    passage = {"passageId": f"d:0:{len(TEXT)}", "passageStart": 0, "passageEnd": len(TEXT), "passageText": TEXT}
    passage |= {"exhaustivelyAnnotatedProperties": [PROPERTY], "facts": facts}
    return json.dumps({"documentId": "d", "documentText": TEXT, "passages": [passage]}).encode() + b"\n"


@pytest.fixture
def people() -> dict[str, User]:
    return {"A": person("ada"), "B": person("bob"), "X": person("xena"), "curator": person("cora", is_curator=True)}


def host(people: dict[str, User], policy: dict[str, Any]) -> Benchmark:
    by = people["curator"]
    task = "knowledge-base-population"
    dataset = datasets.create(slug="tiny", title="Tiny", task=task, by=by)
    split = splits.create_split(dataset=dataset, name="test", kind="test", gold_public=False, by=by)
    gold = {**NAMES, "subjectStart": 0, "subjectEnd": 3, "objectStart": 17, "objectEnd": 22}
    with closing(uploaded(lines([gold]), "gold.jsonl")) as file:
        splits.add_gold(split=split, file=file, reason="first", by=by)
    lifecycle.publish_unaudited(split=split, by=by)
    benchmark = benchmarks.create(
        slug="tiny", task=task, dataset=dataset, by=by, title="Tiny", summary="One fact.", description="", rules=""
    )
    benchmark.organisers.add(people["X"])
    limits = {"opens_at": None, "closes_at": None, "quota_per_day": 50, "quota_total": 100}
    fields = {"slug": "test", "title": "Test", "options": {}, "scope": "task", **limits, **policy}
    benchmarks.add_phase(phase=Phase(benchmark=benchmark, split=split, **fields), by=by)
    benchmarks.publish(benchmark=benchmark, by=by)
    return benchmark


def readers_of_the_warning(people: dict[str, User]) -> set[str]:
    """Users who read the warning on any page linked from the pages about a submission."""
    submissions = [str(pk) for pk in Run.objects.values_list("prediction__submission", flat=True)]
    starts = ["/", "/me/submissions/", "/manage/benchmarks/tiny/", f"{ROOT}/submissions/"]
    starts += [f"{ROOT}/benchmarks/tiny/phases/test/leaderboard{end}" for end in ("/", ".csv", ".tex", ".md", ".json")]
    starts += [f"{ROOT}/submissions/{pk}/{end}" for pk in submissions for end in ("", "scores/")]
    starts += [f"/submissions/{pk}/{end}" for pk in submissions for end in ("", "state/", "receipt.json")]
    readers = set()
    for role in READERS:
        user, client = people.get(role), Client()
        if user is not None:
            client.force_login(user)
        if any(WARNING.encode() in answer.text for answer in crawl(client, starts)):
            readers.add(role)
        if user is not None and any(WARNING.encode() in read(client_of(user), start).text for start in starts):
            readers.add(role)
    return readers


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        ({"disclosure": "full", **EXACT}, {"anonymous", "A", "B", "X", "curator"}),
        ({"disclosure": "full"}, set()),
        ({"disclosure": "ladder"}, set()),
    ],
    ids=["exact", "full", "ladder"],
)
def test_who_sees_that_spans_are_longer_than_golds(
    people: dict[str, User], policy: dict[str, Any], expected: set[str]
) -> None:
    host(people, policy)
    for _ in range(2):  # the second is no improvement
        answer = send(client_of(people["A"]), lines([{**NAMES, **WHOLE}]))
        assert answer.status_code == 201 and WARNING not in answer.content.decode()
    for run in Run.objects.filter(state=State.QUEUED).order_by("queued_at"):
        runs.WORK.run(run.pk)
    assert all(WARNING in str(run.warnings) for run in Run.objects.all()), "the scoring gave a warning"
    assert readers_of_the_warning(people) == expected & {*READERS}
    stored = [WARNING in str(release.warnings) for release in Release.objects.all()]
    assert stored == [bool(expected)] * 2
    assert differences(Benchmark.objects.get().phases.get().leaderboards.get()) == []
