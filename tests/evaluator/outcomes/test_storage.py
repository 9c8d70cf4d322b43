"""Outcomes as bytes: serialization is lossless, and input is validated."""

import zlib

import numpy as np
import pytest

from evaluator.errors import SandboxError
from evaluator.outcomes.serialization import from_bytes, to_bytes
from evaluator.outcomes.table import Dimension, Outcomes, RaggedColumn
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.registry import TASKS
from tests.evaluator.measures.test_measures import CASES, outcomes_of


def odd_table():
    groups = np.array([0, 0, 2], dtype=np.int32)
    return Outcomes(
        task="t",
        task_version=3,
        n_units=2,
        group_names=("a", 1, "é"),
        groups=groups,
        statistics={
            "small": np.array([0.0, 255.0, 3.0]),
            "wide": np.array([-1.0, 70000.0, 0.0]),
            "x": np.array([0.1, -0.0, 1e300]),
        },
        dimensions={"k": Dimension(np.array([1, -1, 0], dtype=np.int32), (True, 0.5), True, True)},
        ragged={
            "r": RaggedColumn(np.array([1.0, 2.5]), np.array([2, 0])),
            "none": RaggedColumn(np.zeros(0), np.zeros(0, np.int64)),
        },
        facts={"origin": False, "share": "all"},
    )


def assert_equal(a, b):
    assert (a.task, a.task_version, a.n_units, a.group_names, a.facts) == (
        b.task,
        b.task_version,
        b.n_units,
        b.group_names,
        b.facts,
    )
    assert np.array_equal(a.groups, b.groups)
    assert list(a.statistics) == list(b.statistics)
    for name, column in a.statistics.items():
        assert column.tobytes() == b.statistics[name].tobytes()
    for name, dimension in a.dimensions.items():
        other = b.dimensions[name]
        assert np.array_equal(dimension.codes, other.codes)
        assert list(map(repr, dimension.values)) == list(map(repr, other.values))
        assert (dimension.declared, dimension.within_groups) == (other.declared, other.within_groups)
    for name, lengths in a.ragged.items():
        assert np.array_equal(lengths.values, b.ragged[name].values)
        assert np.array_equal(lengths.rows, b.ragged[name].rows)


def test_serialization_is_lossless():
    table = odd_table()
    assert_equal(from_bytes(to_bytes(table)), table)


@pytest.mark.parametrize(("name", "make"), [(name, make) for name, makers in CASES.items() for make in makers])
def test_scores_are_equal_after_storage(name, make):
    gold, _, worst = make()
    table = outcomes_of(TASKS[name], gold, worst)
    measures = TASKS[name].measures
    assert score_outcomes(from_bytes(to_bytes(table)), measures, resamples=50) == score_outcomes(
        table, measures, resamples=50
    )
    assert to_bytes(table) == to_bytes(outcomes_of(TASKS[name], gold, worst))


def repacked(change):
    data = to_bytes(odd_table())
    head = data.index(b"\n") + 1
    return data[:head] + zlib.compress(change(zlib.decompress(data[head:])))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        to_bytes(odd_table())[:-1],
        to_bytes(odd_table()) + b"x",
        to_bytes(odd_table())[:25] + b"\xff" + to_bytes(odd_table())[26:],
        repacked(lambda body: body[:-1]),
        repacked(lambda body: body + b"\0"),
        repacked(lambda body: b"\xff" * 8 + body[8:]),
        repacked(lambda body: body.replace(b'"task":', b'"tusk":')),
        repacked(lambda body: body.replace(b'"ragged":["r"', b'"ragged":["q"')),
        repacked(lambda body: body.replace(b'"type":"u1"', b'"type":"O8"', 1)),
        repacked(lambda body: body.replace(b'"values":[true,0.5]', b'"values":[true]   ')),
        repacked(lambda body: body.replace(b'"group_names":["a",1,', b'"group_names":[    ')),
    ],
    ids=lambda data: f"{len(data)} bytes",
)
def test_invalid_bytes_are_a_sandbox_error(data):
    with pytest.raises(SandboxError, match="outcomes"):
        from_bytes(data)


def test_a_table_must_be_consistent():
    good = odd_table()

    def broken(**changes):
        from dataclasses import replace

        return replace(good, **changes)

    for changes in (
        {"statistics": {"x": np.array([1.0, np.nan, 0.0])}},
        {"statistics": {"x": np.array([1.0, np.inf, 0.0])}},
        {"statistics": {"x": np.ones(2)}},
        {"groups": np.array([0, 0, 3], dtype=np.int32)},
        {"groups": np.array([0, 0, -1], dtype=np.int32)},
        {"dimensions": {"k": Dimension(np.array([1, -1, 2], dtype=np.int32), (True, 0.5), True, True)}},
        {"ragged": {"r": RaggedColumn(np.ones(1), np.array([3]))}},
    ):
        with pytest.raises(SandboxError, match="outcomes"):
            broken(**changes)
