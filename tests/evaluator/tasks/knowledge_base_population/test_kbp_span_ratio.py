"""span_ratio for extreme lengths: the value is a number or None, and the scorer never fails."""

import sys

import pytest

from tests.evaluator.tasks.knowledge_base_population.test_kbp_rules import TASK, answer, document, fact, passage
from tests.support.scoring_runs import run_score, table

_LARGEST = int(sys.float_info.max)


def _span_ratio(gold_fact, predicted, **arguments):
    gold = [document(name, passage("p", [gold_fact])) for name in "ab"]
    answers = [answer(name, "p", predicted) for name in "ab"]
    return table(run_score(TASK, gold, answers, **arguments))["span_ratio", "{}"][0]


@pytest.mark.parametrize("span", [(0, _LARGEST), (-_LARGEST, _LARGEST)])
def test_the_longest_legal_spans_have_a_ratio(span):
    half = fact(subject=(0, 1), target=(4, 4))  # a median length of 0.5, the smallest above 0
    assert _span_ratio(half, fact(subject=span, target=span), resamples=20) == pytest.approx(2e300)


def test_empty_gold_spans_give_zero_and_no_predictions_give_none():
    empty = fact(subject=(3, 3), target=(4, 4))
    assert _span_ratio(empty, fact(subject=(0, 9), target=(0, 9))) == 0.0
    assert table(run_score(TASK, [document("a", passage("p", [empty]))], [answer("a", "p")]))["span_ratio", "{}"] == (
        None,
        1,
    )
