"""Decisions by two annotators and a third, and the union of mentions."""

import math
from collections import Counter
from itertools import product

import pytest

from evaluator.curation.adjudication.decisions import Mentions, decide


@pytest.mark.parametrize(
    ("values", "decision"),
    [
        ([], None),
        (["a"], None),
        (["a", "a"], "a"),
        (["a", "b"], None),
        (["a", "b", "b"], "b"),
        (["a", "b", "c"], None),
        (["a", "a", "b", "b"], None),
        (["a", "b", "b", "a", "b"], "b"),
        ([True, True], True),
        ([False, True, False], False),
    ],
)
def test_a_label_needs_two_votes_and_more_than_any_other(values, decision) -> None:
    assert decide(values, scores=False) is decision


def test_decisions_do_not_depend_on_the_order_of_annotators() -> None:
    for values in product("abc", repeat=4):
        (winner, most), *others = Counter(values).most_common()
        unique = most > 1 and all(count < most for _, count in others)
        assert decide(values, scores=False) == (winner if unique else None)


def test_scores_are_averaged() -> None:
    assert decide([4, 5, 1.5], scores=True) == 3.5
    assert decide([4], scores=True) is None


def test_mentions_are_united_and_their_agreement_is_the_f1_of_pairs() -> None:
    mentions = Mentions()
    assert math.isnan(mentions.agreement())
    mentions.add("t", "ann", [(5, 8), (0, 3)])
    assert math.isnan(mentions.agreement())
    mentions.add("t", "bob", [(0, 3), (0, 4), (9, 10)])
    mentions.add("u", "ann", [])
    assert mentions.union("t") == [(0, 3), (0, 4), (5, 8), (9, 10)]
    assert mentions.union("u") == []
    assert mentions.agreement() == 2 * 1 / (2 + 3)
