"""Rank ranges of a board: computed once per pair, for the standing systems, whatever process dies meanwhile."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

import evaluator.statistics.rank_ranges
from evaluator.scoring.compare_pairs import MAX_PERMUTATIONS
from leaderboard.boards.disclosure import policies
from leaderboard.comparisons.actions import pairs, rank_ranges
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Comparison, Leaderboard, Ranking, Reason, Run, Standing
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions.hide import hide
from leaderboard.work_queue import enqueue
from leaderboard.work_queue.lease import LeaseLostError
from tests.support.rows.tiny_world import World
from tests.support.rows.wide_phase import (
    answers,
    board_of,
    build_wide,
    correct,
    enter,
    gold,
    ranges,
    rank_all,
    score_all,
)
from tests.support.workers.running_stack import empty_queue

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/benchmarks/tiny/test/"
SHOWN = {"Best": (1, 1, 2), "Good": (2, 1, 2), "Half": (3, 3, 3)}
HIDDEN = {"Best": (1, None, None), "Good": (2, None, None), "Half": (3, None, None)}


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    """Three systems, two of which do not differ significantly; nothing is computed yet."""
    world = build_wide()
    for name, wrong in (("Best", 0), ("Good", 1), ("Half", 25)):
        enter(world, name, wrong)
    score_all()
    return world


@pytest.fixture
def batch_sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Number of pairs in each request to the sandbox."""
    counts: list[int] = []
    original = sandbox_client.compare_board

    def counted(files: Any, **question: Any) -> sandbox_client.Answer:
        counts.append(len(question["pairs"]))
        return original(files, **question)

    monkeypatch.setattr(sandbox_client, "compare_board", counted)
    return counts


def page() -> str:
    return Client().get(PAGE).content.decode()


def due(board: Leaderboard) -> bool:
    return Ranking.objects.get(leaderboard=board).is_due


def stored_comparisons() -> list[tuple[Any, ...]]:
    """Every comparison, with all fields except its key."""
    names = [field.attname for field in Comparison._meta.fields if field.name != "id"]
    return list(Comparison.objects.order_by("a", "b").values_list(*names))


def let_lease_end() -> None:
    Ranking.objects.exclude(lease_until=None).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_ranges_follow_the_scores(world: World) -> None:
    board = board_of(world)
    assert ranges(board) == HIDDEN
    rank_ranges.WORK.run(board.pk)
    assert ranges(board) == SHOWN
    ranking = Ranking.objects.get(leaderboard=board)
    assert (ranking.n_pairs, ranking.n_unresolved, ranking.is_due) == (3, 0, False)
    by_p = sorted(Comparison.objects.values_list("p", "n_permutations", "n_groups"))
    assert by_p[-1] == (1.0, 200, 40), "one error in forty is not significant"
    assert by_p[0][:2] == (1 / (MAX_PERMUTATIONS + 1), MAX_PERMUTATIONS), (
        "no permutation of 200,000 reaches the difference of twenty-five errors"
    )


def test_a_submission_hides_the_ranges_until_they_cover_all_standing_systems(
    world: World, batch_sizes: list[int]
) -> None:
    rank_all(world)
    board = board_of(world)
    enter(world, "Late", 25)
    assert ranges(board) == SHOWN
    score_all()
    assert ranges(board) == {**HIDDEN, "Late": (3, None, None)}
    rank_ranges.WORK.run(board.pk)
    assert ranges(board) == {**SHOWN, "Half": (3, 3, 4), "Late": (3, 3, 4)}
    assert batch_sizes == [3, 3], "only the pairs of the new system were computed"


def test_a_worse_run_of_a_system_changes_nothing(world: World, batch_sizes: list[int]) -> None:
    rank_all(world)
    enter(world, "Good", 9)
    score_all()
    assert ranges(board_of(world)) == SHOWN and not due(board_of(world))


def test_a_better_run_replaces_the_systems_standing(world: World, batch_sizes: list[int]) -> None:
    rank_all(world)
    enter(world, "Half", 0)
    rank_all(world)
    assert ranges(board_of(world)) == {"Best": (1, 1, 3), "Half": (1, 1, 3), "Good": (3, 1, 3)}
    assert batch_sizes == [3, 2]


def test_scoring_has_priority_over_rank_ranges(
    world: World, batch_sizes: list[int], monkeypatch: pytest.MonkeyPatch, enqueued: list[int]
) -> None:
    monkeypatch.setattr(pairs, "job_size", lambda *_: pairs.JobSize(1, 16))
    monkeypatch.setattr(rank_ranges.WORK, "peers", (runs.WORK, rank_ranges.WORK))
    enter(world, "Waits", 25)
    board = board_of(world)
    enqueued.clear()
    rank_ranges.WORK.run(board.pk)
    assert (batch_sizes, enqueued) == ([1], [board.pk])
    assert due(board) and rank_ranges.WORK.claim(board.pk), "no worker holds it"
    Ranking.objects.update(lease_until=None)
    rank_ranges.WORK.run(board.pk)
    rank_ranges.WORK.run(board.pk)
    assert (batch_sizes, due(board)) == ([1, 1, 1], False), "it finishes, however many runs wait"
    assert ranges(board) == SHOWN


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Boards that were enqueued."""
    boards: list[int] = []
    monkeypatch.setattr(rank_ranges.WORK, "enqueue", lambda row: boards.append(row.leaderboard_id))
    return boards


def test_baselines_are_not_compared(world: World) -> None:
    rank_all(world)
    enter(world, "Baseline", 30, kind="baseline")
    rank_all(world)
    board = board_of(world)
    assert ranges(board) == {**SHOWN, "Baseline": (None, None, None)}
    assert Comparison.objects.count() == 3 and not due(board)


def test_a_burst_of_submissions_is_one_job(
    world: World, batch_sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    rank_all(world)
    messages: list[str] = []
    monkeypatch.setattr(enqueue, "_send", lambda task, identifier, queue: messages.append(task))
    for index in range(4):
        enter(world, f"Burst {index}", 2 + index)
    score_all()
    assert messages.count("leaderboard.jobs.compare") == 1
    for _ in range(3):
        rank_ranges.WORK.run(board_of(world).pk)
    assert batch_sizes == [3, 18]
    assert Comparison.objects.count() == 21 and not due(board_of(world))


def test_a_standing_published_meanwhile_is_computed_next(
    world: World, batch_sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    board = board_of(world)
    compared, messages = pairs.compared, []
    monkeypatch.setattr(enqueue, "_send", lambda task, identifier, queue: messages.append(task))

    def interrupted(**question: Any) -> list[Comparison]:
        rows = compared(**question)
        monkeypatch.setattr(pairs, "compared", compared)
        enter(world, "Meanwhile", 26)
        score_all()
        return rows

    monkeypatch.setattr(pairs, "compared", interrupted)
    rank_ranges.WORK.run(board.pk)
    assert all(range_[1] is None for range_ in ranges(board).values()), (
        "they are of three systems, and four are standing"
    )
    assert due(board) and messages.count("leaderboard.jobs.compare") == 1
    rank_ranges.WORK.run(board.pk)
    assert ranges(board) == {**SHOWN, "Half": (3, 3, 4), "Meanwhile": (4, 3, 4)}
    assert batch_sizes == [3, 3]


def test_a_late_duplicate_message_changes_nothing(world: World) -> None:
    board = board_of(world)
    late = rank_ranges.WORK.claim(board.pk)
    assert late is not None and rank_ranges.WORK.claim(board.pk) is None
    let_lease_end()
    assert rank_ranges.WORK.sweep() == 1, "taken back and enqueued"
    second = rank_ranges.WORK.claim(board.pk)
    assert second is not None and second.attempt == late.attempt + 1
    assert not late.renew()
    with pytest.raises(LeaseLostError):
        rank_ranges._compare(late)
    assert not Comparison.objects.exists()
    rank_ranges._compare(second)
    before = stored_comparisons()
    with pytest.raises(LeaseLostError):
        rank_ranges._compare(late)
    rank_ranges.WORK.retry_or_fail(late, reason=Reason.SANDBOX)
    assert ranges(board) == SHOWN and stored_comparisons() == before


def test_two_workers_on_the_same_board(world: World) -> None:
    barrier = threading.Barrier(4)

    def worker() -> None:
        try:
            barrier.wait()
            rank_ranges.WORK.run(board_of(world).pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=worker) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ranges(board_of(world)) == SHOWN
    assert Comparison.objects.count() == 3 and Ranking.objects.get().attempt == 1


def test_an_unavailable_sandbox_costs_no_attempt(world: World, settings: Any) -> None:
    socket, settings.SANDBOX_SOCKET = settings.SANDBOX_SOCKET, str(settings.DATA / "nobody.sock")
    for _ in range(settings.MAX_ATTEMPTS + 1):
        rank_ranges.WORK.run(board_of(world).pk)
    assert Ranking.objects.get().attempt == 0
    settings.SANDBOX_SOCKET = socket
    rank_ranges.WORK.run(board_of(world).pk)
    assert ranges(board_of(world)) == SHOWN


def test_attempts_are_limited_until_the_board_changes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    board = board_of(world)

    def broken(*_: Any, **__: Any) -> None:
        raise sandbox_client.SandboxError("gone")

    with monkeypatch.context() as patched:
        patched.setattr(sandbox_client, "compare_board", broken)
        for _ in range(settings.MAX_ATTEMPTS + 2):
            rank_ranges.WORK.run(board.pk)
    ranking = Ranking.objects.get()
    assert (ranking.failures, ranking.reason, ranking.attempt) == (settings.MAX_ATTEMPTS, Reason.SANDBOX, 3)
    Ranking.objects.update(enqueued_at=timezone.now() - timedelta(days=1))
    assert rank_ranges.WORK.sweep() == 0
    enter(world, "Another", 25)
    rank_all(world)
    assert ranges(board) == {**SHOWN, "Half": (3, 3, 4), "Another": (3, 3, 4)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"p": 0.0}, "the p-value 0.0"),
        ({"p": None}, "the p-value None; expected both or neither"),
        ({"low": 1.0, "high": 0.0}, "the interval 1.0 to 0.0"),
        ({"a": 1, "b": 0}, "requested ones in the same order"),
        ({"difference": "much"}, "does not fit its declared type"),
    ],
)
def test_an_inconsistent_report_is_not_stored(
    world: World, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], words: str
) -> None:
    original = sandbox_client.compare_board

    def inconsistent(files: Any, **question: Any) -> sandbox_client.Answer:
        answer = original(files, **question)
        answer.report["comparisons"][0].update(change)
        return answer

    monkeypatch.setattr(sandbox_client, "compare_board", inconsistent)
    claim = rank_ranges.WORK.claim(board_of(world).pk)
    assert claim is not None
    with pytest.raises(ReportError, match=words):
        rank_ranges._compare(claim)
    assert not Comparison.objects.exists()


@pytest.mark.parametrize("is_missing", [True, False], ids=["missing", "altered"])
def test_lost_outcomes_are_made_again_by_scoring_again(
    world: World, caplog: pytest.LogCaptureFixture, is_missing: bool
) -> None:
    path = Path(Run.objects.order_by("queued_at")[0].outcomes.path)
    content = path.read_bytes()
    path.unlink()
    if not is_missing:
        path.write_bytes(content[:-1])
    rank_ranges.WORK.run(board_of(world).pk)
    assert ranges(board_of(world)) == SHOWN and path.read_bytes() == content
    assert "outcomes_lost" in caplog.text and "outcomes_restored" in caplog.text


def test_lost_outcomes_that_scoring_does_not_reproduce_are_not_compared(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    original = sandbox_client.score
    monkeypatch.setattr(sandbox_client, "score", lambda **asked: replace(original(**asked), attachment=b"others"))
    path = Path(Run.objects.order_by("queued_at")[0].outcomes.path)
    path.unlink()
    rank_ranges.WORK.run(board_of(world).pk)
    ranking = Ranking.objects.get()
    assert (ranking.reason, ranking.lease_until, ranking.failures) == (Reason.STORAGE, None, 1)
    assert ranges(board_of(world)) == HIDDEN and not path.exists() and "outcomes_differ" in caplog.text


def test_a_board_of_an_earlier_task_version_is_not_compared(world: World) -> None:
    Leaderboard.objects.update(task_version=0)
    rank_ranges.WORK.run(Leaderboard.objects.get().pk)
    assert Ranking.objects.get().reason == Reason.OUTDATED


def test_the_sweep_enqueues_a_board_whose_message_was_lost(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    empty_queue()
    monkeypatch.setattr(enqueue, "_send", lambda task, identifier, queue: messages.append(identifier))
    assert rank_ranges.WORK.sweep() == 0, "it was enqueued just now"
    Ranking.objects.update(enqueued_at=timezone.now() - timedelta(seconds=settings.SWEEP_SECONDS + 1))
    assert rank_ranges.WORK.sweep() == 1 and messages == [str(board_of(world).pk)]
    assert rank_ranges.WORK.sweep() == 0
    rank_ranges.WORK.run(board_of(world).pk)
    Ranking.objects.update(enqueued_at=timezone.now() - timedelta(days=1))
    assert rank_ranges.WORK.sweep() == 0


def test_recomputation_gives_identical_bytes(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """Pair by pair in order of receipt, and all pairs at once."""
    rank_all(world)
    for name, wrong in (("Fourth", 3), ("Fifth", 12)):
        enter(world, name, wrong)
        rank_all(world)
    board = board_of(world)
    before, ranges_before = stored_comparisons(), ranges(board)
    assert len(before) == 10
    call_command("compute_rank_ranges", world.benchmark.slug, world.phase.slug, "--again")
    assert "10 comparisons will be recomputed" in capsys.readouterr().out
    assert stored_comparisons() == [] and all(range_[1] is None for range_ in ranges(board).values())
    rank_ranges.WORK.run(board.pk)
    assert (stored_comparisons(), ranges(board)) == (before, ranges_before)


def test_recomputation_takes_the_lease_from_a_running_worker(world: World) -> None:
    late = rank_ranges.WORK.claim(board_of(world).pk)
    assert late is not None
    rank_ranges.recompute(board=board_of(world), again=True)
    with pytest.raises(LeaseLostError):
        rank_ranges._compare(late)
    rank_ranges.WORK.run(board_of(world).pk)
    assert ranges(board_of(world)) == SHOWN


def test_a_rescored_board_has_its_own_ranges_and_the_frozen_one_keeps_its(world: World) -> None:
    rank_all(world)
    old = board_of(world)
    correct(world, gold(answers(25)))
    preparing = world.phase.leaderboards.get(state=Leaderboard.State.PREPARING)
    rank_ranges.WORK.run(preparing.pk)
    score_all()
    assert board_of(world).pk == preparing.pk and ranges(old) == SHOWN
    assert all(range_[1] is None for range_ in ranges(preparing).values())
    rank_ranges.WORK.run(preparing.pk)
    assert ranges(preparing) == {"Half": (1, 1, 1), "Good": (2, 2, 3), "Best": (3, 2, 3)}
    assert ranges(old) == SHOWN
    assert Comparison.objects.filter(leaderboard=preparing).count() == 3


def test_nothing_is_computed_for_a_cancelled_board(world: World) -> None:
    Leaderboard.objects.update(state=Leaderboard.State.CANCELLED)
    Ranking.objects.update(enqueued_at=timezone.now() - timedelta(days=1))
    assert rank_ranges.WORK.sweep() == 0
    assert rank_ranges.WORK.claim(Leaderboard.objects.get().pk) is None


def test_a_phase_without_public_comparisons_computes_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rank_ranges, "reveals_comparisons", lambda phase: False)
    before = Ranking.objects.get().changes
    enter(world, "Silent", 2)
    score_all()
    assert Ranking.objects.get().changes == before
    assert policies.reveals_comparisons(world.phase)


def test_the_database_refuses_a_duplicate_pair_and_a_rank_outside_its_range(world: World) -> None:
    rank_all(world)
    row = Comparison.objects.first()
    assert row is not None
    for change in ({"pk": None}, {"pk": None, "a_id": row.b_id, "b_id": row.a_id}, {"p": 0.0}, {"p": None}):
        with pytest.raises(IntegrityError), transaction.atomic():
            duplicate = Comparison.objects.get(pk=row.pk)
            for name, value in change.items():
                setattr(duplicate, name, value)
            duplicate.save()
    for low, high in ((2, 3), (None, 1), (1, None)):
        with pytest.raises(IntegrityError), transaction.atomic():
            Standing.objects.filter(rank=1).update(rank_low=low, rank_high=high)


def test_a_turn_ends_after_its_time_and_the_best_systems_are_compared_first(
    world: World, monkeypatch: pytest.MonkeyPatch, enqueued: list[int]
) -> None:
    monkeypatch.setattr(rank_ranges, "TURN_SECONDS", 0)
    monkeypatch.setattr(rank_ranges, "PLANNED_AT_ONCE", 1)
    board = board_of(world)
    enqueued.clear()
    revisions = []
    for n_compared in (1, 2):
        rank_ranges.WORK.run(board.pk)
        ranking = Ranking.objects.get()
        assert (ranking.n_compared, ranking.n_pairs, ranking.is_due, ranking.lease_until) == (n_compared, 3, True, None)
        assert len(enqueued) == n_compared, "it is enqueued again, behind other work"
        assert f"({n_compared} of 3 pairs are compared)" in page()
        revisions.append(board_of(world).revision)
    assert revisions[0] < revisions[1], "caches do not hide the progress"
    rank_ranges.WORK.run(board.pk)
    assert ranges(board) == SHOWN and "are compared)" not in page()
    names = dict(Standing.objects.values_list("release__run", "system__name"))
    by_age = Comparison.objects.order_by("pk").values_list("a", "b")
    assert [{names[a], names[b]} for a, b in by_age] == [{"Best", "Good"}, {"Best", "Half"}, {"Good", "Half"}]


def test_ranges_are_computed_before_the_phase_is_locked(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    original, in_transaction = rank_ranges.correct_and_rank, []

    def watched(*arguments: Any) -> Any:
        in_transaction.append(connection.in_atomic_block)
        return original(*arguments)

    monkeypatch.setattr(rank_ranges, "correct_and_rank", watched)
    with CaptureQueriesContext(connection) as queries:
        rank_ranges.WORK.run(board_of(world).pk)
    assert in_transaction == [False] and ranges(board_of(world)) == SHOWN
    written = [query["sql"] for query in queries if "rank_low" in query["sql"] and query["sql"].startswith("UPDATE")]
    assert len(written) == 1, "one statement for all standings"


def test_a_change_while_ranges_are_computed_discards_them(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the last pair, before the phase's row is locked."""
    board, original = board_of(world), rank_ranges.correct_and_rank

    def interrupted(*arguments: Any) -> Any:
        monkeypatch.setattr(rank_ranges, "correct_and_rank", original)
        enter(world, "Meanwhile", 26)
        score_all()
        return original(*arguments)

    monkeypatch.setattr(rank_ranges, "correct_and_rank", interrupted)
    rank_ranges.WORK.run(board.pk)
    assert due(board) and all(range_[1] is None for range_ in ranges(board).values())
    rank_ranges.WORK.run(board.pk)
    assert ranges(board) == {**SHOWN, "Half": (3, 3, 4), "Meanwhile": (4, 3, 4)}


@pytest.fixture
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> int:
    """Limit boards to so many pairs that of four systems, each is compared with one neighbour and the leader."""
    monkeypatch.setattr(evaluator.statistics.rank_ranges, "MAX_PAIRS", 5)
    return 5


def test_a_large_board_compares_neighbours_and_the_leader(world: World, few_pairs: int) -> None:
    enter(world, "Most", 30)
    enter(world, "Worst", 40)
    rank_all(world)
    board = board_of(world)
    names = dict(Standing.objects.values_list("release__run", "system__name"))
    compared = {frozenset((names[a], names[b])) for a, b in Comparison.objects.values_list("a", "b")}
    assert compared == {frozenset(("Best", name)) for name in ("Good", "Half", "Most", "Worst")}, "no neighbours"
    assert ranges(board) == {
        "Best": (1, 1, 5), "Good": (2, 1, 5), "Half": (3, 2, 5), "Most": (4, 2, 5), "Worst": (5, 2, 5)
    }  # fmt: skip
    assert "each system is only compared with the leader." in page()
    hide(submission=board.standings.get(rank=5).release.submission, reason="leaked", by=world.curator)
    rank_ranges.WORK.run(board.pk)
    assert ranges(board)["Half"] == (3, 2, 4), "its better neighbour may be the best system"
    assert ranges(board)["Good"] == (2, 1, 3)
    assert Comparison.objects.count() == 6, "two pairs of neighbours were missing"
    markup = page()
    assert "compared with the one directly above and below it, and with the leader." in markup
    assert "These 5 pairs are compared" in markup and "Every compared pair as JSON" in markup
    pairs_page = Client().get(f"{PAGE}significance/").content.decode()
    assert "Pairs that are not compared count as not different." in pairs_page
    content = Client().get(f"/api/v1{PAGE.replace('tiny/', 'tiny/phases/')}leaderboard/comparisons/").json()
    rows = {(row["a"]["system"], row["b"]["system"]): row for row in content["results"]}
    assert content["count"] == len(rows) == 5 and ("Good", "Most") not in rows
    for name in ("Half", "Most"):
        assert rows["Best", name]["p_holm"] == 6 * rows["Best", name]["p"], (
            "corrected for all six pairs of four systems"
        )
    assert rows["Good", "Half"]["p_holm"] < 6 * rows["Good", "Half"]["p"]
