"""`holdout_eval.Client` against a live server: what it sends, and what its DataFrames contain."""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.client import api, frames
from holdout_eval import Client, RefusedError, UnavailableError, UsageError
from leaderboard.accounts.actions import tokens
from leaderboard.models import Phase, Submission
from tests.support.broken_network import Fault, network
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.tiny_world import LABELS, World, build

database = pytest.mark.django_db(transaction=True)
PREDICTIONS = [{"id": id_, "predicted_label": label} for id_, label in LABELS.items()]


@pytest.fixture
def world(transactional_db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("HOLDOUT_TOKEN", raising=False)
    return build()


@pytest.fixture
def client(world: World, live_server: Any, sandbox: str) -> Client:
    return Client(live_server.url, tokens.issue(by=world.researcher)[1])


@database
def test_predictions_from_a_frame_a_path_and_dicts_are_the_same_file(client: Client, tmp_path: Path) -> None:
    inputs = client.inputs("tiny", "test")
    assert list(inputs.columns) == ["id", "claim", "evidence_text"] and set(inputs["id"]) == set(LABELS)
    inputs["predicted_label"] = inputs["id"].map(LABELS)
    frame = inputs[["id", "predicted_label"]]
    dicts = frame.to_dict("records")
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(frames.json_lines(frame))
    assert client.validate("tiny", "test", frame) == client.validate("tiny", "test", path) == []
    sent = client.submit("tiny", "test", "Bernoulli", frame, note="of a notebook")
    assert (sent["system"], sent["note"], sent["file"]["n_lines"]) == ("Bernoulli", "of a notebook", 4)
    again = [client.submit("tiny", "test", "Bernoulli", same) for same in (path, dicts, iter(dicts))]
    assert {submission["file"]["sha256"] for submission in again} == {sent["file"]["sha256"]}
    assert list(client.submissions(system="Bernoulli")["id"])[-1] == sent["id"]


@database
def test_invalid_lines_are_attributes_of_the_error(client: Client) -> None:
    wrong = [{**PREDICTIONS[0], "predicted_label": "MAYBE"}, *PREDICTIONS[1:]]
    refusals = []
    for call in (client.validate, lambda *words: client.submit("tiny", "test", "Bernoulli", words[2])):
        with pytest.raises(RefusedError) as refused:
            call("tiny", "test", wrong)
        refusals.append(refused.value)
    for error in refusals:
        assert (error.code, error.status, error.more) == ("invalid_predictions", 422, 0)
        assert [(line["line"], line["found"]) for line in error.problems] == [(1, '"MAYBE"')]
    assert refusals[0].problems == refusals[1].problems and "MAYBE" in str(refusals[0])
    assert not Submission.objects.exists()


@database
def test_a_board_has_intervals_as_columns_and_a_row_per_slice(client: Client, world: World) -> None:
    stand(world, "Bernoulli", symmetric_scores(0.75))
    stand(world, "Blind", symmetric_scores(None))
    board = client.board("tiny", "test", slices=["origin", "label"], measures="accuracy")
    assert board.attrs["primary"] == "accuracy" and board.attrs["disclosure"] == "full"
    by = board.set_index(["system", "slice"])
    numbers = ["accuracy", "accuracy_low", "accuracy_high", "accuracy_n"]
    assert list(by.loc[("Bernoulli", "all"), numbers]) == [0.75, 0.65, 0.85, 4]
    assert list(by.loc[("Bernoulli", "origin=generated"), numbers]) == [0.6, 0.5, 0.7, 3]
    assert by.loc[("Blind", "all"), numbers[:3]].isna().all() and pandas.isna(by.loc[("Blind", "all"), "rank"])
    assert board["accuracy"].dtype == np.float64 and by.loc[("Bernoulli", "all"), "rank"] == 1
    assert list(client.board("tiny", "test")["slice"]) == ["all", "all"]
    scores = client.scores(str(Submission.objects.get(system__name="Bernoulli").pk))
    assert scores["slice"][0] == "all" and scores["accuracy_high"][0] == 0.85
    assert pandas.isna(scores.set_index("slice").loc["label=REFUTES", "accuracy"])


@database
def test_what_a_phase_does_not_reveal_is_missing(client: Client, world: World) -> None:
    empty = client.board("tiny", "test", slices="all")
    assert empty.empty and {"system", "slice", "accuracy", "accuracy_low"} <= set(empty.columns)
    assert list(client.compare("tiny", "test").columns)[:3] == ["a", "b", "difference"]
    soon = timezone.now() + timedelta(days=1)
    Phase.objects.update(disclosure="sealed", sealed_until=soon, closes_at=soon)
    sealed = client.submit("tiny", "test", "Bernoulli", PREDICTIONS)
    with pytest.raises(RefusedError) as refused:
        client.scores(sealed)
    assert refused.value.code == "not_ready"
    assert client.board("tiny", "test").empty and client.compare("tiny", "test").empty


@database
def test_what_the_board_shows_of_ones_own_systems(client: Client, world: World) -> None:
    submission = client.submit("tiny", "test", "Loom", PREDICTIONS)
    assert client.take_off_board(submission)["hidden_by"] == "team"
    assert client.put_back(submission["id"])["hidden_by"] == ""
    renamed = client.rename_system("loom", "Jacquard", team=submission["team"])
    assert renamed["name"] == "Jacquard" and [former["name"] for former in renamed["former_names"]] == ["Loom"]
    with pytest.raises(UsageError, match="expected the name of a system of your teams"):
        client.rename_system("Loom", "Engine")


@database
def test_a_refused_request_and_a_lost_response(
    client: Client, live_server: Any, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RefusedError) as refused:
        client.board("tiny", "test", sort="nonsense")
    assert refused.value.code == "invalid" and list(refused.value.fields) == ["sort"]
    with pytest.raises(UsageError, match='phase is "final", expected a phase of the benchmark: test'):
        client.inputs("tiny", "final")
    port = int(live_server.url.rpartition(":")[2])
    monkeypatch.setattr(api, "PAUSES", (0.0,) * 4)
    answers = iter([Fault.UNANSWERED, Fault.CUT, Fault.UNANSWERED])
    faults = lambda line: next(answers, Fault.NONE) if line.startswith("POST") else Fault.NONE  # noqa: E731
    with network(port, faults) as proxy:
        far = Client(proxy.address, tokens.issue(by=world.researcher)[1])
        sent = far.submit("tiny", "test", "Bernoulli", PREDICTIONS)
        assert [fault for line, fault in proxy.seen if line.startswith("POST")] == [
            Fault.UNANSWERED,
            Fault.CUT,
            Fault.UNANSWERED,
            Fault.NONE,
        ]
    assert Submission.objects.count() == 1 and sent["id"] == str(Submission.objects.get().pk)
    with pytest.raises(UnavailableError):
        Client("http://127.0.0.1:1").benchmarks()


@database
def test_the_server_and_token_of_the_last_login(world: World, live_server: Any) -> None:
    from evaluator.client import token_store

    with pytest.raises(UsageError, match="no server is given"):
        Client()
    token = tokens.issue(by=world.researcher)[1]
    token_store.write(token_store.StoredTokens(live_server.url, {live_server.url: token}))
    assert Client().server == live_server.url and Client().submissions().empty
    assert list(Client().benchmarks(search="tiny")["slug"]) == ["tiny"]
    assert token not in repr(vars(Client()))


LADDER = {"measure": "f1", "slice": {}, "value": 0.5, "low": None, "high": None, "n": 9, "at_least": 0.5}


def test_the_bounds_of_a_ladder_are_columns() -> None:
    scores = [{**LADDER, "at_most": None}, {**LADDER, "slice": {"a": "x", "b": "y"}, "at_most": 0.6}]
    frame = frames.score_frame(scores)
    assert list(frame["slice"]) == ["all", "a=x, b=y"]
    assert list(frame["f1_at_least"]) == [0.5, 0.5] and frame["f1_at_most"].dtype == np.float64
    assert pandas.isna(frame["f1_at_most"][0]) and frame["f1_at_most"][1] == 0.6 and frame["f1_low"].isna().all()
    elsewhere = frames.score_frame([{**LADDER, "at_least": None, "at_most": None}])
    assert list(elsewhere) == ["slice", "f1", "f1_low", "f1_high", "f1_n"], "no columns without a bound"


def cyclic() -> list[Any]:
    cycle: list[Any] = []
    cycle.append(cycle)
    return cycle


PAIR = {"difference": 0.1, "low": -0.1, "high": 0.3, "p": 0.2, "p_holm": None, "significant": False, "n_groups": 4}
PAGE = {"measure": "f1", "rank_ranges": "ready", "next": None}


def test_a_pair_in_the_order_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = {name: {"system": name, "submission": name.lower()} for name in "ABC"}
    pairs = [{**PAIR, "a": systems[a], "b": systems[b]} for a, b in ("AB", "BC")]
    client = Client("http://127.0.0.1:1")
    monkeypatch.setattr(client._api, "get", lambda path, **query: {**PAGE, "results": list(pairs)})
    assert list(client.compare("x", "y")["a"]) == ["A", "B"]
    reverse = client.compare("x", "y", "B", "A").iloc[0]
    assert (reverse["difference"], reverse["low"], reverse["high"]) == (-0.1, -0.3, 0.1)
    assert reverse["submission_a"] == "b" and pandas.isna(reverse["p_holm"])
    of_b = client.compare("x", "y", "B")
    assert list(of_b["b"]) == ["A", "C"] and list(of_b["difference"]) == [-0.1, 0.1]
    assert client.compare("x", "y", "A", "C").empty
    pairs[0]["difference"] = 0.0
    assert str(client.compare("x", "y", "B", "A")["difference"][0]) == "0.0"


numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.none() | st.booleans() | numbers | st.text(max_size=5)
nested = json_values | st.lists(json_values, max_size=2) | st.dictionaries(st.text(max_size=2), json_values, max_size=2)
ids = st.integers() | st.sampled_from(["007", "1e5", "NA", "null", "TRUE", "2026-11-23"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(ids, nested), max_size=5))
def test_rows_survive_a_frame(values: list[tuple[Any, Any]]) -> None:
    """Ids and nested values are not changed by a DataFrame; a missing key and null are both left out."""
    rows = [{"id": id_, "value": value} for id_, value in values]
    written = frames.json_lines(frames.frame(rows)).decode()
    expected = [{key: value for key, value in row.items() if value is not None} for row in rows]
    assert [json.loads(line) for line in written.split("\n")[:-1]] == expected


def test_integers_stay_integers_where_other_rows_have_none() -> None:
    frame = frames.frame([{"id": 2**60 + 1, "n": 4}, {"id": 3}])
    assert frames.json_lines(frame) == b'{"id": 1152921504606846977, "n": 4}\n{"id": 3}\n'


NAN, HALF = float("nan"), "\ud83c"


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        (float("inf"), "is inf, expected a finite number"),
        (np.float32("-inf"), "is -inf, expected a finite number"),
        (pandas.Timestamp("2026-11-28"), "Timestamp"),
        (pandas.Timedelta("1 day"), "Timedelta"),
        (pandas.Period("2026-11"), "Period"),
        (pandas.Interval(0, 1), "Interval"),
        (np.datetime64("2026-11-28T00:00:00.000000001"), "expected a value that JSON has"),
        (Decimal("0.1"), "convert it with float()"),
        (Fraction(1, 3), "Fraction"),
        (1 + 2j, "expected a real number"),
        (np.complex128(1), "expected a real number"),
        (b"SUPPORTS", "convert it with .decode()"),
        (np.bytes_(b"SUPPORTS"), "convert it with .decode()"),
        ({"a", "b"}, "convert it with sorted()"),
        (frozenset("a"), "convert it with sorted()"),
        (date(2026, 11, 28), "date"),
        (object(), "object"),
        (HALF, "U+D83C"),
        ([HALF], "U+D83C"),
        ({HALF: 1}, "U+D83C"),
        ({1: "a"}, "expected a string"),
        ([{"a": NAN}], "expected a finite number"),
        (np.array([0.1, NAN]), "expected a finite number"),
        ([pandas.NaT], "NaTType"),
        ([pandas.NA], "NAType"),
        (cyclic(), "nested more than 16 deep"),
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("is_frame", [True, False])
def test_a_cell_that_json_cannot_hold_is_refused_by_name(cell: Any, found: str, is_frame: bool) -> None:
    rows = [{"id": "a", "score": 1.0}, {"id": "b", "score": cell}]
    predictions = pandas.DataFrame({"id": ["a", "b"], "score": pandas.Series([1.0, cell], dtype=object)})
    with pytest.raises(UsageError) as refusal:
        frames.json_lines(predictions if is_frame else rows)
    text = str(refusal.value)
    assert found in text and "expected" in text
    row, column = ("row", "column") if is_frame else ("prediction", "key")
    assert f'{row} 1 (counted from 0), {column} "score"' in text
    text.encode()


def test_a_long_double_is_refused_where_pandas_does_not_convert_it() -> None:
    with pytest.raises(UsageError, match="longdouble"):
        frames.json_lines([{"score": np.longdouble("0.1")}])


@pytest.mark.parametrize("missing", [None, NAN, pandas.NA, pandas.NaT, np.float32("nan"), np.datetime64("NaT")])
def test_missing_cells_of_a_frame_are_left_out(missing: Any) -> None:
    frame = pandas.DataFrame({"id": ["a"], "score": pandas.Series([missing], dtype=object)})
    assert frames.json_lines(frame) == b'{"id": "a"}\n'


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pandas.Series(["x", "y"], dtype="category"), ["x", "y"]),
        (pandas.Series([1, None], dtype="Int64"), [1, None]),
        (pandas.Series([2**64 - 1, 0], dtype="uint64"), [2**64 - 1, 0]),
        (pandas.Series([2**53 + 1, 2**70], dtype=object), [2**53 + 1, 2**70]),
        (pandas.Series([True, None], dtype="boolean"), [True, None]),
        (pandas.Series([np.bool_(True), np.int8(3)], dtype=object), [True, 3]),
        (pandas.Series([("a", 1), []], dtype=object), [["a", 1], []]),
        (pandas.Series(["a", None], dtype="string"), ["a", None]),
        (pandas.Series([1e-12, 3e300]), [1e-12, 3e300]),
        (pandas.Series([np.array([1, 2]), pandas.Series([3])], dtype=object), [[1, 2], [3]]),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_what_json_can_hold_is_written_exactly(column: Any, values: list[Any]) -> None:
    written = [json.loads(line) for line in frames.json_lines(pandas.DataFrame({"value": column})).splitlines()]
    assert [line.get("value") for line in written] == values
    assert [type(line.get("value")) for line in written] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        (["id", "id"], 'two columns are named "id"'),
        (pandas.MultiIndex.from_tuples([("id", "a"), ("id", "b")]), "MultiIndex"),
        ([0, "id"], "expected a string"),
        (pandas.Index(["id", HALF], dtype=object), "U+D83C"),
    ],
)
def test_columns_that_json_cannot_hold_are_refused(columns: Any, found: str) -> None:
    with pytest.raises(UsageError, match="expected") as refusal:
        frames.json_lines(pandas.DataFrame([["a", "b"]], columns=columns))
    assert found in str(refusal.value)


@pytest.mark.parametrize("wrong", [None, 3, {"id": "a"}, ["text"], pandas.Series(["a"])])
def test_what_is_no_list_of_dicts_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="expected a"):
        frames.json_lines(wrong)


def test_a_lone_surrogate_in_an_argument_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client("http://127.0.0.1:1")
    for call in (
        lambda: client.benchmark(HALF),
        lambda: client.benchmarks(search=HALF),
        lambda: client.submissions(system=HALF),
        lambda: client.rename_system("a", "b", team=HALF),
        lambda: client.submit("b", "p", HALF, [{"id": "a"}]),
        lambda: client.validate("b", "p", f"{HALF}.jsonl"),
        lambda: Client(f"http://127.0.0.1:1/{HALF}"),
    ):
        with pytest.raises((UsageError, UnavailableError)):
            call()
    with pytest.raises(UsageError, match="lone surrogate"):
        client.benchmarks(search=HALF)


def test_systems_that_cannot_be_compared_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    systems = {name: {"system": name, "submission": name.lower()} for name in "ABC"}
    rows = [{"system": name, "rank": rank} for name, rank in (("A", 1), ("B", 2), ("C", 3), ("Always yes", None))]
    pages = {
        "benchmarks/x/phases/y/leaderboard/comparisons/": {
            **PAGE,
            "results": [{**PAIR, "a": systems["A"], "b": systems["B"]}],
        },
        "benchmarks/x/phases/y/leaderboard/": {"rows": rows, "next": None},
    }
    client = Client("http://127.0.0.1:1")
    monkeypatch.setattr(client._api, "get", lambda path, **query: copy.deepcopy(pages[path]))
    for pair, text in (
        (("A", "Nobody"), 'b is "Nobody", expected a ranked system of the board: "A", "B", "C"'),
        (("nobody", None), 'a is "nobody"'),
        (("Always yes", "A"), 'a is "Always yes"'),
        (("A", "A"), "expected two systems"),
    ):
        with pytest.raises(UsageError, match=re.escape(text)):
            client.compare("x", "y", *pair)
    assert client.compare("x", "y", "A", "C").empty, "both are ranked, but not compared with each other"


@pytest.mark.parametrize("wrong", [[{"x": float("nan")}], [{"x": object()}], ["text"]])
def test_what_json_cannot_express_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="prediction 0"):
        frames.json_lines(wrong)


def test_numpy_values_become_json() -> None:
    frame = pandas.DataFrame(
        {"id": np.array([1, 2]), "p": [np.array([0.1, 0.2]), None], "s": [np.float64(0.1 + 0.2), 1]}
    )
    assert frames.json_lines(frame).decode().splitlines() == [
        '{"id": 1, "p": [0.1, 0.2], "s": 0.30000000000000004}',
        '{"id": 2, "s": 1.0}',
    ]


def test_without_pandas_one_sentence_names_the_extra() -> None:
    code = """
import sys
sys.modules["pandas"] = None
from holdout_eval import Client
from evaluator.client import api, frames
assert "numpy" not in sys.modules
try:
    frames.frame([])
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "DataFrames need pandas: pip install 'holdout-eval[notebook]'\n"
