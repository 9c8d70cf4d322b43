"""Time of a board's rank ranges: printed, not asserted. Run with `pytest tests/benchmark -m benchmark -s`."""

import time
from itertools import combinations

import numpy as np
import pytest

from evaluator.scoring.compare_pairs import compare_pairs
from evaluator.statistics.holm import ALPHA, holm
from tests.support.simulated_outcomes import (
    ACCURACY,
    AUROC,
    F1,
    MRR,
    SPEARMAN,
    answered,
    difficulty,
    group_codes,
    table,
)

pytestmark = pytest.mark.benchmark
GROUPS, SYSTEMS = 1000, 50


@pytest.fixture(scope="module")
def board():
    """Return systems that differ by about half a percent, on groups of equal difficulty for all of them."""
    random = np.random.default_rng(1)
    codes = group_codes(GROUPS, random)
    base = difficulty(GROUPS, 0.7, random, 0.3)
    positive, x = random.random(len(codes)) < 0.5, random.normal(size=len(codes))
    tables = []
    for number in range(SYSTEMS):
        ahead = (number - SYSTEMS / 2) * 0.006
        columns = answered(codes, np.clip(base + ahead, 0, 1), random)
        noise = random.normal(size=(2, len(codes)))
        columns |= {"positive": positive, "score": noise[0] + positive * (1 + 8 * ahead)}
        columns |= {"x": x, "y": x + noise[1] * (1.5 - 5 * ahead)}
        tables.append(table(codes, GROUPS, columns))
    return tables


def timed(tables, pairs, measure):
    begin = time.perf_counter()
    rows = compare_pairs(tables, pairs, measure, resamples=1000, seed=0)
    return time.perf_counter() - begin, rows


@pytest.mark.parametrize("measure", [F1, ACCURACY, MRR, AUROC], ids=lambda measure: measure.name)
def test_whole_board_and_new_system(board, measure):
    seconds, rows = timed(board, list(combinations(range(SYSTEMS), 2)), measure)
    significant = sum(p <= ALPHA for p in holm([row.p for row in rows]))
    seconds_of_one, _ = timed(board[:16], [(0, number) for number in range(1, 16)], measure)
    print(
        f"\n{measure.name}: {SYSTEMS} systems, {len(rows)} pairs, {GROUPS} groups of {board[0].n_rows} rows in "
        f"{seconds:.1f} s, {significant} significant; one against 15 in {seconds_of_one:.1f} s",
        end="",
    )


def test_spearman_against_fifteen(board):
    seconds, rows = timed(board[::3][:16], [(0, number) for number in range(1, 16)], SPEARMAN)
    full = max(row.n_permutations for row in rows)
    print(f"\nspearman: one against 15, up to {full} permutations, in {seconds:.1f} s", end="")
