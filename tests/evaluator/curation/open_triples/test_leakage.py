"""Leakage removal agrees with brute force, rule by rule."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.open_triples.leakage import Leakage, Level, Memo, Rule, remove_leakage
from evaluator.curation.open_triples.token_sets import Normaliser, TokenCounts
from evaluator.curation.open_triples.triples import OpenTriple
from tests.support.full_run import examples

from .leakage_oracle import leaks, most_frequent

# Few words, in both cases, so that texts contain each other; some texts have only stop words.
WORDS = ["a", "B", "b", "c", "D", "the", "of", "is"]
STOPS = {"the", "of", "is"}

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
long_texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
training = st.lists(st.tuples(long_texts, long_texts, long_texts), max_size=30)
mentions = st.lists(texts, max_size=3).map(tuple)
evaluation = st.lists(st.builds(OpenTriple, texts, texts, texts, mentions, mentions), max_size=5)


@pytest.mark.parametrize("level", list(Level))
@given(train=training, evaluated=evaluation, stops=st.sets(st.sampled_from(sorted(STOPS))))
@settings(max_examples=examples(150), deadline=None)
def test_remaining_triples_equal_those_of_brute_force(
    level: Level, train: list[tuple[str, str, str]], evaluated: list[OpenTriple], stops: set[str]
) -> None:
    remaining, removed = remove_leakage(train, evaluated, level, stops)
    assert remaining == [triple for triple in train if not leaks(triple, evaluated, level.name, stops)]
    assert removed.total() == len(train) - len(remaining)


@given(train=training, evaluated=evaluation)
@settings(max_examples=examples(100), deadline=None)
def test_each_level_includes_the_one_below_and_reports_the_first_rule(
    train: list[tuple[str, str, str]], evaluated: list[OpenTriple]
) -> None:
    leakage = Leakage(evaluated, Normaliser(STOPS))
    for triple, rule in zip(train, leakage.rules(train), strict=True):
        for level in Level:
            expected = rule if 0 < rule <= level else 0
            assert leakage.rules([triple], level) == [expected]
            assert leaks(triple, evaluated, level.name, STOPS) == bool(expected)


FACT = OpenTriple(
    "Michelle Obama", "was married to", "Barack Obama", ("Michelle Obama", "M. Obama"), ("Barack Obama", "B. Obama")
)


@pytest.mark.parametrize(
    ("triple", "rule"),
    [
        (("Michelle Obama", "was married to", "Barack Obama"), Rule.SIMPLE),
        (("michelle obama", "was married to", "Barack Obama"), Rule.BASIC),
        (("M. Obama", "was married to", "the B. Obama"), Rule.BASIC),
        (("B. Obama", "married to", "M. Obama"), Rule.BASIC),
        (("Obama Barack", "met", "Michelle Obama"), Rule.ANY_RELATION),
        (("M. Obama", "was married to B. Obama in", "1992"), Rule.IN_RELATION),
        (("1992", "is when M. Obama married", "Barack Obama"), Rule.IN_RELATION),
        (("Barack Obama married to M. Obama", "is", "a fact"), Rule.IN_MENTION),
        (("it", "is", "that Barack Obama is married to Michelle Obama"), Rule.IN_MENTION),
        (("B. Obama", "was married to M. Obama in", "1992"), 0),
        (("1992", "is when B. Obama married", "M. Obama"), 0),
        (("Michelle Obama", "was married in", "Chicago"), 0),
        (("Barack Obama and Michelle Obama", "are", "a pair"), 0),
        (("Michelle Robinson", "was married to", "Barack Obama"), 0),
        (("Michelle Obama", "was B. Obama of", "1992"), 0),
    ],
)
def test_rules_by_example(triple: tuple[str, str, str], rule: int) -> None:
    leakage = Leakage([FACT], Normaliser({"was", "is", "to", "the", "in", "of", "that", "when"}))
    assert leakage.rules([triple]) == [rule]


def test_words_of_different_evaluated_facts_are_not_combined() -> None:
    """The object and the relation must belong to one triple."""
    facts = [OpenTriple("a", "likes", "b"), OpenTriple("a", "hates", "c"), OpenTriple("d", "likes", "e")]
    leakage = Leakage(facts, Normaliser(()))
    rows = [
        ("a", "likes c", "x"),
        ("a", "likes b", "x"),
        ("x", "likes d", "b"),
        ("a likes e", "x", "y"),
        ("a", "x", "e"),
    ]
    assert leakage.rules(rows) == [0, Rule.IN_RELATION, 0, 0, 0]


@given(rows=st.lists(st.tuples(texts, texts, texts), max_size=20), n=st.integers(0, 5), most=st.integers(0, 40))
def test_stop_words_are_the_most_frequent_tokens(rows: list[tuple[str, str, str]], n: int, most: int) -> None:
    """Whatever the number of texts held in memory."""
    counts = TokenCounts(most)
    counts.add(rows[:7])
    counts.add(rows[7:])
    assert set(counts.stop_words(n).all) == most_frequent(rows, n)


def test_equally_frequent_stop_words_are_ordered_by_code_point() -> None:
    counts = TokenCounts()
    counts.add([("c b", "z", "A é"), ("b", "y z", "c d")])
    assert counts.stop_words(4) == (("b", "c", "a", "d"), ("z", "y"))


def test_stop_words_are_counted_where_none_are_given() -> None:
    draw = random.Random(5)
    words = [f"w{number}" for number in range(80)]

    def text() -> str:
        return " ".join(draw.choices(words, [1 / rank for rank in range(1, 81)], k=draw.randint(1, 4)))

    train = [(text(), text(), text()) for _ in range(3000)]
    evaluated = [OpenTriple(text(), text(), text(), (text(),), (text(), text())) for _ in range(12)]
    stops = most_frequent(train)
    assert len(stops) >= 25
    for level in Level:
        remaining, removed = remove_leakage(train, evaluated, level)
        assert remaining == [triple for triple in train if not leaks(triple, evaluated, level.name, stops)]
    assert set(removed) >= {Rule.ANY_RELATION, Rule.IN_RELATION, Rule.IN_MENTION}


@pytest.mark.realdata
def test_real_mentions(realdata: Path) -> None:
    """KnowledgeNet's mentions: triples of folds 1 to 4 that state one of a hundred facts of fold 4."""
    lines = (realdata / "link-prediction" / "mention_triples.jsonl").read_text().splitlines()
    read = [json.loads(line) for line in lines]
    mentions: dict[str, dict[str, None]] = defaultdict(dict)
    for line in read:
        mentions[line["subject_entity"]][line["subject"]] = None
        mentions[line["object_entity"]][line["object"]] = None
    train = [(line["subject"], line["relation"], line["object"]) for line in read]
    evaluated = [
        OpenTriple(*triple, tuple(mentions[line["subject_entity"]]), tuple(mentions[line["object_entity"]]))
        for triple, line in zip(train, read, strict=True)
        if line["fold"] == 4
    ][::6]
    stops, n_removed = most_frequent(train), []
    for level in Level:
        remaining, _ = remove_leakage(train, evaluated, level)
        assert remaining == [triple for triple in train if not leaks(triple, evaluated, level.name, stops)]
        n_removed.append(len(train) - len(remaining))
    assert len(evaluated) <= n_removed[0] < n_removed[1] < n_removed[2]


def test_a_memo_evicts_and_recomputes() -> None:
    calls: Counter[str] = Counter()

    def work(text: str) -> int:
        calls[text] += 1
        return len(text)

    memo = Memo(work, most=2)
    assert [memo[text] for text in ("a", "bb", "a", "ccc", "a", "bb")] == [1, 2, 1, 3, 1, 2]
    assert calls == {"a": 2, "bb": 2, "ccc": 1}
    assert len(memo) <= 2
