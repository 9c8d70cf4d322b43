"""LMI and p(l|w) against plain loops and the published table."""

from __future__ import annotations

import json
import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.text_stats import cue_transfer
from evaluator.curation.text_stats.cues import cue_table, recount
from evaluator.errors import UsageError
from evaluator.statistics.ngrams import FEVER_FREQUENT, most_frequent, occurrences, tokens

WORDS = st.lists(st.sampled_from(["a", "B", "did", "Not", "ß", "x_1", "İ", "-", "\n", "did-not", "'s"]), max_size=9)
CLAIMS = st.lists(st.tuples(WORDS.map(" ".join), st.sampled_from(["NO", "YES", "MAYBE"])), min_size=1, max_size=14)


def table_by_loops(claims, n, drop, least):
    """{(n-gram, label): (LMI, p)} in loops, from the definitions."""
    pairs = []
    for text, label in claims:
        words = [word for word in re.findall(r"\w+", text.lower()) if word not in drop]
        pairs += [(" ".join(words[i : i + n]), label) for i in range(len(words) - n + 1)]
    grams, labels, both = Counter(g for g, _ in pairs), Counter(lab for _, lab in pairs), Counter(pairs)
    table = {}
    for gram in grams:
        for label in {label for _, label in claims}:
            if grams[gram] >= least:
                p = both[gram, label] / grams[gram]
                share = both[gram, label] / len(pairs)
                table[gram, label] = (share * math.log(p / (labels[label] / len(pairs))) if p else 0.0, p)
    return table


@given(
    claims=CLAIMS,
    n=st.integers(1, 4),
    least=st.integers(1, 4),
    drop=st.sets(st.sampled_from(["a", "did", "ß", "absent"])),
)
@settings(deadline=None)
def test_counts_agree_with_loops(claims, n, least, drop):
    texts, labels = zip(*claims, strict=True)
    table = cue_table(texts, labels, n=n, drop=drop, min_frequency=least)
    ours = {(cue.ngram, cue.label): cue for label in table.labels for cue in table.ranked(label)}
    expected = table_by_loops(claims, n, drop, least)
    assert ours.keys() == expected.keys()
    for key, (lmi, p) in expected.items():
        assert ours[key].lmi == pytest.approx(lmi, abs=1e-12)
        assert ours[key].p == p == ours[key].n_label / ours[key].n


def test_a_hand_worked_table():
    """Seven bigrams, five of them in NO; "did not" twice, always in NO: (2/7) ln(1 / (5/7))."""
    table = cue_table(["He did not", "it did not go", "He did go"], ["NO", "NO", "YES"], min_frequency=1)
    assert table.of_label.tolist() == [5, 2]
    first = next(table.ranked("NO"))
    assert (first.ngram, first.p, first.n) == ("did not", 1.0, 2)
    assert first.lmi == pytest.approx(2 / 7 * math.log(7 / 5))


def test_ngrams_skip_dropped_words_and_do_not_cross_claims():
    grams = occurrences(["incapable of being", "of of", "far"], n=2, drop=["of"])
    assert [grams.name(gram) for gram in grams.gram] == ["incapable being"]


def test_dropped_words_do_not_count():
    with_word, without = (
        cue_table([text, "go on"], ["NO", "YES"], drop=["the"], min_frequency=1) for text in ("the go the on", "go on")
    )
    assert with_word.counts.tolist() == without.counts.tolist() == [[1, 1]]


def test_ties_are_ranked_alphabetically():
    assert most_frequent(["b a c", "c b a", "d"], 2) == ["a", "b"]
    table = cue_table(["b", "a", "c"], ["NO", "NO", "YES"], n=1, min_frequency=1)
    assert [cue.ngram for cue in table.ranked("NO")] == ["a", "b", "c"]


def test_tokens_are_words_in_lower_case():
    assert tokens("Don't STOP: 3.5 naïve_ÉTÉ") == ["don", "t", "stop", "3", "5", "naïve_été"]


@pytest.mark.parametrize("n", [1, 2, 5])
def test_texts_without_words_have_no_cues(n):
    table = cue_table(["", "- -"], ["NO", "YES"], n=n, min_frequency=1)
    assert (table.ngrams, table.of_label.tolist()) == ([], [0, 0])
    assert list(table.ranked("NO")) == []


@pytest.mark.parametrize("arguments", [{"n": 0}, {"min_frequency": 0}])
def test_sizes_start_at_one(arguments):
    with pytest.raises(UsageError, match="whole numbers from 1"):
        cue_table(["a"], ["NO"], **arguments)


def test_each_text_needs_a_label():
    with pytest.raises(UsageError, match="1 texts have 2 labels"):
        cue_table(["a"], ["NO", "YES"])


PUBLISHED = {  # Schuster et al. 2019, table 1, development columns: LMI x 10^6 and p(l|w) for REFUTES
    "did not": (1038, 0.90),
    "yet to": (743, 0.96),
    "does not": (243, 0.68),
    "refused to": (679, 0.97),
    "failed to": (220, 0.96),
    "only ever": (350, 0.82),
    "incapable being": (732, 0.96),
    "to be": (454, 0.65),
}


@pytest.mark.realdata
def test_the_published_development_values(realdata):
    claims = [json.loads(line) for line in (realdata / "symmetric/fever_dev_claims.jsonl").read_text().splitlines()]
    table = cue_table([claim["claim"] for claim in claims], [claim["label"] for claim in claims], drop=FEVER_FREQUENT)
    refuted = {cue.ngram: cue for cue in table.ranked("REFUTES")}
    assert {gram: (round(refuted[gram].lmi * 1e6), round(refuted[gram].p, 2)) for gram in PUBLISHED} == PUBLISHED


@given(claims=CLAIMS, data=st.data(), n=st.integers(1, 3))
@settings(deadline=None, max_examples=30)
def test_weighted_counts_agree_with_copies_of_the_claims(claims, data, n):
    """A claim that weighs 3 counts as three equal claims."""
    texts, labels = zip(*claims, strict=True)
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts)))
    plain = cue_table(texts, labels, n=n, min_frequency=2)
    weighted = recount(plain, texts, labels, n=n, drop=(), weights=np.array(weights, dtype=float))
    copies = [claim for claim, weight in zip(claims, weights, strict=True) for _ in range(weight)]
    expected = table_by_loops(copies, n, (), 1)
    for label in plain.labels:
        for cue in weighted.ranked(label):
            assert (cue.lmi, cue.p) == pytest.approx(expected[cue.ngram, label], abs=1e-12)


def test_cues_are_recounted_in_other_claims():
    plain = cue_table(["it did not", "it did", "not it"], ["NO", "YES", "YES"], n=1, min_frequency=2)
    other = recount(plain, ["did did rain", "rain"], ["NO", "YES"], n=1, drop=())
    assert (other.ngrams, other.labels) == (plain.ngrams, plain.labels) == (["did", "it", "not"], ["NO", "YES"])
    assert other.counts.tolist() == [[2, 0], [0, 0], [0, 0]]
    assert other.of_label.tolist() == [3, 1]
    assert other.lmi()[0, 0] == pytest.approx(2 / 4 * math.log(1 / (3 / 4)))
    assert other.probabilities()[1].tolist() == [0, 0]
    with pytest.raises(UsageError, match='label "MAYBE", expected one of: NO, YES'):
        recount(plain, ["did"], ["MAYBE"], n=1, drop=())


@pytest.mark.realdata
def test_correlation_and_coverage_agree_with_loops(realdata, monkeypatch):
    """As the paper's own script: p(l|w) of the n-grams with the highest LMI in the first file, 0 where absent."""
    from scipy.stats import pearsonr, spearmanr

    monkeypatch.setattr(cue_transfer, "TOPS", (3, 10, 40))
    lines = (realdata / "symmetric/fever_dev_claims.jsonl").read_text().splitlines()[:3000]
    claims = [(line["claim"], line["label"]) for line in map(json.loads, lines)]
    first, second = claims[:2000], claims[2000:]
    (texts, labels), (others, other_labels) = zip(*first, strict=True), zip(*second, strict=True)
    plain = cue_table(texts, labels, drop=FEVER_FREQUENT, min_frequency=5)
    dev = recount(plain, others, other_labels, n=2, drop=FEVER_FREQUENT)
    ours, theirs = (table_by_loops(part, 2, FEVER_FREQUENT, least) for part, least in ((first, 5), (second, 1)))
    label = "REFUTES"
    order = sorted((gram for gram, name in ours if name == label), key=lambda gram: (-ours[gram, label][0], gram))
    for top, pearson, spearman in cue_transfer.correlations(plain, dev, label):
        pairs = [(ours[gram, label][1], theirs.get((gram, label), (0, 0))[1]) for gram in order[:top]]
        assert pearson == pytest.approx(pearsonr(*zip(*pairs, strict=True)).statistic, abs=1e-9)
        assert spearman == pytest.approx(spearmanr(*zip(*pairs, strict=True)).statistic, abs=1e-9)
    for top, share in cue_transfer.coverage(plain, others, other_labels, label, n=2, drop=FEVER_FREQUENT):
        found = [
            any(
                f" {gram} " in f" {' '.join(w for w in tokens(text) if w not in FEVER_FREQUENT)} "
                for gram in order[:top]
            )
            for text, name in second
            if name == label
        ]
        assert share == sum(found) / len(found) > 0
