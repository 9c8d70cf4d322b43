"""Pages of a board: the database sorts, filters and cuts as Python does, on the whole and on slices; what is hidden
is not found by asking."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import InvalidQuery, board_of, page_of, parse
from leaderboard.boards.queries.reading import head_of
from leaderboard.boards.queries.request import applied
from leaderboard.models import (
    Disqualification,
    Leaderboard,
    Phase,
    Prediction,
    Release,
    ReleaseSlice,
    Run,
    Score,
    Standing,
    Submission,
    System,
    Team,
)
from leaderboard.scoring.actions import releases
from tests.support.api_calls import ROOT, client_of, person
from tests.support.board_rows import score, stand
from tests.support.tiny_world import World, build

pytestmark = pytest.mark.django_db
API = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard/"
PAGE = "/benchmarks/tiny/test/"
VALUES = (None, 0.0, 0.25, 0.5, 0.5, 0.1 + 0.2, 0.3, 1.0)
KINDS = ("participant", "participant", "participant", "baseline", "organiser")


@pytest.fixture
def world() -> World:
    return build()


def the_phase(world: World) -> Phase:
    return Phase.objects.select_related("benchmark__dataset", "split", "scorer").get(pk=world.phase.pk)


def many(world: World, n: int, seed: int) -> None:
    """Systems with values that tie often, slices that are empty, costs here and there, some disqualified."""
    draw = random.Random(seed)
    at = timezone.now()
    for place in range(n):
        scores = [score("accuracy", draw.choice(VALUES)), score("symmetric_gap", draw.choice(VALUES))]
        for origin in ("original", "generated"):
            value = draw.choice(VALUES)
            scores.append(score("accuracy", value, 0 if value is None else 2, origin=origin))
        stand(
            world,
            f"{draw.choice('abcABC')} system {place}",
            scores,
            team=f"Team {place % 3}",
            at=at - timedelta(minutes=draw.randrange(5)),
            kind=draw.choice(KINDS),
            spent={"wall_seconds": float(draw.choice((1, 2, 2, 8)))} if draw.random() < 0.5 else None,
        )
    for system in System.objects.filter(standings__isnull=False).order_by("pk")[: n // 8]:
        reason = {"reason": "copied", "made_by": world.curator, "made_at": at}
        Disqualification.objects.create(phase=world.phase, system=system, **reason)
        Standing.objects.filter(system=system).update(disqualified="copied", rank=None)
    boards.rank(Leaderboard.objects.get())


ASKED = [
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
    for given in ASKED:
        wanted = parse(head, given)
        expected = applied(everything.rows, wanted)
        filtered += 0 < len(expected) < 24
        page = page_of(head, wanted)
        assert [row.system_id for row in page.board.rows] == [row.system_id for row in expected], given
        assert page.n == len(expected), given
        cells = {row.system_id: row for row in expected}
        for row in page.board.rows:
            assert (row.rank, row.tied) == (cells[row.system_id].rank, cells[row.system_id].tied)
            assert row.cell("accuracy", wanted.slice_) == cells[row.system_id].cell("accuracy", wanted.slice_)
    assert filtered >= 6


def test_pages_are_one_board_cut_apart(world: World) -> None:
    many(world, 11, 3)
    whole = Client().get(API).json()
    assert (whole["count"], whole["next"], whole["previous"]) == (11, None, None)
    found: list[Any] = []
    address = f"{API}?page_size=4&slices=origin"
    while address:
        told = Client().get(address).json()
        assert told["count"] == 11 and len(told["rows"]) <= 4
        found += told["rows"]
        address = told["next"]
    assert [row["system"] for row in found] == [row["system"] for row in whole["rows"]]
    assert [row["rank"] for row in found] == [row["rank"] for row in whole["rows"]]
    assert [row["tied"] for row in found] == [row["tied"] for row in whole["rows"]]
    last = Client().get(f"{API}?page_size=4&page=3").json()
    assert len(last["rows"]) == 3 and last["previous"].endswith("page=2")
    beyond = Client().get(f"{API}?page_size=4&page=9").json()
    assert (beyond["rows"], beyond["next"]) == ([], None)
    assert Client().get(beyond["previous"]).json() == last


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_ties_share_a_rank_whatever_the_order_they_came_in(world: World, order: tuple[int, ...]) -> None:
    at = timezone.now()
    for place in order:
        value = (0.9, 0.5, 0.5, 0.1)[place]
        stand(world, f"s{place}", [score("accuracy", value)], at=at + timedelta(minutes=place))
    told = Client().get(API).json()["rows"]
    assert [(row["system"], row["rank"], row["tied"]) for row in told] == [
        ("s0", 1, False),
        ("s1", 2, True),
        ("s2", 2, True),
        ("s3", 4, False),
    ]


def test_boards_of_none_of_one_and_of_five_hundred(world: World) -> None:
    assert Client().get(API).json()["count"] == 0
    assert Client().get(PAGE).status_code == 200
    first = stand(world, "only", [score("accuracy", 0.5)])
    assert [row["rank"] for row in Client().get(API).json()["rows"]] == [1]
    copies(world, first, 499)
    told = Client().get(f"{API}?page_size=500").json()
    assert told["count"] == len(told["rows"]) == 500
    assert [row["rank"] for row in told["rows"]] == sorted(row["rank"] for row in told["rows"])
    text = Client().get(PAGE).content.decode()
    assert text.count('class="system-name"') == 150 and "500 systems, page 1 of 4" in text
    assert Client().get(f"{PAGE}?page=4").content.decode().count('class="system-name"') == 50


def copies(world: World, first: Release, n: int) -> None:
    """Further systems, with a value each, inserted directly."""
    board = Leaderboard.objects.get()
    for place in range(n):
        system = System.objects.create(team=world.system.team, name=f"copy {first.sequence + place}")
        run = world.insert_run(state="done", finished_at=timezone.now(), outcomes="o", outcomes_sha256="0" * 64)
        value = (first.sequence + place) / 1000
        release = Release.objects.create(
            phase=world.phase,
            sequence=first.sequence + place + 1,
            run=run,
            submission=run.prediction.submission,
            policy="full",
            primary="accuracy",
            values=[score("accuracy", value)],
            released_at=timezone.now(),
        )
        ReleaseSlice.objects.create(release=release, cells={"accuracy": [value, None, None, 4]})
        Standing.objects.create(leaderboard=board, system=system, release=release, value=value)
    boards.rank(board)


def test_an_empty_slice_has_no_value_and_comes_last(world: World) -> None:
    for name, value in (("none", None), ("low", 0.0), ("high", 0.5)):
        n = 0 if value is None else 3
        stand(world, name, [score("accuracy", 0.5), score("accuracy", value, n, origin="generated")])
    for sort, expected in (("accuracy", ["high", "low", "none"]), ("-accuracy", ["low", "high", "none"])):
        told = Client().get(API, {"slice": "origin:generated", "sort": sort}).json()
        assert [row["system"] for row in told["rows"]] == expected
        (of_none,) = told["rows"][-1]["scores"]
        assert (of_none["slice"], of_none["value"], of_none["n"]) == ({"origin": "generated"}, None, 0)
    kept = Client().get(API, {"slice": "origin:generated", "at_least": "0"}).json()["rows"]
    assert [row["system"] for row in kept] == ["high", "low"]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ({"sort": "beauty"}, "sort"),
        ({"sort": "accuracy[origin=mars]"}, "sort"),
        ({"sort": "accuracy[origin=generated"}, "sort"),
        ({"sort": "accuracy\x00"}, "sort"),
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
def test_what_means_nothing_here_is_said_and_changes_nothing(
    world: World, query: dict[str, str], parameter: str
) -> None:
    stand(world, "First", [score("accuracy", 0.5)])
    answer = Client().get(API, query)
    assert answer.status_code == 400
    assert (
        "xpected" in answer.json()["message"]
        or "xpected" in str(answer.json()["fields"])
        or parameter in answer.json()["fields"]
    )
    shown = Client().get(PAGE, query)
    text = shown.content.decode()
    assert shown.status_code == 200 and "First" in text
    assert f"<code>{parameter}</code>" in text and 'role="alert"' in text


def test_a_page_says_what_it_was_asked_and_keeps_it_in_its_links(world: World) -> None:
    many(world, 6, 4)
    query = "slice=origin:generated&columns=accuracy&columns=received_at&kind=participant"
    text = Client().get(f"{PAGE}?{query}").content.decode()
    assert "on origin = generated" in text and "participant only" in text
    assert 'title="Sort by accuracy"' in text and 'title="Sort by symmetric_gap"' not in text
    assert "columns=accuracy&amp;columns=received_at&amp;kind=participant&amp;sort=accuracy" in text
    assert '<option value="origin:generated" selected>' in text
    assert Client().get(f"{PAGE}?columns=accuracy,received_at").content.decode().count("Sort by symmetric_gap") == 0
    assert Client().get(f"{PAGE}?columns=beauty").content.decode().count("Sort by symmetric_gap") > 0


def test_a_hidden_name_is_neither_found_nor_sorted_by(world: World) -> None:
    """Were rows ordered or found by their real names, asking would tell them."""
    until = timezone.now() + timedelta(days=1)
    hidden = {"anonymous_until": until, "anonymous_number": 7}
    stand(world, "Zebra", [score("accuracy", 0.9)], team="Quokka", **hidden)
    stand(world, "Badger", [score("accuracy", 0.5)], team="Marmots")

    def found(client: Client, **query: str) -> list[str]:
        return [row["system"] for row in client.get(API, query).json()["rows"]]

    member = System.objects.get(name="Zebra").team
    grace = person("grace")
    member.members.add(grace)
    assert found(Client(), search="zebra") == found(Client(), search="quokka") == []
    assert found(Client(), search="anonymous") == ["Anonymous 7"] == found(Client(), search="7")
    assert found(Client(), sort="system") == ["Anonymous 7", "Badger"]
    assert found(Client(), sort="team") == ["Anonymous 7", "Badger"]
    assert found(client_of(grace), search="zebra") == ["Zebra"]
    assert found(client_of(grace), sort="system") == ["Badger", "Zebra"]
    assert found(client_of(world.curator), search="quokka") == ["Zebra"]
    assert found(client_of(world.researcher), search="zebra") == []
    assert "Zebra" not in Client().get(f"{PAGE}?search=zebra").content.decode().replace('value="zebra"', "")


def on_a_ladder(world: World, name: str, value: float) -> None:
    """A scored run, of four groups as a whole and of one in its slice, released as the ladder lets it."""
    system = System.objects.create(team=Team.objects.create(name=f"Team of {name}"), name=name)
    run = world.insert_run(
        state="done", finished_at=timezone.now(), outcomes="o", outcomes_sha256="0" * 64, provenance={}
    )
    Submission.objects.filter(pk=run.prediction.submission_id).update(system=system)
    Prediction.objects.filter(pk=run.prediction_id).update(arrival=Prediction.objects.count())
    common = {"run": run, "measure": "accuracy", "value": value, "n": 4}
    Score.objects.create(**common, n_groups=4)
    Score.objects.create(**common, n_groups=1, slice={"origin": "generated"}, slice_key='{"origin":"generated"}')
    with transaction.atomic():
        releases.publish(run=Run.objects.get(pk=run.pk), primary="accuracy", scores=[], warnings=[], at=timezone.now())


def test_a_ladder_is_sorted_and_filtered_by_what_it_told(world: World) -> None:
    """Steps of a half on the whole, of one on the slice: 0.9 is shown as 0.5 and as 0, and so it is asked about."""
    Phase.objects.update(disclosure="ladder")
    on_a_ladder(world, "Right", 1.0)
    on_a_ladder(world, "Almost", 0.9)
    told = [(row["system"], row["scores"][0]["value"]) for row in Client().get(API).json()["rows"]]
    assert told == [("Right", 1.0), ("Almost", 0.5)]
    for bound, expected in (("0.8", ["Right"]), ("0.5", ["Right", "Almost"])):
        assert [row["system"] for row in Client().get(API, {"at_least": bound}).json()["rows"]] == expected
    assert Client().get(API, {"at_most": "0.5"}).json()["count"] == 1
    on_slice = Client().get(API, {"slice": "origin:generated", "at_most": "0.1"}).json()["rows"]
    assert [(row["system"], row["scores"][0]["value"]) for row in on_slice] == [("Almost", 0.0)]


def test_a_board_takes_the_same_queries_for_ten_systems_and_two_hundred(world: World) -> None:
    paths = [API, f"{API}?slices=origin", f"{API}?slice=origin:generated", PAGE, f"{PAGE}?search=s"]

    def taken() -> dict[str, int]:
        found = {}
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                assert Client().get(path).status_code == 200
            found[path] = len(queries)
        return found

    first = stand(world, "s", [score("accuracy", 0.5)])
    copies(world, first, 9)
    of_ten = taken()
    copies(world, Release.objects.latest("sequence"), 190)
    assert taken() == of_ten and max(of_ten.values()) <= 10


def test_asking_reads_names_with_any_sign(world: World) -> None:
    board = head_of(the_phase(world))
    with pytest.raises(InvalidQuery, match="expected one of: label:REFUTES"):
        parse(board, {"slice": "a,b:c"})
    assert parse(board, {"slice": "origin:original,label:REFUTES"}).slice_ == (
        ("label", "REFUTES"),
        ("origin", "original"),
    )
