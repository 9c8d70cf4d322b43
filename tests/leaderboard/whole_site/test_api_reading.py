"""Reading by the API: tasks, benchmarks, boards and submissions, their visibility and number of queries."""

from __future__ import annotations

import csv
import io
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.boards.actions import boards
from leaderboard.boards.api.csv import escape_formula
from leaderboard.models import (
    Benchmark,
    Leaderboard,
    Phase,
    QuotaCharge,
    Release,
    ReleaseSlice,
    ReportedResult,
    Split,
    Standing,
    State,
    Submission,
    System,
)
from leaderboard.scoring.actions.releases import by_slice
from tests.support.api_calls import ROOT, client_of, error_of, person
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import EXACT, TASK, World, build, published

pytestmark = pytest.mark.django_db
BENCHMARK = f"{ROOT}/benchmarks/tiny/"
BOARD = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard"


world, _django_db_helper = shared_states(world=build)


@pytest.fixture
def ada(world) -> Client:
    return client_of(world.researcher)


def release(world: World, name: str, value: float | None, *, rank: int | None, **system: Any) -> Release:
    """Inserts a system with one release on the current board directly."""
    team = System.objects.filter(team=world.system.team).first().team
    inserted = System.objects.create(team=team, name=name, **system)
    at = timezone.now()
    run_fields = {"state": State.DONE, "finished_at": at, "outcomes": "x", "outcomes_sha256": "0" * 64}
    run = world.insert_run(at=at, **run_fields)
    Submission.objects.filter(pk=run.prediction.submission_id).update(system=inserted)
    values = [
        score("accuracy", {}, value, 4),
        score("accuracy", {"origin": "original"}, value and value / 2, 1),
        score("accuracy", {"origin": "generated"}, value and 1 - value, 3),
        score("symmetric_gap", {}, value and value - 0.5, 4),
    ]
    revealed = Release.objects.create(
        phase=world.phase,
        sequence=Release.objects.count() + 1,
        run=run,
        submission=run.prediction.submission,
        policy="full",
        primary="accuracy",
        values=values,
        released_at=at,
    )
    ReleaseSlice.objects.bulk_create(by_slice(revealed))
    board, _ = Leaderboard.objects.get_or_create(
        phase=world.phase, gold_version=world.gold, task_version=1, defaults={"state": "current"}
    )
    Standing.objects.create(leaderboard=board, system=inserted, release=revealed, value=value, rank=rank)
    boards.revise(Leaderboard.objects.filter(pk=board.pk))
    return revealed


def score(measure: str, slice_: dict[str, str], value: float | None, n: int) -> dict[str, Any]:
    ends = {"low": None, "high": None} if value is None else {"low": value - 0.1, "high": value + 0.1}
    return {"measure": measure, "slice": slice_, "value": value, "n": n, **ends}


def count(client: Client, address: str) -> int:
    client.get(address)  # once a day, the first request with a token stores the day
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


# --- tasks


def test_tasks_are_listed_and_described():
    tasks = Client().get(f"{ROOT}/tasks/").json()
    assert {"knowledge-base-population", "fact-verification"} <= {task["name"] for task in tasks}
    (body,) = [task for task in tasks if task["name"] == TASK]
    task_detail = Client().get(body["url"]).json()
    accuracy = next(measure for measure in task_detail["measures"] if measure["name"] == "accuracy")
    assert (accuracy["low"], accuracy["high"], accuracy["higher_is_better"]) == (0.0, 1.0, True)
    assert "predicted_label" in task_detail["prediction_example"]


def test_unbounded_measures_are_valid_json():
    task_detail = Client().get(f"{ROOT}/tasks/knowledge-base-population/").json()
    assert next(m for m in task_detail["measures"] if m["name"] == "span_ratio")["high"] is None


# --- benchmarks


def test_benchmarks_are_searched_by_words_and_task(world):
    Benchmark.objects.create(slug="birds", title="Birds of Java", task="x", dataset=world.split.dataset, state="public")

    def found(query: str) -> list[str]:
        return [row["slug"] for row in Client().get(f"{ROOT}/benchmarks/?{query}").json()["results"]]

    assert found("") == ["birds", "tiny"]
    assert found("search=java%20BIRDS") == ["birds"]
    assert found("search=java%20claims") == []
    assert found(f"task={TASK}") == ["tiny"]
    assert found("page_size=1&page=2") == ["tiny"]


@pytest.mark.parametrize("query", ["organisers=1", "state=draft", "gold_sha256=0", "ordering=dataset__splits__gold"])
def test_unknown_parameters_are_ignored(world, query):
    Benchmark.objects.create(slug="draft", title="A draft", task="x", dataset=world.split.dataset)
    assert Client().get(f"{ROOT}/benchmarks/?{query}").json() == Client().get(f"{ROOT}/benchmarks/").json()


def test_search_excludes_drafts(world):
    Benchmark.objects.create(slug="draft", title="A zebra", task="x", dataset=world.split.dataset)
    assert Client().get(f"{ROOT}/benchmarks/?search=zebra").json()["count"] == 0


@pytest.mark.parametrize(
    ("row", "field"),
    [
        *(("benchmark", field) for field in ("title", "summary", "description", "paper_url")),
        *(("dataset", field) for field in ("title", "citation")),
    ],
)
def test_page_and_api_search_the_same_texts(world, row, field):
    target = world.benchmark if row == "benchmark" else world.benchmark.dataset
    assert Client().get(f"{ROOT}/benchmarks/?search=zebra").json()["count"] == 0
    setattr(target, field, "https://papers.example/zebra")
    target.save()
    assert Client().get(f"{ROOT}/benchmarks/?search=zebra").json()["count"] == 1
    assert 'href="/benchmarks/tiny/"' in Client().get("/?search=zebra").content.decode()


def test_a_benchmark_has_its_data_phases_and_rules(world):
    body = Client().get(BENCHMARK).json()
    (split,) = body["splits"]
    assert (split["inputs"]["bytes"], split["inputs"]["sha256"]) == (
        world.split.inputs_bytes,
        world.split.inputs_sha256,
    )
    assert split["gold"] is None
    (phase,) = body["phases"]
    assert phase["is_open"] and phase["quota_per_day"] == 5 and phase["quota"] is None
    for shown in (
        {"exact_scores": False, "least_groups": 7, "detailed_answers": 3, "afterwards": "improvements"},
        EXACT,
    ):
        Phase.objects.update(**shown)
        assert Client().get(BENCHMARK).json()["phases"][0].items() >= shown.items()
    assert phase["submissions"].endswith("/api/v1/benchmarks/tiny/phases/test/submissions/")
    fetched = Client().get(split["inputs"]["url"])
    content = b"".join(fetched.streaming_content)
    assert len(content) == world.split.inputs_bytes and b"label" not in content
    assert int(fetched["Content-Length"]) == len(content)
    etag = fetched["ETag"]
    assert etag == f'"{world.split.inputs_sha256}"'
    assert Client().get(split["inputs"]["url"], headers={"If-None-Match": etag}).status_code == 304


def test_a_split_has_its_state_and_the_digest_of_hidden_inputs(world):
    digest, split = world.split.inputs_sha256, Split.objects.filter(pk=world.split.pk)
    (body,) = Client().get(BENCHMARK).json()["splits"]
    assert (body["state"], body["sha256"]) == ("published", digest)
    split.update(inputs_public=False, state="retired", retired_at=timezone.now(), retired_reason="a leak")
    (body,) = Client().get(BENCHMARK).json()["splits"]
    assert (body["state"], body["sha256"], body["inputs"]) == ("retired", digest, None)


def test_public_gold_has_an_address_and_hidden_gold_has_none(world):
    world.split.gold_public = True
    world.split.save()
    (split,) = Client().get(BENCHMARK).json()["splits"]
    assert split["gold"]["sha256"] == world.gold.sha256
    assert split["gold"]["url"].endswith("/gold.jsonl")


def test_the_quota_is_that_of_the_users_team(world, ada):
    other = person("grace")
    charged = world.insert_run().prediction.submission
    body = ada.get(BENCHMARK).json()["phases"][0]["quota"]
    assert (body["team"], body["used_total"], body["left_total"]) == ("Analytical Engines", 1, 99)
    QuotaCharge.objects.filter(submission=charged).update(refunded_at=timezone.now())
    assert ada.get(BENCHMARK).json()["phases"][0]["quota"]["used_total"] == 0
    stranger = client_of(other)
    assert stranger.get(BENCHMARK).json()["phases"][0]["quota"]["team"] is None
    assert stranger.get(f"{BENCHMARK}?team=Analytical%20Engines").status_code == 404
    assert teams.create(name="Second", by=world.researcher)
    assert ada.get(f"{BENCHMARK}?team=second").json()["phases"][0]["quota"]["team"] == "Second"


def test_reading_creates_no_team():
    reader = person("reader")
    build()
    assert client_of(reader).get(BENCHMARK).status_code == 200
    assert not reader.teams.exists()


def test_a_benchmark_takes_a_constant_number_of_queries(world, ada):
    before = count(ada, BENCHMARK)
    for number in range(5):
        split = Split.objects.create(
            dataset=world.split.dataset, name=f"s{number}", kind="dev", gold_public=True, **published()
        )
        Phase.objects.create(benchmark=world.benchmark, slug=f"p{number}", title="P", split=split)
        ReportedResult.objects.create(benchmark=world.benchmark, system=f"r{number}", paper="p", split="s", values=[])
    assert count(ada, BENCHMARK) == before


# --- boards


def test_a_board_is_ranked_and_has_overall_scores_only(world):
    release(world, "Second", 0.5, rank=2)
    release(world, "First", 0.75, rank=1)
    release(world, "House", 0.6, rank=None, kind="baseline")
    release(world, "Nothing", None, rank=None)
    body = Client().get(f"{BOARD}/").json()
    assert [(row["rank"], row["system"]) for row in body["rows"]] == [
        (1, "First"),
        (None, "House"),
        (2, "Second"),
        (None, "Nothing"),
    ]
    assert (body["primary"], body["gold_version"], body["task_version"]) == ("accuracy", 1, 1)
    (first, gap) = body["rows"][0]["scores"]
    assert first == {"measure": "accuracy", "slice": {}, "value": 0.75, "low": 0.65, "high": 0.85, "n": 4}
    assert gap["measure"] == "symmetric_gap"


def test_slices_and_measures_come_on_request(world):
    release(world, "First", 0.75, rank=1)
    rows = Client().get(f"{BOARD}/?slices=origin&measure=accuracy").json()["rows"]
    assert [(s["measure"], s["slice"]) for s in rows[0]["scores"]] == [
        ("accuracy", {}),
        ("accuracy", {"origin": "generated"}),
        ("accuracy", {"origin": "original"}),
    ]
    everything = Client().get(f"{BOARD}/?slices=all").json()["rows"][0]["scores"]
    assert len(everything) == 4


@pytest.mark.parametrize("query", ["measure=beauty", "slices=weather", "sort=beauty", "sort=accuracy[origin=mars]"])
def test_an_unknown_column_is_refused_with_the_known_ones(world, query):
    release(world, "First", 0.75, rank=1)
    answer = Client().get(f"{BOARD}/", dict([query.split("=", 1)]))
    assert answer.status_code == 400
    assert "expected one of" in answer.json()["message"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("accuracy", ["B", "A", "None"]),
        ("-accuracy", ["A", "B", "None"]),
        ("accuracy[origin=generated]", ["A", "B", "None"]),
        ("system", ["A", "B", "None"]),
        ("-system", ["None", "B", "A"]),
        ("released_at", ["A", "B", "None"]),
        ("rank", ["B", "A", "None"]),
    ],
)
def test_a_board_sorts_by_any_column_with_missing_values_last(world, sort, expected):
    release(world, "A", 0.25, rank=2)
    release(world, "B", 0.75, rank=1)
    release(world, "None", None, rank=None)
    assert [row["system"] for row in Client().get(f"{BOARD}/", {"sort": sort}).json()["rows"]] == expected


def test_results_reported_in_papers_are_separate(world):
    values = [{"measure": "accuracy", "slice": {}, "value": 0.862, "shown": "86.2"}]
    ReportedResult.objects.create(
        benchmark=world.benchmark, system="BERT", paper="Schuster et al. 2019", split="FEVER dev", values=values
    )
    body = Client().get(f"{BOARD}/").json()
    assert body["rows"] == []
    assert body["reported"][0]["values"] == values
    assert body["reported"][0]["same_split"] is False
    assert "BERT" not in Client().get(f"{BOARD}.csv").content.decode()


def test_the_etag_of_a_board_changes_with_revealed_scores(world):
    release(world, "First", 0.75, rank=1)
    for address in (f"{BOARD}/", f"{BOARD}.csv"):
        etag = Client().get(address)["ETag"]
        second_response = Client().get(address, headers={"If-None-Match": etag})
        assert (second_response.status_code, second_response.content) == (304, b"")
    release(world, "Next", 0.5, rank=2)
    assert Client().get(address, headers={"If-None-Match": etag}).status_code == 200


def test_a_board_takes_a_constant_number_of_queries(world):
    release(world, "First", 0.75, rank=1)
    before = count(Client(), f"{BOARD}/")
    for number in range(5):
        release(world, f"S{number}", 0.1 * number, rank=number + 2)
    assert count(Client(), f"{BOARD}/") == before


# --- CSV


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_text_cells_are_no_formulas(world, start):
    world.system.team.name = f"{start}cmd|' /C calc'!A0"
    world.system.team.save()
    release(world, f'{start}HYPERLINK("http://evil.example","x")', 0.25, rank=1)
    answer = Client().get(f"{BOARD}.csv?slices=origin")
    assert answer["Content-Type"].startswith("text/csv") and "attachment" in answer["Content-Disposition"]
    header, row = csv.reader(io.StringIO(answer.content.decode(), newline=""))
    cells = dict(zip(header, row, strict=True))
    assert cells["system"].startswith(f"'{start}HYPERLINK") and cells["team"].startswith(f"'{start}cmd")
    assert float(cells["symmetric_gap"]) == -0.25
    assert float(cells["accuracy[origin=generated]"]) == 0.75
    numbers = [float(cell) for name, cell in cells.items() if name.startswith(("accuracy", "symmetric"))]
    assert len(numbers) == 16


@pytest.mark.parametrize("separator", [";", '";', '"; "', "|"])
def test_text_cells_are_no_formulas_where_other_separators_are_used(world, separator):
    """Where the decimal separator is a comma, a spreadsheet splits the same file at semicolons."""
    world.system.team.name = f"Ours{separator}@cmd"
    world.system.team.save()
    release(world, f"x{separator}=cmd|' /C calc'!A0", -0.25, rank=1)
    content = Client().get(f"{BOARD}.csv").content.decode()
    assert "=cmd" in content and "@cmd" in content
    for delimiter in ",;|\t":
        rows = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter)
        # As in a spreadsheet, numbers are no formulas.
        assert [cell for row in rows for cell in row if cell.lstrip(' "').startswith(("=", "+", "@"))] == []


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("=1", "'=1"),
        ("x;=1", "x;'=1"),
        ("x\t-1", "x\t'-1"),
        ("x\n=1", "x\n'=1"),
        ('x";" +1', 'x";" \'+1'),
        ("x;\uff1d1", "x;'\uff1d1"),
        ("Smith, -1; b=2 - 1", "Smith, -1; b=2 - 1"),
        ("F1; recall", "F1; recall"),
    ],
)
def test_formulas_are_escaped(text, escaped):
    assert escape_formula(text) == escaped


def test_csv_has_numbers_with_full_precision(world):
    release(world, "First", 1 / 3, rank=1)
    header, row = csv.reader(io.StringIO(Client().get(f"{BOARD}.csv").content.decode()))
    assert float(row[header.index("accuracy")]) == 1 / 3


# --- submissions


def test_only_its_team_and_organisers_see_a_submission(world, ada):
    submission = world.insert_run().prediction.submission
    olive, oscar = person("olive"), person("oscar")
    world.benchmark.organisers.add(olive)
    elsewhere = Benchmark.objects.create(slug="b", title="B", task=TASK, dataset=world.split.dataset)
    elsewhere.organisers.add(oscar)
    allowed = [ada, client_of(world.curator), client_of(olive)]
    for path in ("", "scores/", "predictions/"):
        for client in allowed:
            assert client.get(f"{ROOT}/submissions/{submission.pk}/{path}").status_code in (200, 409)
        for client in (client_of(oscar), client_of(person(f"mallory{len(path)}"))):
            response = client.get(f"{ROOT}/submissions/{submission.pk}/{path}")
            absent = client.get(f"{ROOT}/submissions/{uuid.uuid4()}/{path}")
            assert (response.status_code, error_of(response)) == (404, error_of(absent))
            assert {**dict(response.items()), "X-Request-ID": ""} == {**dict(absent.items()), "X-Request-ID": ""}
        assert Client().get(f"{ROOT}/submissions/{submission.pk}/{path}").status_code == 401


def test_my_submissions_are_those_of_my_teams(world, ada):
    world.insert_run()
    assert ada.get(f"{ROOT}/submissions/").json()["count"] == 1
    assert client_of(world.curator).get(f"{ROOT}/submissions/").json()["count"] == 0
    assert Client().get(f"{ROOT}/submissions/").status_code == 401


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ("benchmark=tiny", 2),
        ("benchmark=other", 0),
        ("phase=test", 2),
        ("system=Bernoulli", 2),
        ("team=analytical%20engines", 2),
        ("team=Compilers", 0),
        ("state=queued", 1),
        ("state=failed", 1),
        ("state=done", 0),
    ],
)
def test_my_submissions_are_filtered_by_shown_state(world, ada, query, n):
    world.insert_run()
    world.insert_run(state=State.FAILED, finished_at=timezone.now())
    assert ada.get(f"{ROOT}/submissions/?{query}").json()["count"] == n


def test_a_failure_has_a_message_and_is_refunded(world, ada):
    run = world.insert_run(state=State.FAILED, finished_at=timezone.now(), reason="sandbox")
    QuotaCharge.objects.update(refunded_at=timezone.now())
    body = ada.get(f"{ROOT}/submissions/{run.prediction.submission_id}/").json()
    assert (body["state"], body["reason"], body["refunded"]) == ("failed", "sandbox", True)
    assert body["reason_text"] == "the sandbox could not run"


def test_the_queue_position_counts_earlier_runs(world, ada):
    at = timezone.now()
    world.insert_run(at=at - timedelta(minutes=1))
    last = world.insert_run(at=at)
    assert ada.get(f"{ROOT}/submissions/{last.prediction.submission_id}/").json()["queue_position"] == 1


def test_my_submissions_take_a_constant_number_of_queries(world, ada):
    world.insert_run()
    before = count(ada, f"{ROOT}/submissions/")
    for _ in range(5):
        world.insert_run()
    assert count(ada, f"{ROOT}/submissions/") == before


# --- everything else


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("get", "/nowhere/", 404, "not_found"),
        ("get", "/tasks", 404, "not_found"),
        ("get", "/tasks/nothing/", 404, "not_found"),
        ("get", "/submissions/not-a-uuid/", 404, "not_found"),
        ("get", "/", 404, "not_found"),
        ("delete", "/tasks/", 405, "method_not_allowed"),
        ("get", "/benchmarks/?page=nine", 400, "invalid"),
        ("get", "/benchmarks/?page=9", 404, "not_found"),
        ("get", "/benchmarks/?search=%00", 400, "invalid"),
        ("get", f"/benchmarks/?search={'x' * 201}", 400, "invalid"),
    ],
)
def test_errors_have_one_shape(world, method, path, status, code):
    client = client_of(world.curator)
    answer = getattr(client, method)(ROOT + path)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer["Content-Type"] == "application/problem+json"
    assert ("end with a slash" in answer.json()["message"]) == (path == "/tasks"), "a hint only where the slash lacks"


def test_any_accept_header_is_accepted(world):
    for accept in ("text/html", "text/csv", "image/png"):
        assert Client(headers={"Accept": accept}).get(f"{ROOT}/tasks/").status_code == 200


def test_a_server_error_has_an_id_and_no_details(world, monkeypatch, caplog):
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("SUPPORTS is the label of a1")

    monkeypatch.setattr("leaderboard.boards.queries.lookup.read_head", broken)
    answer = Client(raise_request_exception=False).get(f"{BOARD}/")
    assert (answer.status_code, answer.json()["code"]) == (500, "server_error")
    assert "SUPPORTS" not in answer.content.decode() + caplog.text
    assert "RuntimeError" in caplog.text
