"""Board queries: rows, scores, dimensions and reported rows, in a fixed number of queries."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.boards.queries import WHOLE, Board, board_of, by_primary, page_of, reading, slice_of
from leaderboard.boards.queries.board import Summary
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.queries.request import BoardQuery, first_column
from leaderboard.models import Phase, ReportedResult, Split, System
from leaderboard.systems.actions import systems
from tests.support.rows.board_rows import score, stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
GENERATED = (("origin", "generated"),)


world, _django_db_helper = shared_states(world=build)


def board(world: World) -> Board:
    return board_of(Phase.objects.select_related("benchmark__dataset", "split").get(pk=world.phase.pk))


def test_a_row_shows_what_was_revealed(world):
    release = stand(world, "Engine", team="Others", warnings=("look",), kind="baseline", paper_url="https://p.example")
    (row,) = board(world).rows
    assert (row.system, row.team, row.kind, row.rank, row.competes) == ("Engine", "Others", "baseline", None, False)
    assert (row.submission_id, row.released_at) == (release.submission_id, release.released_at)
    assert (list(row.warnings), row.paper_url) == (["look"], "https://p.example")
    slice_score = row.score("accuracy", GENERATED)
    assert (slice_score.value, slice_score.n) == (0.6, 3)
    assert (slice_score.low, slice_score.high) == pytest.approx((0.5, 0.7))
    assert row.score("accuracy", (("origin", "elsewhere"),)).value is None


def test_a_later_and_worse_run_changes_nothing(world):
    stand(world, "Engine", symmetric_scores(0.9))
    stand(world, "Engine", symmetric_scores(0.1))
    assert [row.score("accuracy").value for row in board(world).rows] == [0.9]


def test_ties_share_a_rank_and_are_marked(world):
    for name, value in [("a", 0.5), ("b", 0.7), ("c", 0.5)]:
        stand(world, name, symmetric_scores(value))
    rows = by_primary(board(world))
    assert [(row.system, row.rank, row.tied) for row in rows] == [("b", 1, False), ("a", 2, True), ("c", 2, True)]


def test_a_system_that_does_not_compete_has_a_position_but_no_rank(world):
    stand(world, "top", symmetric_scores(0.9), kind="organiser")
    stand(world, "first", symmetric_scores(0.8))
    stand(world, "nothing", symmetric_scores(None))
    stand(world, "second", symmetric_scores(0.2))
    rows = by_primary(board(world))
    assert [(row.system, row.rank) for row in rows] == [("top", None), ("first", 1), ("second", 2), ("nothing", None)]
    assert not rows[-1].tied


def test_unordered_rows_are_in_order_of_receipt(world):
    at = timezone.now()
    stand(world, "late", at=at)
    stand(world, "early", at=at - timedelta(days=1))
    assert [row.system for row in board(world).rows] == ["early", "late"]


def test_the_gold_determines_measures_and_dimensions(world):
    stand(world, "Engine", [*symmetric_scores(), score("fever_score", 0.5)])
    shown_board = board(world)
    assert shown_board.measures[0].name == shown_board.primary == "accuracy"
    assert {measure.name for measure in shown_board.measures} == set(world.gold.measures)
    assert shown_board.dimensions == {"label": ["REFUTES", "SUPPORTS"], "origin": ["generated", "original"]}
    assert [measure.name for measure in shown_board.measures_on(["origin"])] == ["accuracy"]


def test_n_comes_from_the_gold_and_is_unknown_before_the_first_release(world):
    assert board(world).values("origin", "accuracy")[0].n is None
    stand(world, "Engine")
    shown_board = board(world)
    assert [(value.value, value.n) for value in shown_board.values("origin", "accuracy")] == [
        ("generated", 3),
        ("original", 1),
    ]
    assert (shown_board.n("accuracy"), shown_board.n("group_accuracy"), shown_board.n("nothing")) == (4, 1, None)


def test_slice_values_that_are_no_strings_are_shown_as_json():
    assert slice_of({}) == WHOLE
    assert slice_of({"b": True, "a": 0.2}) == (("a", "0.2"), ("b", "true"))
    assert slice_of({"a": "true"}) == (("a", "true"),)


def test_a_board_takes_a_constant_number_of_queries(world, django_assert_num_queries):
    phase = Phase.objects.select_related("benchmark__dataset", "split").get(pk=world.phase.pk)
    for count in (1, 12):
        for index in range(count):
            stand(world, f"system {count} {index}")
        with django_assert_num_queries(3):
            shown_board = board_of(phase)
            assert [row.team for row in shown_board.rows]


def test_only_requested_slices_are_read(world):
    stand(world, "Engine")
    phase = Phase.objects.select_related("benchmark__dataset", "split").get(pk=world.phase.pk)
    (row,) = board_of(phase, within=()).rows
    assert {slice_ for _, slice_ in row.scores} == {WHOLE}
    (row,) = board_of(phase, within=["origin"]).rows
    assert {slice_ for _, slice_ in row.scores} == {WHOLE, GENERATED, (("origin", "original"),)}


def test_reported_rows_keep_their_own_columns_and_printed_numbers(world, django_assert_num_queries):
    for system, values in {
        "NSMN": [{"measure": "accuracy", "slice": {"origin": "generated"}, "value": 0.587, "shown": "58.7"}],
        "BERT": [{"measure": "accuracy", "slice": {}, "value": 0.862, "shown": "86.2"}],
    }.items():
        ReportedResult.objects.create(
            benchmark=world.benchmark, system=system, paper="A paper", split="dev", values=values
        )
    with django_assert_num_queries(1):
        reported = reported_of(world.benchmark)
    assert reported.columns == [("accuracy", WHOLE), ("accuracy", GENERATED)]
    assert [(row.system, printed) for row, printed in reported.table] == [
        ("NSMN", ["", "58.7"]),
        ("BERT", ["86.2", ""]),
    ]


def test_a_board_crosses_the_dimensions_of_its_phase_or_split(world):
    assert board(world).crossed is None
    for options, crossed in [
        ({"cross": "label,origin"}, ("label", "origin")),
        ({"cross": "label,weather"}, None),
        ({"cross": "label"}, None),
    ]:
        Phase.objects.update(options=options)
        assert board(world).crossed == crossed
    Phase.objects.update(options={})
    Split.objects.update(options={"cross": "origin,label"})
    assert board(world).crossed == ("origin", "label")


def test_measures_exist_only_on_requested_dimensions(world):
    stand(world, "Engine", [*symmetric_scores(), score("group_accuracy", 0.5, origin="original", label="SUPPORTS")])
    shown_board = board(world)
    assert [measure.name for measure in shown_board.measures_on(["label", "origin"])] == ["group_accuracy"]
    assert [measure.name for measure in shown_board.measures_on(["label"])] == ["accuracy"]


def test_reported_rows_can_be_filtered_by_dimension(world):
    for system, slice_ in {"whole": {}, "one": {"origin": "x"}, "two": {"origin": "x", "label": "y"}}.items():
        value = {"measure": "accuracy", "slice": slice_, "value": 0.5, "shown": "50"}
        ReportedResult.objects.create(benchmark=world.benchmark, system=system, paper="P", split="s", values=[value])
    reported = reported_of(world.benchmark)
    assert [row.system for row in reported.on("origin").rows] == ["one"]
    assert [row.system for row in reported.on("label", "origin").rows] == ["two"]
    assert reported.on("weather").rows == []


def test_pages_in_the_order_of_ranks_are_those_of_the_whole_board(world: World) -> None:
    """Ties share ranks, and some rows lack them."""
    world.benchmark.organisers.add(world.curator)
    values = (0.5, 0.5, 0.25, None, 0.75, 0.5, 0.125, 1.0, 0.5)
    for number, value in enumerate(values):
        kind = System.Kind.BASELINE if number in (5, 7) else System.Kind.PARTICIPANT
        stand(world, f"System {number}", [score("accuracy", value)], kind=kind)
    first = System.objects.get(name="System 0")
    systems.disqualify(phase=world.phase, system=first, reason="copied", by=world.curator)
    head = reading.head_of(Phase.objects.select_related("benchmark", "split").get())
    assert head.leaderboard is not None
    assert reading.summary_of(head.leaderboard) == Summary.of(board(world).rows)
    whole = [row.system_id for row in by_primary(board(world))]
    column = first_column(head)
    for size in range(1, len(values) + 1):
        for page in range(1, len(values) // size + 2):
            query = BoardQuery(sort=column, descending=column.best_first, page=page, size=size)
            rows = page_of(head, query).board.rows
            assert [row.system_id for row in rows] == whole[(page - 1) * size : page * size]
