"""Questions of open triples agree with brute force and with the published conversion; ids reveal nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.curation.open_triples.questions import KnownAnswers, count_leaked, groups, ids, questions
from evaluator.curation.open_triples.triples import Dictionary, OpenTriple

NAME = st.sampled_from("abcd")
MENTIONS = st.lists(NAME, max_size=3).map(tuple)
TRIPLE = st.builds(
    lambda s, k, o, ms, mo: OpenTriple(s, k, o, (s, *ms) if ms else (), (o, *mo) if mo else ()),
    NAME,
    st.sampled_from("kl"),
    NAME,
    MENTIONS,
    MENTIONS,
)
TRIPLES = st.lists(TRIPLE, max_size=8)


def brute_force(evaluated: list[OpenTriple], all_: list[OpenTriple]) -> set[tuple[Any, ...]]:
    """(question, answers, filtered) exactly as in the protocol."""
    expected = set()
    for i, k, j, ms_i, ms_j in evaluated:
        for question, answers in (((i, k, "?"), {j, *ms_j}), (("?", k, j), {i, *ms_i})):
            known: set[str] = set()
            for other_i, other_k, other_j, other_ms_i, other_ms_j in all_:
                if question[2] == "?" and (other_i, other_k) == (i, k):
                    known |= {other_j, *other_ms_j}
                if question[0] == "?" and (other_k, other_j) == (k, j):
                    known |= {other_i, *other_ms_i}
            expected.add((question, frozenset(answers), frozenset(known - answers)))
    return expected


def known_of(evaluated: list[OpenTriple], others: list[OpenTriple]) -> KnownAnswers:
    known = KnownAnswers()
    known.ask(evaluated)
    known.learn([*evaluated, *others])
    return known


@given(evaluated=TRIPLES, others=TRIPLES)
def test_questions_equal_those_of_brute_force(evaluated: list[OpenTriple], others: list[OpenTriple]) -> None:
    asked_questions = questions(evaluated, known_of(evaluated, others).answers)
    converted = [(q.prefix, frozenset(q.answers), frozenset(q.filtered)) for q in asked_questions]
    assert len(set(converted)) == len(converted)
    assert set(converted) == brute_force(evaluated, [*evaluated, *others])
    assert all(len(set(q.filtered)) == len(q.filtered) for q in asked_questions)


@given(evaluated=TRIPLES, others=TRIPLES)
def test_known_answers_from_lines_equal_those_from_triples(
    evaluated: list[OpenTriple], others: list[OpenTriple]
) -> None:
    rows = [[*triple[:3], "|||".join(triple.subjects), "|||".join(triple.objects)] for triple in others]
    by_rows = known_of(evaluated, [])
    by_rows.learn_rows(rows, Dictionary())
    assert by_rows.answers == known_of(evaluated, others).answers


@given(evaluated=TRIPLES)
def test_groups_are_questions_connected_by_triples(evaluated: list[OpenTriple]) -> None:
    asked_questions = questions(evaluated, known_of(evaluated, []).answers)
    numbers = groups(asked_questions)
    for first, second in ((a, b) for a in range(len(asked_questions)) for b in range(len(asked_questions))):
        # Questions reachable by shared triples.
        reached, frontier = {first}, [first]
        while frontier:
            current = frontier.pop()
            for next_ in range(len(asked_questions)):
                if next_ not in reached and set(asked_questions[current].triples) & set(asked_questions[next_].triples):
                    reached.add(next_)
                    frontier.append(next_)
        assert (numbers[first] == numbers[second]) == (second in reached)


def test_groups_are_joined_by_triples_that_share_a_question() -> None:
    """The first and the second triple share no question; the third shares one with each."""
    chained = [
        OpenTriple("a", "k", "b", (), ("b", "d")),
        OpenTriple("c", "k", "d", ("c", "a"), ()),
        OpenTriple("a", "k", "d", ("a", "c"), ("d", "b")),
        OpenTriple("a", "l", "d"),
    ]
    asked_questions = questions(chained, known_of(chained, []).answers)
    assert [question.triples for question in asked_questions] == [[0, 2], [0], [1], [1, 2], [3], [3]]
    numbers = groups(asked_questions)
    assert len(set(numbers[:4])) == len(set(numbers[4:])) == 1
    assert numbers[0] != numbers[4]


def test_the_papers_example() -> None:
    nbc, new_york = ("NBC-TV", "NBC"), ("NYC", "New York City", "New York")
    asked_questions = OpenTriple("NBC-TV", "has office in", "NYC", nbc, new_york)
    known = known_of(
        [asked_questions], [OpenTriple("NBC-TV", "has office in", "Los Angeles"), OpenTriple("ABC", "in", "NYC")]
    )
    tail, head = questions([asked_questions], known.answers)
    assert (tail.prefix, tail.answers, tail.filtered) == (("NBC-TV", "has office in", "?"), new_york, ("Los Angeles",))
    assert (head.prefix, head.answers, head.filtered) == (("?", "has office in", "NYC"), nbc, ())
    assert (tail.side, head.side) == ("tail", "head")


@given(evaluated=TRIPLES, seed=st.integers(0, 3))
def test_ids_depend_only_on_public_data(evaluated: list[OpenTriple], seed: int) -> None:
    asked_questions = questions(evaluated, known_of(evaluated, []).answers)
    ids_made = ids(asked_questions, seed=seed)
    assert len(set(ids_made)) == len(ids_made)
    # With other answers and another order of triples, the ids of the public questions do not change.
    hidden = asked_questions[::-1]
    for question in hidden:
        question.answers = (*question.answers, "more")
        question.triples = []
    assert sorted(zip([q.prefix for q in hidden], ids(hidden, seed=seed), strict=True)) == sorted(
        zip([q.prefix for q in asked_questions], ids_made, strict=True)
    )
    assert not set(ids_made) & set(ids(asked_questions, seed=seed + 1))


def test_answers_leaked_by_another_files_gold_are_counted() -> None:
    hidden, public = OpenTriple("a", "r", "b"), OpenTriple("a", "r", "c")
    known = known_of([hidden, public], [])
    of = {name: questions([triple], known.answers) for name, triple in (("hidden", hidden), ("public", public))}
    assert of["public"][0].filtered == ("b",)
    assert count_leaked(of["public"], of["hidden"]) == 1
    assert (
        count_leaked(
            questions([OpenTriple("x", "r", "y")], known_of([OpenTriple("x", "r", "y")], []).answers), of["hidden"]
        )
        == 0
    )


@pytest.mark.realdata
def test_the_published_questions(realdata: Path) -> None:
    """KnowledgeNet's mentions: questions about fold 4; folds 1 to 3 are known."""
    folder = realdata / "link-prediction"
    read = [json.loads(line) for line in (folder / "mention_triples.jsonl").read_text().splitlines()]
    mentions: dict[str, dict[str, None]] = defaultdict(dict)
    for line in read:
        mentions[line["subject_entity"]][line["subject"]] = None
        mentions[line["object_entity"]][line["object"]] = None
    triples = [
        (
            line["fold"],
            OpenTriple(
                line["subject"],
                line["relation"],
                line["object"],
                tuple(mentions[line["subject_entity"]]),
                tuple(mentions[line["object_entity"]]),
            ),
        )
        for line in read
    ]
    evaluated = [triple for fold, triple in triples if fold == 4]
    asked_questions = questions(
        evaluated, known_of(evaluated, [triple for fold, triple in triples if fold != 4]).answers
    )
    converted = {(q.prefix, frozenset(q.answers), frozenset(q.filtered)) for q in asked_questions}
    gold = [json.loads(line) for line in (folder / "gold.jsonl").read_text().splitlines()]
    assert len(asked_questions) == 1027
    assert converted == {
        (tuple(line["question"]), frozenset(line["answers"]), frozenset(line["filtered"])) for line in gold
    }
