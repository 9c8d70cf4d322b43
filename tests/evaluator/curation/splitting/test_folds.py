"""Round-robin folds by document."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.splitting.folds import PARTS, parse_parts, part_of_fold, round_robin
from evaluator.errors import UsageError


def test_the_first_and_the_sixth_document_go_to_fold_1():
    assert round_robin("abcdefg") == {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 1, "g": 2}


def test_a_document_on_several_lines_is_counted_once():
    assert round_robin(["a", "a", "b", "a", "c", "b"], folds=3) == {"a": 1, "b": 2, "c": 3}


@given(documents=st.lists(st.integers() | st.text(max_size=2), min_size=1, max_size=60), folds=st.integers(2, 7))
@settings(deadline=None)
def test_folds_differ_by_one_document_at_most(documents, folds):
    distinct = []
    for document in documents:
        if document not in distinct:
            distinct.append(document)
    if len(distinct) < folds:
        with pytest.raises(UsageError, match=f"{len(distinct)} documents for {folds} folds"):
            round_robin(documents, folds)
        return
    folds_of = round_robin(documents, folds)
    assert [folds_of[document] for document in distinct] == [i % folds + 1 for i in range(len(distinct))]
    sizes = [list(folds_of.values()).count(fold) for fold in range(1, folds + 1)]
    assert max(sizes) - min(sizes) <= 1


def test_parts_are_parsed_as_ranges():
    assert parse_parts("train=1-3,dev=4,test=5", 5) == PARTS
    assert parse_parts("a=1+3,b=2", 3) == {"a": (1, 3), "b": (2,)}
    assert part_of_fold(PARTS) == {1: "train", 2: "train", 3: "train", 4: "dev", 5: "test"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("train=1-3,dev=4", "each fold from 1 to 5 once"),
        ("train=1-3,dev=3,test=4-5", "each fold from 1 to 5 once"),
        ("train=1-6", "within 1 to 5"),
        ("train=3-1,dev=4-5", "expected FIRST-LAST, such as 1-2, within 1 to 5"),
        ("train=1-x", 'the folds of the part train are "1-x", expected FOLD or FIRST-LAST'),
        ("train", "expected NAME=FOLD"),
        ("a=1-3,a=4-5", "the part a is given twice; each part needs its own name"),
        ("../a=1-5", "expected NAME=FOLD"),
        ("", "expected NAME=FOLD"),
    ],
)
def test_invalid_parts_are_wrong_usage(text, message):
    with pytest.raises(UsageError, match=message):
        parse_parts(text, 5)


def test_one_fold_is_wrong_usage():
    with pytest.raises(UsageError, match="folds is 1"):
        round_robin("abc", 1)
