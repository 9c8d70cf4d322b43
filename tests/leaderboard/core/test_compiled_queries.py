"""Compiled statements give the same results as the querysets they were compiled from."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import FloatField, QuerySet, Value
from django.utils import timezone

from leaderboard.boards.queries.main_phase import OF_A_BENCHMARK
from leaderboard.core.compiled_queries import PLACEHOLDERS, PreparedQuery
from leaderboard.models import Benchmark, Leaderboard, Phase, Submission
from tests.support.rows.board_rows import stand
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world() -> World:
    return build()


def _phases(benchmark: str, phase: str) -> QuerySet[Phase]:
    queryset = Phase.objects.filter(benchmark__slug=benchmark, slug=phase)
    return queryset.select_related("benchmark__dataset", "split__dataset", "scorer")


def _state_of(model: Phase | Benchmark | object) -> dict[str, object]:
    return {name: value for name, value in vars(model).items() if name != "_state"}


def test_models_are_complete_with_their_related_objects(world: World, django_assert_num_queries: object) -> None:
    expected = _phases("tiny", "test").get()
    prepared = PreparedQuery(_phases, str, str)
    for _ in range(2):
        with django_assert_num_queries(1):  # type: ignore[operator]
            (loaded,) = prepared("tiny", "test")
            assert loaded == expected and _state_of(loaded) == _state_of(expected)
            assert _state_of(loaded.benchmark.dataset) == _state_of(expected.benchmark.dataset)
            assert _state_of(loaded.split) == _state_of(expected.split) and loaded.scorer is None
            assert not loaded.get_deferred_fields() and not loaded._state.adding
    assert prepared("tiny", "other") == [] == prepared("other", "test")
    assert [loaded.pk for loaded in prepared("tiny", "test")] == [expected.pk]


def test_related_objects_may_be_missing(world: World, django_assert_num_queries: object) -> None:
    board = Leaderboard.objects.create(phase=world.phase, gold_version=world.gold, task_version=1, state="current")
    of_phase = PreparedQuery(lambda phase: Leaderboard.objects.filter(phase=phase).select_related("ranking"), int)
    with django_assert_num_queries(1):  # type: ignore[operator]
        (loaded,) = of_phase(world.phase.pk)
        assert getattr(loaded, "ranking", None) is None
    assert loaded == board


def test_annotations_are_attributes(world: World) -> None:
    """The benchmark's page reads its phases so, each with `has_results`."""
    assert [vars(phase)["has_results"] for phase in OF_A_BENCHMARK(world.benchmark.pk)] == [False]
    stand(world, "Ada")
    assert [vars(phase)["has_results"] for phase in OF_A_BENCHMARK(world.benchmark.pk)] == [True]


def test_values_are_converted_as_django_converts_them(world: World) -> None:
    def queryset_of(until: object, phase: int) -> QuerySet[Phase, tuple[object, ...]]:
        queryset = Phase.objects.filter(opens_at__lte=until, pk=phase)
        return queryset.values_list("pk", "opens_at", "options", "takes_images")

    prepared, at = PreparedQuery(queryset_of, type(timezone.now()), int), timezone.now()
    Phase.objects.filter(pk=world.phase.pk).update(opens_at=at - timedelta(days=1))
    assert prepared(at, world.phase.pk) == list(queryset_of(at, world.phase.pk)) != []
    assert prepared(at - timedelta(days=2), world.phase.pk) == []
    assert prepared(at, world.phase.pk + 1) == []


def test_only_parameters_are_replaced(world: World) -> None:
    """A constant that equals the placeholder but has another type is not replaced."""
    like = float(PLACEHOLDERS[int](0))  # type: ignore[arg-type]

    def queryset_of(phase: int) -> QuerySet[Phase, tuple[float]]:
        return Phase.objects.filter(pk=phase).annotate(like=Value(like, FloatField())).values_list("like")

    assert PreparedQuery(queryset_of, int)(world.phase.pk) == [(like,)]


def test_a_parameter_must_reach_the_statement() -> None:
    prepared = PreparedQuery(lambda name, phase: Phase.objects.filter(pk=phase), str, int)
    with pytest.raises(ValueError, match=r"no parameter for the arguments with the indexes \[0\]"):
        prepared("never asked about", 1)


def test_threads_may_share_a_statement(world: World) -> None:
    prepared = PreparedQuery(
        lambda phase: Submission.objects.filter(phase=phase).values_list("pk", "received_at"), *(int,)
    )
    expected = prepared(world.phase.pk)

    def ask(_: int) -> object:
        try:
            return prepared(world.phase.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(20))) == [expected] * 20


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL prepares statements")
def test_a_session_prepares_each_statement_once_unless_pgbouncer_shares_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def statements() -> list[str]:
        with connection.cursor() as cursor:
            cursor.execute("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%leaderboard_phase%'")
            return [statement for (statement,) in cursor.fetchall()]

    connection.close()
    prepared = PreparedQuery(_phases, str, str)
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    assert prepared("tiny", "test") == [world.phase] and statements() == []
    monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", False)
    assert prepared("tiny", "test") == prepared("tiny", "test") == [world.phase] and prepared("tiny", "%s'\\") == []
    (statement,) = statements()
    assert "$2" in statement and "tiny" not in statement
    assert Phase.objects.filter(slug="test").exists() and statements() == [statement], "only compiled queries"
