"""Pages of a board: the database sorts, filters and paginates as Python does, on the whole and on slices; filters do
not reveal hidden names."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import InvalidQuery, board_of, page_of, parse
from leaderboard.boards.queries.reading import head_of
from leaderboard.models import (
    Disqualification,
    Leaderboard,
    Phase,
    Prediction,
    Release,
    ReleaseSlice,
    Score,
    Standing,
    Submission,
    System,
    Team,
)
from tests.support.api_calls import ROOT, client_of, person
from tests.support.rows.board_queries import applied
from tests.support.rows.board_rows import publish, score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
API = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard/"
PAGE = "/benchmarks/tiny/test/"
VALUES = (None, 0.0, 0.25, 0.5, 0.5, 0.1 + 0.2, 0.3, 1.0)
KINDS = ("participant", "participant", "participant", "baseline", "organiser")


world, _django_db_helper = shared_states(world=build)


def the_phase(world: World) -> Phase:
    return Phase.objects.select_related("benchmark__dataset", "split", "scorer").get(pk=world.phase.pk)


def many(world: World, n: int, seed: int) -> None:
    """Systems with values that tie often, empty slices, some costs, and some disqualified."""
    draw = random.Random(seed)
    at = timezone.now()
    for index in range(n):
        scores = [score("accuracy", draw.choice(VALUES)), score("symmetric_gap", draw.choice(VALUES))]
        for origin in ("original", "generated"):
            value = draw.choice(VALUES)
            scores.append(score("accuracy", value, 0 if value is None else 2, origin=origin))
        stand(
            world,
            f"{draw.choice('abcABC')} system {index}",
            scores,
            team=f"Team {index % 3}",
            at=at - timedelta(minutes=draw.randrange(5)),
            kind=draw.choice(KINDS),
            spent={"wall_seconds": float(draw.choice((1, 2, 2, 8)))} if draw.random() < 0.5 else None,
        )
    for system in System.objects.filter(standings__isnull=False).order_by("pk")[: n // 8]:
        reason = {"reason": "copied", "created_by": world.curator, "created_at": at}
        Disqualification.objects.create(phase=world.phase, system=system, **reason)
        Standing.objects.filter(system=system).update(disqualified="copied", rank=None)
    boards.rank(Leaderboard.objects.get())


QUERIES = [
    {},
    {"sort": "-accuracy"},
    {"sort": "symmetric_gap"},
    {"sort": "accuracy[origin=generated]"},
    {"sort": "-accuracy[origin=original]", "slice": "origin:generated"},
    {"slice": "origin:original"},
    {"slice": "origin:original", "sort": "-accuracy", "kind": "participant"},
    {"sort": "rank"},
    {"sort": "-rank"},
    {"sort": "received_at"},
    {"sort": "-released_at"},
    {"sort": "wall_seconds"},
    {"sort": "-memory_mb"},
    {"sort": "system"},
    {"sort": "-system", "kind": "baseline"},
    {"sort": "team"},
    {"search": "SYSTEM 1"},
    {"search": "team 2 a"},
    {"at_least": "0.3"},
    {"by": "symmetric_gap", "at_least": "0.25", "at_most": "0.5", "sort": "symmetric_gap"},
    {"by": "accuracy[origin=generated]", "at_most": "0.25"},
    {"by": "wall_seconds", "at_least": "2"},
    {"slice": "origin:generated", "at_least": "0.3", "search": "b"},
]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_database_orders_and_filters_as_python_does(world: World, seed: int) -> None:
    many(world, 24, seed)
    phase = the_phase(world)
    everything = board_of(phase)
    head = head_of(phase)
    assert head.summary == everything.summary
    filtered = 0
    for query in QUERIES:
        board_query = parse(head, query)
        expected = applied(everything.rows, board_query)
        filtered += 0 < len(expected) < 24
        page = page_of(head, board_query)
        assert [row.system_id for row in page.board.rows] == [row.system_id for row in expected], query
        assert page.n == len(expected), query
        by_system = {row.system_id: row for row in expected}
        for row in page.board.rows:
            assert (row.rank, row.tied) == (by_system[row.system_id].rank, by_system[row.system_id].tied)
            assert row.score("accuracy", board_query.slice_) == by_system[row.system_id].score(
                "accuracy", board_query.slice_
            )
    assert filtered >= 6


def test_pages_together_are_the_whole_board(world: World) -> None:
    many(world, 11, 3)
    unpaginated = Client().get(API).json()
    assert (unpaginated["count"], unpaginated["next"], unpaginated["previous"]) == (11, None, None)
    rows: list[Any] = []
    address = f"{API}?page_size=4&slices=origin"
    while address:
        content = Client().get(address).json()
        assert content["count"] == 11 and len(content["rows"]) <= 4
        rows += content["rows"]
        address = content["next"]
    assert [row["system"] for row in rows] == [row["system"] for row in unpaginated["rows"]]
    assert [row["rank"] for row in rows] == [row["rank"] for row in unpaginated["rows"]]
    assert [row["tied"] for row in rows] == [row["tied"] for row in unpaginated["rows"]]
    last = Client().get(f"{API}?page_size=4&page=3").json()
    assert len(last["rows"]) == 3 and last["previous"].endswith("page=2")
    beyond = Client().get(f"{API}?page_size=4&page=9").json()
    assert (beyond["rows"], beyond["next"]) == ([], None)
    assert Client().get(beyond["previous"]).json() == last


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_ties_share_a_rank_in_any_order_of_receipt(world: World, order: tuple[int, ...]) -> None:
    at = timezone.now()
    for position in order:
        value = (0.9, 0.5, 0.5, 0.1)[position]
        stand(world, f"s{position}", [score("accuracy", value)], at=at + timedelta(minutes=position))
    rows = Client().get(API).json()["rows"]
    assert [(row["system"], row["rank"], row["tied"]) for row in rows] == [
        ("s0", 1, False),
        ("s1", 2, True),
        ("s2", 2, True),
        ("s3", 4, False),
    ]


def test_boards_with_no_one_and_five_hundred_systems(world: World) -> None:
    assert Client().get(API).json()["count"] == 0
    assert Client().get(PAGE).status_code == 200
    first = stand(world, "only", [score("accuracy", 0.5)])
    assert [row["rank"] for row in Client().get(API).json()["rows"]] == [1]
    copies(world, first, 499)
    content = Client().get(f"{API}?page_size=500").json()
    assert content["count"] == len(content["rows"]) == 500
    assert [row["rank"] for row in content["rows"]] == sorted(row["rank"] for row in content["rows"])
    text = Client().get(PAGE).content.decode()
    assert text.count('class="system-name"') == 150 and "500 systems, page 1 of 4" in text
    assert Client().get(f"{PAGE}?page=4").content.decode().count('class="system-name"') == 50


def copies(world: World, first: Release, n: int) -> None:
    """More systems, each with a value, inserted directly."""
    board = Leaderboard.objects.get()
    for index in range(n):
        system = System.objects.create(team=world.system.team, name=f"copy {first.sequence + index}")
        run = world.insert_run(state="done", finished_at=timezone.now(), outcomes="o", outcomes_sha256="0" * 64)
        value = (first.sequence + index) / 1000
        release = Release.objects.create(
            phase=world.phase,
            sequence=first.sequence + index + 1,
            run=run,
            submission=run.prediction.submission,
            policy="full",
            primary="accuracy",
            values=[score("accuracy", value)],
            released_at=timezone.now(),
        )
        ReleaseSlice.objects.create(release=release, scores={"accuracy": [value, None, None, 4]})
        Standing.objects.create(leaderboard=board, system=system, release=release, value=value)
    boards.rank(board)


def test_an_empty_slice_has_no_value_and_comes_last(world: World) -> None:
    for name, value in (("none", None), ("low", 0.0), ("high", 0.5)):
        n = 0 if value is None else 3
        stand(world, name, [score("accuracy", 0.5), score("accuracy", value, n, origin="generated")])
    for sort, expected in (("accuracy", ["high", "low", "none"]), ("-accuracy", ["low", "high", "none"])):
        content = Client().get(API, {"slice": "origin:generated", "sort": sort}).json()
        assert [row["system"] for row in content["rows"]] == expected
        (of_none,) = content["rows"][-1]["scores"]
        assert (of_none["slice"], of_none["value"], of_none["n"]) == ({"origin": "generated"}, None, 0)
    filtered = Client().get(API, {"slice": "origin:generated", "at_least": "0"}).json()["rows"]
    assert [row["system"] for row in filtered] == ["high", "low"]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ({"sort": "beauty"}, "sort"),
        ({"sort": "accuracy[origin=mars]"}, "sort"),
        ({"sort": "accuracy[origin=generated"}, "sort"),
        ({"sort": "accuracy\x00"}, "sort"),
        ({"search": "Fir\x00st"}, "search"),
        ({"slice": "origin:mars"}, "slice"),
        ({"slice": "origin:generated,origin:original"}, "slice"),
        ({"kind": "human"}, "kind"),
        ({"at_least": "nan"}, "at_least"),
        ({"at_most": "1e999"}, "at_most"),
        ({"by": "system", "at_least": "1"}, "by"),
        ({"by": "beauty", "at_least": "1"}, "by"),
        ({"page": "0"}, "page"),
        ({"page_size": "501"}, "page_size"),
        ({"as_of": "yesterday"}, "as_of"),
        ({"as_of": "2999-01-01"}, "as_of"),
    ],
)
def test_an_invalid_query_is_reported_and_has_no_effect(world: World, query: dict[str, str], parameter: str) -> None:
    stand(world, "First", [score("accuracy", 0.5)])
    answer = Client().get(API, query)
    assert answer.status_code == 400
    assert (
        "xpected" in answer.json()["message"]
        or "xpected" in str(answer.json()["fields"])
        or parameter in answer.json()["fields"]
    )
    response = Client().get(PAGE, query)
    text = response.content.decode()
    assert response.status_code == 200 and "First" in text
    assert f"<code>{parameter}</code>" in text and 'role="alert"' in text


def test_a_page_shows_its_query_and_repeats_it_in_links(world: World) -> None:
    many(world, 6, 4)
    query = "slice=origin:generated&columns=accuracy&columns=received_at&kind=participant"
    text = Client().get(f"{PAGE}?{query}").content.decode()
    assert "origin = generated" in text and "participant only" in text
    assert 'title="Sort by Accuracy (accuracy)"' in text and "(symmetric_gap)" not in text
    assert "columns=accuracy&amp;columns=received_at&amp;kind=participant&amp;sort=accuracy" in text
    assert '<option value="origin:generated" selected>' in text
    assert Client().get(f"{PAGE}?columns=accuracy,received_at").content.decode().count("(symmetric_gap)") == 0
    assert Client().get(f"{PAGE}?columns=beauty").content.decode().count("(symmetric_gap)") > 0


def test_a_hidden_name_cannot_be_searched_or_sorted_by(world: World) -> None:
    """Sorting or searching by real names would reveal them."""
    hidden_until = timezone.now() + timedelta(days=1)
    hidden = {"anonymous_until": hidden_until, "anonymous_number": 7}
    stand(world, "Zebra", [score("accuracy", 0.9)], team="Quokka", **hidden)
    stand(world, "Badger", [score("accuracy", 0.5)], team="Marmots")

    def systems_found(client: Client, **query: str) -> list[str]:
        return [row["system"] for row in client.get(API, query).json()["rows"]]

    member = System.objects.get(name="Zebra").team
    grace = person("grace")
    member.members.add(grace)
    assert systems_found(Client(), search="zebra") == systems_found(Client(), search="quokka") == []
    assert systems_found(Client(), search="anonymous") == ["Anonymous 7"] == systems_found(Client(), search="7")
    assert systems_found(Client(), sort="system") == ["Anonymous 7", "Badger"]
    assert systems_found(Client(), sort="team") == ["Anonymous 7", "Badger"]
    assert systems_found(client_of(grace), search="zebra") == ["Zebra"]
    assert systems_found(client_of(grace), sort="system") == ["Badger", "Zebra"]
    assert systems_found(client_of(world.curator), search="quokka") == ["Zebra"]
    assert systems_found(client_of(world.researcher), search="zebra") == []
    assert "Zebra" not in Client().get(f"{PAGE}?search=zebra").content.decode().replace('value="zebra"', "")


def scored_on_ladder(world: World, name: str, value: float) -> None:
    """A scored run, with four groups on the whole and one in its slice, released as the ladder allows."""
    system = System.objects.create(team=Team.objects.create(name=f"Team of {name}"), name=name)
    run = world.insert_run(
        state="done", finished_at=timezone.now(), outcomes="o", outcomes_sha256="0" * 64, provenance={}
    )
    Submission.objects.filter(pk=run.prediction.submission_id).update(system=system)
    Prediction.objects.filter(pk=run.prediction_id).update(sequence=Prediction.objects.count())
    common = {"run": run, "measure": "accuracy", "value": value, "n": 4}
    Score.objects.create(**common, n_groups=4)
    Score.objects.create(**common, n_groups=1, slice={"origin": "generated"}, slice_key='{"origin":"generated"}')
    publish(run, scores=[])


def test_a_ladder_board_sorts_and_filters_by_shown_values(world: World) -> None:
    """Steps of a half on the whole, of one on the slice: 0.9 is shown as 0.5 and as 0, and filters use these values."""
    Phase.objects.update(disclosure="ladder")
    scored_on_ladder(world, "Right", 1.0)
    scored_on_ladder(world, "Almost", 0.9)
    shown_rows = [(row["system"], row["scores"][0]["value"]) for row in Client().get(API).json()["rows"]]
    assert shown_rows == [("Right", 1.0), ("Almost", 0.5)]
    for bound, expected in (("0.8", ["Right"]), ("0.5", ["Right", "Almost"])):
        assert [row["system"] for row in Client().get(API, {"at_least": bound}).json()["rows"]] == expected
    assert Client().get(API, {"at_most": "0.5"}).json()["count"] == 1
    on_slice = Client().get(API, {"slice": "origin:generated", "at_most": "0.1"}).json()["rows"]
    assert [(row["system"], row["scores"][0]["value"]) for row in on_slice] == [("Almost", 0.0)]


def test_a_board_takes_the_same_queries_for_ten_systems_and_two_hundred(world: World) -> None:
    paths = [API, f"{API}?slices=origin", f"{API}?slice=origin:generated", PAGE, f"{PAGE}?search=s"]

    def query_counts() -> dict[str, int]:
        counts = {}
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                assert Client().get(path).status_code == 200
            counts[path] = len(queries)
        return counts

    first = stand(world, "s", [score("accuracy", 0.5)])
    copies(world, first, 9)
    of_ten = query_counts()
    copies(world, Release.objects.latest("sequence"), 190)
    assert query_counts() == of_ten and max(of_ten.values()) <= 10


def test_query_names_may_have_any_character(world: World) -> None:
    board = head_of(the_phase(world))
    with pytest.raises(InvalidQuery, match="expected one of: label:REFUTES"):
        parse(board, {"slice": "a,b:c"})
    assert parse(board, {"slice": "origin:original,label:REFUTES"}).slice_ == (
        ("label", "REFUTES"),
        ("origin", "original"),
    )
