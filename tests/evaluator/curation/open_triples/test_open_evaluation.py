"""Test and validation triples: the eligible triples, disjoint files, and uniform sampling."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.curation.open_triples.evaluation_sets import Eligible, sample_triples
from evaluator.curation.open_triples.triples import Block, Dictionary
from evaluator.errors import UsageError

WORDS = Dictionary({"a": ["Q1"], "b": ["Q2"]})


def eligible(rows: list[list[str]], tokens: int = 3) -> Eligible:
    """Eligible triples of rows read in two blocks; lines are numbered from 1."""
    collected = Eligible(tokens)
    for begin, part in ((0, rows[:7]), (7, rows[7:])):
        collected.add(Block(range(begin + 1, begin + 1 + len(part)), [], part), WORDS)
    return collected


NAME = st.sampled_from(["a", "b", "c"])
ROWS = st.lists(
    st.tuples(NAME, st.sampled_from(["is in", "is in the", "lives in the", "x"]), NAME).map(list), max_size=30
)


@given(rows=ROWS, tokens=st.integers(1, 4))
def test_eligible_triples(rows: list[list[str]], tokens: int) -> None:
    fit = {n: tuple(row) for n, row in enumerate(rows, 1) if len(row[1].split()) >= tokens}
    linked = {n: row for n, row in fit.items() if {row[0], row[2]} <= {"a", "b"}}
    for pool, arguments in ((fit, {"linked": False}), (linked, {"linked": True})):
        first = {row: n for n, row in reversed(pool.items())}
        assert eligible(rows, tokens).first(**arguments).tolist() == sorted(first.values())


def made_rows(n: int) -> list[list[str]]:
    """All but every third triple are linked, every fourth relation is too short; each triple occurs twice."""
    relations = ["is", "is in the"]
    rows = [["a" if n % 3 else "c", f"{relations[n % 4 > 0]} {n}", "b"] for n in range(n)]
    return rows + rows


def test_files_have_eligible_triples_and_are_disjoint() -> None:
    rows = made_rows(600)
    samples = sample_triples(eligible(rows), 50, seed=1)
    texts = [[tuple(rows[number - 1]) for number in numbers.tolist()] for numbers in samples]
    assert [len(part) for part in texts] == [50, 50, 50]
    assert len({text for part in texts for text in part}) == 150
    assert all(len(text[1].split()) >= 3 for part in texts for text in part)
    assert all(text[0] == "a" for part in texts[:2] for text in part)
    assert {text[0] for text in texts[2]} == {"a", "c"}
    assert all((np.diff(numbers) > 0).all() for numbers in samples)


def test_samples_depend_on_the_seed() -> None:
    pool = eligible(made_rows(600))
    first, again, other = (sample_triples(pool, 50, seed=seed) for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert (first.test != other.test).any()


def test_triples_are_sampled_uniformly() -> None:
    """However often it occurs in the file."""
    rows = [["a", f"is in the {n}", "b"] for n in range(12)] + [["a", "is in the 3", "b"]] * 30
    pool = eligible(rows)
    counts: dict[str, Counter[int]] = {"test": Counter(), "linked": Counter(), "all": Counter()}
    for seed in range(600):
        for name, numbers in sample_triples(pool, 3, seed=seed)._asdict().items():
            counts[name].update(numbers.tolist())
    for count in counts.values():
        assert set(count) == set(range(1, 13))
        # 150 expected of 600 draws; the standard deviation is 10.6.
        assert all(abs(times - 150) < 53 for times in count.values())


def test_too_few_triples_are_reported() -> None:
    with pytest.raises(UsageError, match=r"found 5 different triples with 3 or more relation tokens.* 6: 3 for test"):
        sample_triples(eligible([["a", f"is in the {n}", "b"] for n in range(5)] * 2), 3, seed=0)
    with pytest.raises(UsageError, match="found 1 further triples with 3 or more relation tokens, expected at least 2"):
        sample_triples(eligible([["a", f"is in the {n}", "b"] for n in range(5)]), 2, seed=0)
    with pytest.raises(UsageError, match="size is 0"):
        sample_triples(eligible([]), 0, seed=0)


def test_an_empty_file_has_no_eligible_triples() -> None:
    assert eligible([]).first(linked=True).tolist() == []
