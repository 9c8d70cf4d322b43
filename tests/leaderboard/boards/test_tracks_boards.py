"""Boards of a phase with tracks: the mark, the filter, each track's own ranking, and the exports."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.benchmarks.actions import benchmarks
from leaderboard.boards.actions import boards, tracks
from leaderboard.boards.queries.track_ranks import ranks_of
from leaderboard.models import Leaderboard, ReportedResult
from tests.support.api_calls import ROOT
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.rows.track_phases import build_with_tracks

pytestmark = pytest.mark.django_db
BOARD = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard"
SYSTEMS = (
    # System, track, accuracy, kind.
    ("Best", "simple", 0.9, "participant"),
    ("Twin A", "thorough", 0.8, "participant"),
    ("Twin B", "thorough", 0.8, "participant"),
    ("Twin C", "simple", 0.8, "participant"),
    ("Ours", "thorough", 0.7, "baseline"),
    ("Last", "thorough", 0.2, "participant"),
)
# For each system, calculated by hand: rank on the board, rank in the track.
RANKS = {
    "Best": (1, 1),
    "Twin A": (2, 1),
    "Twin B": (2, 1),
    "Twin C": (2, 2),
    "Ours": (None, None),
    "Last": (5, 3),
}


def built() -> World:
    world = build_with_tracks()
    for name, track, accuracy, kind in SYSTEMS:
        stand(world, name, symmetric_scores(accuracy, original=accuracy), track=track, kind=kind)
    boards.rank(Leaderboard.objects.get())
    return world


world, _django_db_helper = shared_states(world=built)


def board_content(client: Client, **query: str) -> dict[str, Any]:
    answer = client.get(f"{BOARD}/", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def ranks(rows: list[dict[str, Any]]) -> dict[str, tuple[int | None, int | None]]:
    return {row["system"]: (row["rank"], row["track_rank"]) for row in rows}


def test_ranks_within_tracks_do_not_depend_on_the_sort_order() -> None:
    ranked = [("a", 1), ("b", 2), ("a", 2), ("b", 2), ("b", 5), ("b", None), ("", 1)]
    expected = {("a", 1): (1, False), ("a", 2): (2, False), ("b", 2): (1, True), ("b", 5): (3, False)}
    assert ranks_of(ranked) == ranks_of(reversed(ranked)) == expected


def test_the_api_shows_tracks_and_ranks_within_them(world: World, client: Client) -> None:
    all_rows = board_content(client)
    assert all_rows["tracks"] == ["simple", "thorough"]
    assert ranks(all_rows["rows"]) == RANKS
    assert {row["system"]: row["track"] for row in all_rows["rows"]} == {name: track for name, track, *_ in SYSTEMS}
    as_of_today = board_content(client, as_of=all_rows["rows"][0]["released_at"][:10])
    assert ranks(as_of_today["rows"]) == RANKS


def test_a_page_of_a_track_keeps_the_ranks(world: World, client: Client) -> None:
    page = board_content(client, track="thorough", page_size="2", page="2")
    assert (page["count"], ranks(page["rows"])) == (4, {name: RANKS[name] for name in ("Ours", "Last")})
    day = page["rows"][0]["released_at"][:10]
    assert ranks(board_content(client, track="thorough", as_of=day)["rows"]).keys() == {
        "Twin A",
        "Twin B",
        "Ours",
        "Last",
    }


def test_an_unknown_track_is_reported(world: World, client: Client) -> None:
    answer = client.get(f"{BOARD}/", {"track": "basic"})
    assert answer.status_code == 400
    assert "expected one of: simple, thorough." in str(answer.json())


def test_csv_has_both_columns_where_there_are_tracks(world: World, client: Client) -> None:
    rows = list(csv.DictReader(io.StringIO(client.get(f"{BOARD}.csv").content.decode())))
    numbers = {row["system"]: (row["rank"], row["track_rank"]) for row in rows}
    assert numbers == {name: tuple("" if n is None else str(n) for n in pair) for name, pair in RANKS.items()}


def test_a_board_without_tracks_is_unchanged(client: Client) -> None:
    stand(build(), "Alone")
    assert "track" not in client.get(f"{BOARD}.csv").content.decode()
    row = board_content(client)["rows"][0]
    assert (row["track"], row["track_rank"]) == ("", None)
    assert "track" not in client.get(reverse("leaderboard", args=["tiny", "test"])).content.decode().lower()
    assert client.get(reverse("board_by_track", args=["tiny", "test"])).status_code == 404


def test_exported_tables_name_the_track(world: World, client: Client) -> None:
    assert "Ours *(THOROUGH, baseline)*" in client.get(f"{BOARD}.md").content.decode()
    assert r"Best \textit{(SIMPLE)}" in client.get(f"{BOARD}.tex").content.decode()


def sections(page: str) -> dict[str, list[tuple[str, str]]]:
    """The page by track: title -> (rank, system) of each row, as shown."""
    by_title = {}
    for title, body in re.findall(r'<h2 id="track-\w+" dir="auto">(\w+)</h2>(.*?)</section>', page, re.DOTALL):
        rows = re.findall(
            r'<td class="col-rank num">(.*?)</td>.*?class="system-name" dir="auto">([^<]+)<', body, re.DOTALL
        )
        by_title[title] = [
            (re.sub("<.*?>", "", rank.partition('<span class="rank-range">')[0]), name) for rank, name in rows
        ]
    return by_title


def test_each_track_is_ranked_by_itself(world: World, client: Client) -> None:
    page = client.get(reverse("board_by_track", args=["tiny", "test"])).content.decode()
    assert sections(page) == {
        "SIMPLE": [("1", "Best"), ("2", "Twin C")],
        "THOROUGH": [("1=", "Twin A"), ("1=", "Twin B"), ("\N{EN DASH} not ranked", "Ours"), ("3", "Last")],
    }
    # Values of one dimension are next to the whole; the dimension can be chosen.
    assert page.count('<span class="rank-range">2 overall</span>') == 3
    assert "<bdi>SUPPORTS</bdi>" in page and "<bdi>original</bdi>" not in page
    other = client.get(reverse("board_by_track", args=["tiny", "test"]), {"dimension": "origin"}).content.decode()
    assert "<bdi>original</bdi>" in other and "<bdi>SUPPORTS</bdi>" not in other
    assert client.get(reverse("board_by_track", args=["tiny", "test"]), {"dimension": "no"}).status_code == 404


def test_reported_rows_are_in_their_track(world: World, client: Client) -> None:
    values = [{"measure": "accuracy", "slice": {}, "value": 0.039, "shown": "3.9"}]
    for system, track in (("In thorough", "thorough"), ("In none", "")):
        described = {"paper": "A paper", "split": "test", "values": values, "track": track}
        row = ReportedResult(benchmark=world.benchmark, system=system, **described)
        benchmarks.add_reported(row=row, by=world.curator)
    page = client.get(reverse("board_by_track", args=["tiny", "test"])).content.decode()
    simple, thorough = page.split('id="track-thorough"')
    assert "In thorough" in thorough and "In thorough" not in simple and "In none" not in page
    assert [row["track"] for row in board_content(client)["reported"]] == ["thorough", ""]


def test_the_page_marks_filters_and_shows_both_ranks(world: World, client: Client) -> None:
    page = client.get(reverse("leaderboard", args=["tiny", "test"]), {"track": "thorough"}).content.decode()
    names = re.findall(r'class="system-name" dir="auto">([^<]+)<', page)
    assert {"Twin A", "Last"} <= set(names) and "Best" not in names
    assert page.count('<span class="tag" title="track"><bdi>THOROUGH</bdi></span>') == 4
    assert '<option value="thorough" selected>THOROUGH</option>' in page


def test_a_new_title_of_a_track_is_shown_at_once(world: World, client: Client) -> None:
    address = reverse("leaderboard", args=["tiny", "test"])
    tag = client.get(address)["ETag"]
    retitled = [{**track, "title": f"{track['title']} 2"} for track in world.phase.tracks]
    tracks.change(phase=world.phase, new_tracks=retitled, by=world.curator)
    revalidated = client.get(address, headers={"If-None-Match": tag})
    assert revalidated.status_code == 200 and "<bdi>SIMPLE 2</bdi>" in revalidated.content.decode()
