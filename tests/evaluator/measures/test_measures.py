"""Every measure of every task has the properties that it declares."""

import io
import math

import numpy as np
import pytest

from evaluator.outcomes.table import Dimension, Outcomes, RaggedColumn
from evaluator.outcomes.weighted import Sample, View
from evaluator.scoring.score import existing, score_outcomes
from evaluator.tasks.registry import TASKS
from tests.evaluator.tasks.fact_verification.test_fv_rules import A, B, answer, claim, symmetric
from tests.evaluator.tasks.knowledge_base_population.test_kbp_rules import document, fact, passage
from tests.support.scoring_runs import jsonl

LINKED = ("S", "O")


def _kbp():
    gold = [
        document(
            f"d{i}", passage("p", [fact(uris=LINKED), fact("1", (10, 12), (13, 18), LINKED)]), passage("q", [fact()])
        )
        for i in range(3)
    ]
    worst = [{"documentId": f"d{i}", "passageId": "p", "facts": [fact("1", uris=("X", "Y"))]} for i in range(3)]
    return gold, gold, worst


def _evidence():
    gold = [claim(i, label, [A], [B]) for i, label in enumerate(["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"] * 2)]
    best = [answer(line["id"], line["label"], A) for line in gold]
    worst = [answer(line["id"], {"SUPPORTS": "REFUTES"}.get(line["label"], "SUPPORTS"), ("Junk", 0)) for line in gold]
    return gold, best, worst


def _symmetric():
    gold = symmetric(3)
    flipped = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}
    best = [{"id": line["id"], "predicted_label": line["label"]} for line in gold]
    worst = [{"id": line["id"], "predicted_label": flipped[line["label"]]} for line in gold]
    return gold, best, worst


def _ranked():
    gold = [
        {"id": i, "question": ["s", "r", "?"], "answers": ["a", "b"], "filtered": ["c"], "slices": {"kind": i % 2}}
        for i in range(4)
    ]
    best = [{"id": i, "ranking": ["c", "b"]} for i in range(4)]
    worst = [{"id": i, "ranking": ["c", "x"]} for i in range(3)]
    return gold, best, worst


def _extracted():
    gold = [{"id": i, "facts": [["s", "r", "o"], ["s", f"r{i}", "o"]]} for i in range(4)]
    worst = [{"id": i, "facts": [["s", "r", "x"], ["t", "r", "o"]]} for i in range(3)]
    return gold, gold, worst


def _checked():
    gold = [
        {"id": i, "subject": "s", "relation": f"r{i % 2}", "object": f"o{i}", "label": i < 3, "slices": {"kind": i % 2}}
        for i in range(6)
    ]
    best = [{"id": line["id"], "score": 0.5 * line["label"]} for line in gold]
    worst = [{"id": line["id"], "score": -i} for i, line in enumerate(reversed(gold))]
    return gold, best, worst


def _rated():
    ratings = [0.1, 0.7, 0.7, 1, 0.3, 0.3, 0.2, 0.6]
    gold = [{"id": i, "human": rating, "system": "abca"[i // 2]} for i, rating in enumerate(ratings)]
    best = [{"id": line["id"], "score": line["human"]} for line in gold]
    worst = [{"id": line["id"], "score": -line["human"]} for line in gold]
    return gold, best, worst


CASES = {
    "knowledge-base-population": [_kbp],
    "fact-verification": [_evidence, _symmetric],
    "link-prediction": [_ranked],
    "fact-extraction": [_extracted],
    "fact-checking": [_checked],
    "metric-correlation": [_rated],
}
UNREACHABLE_BOUNDS = {"average_precision": (1 / 4 + 2 / 5 + 3 / 6) / 3}
"""Measures whose lower bound is unreachable, with the value of the worst answers."""


def outcomes_of(task, gold, predictions):
    options = task.parse_options({})
    read = task.read_gold(io.BytesIO(jsonl(gold)), "gold", options)
    answers = task.read_predictions(io.BytesIO(jsonl(predictions)), "predictions", task.validation_data(read), options)
    return task.score(read, answers, options)


def value(measure, outcomes):
    sample = Sample(View.whole(outcomes), np.ones((outcomes.n_groups, 1)))
    return float(measure.evaluate(sample)[0]), int(measure.count(sample)[0])


def _declared():
    for name, makers in CASES.items():
        for make in makers:
            gold, best, worst = make()
            task = TASKS[name]
            tables = [outcomes_of(task, gold, predictions) for predictions in (best, worst)]
            for measure in existing(task.measures, tables[0].facts):
                yield pytest.param(measure, *tables, id=f"{make.__name__[1:]}-{measure.name}")


DECLARED = list(_declared())


@pytest.mark.parametrize(("measure", "best", "worst"), DECLARED)
def test_a_measure_has_the_properties_it_declares(measure, best, worst):
    high, n = value(measure, best)
    low, _ = value(measure, worst)
    assert n > 0
    assert measure.doc and measure.source and measure.title
    if measure.higher_is_better is None:
        assert measure.low <= low <= measure.high
        assert measure.low <= high <= measure.high
    else:
        assert (high, low) == (measure.best, UNREACHABLE_BOUNDS.get(measure.name, measure.low))
    for table, expected in ((best, high), (worst, low)):
        assert value(measure, shuffled(table))[0] == pytest.approx(expected, abs=1e-12)
        again, twice_n = value(measure, twice(table))
        assert again == pytest.approx(expected, abs=1e-12)
        assert twice_n == (n if measure.name.startswith("macro") else 2 * n)


def test_every_measure_of_every_task_is_tested():
    tested = {param.values[0].name for param in DECLARED}
    assert tested == {measure.name for task in TASKS.values() for measure in task.measures}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_a_task_declaration_is_complete(task):
    names = [measure.name for measure in task.measures]
    assert len(names) == len(set(names))
    assert task.primary() in names
    assert task.version >= 1
    for text in (task.title, task.summary, task.gold_format, task.prediction_format, task.prediction_example):
        assert text.strip()
    assert task.parse_options({}).keys() == {option.name for option in task.options}


def shuffled(table):
    """The same rows in another order."""
    order = np.random.default_rng(3).permutation(table.n_rows)
    new_index = np.argsort(order)
    return _with(
        table,
        groups=table.groups[order],
        statistics={name: column[order] for name, column in table.statistics.items()},
        codes={name: dimension.codes[order] for name, dimension in table.dimensions.items()},
        ragged={name: RaggedColumn(lengths.values, new_index[lengths.rows]) for name, lengths in table.ragged.items()},
    )


def twice(table):
    """Every row twice, the second time in a group of its own."""
    n, names = table.n_rows, table.group_names
    return _with(
        table,
        group_names=(*names, *(f"{name} again" for name in names)),
        groups=np.concatenate([table.groups, table.groups + len(names)]),
        statistics={name: np.tile(column, 2) for name, column in table.statistics.items()},
        codes={name: np.tile(dimension.codes, 2) for name, dimension in table.dimensions.items()},
        ragged={
            name: RaggedColumn(np.tile(lengths.values, 2), np.concatenate([lengths.rows, lengths.rows + n]))
            for name, lengths in table.ragged.items()
        },
    )


def _with(table, *, groups, statistics, codes, ragged, group_names=None):
    dimensions = {
        name: Dimension(codes[name], old.values, old.declared, old.within_groups)
        for name, old in table.dimensions.items()
    }
    return Outcomes(
        table.task,
        table.task_version,
        table.n_units,
        group_names or table.group_names,
        groups,
        statistics,
        dimensions,
        ragged,
        table.facts,
    )


def test_a_value_outside_its_bounds_is_a_sandbox_error():
    from dataclasses import replace

    from evaluator.errors import SandboxError
    from evaluator.measures.base import Ratio, statistic

    gold, best, _ = _evidence()
    table = outcomes_of(TASKS["fact-verification"], gold, best)
    claims = statistic("claim")
    unbounded = Ratio(
        name="wild", title="Wild", units=claims, numerator=3.0 * claims, denominator=claims, doc="d", source="s"
    )
    with pytest.raises(SandboxError, match="wild is 3"):
        score_outcomes(table, (unbounded,), resamples=0)
    assert score_outcomes(table, (replace(unbounded, high=math.inf),), resamples=0)[0].value == 3.0
