"""Time of cue tables and re-weighting by size, for up to as many claims as FEVER's training set: printed, not asserted.

Run with `pytest tests/benchmark/test_cues_speed.py -m benchmark -s`. Claims are in memory and everything is imported;
each size runs in a separate process with one BLAS thread. Processor seconds vary less on a busy machine.
"""

import pytest

from tests.benchmark.support.claim_factory import FEVER_TRAIN, made_claims
from tests.benchmark.support.measuring import grown, timed

pytestmark = pytest.mark.benchmark
PARTS = (16, 4, 1)


def cues(n):
    from evaluator.curation.text_stats.cues import cue_table
    from evaluator.statistics.ngrams import most_frequent

    texts, labels = made_claims(n)
    times = {}
    for size in (1, 2, 3):
        tables = []
        work = timed(
            lambda size=size, tables=tables: tables.append(cue_table(texts, labels, n=size, drop=most_frequent(texts)))
        )
        (table,) = tables
        times[f"{size}-grams ({len(table.ngrams)} frequent ones of {table.of_label.sum()} occurrences)"] = work
    return times


def weights(n, grams, penalty):
    from evaluator.curation.reweighting import presence_of, reweight
    from evaluator.statistics.ngrams import most_frequent

    texts, labels = made_claims(n)
    drop = most_frequent(texts)
    presence, results = [], []
    counted = timed(lambda: presence.append(presence_of(texts, n=grams, drop=drop)))
    work = timed(lambda: results.append(reweight(presence[0], labels, penalty=penalty)))
    first, last = results[0].objectives[0], results[0].objectives[-1]
    shape = f"{presence[0].shape[1]} n-grams, {presence[0].nnz} entries"
    return counted, work, f"{shape}; objective {first:.1f} -> {last:.1f}"


def test_cue_tables(in_new_process):
    print()
    first = None
    for part in PARTS:
        times = in_new_process(cues, FEVER_TRAIN // part)
        first = first or times
        for (name, timer), begin in zip(times.items(), first.values(), strict=True):
            print(f"cues of {FEVER_TRAIN // part} claims, {name}: {grown(timer, begin, PARTS[0] // part)}")
        assert len(times) == 3


@pytest.mark.parametrize(("grams", "penalty"), [(2, 1.0), (2, 0.1), (1, 1.0)])
def test_reweighting(in_new_process, grams, penalty):
    print()
    first = None
    for part in PARTS:
        counted, timer, summary = in_new_process(weights, FEVER_TRAIN // part, grams, penalty)
        first = first or timer
        print(f"{FEVER_TRAIN // part} claims, {grams}-grams, lambda {penalty}: {summary}")
        print(f"  counting {counted}\n  {grown(timer, first, PARTS[0] // part)}")
        assert "->" in summary
