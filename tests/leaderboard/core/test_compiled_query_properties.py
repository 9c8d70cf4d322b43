"""For any parameters, a compiled statement gives the same results as the queryset it was compiled from.

Run on SQLite, and with HOLDOUT_DATABASE_URL on PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from itertools import product
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from leaderboard.boards.queries import as_of, lookup, paging, reading, visible_boards
from leaderboard.boards.queries.request import BoardQuery, Column
from leaderboard.boards.web import etag
from leaderboard.core.compiled_queries import PLACEHOLDERS, Argument, PreparedQuery
from leaderboard.models import Benchmark, Leaderboard, Phase, Release, Standing, Submission, System
from tests.support.full_run import examples
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
MANY = settings(
    max_examples=examples(60), deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NOON = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
ZONES = [UTC, ZoneInfo("Asia/Kathmandu"), ZoneInfo("America/St_Johns"), timezone(-timedelta(hours=11, minutes=30))]
NAMES = [
    "Zoë",
    "zoë",
    "Ωmega ☃",
    "名前",
    "%s",
    "100 %",
    'it\'s "so"',
    "\\",
    "\N{REPLACEMENT CHARACTER}0",
    "e\u0301",
    "é",
    " ",
]
# PostgreSQL accepts neither NUL nor half of a surrogate pair.
TEXTS = st.sampled_from([*NAMES, "tiny", "test"]) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20
)
NUMBERS = st.integers(-3, 40) | st.integers(-(2**63), 2**63 - 1)
MOMENTS = st.builds(
    lambda seconds, zone: (NOON + timedelta(seconds=seconds)).astimezone(zone),
    st.sampled_from([0, 1e-6, -1e-6, 3600, -3600]) | st.integers(-(10**8), 10**8),
    st.sampled_from(ZONES),
)
PARAMETERS: dict[type, st.SearchStrategy[Any]] = {str: TEXTS, int: NUMBERS, datetime: MOMENTS}


def populate() -> World:
    world = build()
    for index, name in enumerate(NAMES):
        value = [0.25, 0.5, None][index % 3]
        scores = [score("accuracy", value), score("accuracy", value, 1, origin="original")]
        submission = stand(
            world, f"System {index}", scores, team=f"Team {index}", at=NOON + timedelta(hours=index // 2)
        )
        System.objects.filter(pk=submission.submission.system_id).update(name=name)
    System.objects.filter(name="Zoë").update(anonymous_until=NOON, anonymous_number=1)
    made_of = {"phase": world.phase, "gold_version": world.gold, "task_version": 9, "shown_from": NOON}
    Leaderboard.objects.create(state=Leaderboard.State.FROZEN, **made_of)
    return world


world, _django_db_helper = shared(populate)


def _between(system: str, start: datetime, end: datetime) -> QuerySet[Any, Any]:
    queryset = Submission.objects.filter(received_at__gte=start, received_at__lt=end)
    return queryset.filter(Q(system__name=system) | Q(system__team__name=system)).order_by("pk").values_list("pk")


def _annotated(name: str, twice: int) -> QuerySet[Any, Any]:
    """The number is used three times, once in the selected columns."""
    standings = Standing.objects.filter(system=OuterRef("pk"), leaderboard=twice)
    queryset = System.objects.annotate(
        is_ranked=Exists(standings), number=Value(twice), label=Concat(F("name"), Value(name))
    )
    return (
        queryset.filter(~Q(pk=twice))
        .order_by("pk")
        .values_list("name", "is_ranked", "number", "label", "anonymous_until")
    )


QUERIES: dict[str, tuple[Callable[..., QuerySet[Any, Any]], tuple[type[Argument], ...]]] = {
    "by text": (lambda name: System.objects.filter(name=name).select_related("team"), (str,)),
    "by number, with a related object that may be missing": (
        lambda pk: Release.objects.filter(pk__lte=pk).select_related("submission__image", "run").order_by("pk"),
        (int,),
    ),
    "by moments and text": (_between, (str, datetime, datetime)),
    "selected and filtered by": (_annotated, (str, int)),
    "of one kind twice": (
        lambda low, high: Release.objects.filter(pk__gt=low, pk__lte=high).order_by("pk").values_list("released_at"),
        (int, int),
    ),
    "counted by": (
        lambda since: Submission.objects.filter(received_at__gt=since).values("system").annotate(n=Count("pk"))
        .order_by("system").values_list("system__name", "n"),
        (datetime,),
    ),
    "JSON, ids and moments": (
        lambda until: Release.objects.filter(released_at__lte=until).order_by("pk")
        .values_list("run_id", "warnings", "values", "released_at"),
        (datetime,),
    ),
    "current board": (lambda phase: visible_boards._in_state(Leaderboard.State.CURRENT, phase), (int,)),
    "frozen boards": (lambda phase: visible_boards._in_state(Leaderboard.State.FROZEN, phase), (int,)),
    "counted rows": (reading._counted, (int,)),
    "tags": (etag._boards, (str, str, datetime)),
}  # fmt: skip


def _state(item: Any, deep: int = 2) -> Any:
    """A model with its cached related objects, which may refer back to it; other values unchanged."""
    if isinstance(item, tuple) or not deep:
        return item
    related = item._state.fields_cache.items()
    own = {name: value for name, value in vars(item).items() if name != "_state"}
    return own | {"related": {name: other and _state(other, deep - 1) for name, other in related}}


@pytest.mark.parametrize("name", QUERIES)
def test_it_gives_the_results_of_its_queryset(world: World, name: str) -> None:
    query, kinds = QUERIES[name]
    prepared = PreparedQuery(query, *kinds)

    def check(parameters: tuple[Argument, ...]) -> None:
        assert [_state(row) for row in prepared(*parameters)] == [_state(row) for row in query(*parameters)]

    existing = _existing(world)[name]
    assert query(*existing)
    check(existing)
    MANY(given(st.tuples(*(PARAMETERS[kind] for kind in kinds)))(check))()


def _existing(world: World) -> dict[str, tuple[Argument, ...]]:
    """Parameters that match rows."""
    board, day = Leaderboard.objects.get(state="current").pk, timedelta(days=1)
    return {
        "by text": ("Zoë",),
        "by number, with a related object that may be missing": (10**9,),
        "by moments and text": ("Zoë", NOON - day, NOON + day),
        "selected and filtered by": ("名前", board),
        "of one kind twice": (0, 10**9),
        "counted by": (NOON - day,),
        "JSON, ids and moments": (NOON + day,),
        "current board": (world.phase.pk,),
        "frozen boards": (world.phase.pk,),
        "counted rows": (board,),
        "tags": ("tiny", "test", NOON),
    }


@pytest.mark.parametrize("benchmark", ["tiny", "Tiny", "tiny\u200b", "名前", ""])
@pytest.mark.parametrize("phase", ["test", "t%", ""])
def test_a_public_phase_is_found_only_by_its_slugs(world: World, benchmark: str, phase: str) -> None:
    phase_found = lookup.PUBLIC_PHASE(benchmark, phase)
    assert phase_found == list(Phase.objects.filter(benchmark__slug=benchmark, slug=phase))
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    assert lookup.PUBLIC_PHASE(benchmark, phase) == []


COLUMNS = [
    Column("rank"),
    Column("received_at"),
    Column("released_at"),
    Column("wall_seconds"),
    Column("accuracy", ("accuracy", ())),
    Column("accuracy", ("accuracy", (("origin", "original"),))),
    Column("accuracy", ("accuracy", (("origin", "名前 %s 'x'"),))),
]


@pytest.mark.parametrize(("page", "size"), [(1, 150), (1, 5), (2, 5), (99, 5)])
def test_board_pages_equal_their_querysets(world: World, page: int, size: int) -> None:
    board = Leaderboard.objects.get(state="current")
    rows = 0
    for column, descending, slice_ in product(COLUMNS, (False, True), ((), (("origin", "original"),))):
        board_query = BoardQuery(column, descending, slice_, page=page, size=size)
        for board_id in (board.pk, board.pk + 1):
            standings = Standing.objects.filter(leaderboard=board_id)
            expected = list(paging._lines(paging._sliced(standings, board_query), board_query))
            assert paging._all_of(board_query, False)(board_id) == expected
            rows += len(expected)
    assert bool(rows) == (page < 99)


def test_the_end_of_a_day_is_compared_in_utc(world: World) -> None:
    """The end of a day is the same moment in every zone's notation."""
    prepared = PreparedQuery(
        lambda at: Release.objects.filter(released_at__lt=at).order_by("pk").values_list("pk"), datetime
    )
    for day in (date(2026, 2, 28), NOON.date(), date(2026, 3, 2)):
        at = as_of.end_of_day(day)
        expected = list(Release.objects.filter(released_at__lt=at).order_by("pk").values_list("pk"))
        assert [prepared(at.astimezone(zone)) for zone in ZONES] == [expected] * len(ZONES)


@pytest.mark.parametrize(
    "parameters", [(None, 1), ("tiny", None), ("tiny", "1"), (1, "tiny"), ([], 1), ("tiny",), ("tiny", 1, 2)]
)
def test_a_parameter_of_another_type_is_refused(world: World, parameters: tuple[Any, ...]) -> None:
    """In SQL nothing equals NULL, while Django's filter looks for rows with NULL: refusing is safer than either."""
    prepared = PreparedQuery(lambda slug, pk: Phase.objects.filter(slug=slug, pk=pk), str, int)
    assert prepared("test", world.phase.pk) == [world.phase]
    with pytest.raises(TypeError, match=r"expected \(str, int\)"):
        prepared(*parameters)


def test_a_parameter_changed_before_the_statement_is_refused() -> None:
    prepared = PreparedQuery(lambda word: System.objects.filter(name__icontains=word), str)
    with pytest.raises(ValueError, match="no parameter for the arguments"):
        prepared("Zo")


def test_a_parameter_used_unchanged_once_and_changed_once_is_refused() -> None:
    """Otherwise the changed use would keep the placeholder's value."""
    with pytest.raises(ValueError, match="changed on its way"):
        PreparedQuery(lambda word: System.objects.filter(Q(name=word) | Q(name__contains=word)), str)("Zo")
    with pytest.raises(ValueError, match="changed on its way"):
        PreparedQuery(lambda pk: System.objects.filter(pk=pk).extra(where=[f"{pk} < 0"]), int)(1)


def test_placeholders_are_distinct() -> None:
    all_of_them = [placeholder_of(index) for placeholder_of in PLACEHOLDERS.values() for index in range(20)]
    assert len({repr(value) for value in all_of_them}) == len(all_of_them)
    assert all(-(2**63) <= value < 2**63 for value in all_of_them if isinstance(value, int))
