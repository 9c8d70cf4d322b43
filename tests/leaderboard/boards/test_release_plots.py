"""Curves, grids and pairs from a real scoring to page, file and API: what they reveal, and what they never reveal."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.evaluation import sandbox_client
from leaderboard.models import Leaderboard, Phase, Release, ReleasePlot, System
from leaderboard.scoring.actions import plots
from leaderboard.scoring.verification import rebuild_plots
from tests.support.rows.many_groups import score_all
from tests.support.rows.plotted_benchmarks import SIZE, a_world, enter, gold_labels
from tests.support.rows.tiny_world import World

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
PAGES = {"fact-checking": "roc", "metric-correlation": "agreement", "fact-verification": "pairs"}
"""Page of each task."""
TASKS = pytest.mark.parametrize("task", PAGES)
HOSTILE = '<script>alert(1)</script>&"=cmd'


def page_address(task: str, page: str = "") -> str:
    return f"/benchmarks/drawn/test/{page or PAGES[task]}/"


def page_text(address: str, **query: Any) -> str:
    response = Client().get(address, query)
    assert response.status_code == 200
    return response.content.decode()


def lines(address: str, **query: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(page_text(address, download="csv", **query))))


def api(**query: Any) -> dict[str, Any]:
    response = Client().get("/api/v1/benchmarks/drawn/phases/test/leaderboard/plots/", query)
    assert response.status_code == 200
    content: dict[str, Any] = response.json()
    return content


def plot(task: str, **query: Any) -> Any:
    name = {"fact-checking": "roc", "metric-correlation": "agreement", "fact-verification": "pairs"}[task]
    return Client().get(f"/api/v1/benchmarks/drawn/phases/test/leaderboard/plots/{name}/", query)


def two_systems(task: str, **policy: Any) -> World:
    world = a_world(task, **policy)
    enter(world, "Good", noise=1)
    enter(world, "Worse", noise=5)
    score_all()
    return world


@TASKS
def test_plot_data_are_released_with_their_result(task: str) -> None:
    two_systems(task)
    assert ReleasePlot.objects.count() == Release.objects.count() == 2
    page = page_text(page_address(task))
    assert "Good" in page and "Worse" in page and "data-plot=" in page and "<table" in page
    assert f'href="{page_address(task)}"' in page_text("/benchmarks/drawn/test/")
    answer = api()
    assert answer["is_revealed"] and [result["system"] for result in answer["results"]] == ["Good", "Worse"]
    part = {"fact-checking": "curves", "metric-correlation": "grids", "fact-verification": "pairs"}[task]
    assert all(result["has_plots"] and result[part] for result in answer["results"])
    assert {row["system"] for row in lines(page_address(task))} == {"Good", "Worse"}
    assert {value["system"] for value in plot(task).json()["data"]["values"] if "system" in value} == {"Good", "Worse"}


@TASKS
@pytest.mark.parametrize("policy", [{"quota_everybody": 50}, {"scope": "task"}])
def test_a_ladder_reveals_no_plots(task: str, policy: dict[str, Any]) -> None:
    two_systems(task, disclosure="ladder", **policy)
    assert Release.objects.count() == 2 and not ReleasePlot.objects.exists()
    page = page_text(page_address(task))
    assert "This phase does not show" in page and "data-plot=" not in page and plot(task).status_code == 404
    assert lines(page_address(task)) == []
    nothing = {"count": 0, "next": None, "previous": None, "results": []}
    assert api() == {**nothing, "is_revealed": False}
    assert page_address(task) not in page_text("/benchmarks/drawn/test/")
    call_command("compute_plots", "drawn", "test")
    assert not ReleasePlot.objects.exists()


@TASKS
def test_results_of_a_ladder_stay_without_plots_when_the_phase_opens(
    task: str, capsys: pytest.CaptureFixture[str]
) -> None:
    two_systems(task, disclosure="ladder", scope="task")
    Phase.objects.update(disclosure=Phase.Disclosure.FULL)
    call_command("compute_plots", "drawn", "test")
    assert "plot data of 0 results computed" in capsys.readouterr().out and not ReleasePlot.objects.exists()


@TASKS
@pytest.mark.parametrize("policy", [Phase.Disclosure.LADDER, Phase.Disclosure.SEALED])
def test_a_changed_policy_withdraws_plots(task: str, policy: str) -> None:
    """This holds for an opened sealed phase too: it shows full scores, and no plots."""
    two_systems(task)
    dates = dict.fromkeys(("closes_at", "sealed_until", "unsealed_at"), timezone.now())
    Phase.objects.update(disclosure=policy, **(dates if policy == Phase.Disclosure.SEALED else {}))
    assert "data-plot=" not in page_text(page_address(task)) and plot(task).status_code == 404
    assert lines(page_address(task)) == [] and api()["results"] == []


@TASKS
def test_plot_data_follow_from_the_outcomes_and_cannot_be_changed(task: str) -> None:
    two_systems(task)
    board = Leaderboard.objects.get()
    assert rebuild_plots.differences(board) == []
    call_command("check_boards")
    with pytest.raises(DatabaseError), transaction.atomic():
        ReleasePlot.objects.update(content={})
    stored = ReleasePlot.objects.first()
    assert stored is not None
    release, created_at = stored.release, stored.created_at
    stored.delete()
    ReleasePlot.objects.create(
        release=release, content={"pairs": dict.fromkeys(("both", "drop"), 1)}, created_at=created_at
    )
    assert rebuild_plots.differences(board) == [f"plots of release {release.sequence}"]
    with pytest.raises(CommandError):
        call_command("check_boards")


@TASKS
def test_results_without_plot_data_say_so_and_get_them_by_command(
    task: str, capsys: pytest.CaptureFixture[str]
) -> None:
    two_systems(task)
    before = [drawing.content for drawing in ReleasePlot.objects.order_by("release")]
    ReleasePlot.objects.all().delete()
    assert "data-plot=" not in page_text(page_address(task)) and plot(task).status_code == 404
    assert [result["has_plots"] for result in api()["results"]] == [False, False]
    if task != "metric-correlation":
        assert "Good" in page_text(page_address(task)).split("<main")[1]
    call_command("compute_plots", "drawn", "test")
    assert "plot data of 2 results computed" in capsys.readouterr().out
    assert [drawing.content for drawing in ReleasePlot.objects.order_by("release")] == before
    call_command("compute_plots", "drawn", "test")
    assert "plot data of 0 results computed" in capsys.readouterr().out


def test_the_command_says_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(release: object) -> None:
        raise sandbox_client.SandboxError("the sandbox failed")

    two_systems("fact-checking")
    ReleasePlot.objects.all().delete()
    monkeypatch.setattr(plots, "add_plot_data", fail)
    with pytest.raises(CommandError, match=r"release 1: the sandbox failed; stopped after 0 results, run the command"):
        call_command("compute_plots", "drawn", "test")


@TASKS
def test_names_are_escaped_and_anonymous_systems_have_their_number(task: str) -> None:
    two_systems(task)
    System.objects.filter(name="Good").update(name=HOSTILE)
    System.objects.filter(name="Worse").update(anonymous_number=7, anonymous_until=timezone.now() + timedelta(days=1))
    assert "<script>alert" not in page_text(page_address(task))
    plotted = plot(task).content.decode()
    for text in (page_text(page_address(task)), page_text(page_address(task), download="csv"), plotted):
        assert "Worse" not in text and "Anonymous 7" in text
    System.objects.filter(name=HOSTILE).update(name="=cmd|x")
    assert "'=cmd|x" in page_text(page_address(task), download="csv")
    assert "Worse" not in json.dumps(api())


def test_curves_can_be_selected() -> None:
    world = two_systems("fact-checking")
    address = page_address("fact-checking")
    good = System.objects.get(name="Good")
    assert {row["system"] for row in lines(address, system=good.pk)} == {"Good"}
    assert Client().get(address, {"system": "999999"}).status_code == 404
    for number in range(8):
        enter(world, f"More {number}", noise=2)
    score_all()
    system_ids = list(System.objects.filter(standings__isnull=False).values_list("pk", flat=True))
    assert len({row["system"] for row in lines(address, system=system_ids)}) == 8
    assert "More than 8 systems were selected" in page_text(address, system=system_ids)
    slice_ = json.dumps(["kind", "a"])
    on_slice, all_units = (Client().get(address, query).context["lines"][0] for query in ({"slice": slice_}, {}))
    assert on_slice.curve.steps < all_units.curve.steps
    plotted = plot("fact-checking", slice=slice_, system=good.pk).json()["data"]["values"]
    assert [point["tpr"] for point in plotted if point["system"] != "Good"] == []
    assert len(plotted) in (on_slice.curve.steps + 1, on_slice.curve.steps + 2)
    assert {row["slice"] for row in lines(address, slice=slice_)} == {"kind=a"}
    for nonsense in ("x", "[1]", '["kind", {}]', '["nothing", "a"]', "[" * 5000):
        assert {row["slice"] for row in lines(address, slice=nonsense)} == {"all"}


def test_a_curve_has_heights_in_whole_steps() -> None:
    two_systems("fact-checking")
    for row in api()["results"]:
        for curve in row["curves"]:
            assert len(curve["true_positive_rates"]) == curve["steps"] + 1 <= SIZE**0.5 + 1
            heights = [rate * curve["steps"] for rate in curve["true_positive_rates"]]
            assert heights == pytest.approx([round(height) for height in heights], abs=1e-3)


def test_no_human_rating_is_revealed() -> None:
    """The ratings are distinctive numbers: neither they nor the ends of their scale are shown."""
    two_systems("metric-correlation")
    address = page_address("metric-correlation")
    texts = [
        page_text(address),
        page_text(address, download="svg"),
        page_text(address, download="csv"),
        json.dumps(api()),
    ]
    ratings = {str(rating) for rating in gold_labels("metric-correlation")}
    assert len(ratings) > 10
    assert not [rating for rating in ratings for text in texts if rating in text]
    for row in api()["results"]:
        for grid in row["grids"]:
            assert all(sum(column["counts"]) >= 3 for column in grid["columns"])


def test_pairs_follow_from_the_answers() -> None:
    world = a_world("fact-verification")
    enter(world, "Claim only", noise=0, claim_only=True)
    score_all()
    (row,) = lines(page_address("fact-verification"))
    groups = SIZE // 4
    assert int(row["pairs"]) == 3 * groups
    # The original is always right: then 2, which has its claim, is wrong, and one of 3 and 4 is.
    assert (int(row["both"]), int(row["drop"]), int(row["flip"]), int(row["neither"])) == (groups, 2 * groups, 0, 0)
    assert "at most one of a group" in page_text(page_address("fact-verification"))


def test_a_page_takes_a_constant_number_of_queries() -> None:
    world = two_systems("fact-checking")
    with CaptureQueriesContext(connection) as queries_for_few:
        page_text(page_address("fact-checking"))
    for number in range(4):
        enter(world, f"More {number}", noise=3)
    score_all()
    with CaptureQueriesContext(connection) as queries_for_many:
        page_text(page_address("fact-checking"))
    assert len(queries_for_few) == len(queries_for_many)


def test_tasks_without_such_a_plot_have_no_page() -> None:
    two_systems("fact-checking")
    assert (
        Client().get(page_address("", "pairs")).status_code
        == Client().get(page_address("", "agreement")).status_code
        == 404
    )
