"""Near-duplicates of another team's predictions are flagged to organisers and visible to nobody else."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import (
    AuditEntry,
    NearDuplicate,
    Phase,
    Prediction,
    Run,
    SimilarityCheck,
    State,
    Submission,
    System,
    User,
)
from leaderboard.near_duplicates.actions import detect, dismiss, similarity
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import work
from tests.support.api_calls import client_of, person
from tests.support.crawler import crawl
from tests.support.rows.tiny_world import LABELS, World, build
from tests.support.simultaneous_calls import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
WRONG = {**LABELS, "a1": "REFUTES", "a2": "SUPPORTS"}
"""Two of four in error."""
OTHERWISE = {**LABELS, "a1": "NOT ENOUGH INFO", "a2": "SUPPORTS"}
"""The same two in error, one of them otherwise."""


@pytest.fixture
def world() -> World:
    return build(quota_per_day=50)


@pytest.fixture
def rival(world: World) -> System:
    return system_of("bob", "Rivals")


def system_of(name: str, team: str, **kind: Any) -> System:
    by = person(name)
    return teams.system(team=teams.create(name=team, by=by), name=f"System of {name}", by=by, **kind)


def submit_and_score(world: World, system: System, labels: dict[str, str]) -> Submission:
    """Submits for the team's first member, and scores it."""
    by = system.team.members.get()
    submission = world.submit(labels, system=system, by=by)
    for run in Run.objects.filter(prediction__submission=submission):
        runs.WORK.run(run.pk)
        assert Run.objects.get(pk=run.pk).state == State.DONE
    return submission


def run_comparisons() -> None:
    """Runs the sweep and the work that it enqueues, one after the other."""
    detect.WORK.sweep()
    for pk in SimilarityCheck.objects.filter(state=State.QUEUED).order_by("pk").values_list("pk", flat=True):
        detect.WORK.run(pk)
    assert set(SimilarityCheck.objects.values_list("state", flat=True)) <= {State.DONE}


def pairs() -> list[tuple[Any, ...]]:
    rows = NearDuplicate.objects.order_by("pk")
    return [(row.a.submission, row.b.submission, row.equal, row.shared_errors, row.n_units) for row in rows]


def test_a_copy_of_another_teams_file_is_flagged_once(world: World, rival: System) -> None:
    first, second = submit_and_score(world, world.system, WRONG), submit_and_score(world, rival, WRONG)
    run_comparisons()
    assert pairs() == [(first, second, 1.0, 1.0, 4)]
    run_comparisons()
    assert len(pairs()) == 1


def test_the_result_does_not_depend_on_the_order(world: World, rival: System) -> None:
    first = submit_and_score(world, world.system, WRONG)
    second = submit_and_score(world, rival, WRONG)
    detect.WORK.sweep()
    for submission in (second, first):
        detect.WORK.run(SimilarityCheck.objects.get(prediction__submission=submission).pk)
    assert pairs() == [(first, second, 1.0, 1.0, 4)]


@pytest.mark.parametrize("other", [LABELS, OTHERWISE, {**WRONG, "a3": "SUPPORTS"}], ids=["right", "unlike", "worse"])
def test_different_errors_are_no_near_duplicate(world: World, rival: System, other: dict[str, str]) -> None:
    submit_and_score(world, world.system, WRONG)
    submit_and_score(world, rival, other)
    run_comparisons()
    assert pairs() == []


def test_two_files_without_errors_are_no_near_duplicates(world: World, rival: System) -> None:
    submit_and_score(world, world.system, LABELS)
    submit_and_score(world, rival, LABELS)
    run_comparisons()
    assert pairs() == []


def test_the_own_team_baselines_and_other_phases_are_not_compared(world: World, rival: System) -> None:
    submit_and_score(world, world.system, WRONG)
    submit_and_score(world, world.system, WRONG)
    submit_and_score(world, teams.system(team=world.system.team, name="Twin", by=world.researcher), WRONG)
    submit_and_score(world, system_of("olga", "Our own", kind=System.Kind.BASELINE), WRONG)
    world.phase = Phase.objects.create(benchmark=world.benchmark, slug="final", title="Final", split=world.split)
    submit_and_score(world, rival, WRONG)
    run_comparisons()
    assert pairs() == [] and SimilarityCheck.objects.count() == 4


def test_one_of_many_similar_files_of_a_team_is_flagged(world: World, rival: System) -> None:
    for _ in range(3):
        submit_and_score(world, world.system, WRONG)
    copy = submit_and_score(world, rival, WRONG)
    run_comparisons()
    assert [(row[0].system, row[1]) for row in pairs()] == [(world.system, copy)]


def test_more_similar_teams_than_one_job_reads(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sandbox limits the files of a job; a comparison with more teams than that leaves out some of them."""
    monkeypatch.setattr(similarity, "MAX_CANDIDATES", 4)
    n_teams = 6
    for number in range(n_teams):
        submit_and_score(world, system_of(f"copier{number}", f"Team {number}"), WRONG)
    run_comparisons()
    paired = {submission for first, second, *_ in pairs() for submission in (first, second)}
    assert len(paired) == n_teams
    assert len(pairs()) == n_teams * (n_teams - 1) // 2 - 1, "the last one is compared with four of five"


def test_an_unscored_submission_is_not_compared(world: World) -> None:
    world.submit(WRONG)
    detect.WORK.sweep()
    assert not SimilarityCheck.objects.exists()


@pytest.fixture
def without_sketch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat all files as too large for the scorer to compute their sketches."""
    monkeypatch.setattr(runs, "SKETCHED_BYTES", 0)


def test_files_that_are_similar_to_no_other_need_no_worker(world: World, rival: System) -> None:
    submit_and_score(world, world.system, WRONG)
    submit_and_score(world, rival, LABELS)
    detect.WORK.sweep()
    assert list(SimilarityCheck.objects.values_list("state", "attempt")) == [(State.DONE, 0)] * 2
    later = submit_and_score(world, system_of("eve", "Copiers"), WRONG)
    detect.WORK.sweep()
    assert SimilarityCheck.objects.get(state=State.QUEUED).prediction.submission == later


def test_each_sweep_searches_for_new_files_only(world: World, rival: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the copies that wait for a worker would be searched for again and again, before the files after them."""
    monkeypatch.setattr(detect, "AT_ONCE", 2)
    for _ in range(2):
        submit_and_score(world, world.system, WRONG)
        submit_and_score(world, rival, WRONG)
    last = submit_and_score(world, rival, LABELS)
    for n_done in (1, 1, 2):
        detect.WORK.sweep()
        assert SimilarityCheck.objects.filter(state=State.DONE).count() == n_done
    assert SimilarityCheck.objects.get(prediction__submission=last).state == State.DONE
    run_comparisons()
    assert len(pairs()) == 3


def test_a_copy_of_a_file_without_a_sketch_is_flagged(world: World, rival: System, without_sketch: None) -> None:
    submit_and_score(world, world.system, WRONG)
    submit_and_score(world, rival, WRONG)
    assert {bytes(row.signature) for row in SimilarityCheck.objects.all()} == {b""}
    run_comparisons()
    assert len(pairs()) == 1


def test_scoring_goes_first_for_a_limited_time(
    world: World, without_sketch: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    submit_and_score(world, world.system, WRONG)
    detect.WORK.sweep()
    row = SimilarityCheck.objects.get()
    monkeypatch.setattr(detect.WORK, "peers", (runs.WORK, detect.WORK))
    submissions = [world.submit(LABELS) for _ in range(2)]
    detect.WORK.take(row.pk)
    row.refresh_from_db()
    assert (row.state, row.attempt) == (State.QUEUED, 0)
    assert [Run.objects.get(prediction__submission=one).state for one in submissions] == [State.DONE, State.QUEUED]
    SimilarityCheck.objects.filter(pk=row.pk).update(queued_at=timezone.now() - work.LONGEST_WAIT)
    detect.WORK.take(row.pk)
    row.refresh_from_db()
    assert row.state == State.DONE


def test_a_dead_worker_loses_no_comparison(world: World, rival: System, without_sketch: None) -> None:
    submit_and_score(world, world.system, WRONG)
    submit_and_score(world, rival, WRONG)
    detect.WORK.sweep()
    expired = timezone.now() - timedelta(seconds=1)
    SimilarityCheck.objects.update(state=State.RUNNING, attempt=1, lease_until=expired)
    detect.WORK.sweep()
    assert set(SimilarityCheck.objects.values_list("state", "reason")) == {(State.QUEUED, "lost")}
    run_comparisons()
    assert len(pairs()) == 1


def test_an_altered_file_is_not_compared(world: World, without_sketch: None) -> None:
    submission = submit_and_score(world, world.system, WRONG)
    Prediction.objects.filter(submission=submission).update(sha256="0" * 64)
    detect.WORK.sweep()
    row = SimilarityCheck.objects.get()
    detect.WORK.run(row.pk)
    row.refresh_from_db()
    assert (row.state, row.reason, bytes(row.signature)) == (State.FAILED, "storage", b"")


@pytest.mark.django_db(transaction=True)
def test_simultaneous_comparisons_find_each_other() -> None:
    world = build()
    submit_and_score(world, world.system, WRONG)
    submit_and_score(world, system_of("bob", "Rivals"), WRONG)
    detect.WORK.sweep()
    keys = list(SimilarityCheck.objects.values_list("pk", flat=True))
    together([lambda pk=pk: detect.WORK.run(pk) for pk in keys])
    assert len(pairs()) == 1


def test_a_dismissal_covers_earlier_pairs_of_the_two_systems(world: World, rival: System) -> None:
    organiser = person("xena")
    world.benchmark.organisers.add(organiser)
    for system in (world.system, rival, rival):
        submit_and_score(world, system, WRONG)
    run_comparisons()
    assert NearDuplicate.objects.count() == 2
    pair = NearDuplicate.objects.first()
    assert pair is not None
    with pytest.raises(Refused) as refused:
        dismiss.dismiss(near_duplicate=pair, reason="no", by=world.researcher)
    assert refused.value.code is Code.NOT_AN_ORGANISER
    assert dismiss.dismiss(near_duplicate=pair, reason="one published model", by=organiser) == 2
    assert not NearDuplicate.objects.filter(dismissed_at=None).exists()
    assert AuditEntry.objects.get(action="near_duplicate.dismissed").detail["reason"] == "one published model"
    submit_and_score(world, rival, WRONG)
    run_comparisons()
    assert NearDuplicate.objects.filter(dismissed_at=None).count() == 1


def browser(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


def read(clients: Iterable[Client]) -> bytes:
    starts = ("/", "/me/submissions/", "/me/teams/", "/api/v1/benchmarks/", "/api/v1/submissions/", "/api/v1/schema/")
    answers = (answer for client in clients for answer in crawl(client, starts))
    # The documentation describes near-duplicates to everybody.
    return b"".join(answer.text.lower() for answer in answers if not answer.address.startswith("/docs/"))


def test_only_organisers_see_near_duplicates(world: World, rival: System) -> None:
    organiser = person("xena")
    world.benchmark.organisers.add(organiser)
    submit_and_score(world, world.system, WRONG)
    submit_and_score(world, rival, WRONG)
    submit_and_score(world, system_of("eve", "Third"), WRONG)
    run_comparisons()
    flagged = NearDuplicate.objects.get(a__submission__system=world.system, b__submission__system=rival)
    dismiss.dismiss(near_duplicate=flagged, reason="CANARY-REASON", by=organiser)
    others = [None, world.researcher, rival.team.members.get(), person("stan", is_staff=True, is_superuser=True)]
    bodies = read([*map(browser, others), *(client_of(user) for user in others if user)])
    for word in (b"near-cop", b"near_cop", b"nearcop", b"near-dup", b"canary-reason", b"likeness", b"shared errors"):
        assert word not in bodies, word
    page = browser(organiser).get("/manage/benchmarks/tiny/near-duplicates/").content.decode()
    assert "CANARY-REASON" in page and "System of eve" in page
    assert (
        "/manage/benchmarks/tiny/near-duplicates/"
        in browser(organiser).get("/manage/benchmarks/tiny/").content.decode()
    )


def test_the_page_shows_and_dismisses_pairs(world: World, rival: System) -> None:
    client = browser(world.curator)
    submit_and_score(world, world.system, WRONG)
    submit_and_score(world, rival, WRONG)
    run_comparisons()
    page = client.get("/manage/benchmarks/tiny/near-duplicates/").content.decode()
    assert world.system.name in page and rival.name in page and "100\N{NO-BREAK SPACE}%" in page
    url = f"/manage/benchmarks/tiny/near-duplicates/{NearDuplicate.objects.get().pk}/dismiss/"
    assert client.post(url, {"reason": ""}).status_code == 422
    assert client.post(url, {"reason": "<b>known</b>"}).status_code == 302
    page = client.get("/manage/benchmarks/tiny/near-duplicates/").content.decode()
    assert "&lt;b&gt;known" in page and "No near-duplicates were found" in page
    assert client.get(url).status_code == 404
