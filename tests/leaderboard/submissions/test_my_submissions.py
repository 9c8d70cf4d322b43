"""The list of one's own submissions on its page and in the API: filters, scores over time, ranks, quota left."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import Leaderboard, Phase, Prediction, Release, Run, State, Submission, System, User
from leaderboard.scoring.actions import runs
from leaderboard.submissions.queries import own_submissions, progress
from leaderboard.submissions.web.sparkline import HEIGHT, MARGIN, sparkline
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.rows import tiny_world
from tests.support.rows.corrected_gold import correct
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import LABELS, World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
LIST = "/api/v1/submissions/"
PAGE = "/me/submissions/"


world, _django_db_helper = shared_states(world=tiny_world.build)


@pytest.fixture
def ada(world: World) -> Client:
    client = Client()
    client.force_login(world.researcher)
    return client


def score(world: World, *wrong: str, **changes: Any) -> str:
    """Submit and score predictions that are wrong on these ids; return the submission's id."""
    other = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
    labels = {id_: other[label] if id_ in wrong else label for id_, label in LABELS.items()}
    submission = world.submit(labels, **changes)
    runs.WORK.run(submission.predictions.get().runs.get().pk)
    return str(submission.pk)


def test_scores_over_time_mark_the_best_and_lead_to_another_submission(world: World, ada: Client) -> None:
    other = System.objects.create(team=world.system.team, name="Difference engine")
    first, best, last = score(world, "a1", "a2"), score(world, "a1"), score(world, "a1", "a2", "a3")
    score(world, "a4", "a2", system=other)
    page = text(ada.get(PAGE))
    assert 'aria-label="Scores, earliest first: 0.500, 0.750, 0.250"' in page and page.count("<polyline") == 1
    assert "<title>0.750, best</title>" in page and page.count("<strong>best</strong>") == 1
    row = page[page.index(best) :]
    assert "<strong>best</strong>" in row[: row.index("</tr>")]
    assert "1 of 5 left today" in page and f"/benchmarks/tiny/test/submit/?system={world.system.pk}" in page
    ranks = {line["id"]: (line["rank"], line["value"], line["primary"]) for line in ada.get(LIST).json()["results"]}
    assert ranks[best] == (1, 0.75, "accuracy") and ranks[first] == (None, 0.5, "accuracy")
    assert ranks[last][0] is None and sorted(rank for rank, *_ in ranks.values() if rank) == [1, 2]
    assert ada.get(f"{LIST}{best}/").json()["rank"] == 1
    score(world, "a2")
    page = text(ada.get(PAGE))
    assert "none left today" in page and "submit/?system" not in page


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", {"Bernoulli", "Jacquard"}),
        ("search=jacq", {"Jacquard"}),
        ("search=tiny+seed", {"Jacquard"}),
        ("state=rejected", {"Jacquard"}),
        ("state=failed", set()),
        ("phase=tiny", {"Bernoulli", "Jacquard"}),
        ("phase=tiny/dev", {"Jacquard"}),
        ("phase=nowhere", {"Bernoulli", "Jacquard"}),
    ],
)
def test_the_page_and_the_api_filter(world: World, ada: Client, query: str, names: set[str]) -> None:
    dev = Phase.objects.create(benchmark=world.benchmark, slug="dev", title="Dev", split=world.split)
    world.insert_run()
    world.phase = dev
    jacquard = System.objects.create(team=world.system.team, name="Jacquard")
    ended = {"state": State.REJECTED, "finished_at": timezone.now(), "reason": "bad_predictions"}
    run = world.insert_run(system=jacquard, **ended)
    Submission.objects.filter(pk=run.prediction.submission_id).update(note="seed 3")
    table = text(ada.get(f"{PAGE}?{query}")).partition('aria-label="Submissions of your teams"')[2]
    assert {name for name in ("Bernoulli", "Jacquard") if f"<bdi>{name}</bdi>" in table} == names
    api = query.replace("phase=tiny/dev", "benchmark=tiny&phase=dev").replace("phase=tiny", "benchmark=tiny")
    if "nowhere" not in query:
        assert {line["system"] for line in ada.get(f"{LIST}?{api}").json()["results"]} == names


def test_teams_are_found_in_any_case_and_containers_by_their_state(world: World, ada: Client) -> None:
    run = world.insert_run()
    run.prediction.runs.all().delete()
    Prediction.objects.update(state=State.FAILED)
    for query, n in (("state=failed", 1), ("state=done", 0), (f"team={world.system.team.name.upper()}", 1)):
        assert len(ada.get(f"{LIST}?{query}").json()["results"]) == n, query


def states(world: World) -> dict[str, set[str]]:
    """Return state -> submissions that the filter lists; asserts that each is shown with this state."""
    rows = [progress.of(row) for row in progress.with_related(Submission.objects.all())]
    shown = {state: {str(row.submission.pk) for row in rows if row.state == state} for state in State}
    for state, expected in shown.items():
        listed = own_submissions.filtered(world.researcher, state=state)
        assert {str(row.pk) for row in listed} == expected, state
    return {state: keys for state, keys in shown.items() if keys}


def test_the_filter_by_state_is_of_the_state_that_is_shown(world: World) -> None:
    first, second = score(world), score(world, "a1")
    assert states(world) == {State.DONE: {first, second}}
    correct(world)
    assert states(world) == {State.DONE: {first, second}}, "the board in preparation is not shown"
    Run.objects.filter(state=State.QUEUED).update(state=State.CANCELLED, finished_at=timezone.now())
    Leaderboard.objects.filter(state=Leaderboard.State.PREPARING).update(state=Leaderboard.State.CANCELLED)
    assert states(world) == {State.DONE: {first, second}}
    Phase.objects.update(ranked_sequence=1)
    assert states(world) == {State.DONE: {first}, State.RUNNING: {second}}, "it waits to be ranked"
    Phase.objects.update(ranked_sequence=2, disclosure=Phase.Disclosure.LADDER)
    waiting = world.insert_run()
    assert states(world)[State.QUEUED] == {str(waiting.prediction.submission_id)}
    ended = {"state": State.DONE, "finished_at": timezone.now(), "outcomes": "o", "outcomes_sha256": "0" * 64}
    Run.objects.filter(pk=waiting.pk).update(**ended)
    assert states(world)[State.RUNNING] == {str(waiting.prediction.submission_id)}, "it waits for earlier runs"


def test_boards_of_the_past_give_no_rank(world: World, ada: Client) -> None:
    submission = score(world)
    assert ada.get(f"{LIST}{submission}/").json()["rank"] == 1
    Leaderboard.objects.update(state=Leaderboard.State.FROZEN)
    assert [line["rank"] for line in ada.get(LIST).json()["results"]] == [None]


def test_the_lowest_score_is_the_best_of_a_measure_of_errors(
    world: World, ada: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong in (("a1", "a2"), ("a1",), ("a1", "a2", "a3")):
        score(world, *wrong)
    errors = SimpleNamespace(measure=lambda name: SimpleNamespace(higher_is_better=False))
    monkeypatch.setattr(own_submissions, "scorer_of_phase", SimpleNamespace(of=lambda phase: errors))
    assert "<title>0.250, best</title>" in text(ada.get(PAGE))


def test_a_ladder_shows_no_score_that_it_does_not_reveal(world: World, ada: Client) -> None:
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
    world.phase.refresh_from_db()
    score(world, "a1", "a2", "a3")
    score(world, "a1", "a2", "a3", "a4")
    values = [line["value"] for line in ada.get(LIST).json()["results"]]
    assert values.count(None) == 2 - sum(bool(row.values) for row in Release.objects.all()) >= 1
    page = text(ada.get(PAGE))
    assert "no improvement" in page and "<polyline" not in page


def test_others_see_none_of_it(world: World, ada: Client) -> None:
    submission = score(world)
    stranger = Client()
    stranger.force_login(User.objects.create_user("bob", "bob@holdout.example", "correct horse"))
    for query in ("", "?search=Bernoulli", "?phase=tiny/test"):
        assert submission not in text(stranger.get(PAGE + query)) and "Bernoulli</bdi>" not in text(
            stranger.get(PAGE + query)
        )


def test_a_sparkline_puts_the_highest_value_on_top() -> None:
    chart = sparkline([0.25, 0.75, 0.5], 1)
    assert chart is not None and [point.y for point in chart.points] == [HEIGHT - MARGIN, MARGIN, HEIGHT / 2]
    assert [point.is_best for point in chart.points] == [False, True, False]
    flat = sparkline([0.5, 0.5], 0)
    assert flat is not None and {point.y for point in flat.points} == {HEIGHT / 2} and sparkline([0.5], 0) is None
