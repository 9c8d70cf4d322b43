"""Questions of open triples agree with a brute force, and with the published conversion; ids tell nothing."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.curation.open_triples.questions import Known, count_leaked, groups, ids, questions
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
    """(question, answers, filtered) by the letter of the protocol."""
    made = set()
    for i, k, j, ms_i, ms_j in evaluated:
        for question, answers in (((i, k, "?"), {j, *ms_j}), (("?", k, j), {i, *ms_i})):
            known: set[str] = set()
            for other_i, other_k, other_j, other_ms_i, other_ms_j in all_:
                if question[2] == "?" and (other_i, other_k) == (i, k):
                    known |= {other_j, *other_ms_j}
                if question[0] == "?" and (other_k, other_j) == (k, j):
                    known |= {other_i, *other_ms_i}
            made.add((question, frozenset(answers), frozenset(known - answers)))
    return made


def known_of(evaluated: list[OpenTriple], others: list[OpenTriple]) -> Known:
    known = Known()
    known.ask(evaluated)
    known.learn([*evaluated, *others])
    return known


@given(evaluated=TRIPLES, others=TRIPLES)
def test_questions_are_those_of_a_brute_force(evaluated: list[OpenTriple], others: list[OpenTriple]) -> None:
    asked = questions(evaluated, known_of(evaluated, others).answers)
    found = [(q.prefix, frozenset(q.answers), frozenset(q.filtered)) for q in asked]
    assert len(set(found)) == len(found)
    assert set(found) == brute_force(evaluated, [*evaluated, *others])
    assert all(len(set(q.filtered)) == len(q.filtered) for q in asked)


@given(evaluated=TRIPLES, others=TRIPLES)
def test_lines_of_a_file_teach_the_same(evaluated: list[OpenTriple], others: list[OpenTriple]) -> None:
    rows = [[*triple[:3], "|||".join(triple.subjects), "|||".join(triple.objects)] for triple in others]
    by_rows = known_of(evaluated, [])
    by_rows.learn_rows(rows, Dictionary())
    assert by_rows.answers == known_of(evaluated, others).answers


@given(evaluated=TRIPLES)
def test_questions_of_one_triple_are_one_group_and_no_others(evaluated: list[OpenTriple]) -> None:
    asked = questions(evaluated, known_of(evaluated, []).answers)
    numbers = groups(asked)
    for one, other in ((a, b) for a in range(len(asked)) for b in range(len(asked))):
        # Reachable by shared triples: a plain closure.
        reached, frontier = {one}, [one]
        while frontier:
            at = frontier.pop()
            for next_ in range(len(asked)):
                if next_ not in reached and set(asked[at].triples) & set(asked[next_].triples):
                    reached.add(next_)
                    frontier.append(next_)
        assert (numbers[one] == numbers[other]) == (other in reached)


def test_groups_are_chained_by_triples_that_share_a_question() -> None:
    """The first and the second triple share none; the third shares one with either."""
    chained = [
        OpenTriple("a", "k", "b", (), ("b", "d")),
        OpenTriple("c", "k", "d", ("c", "a"), ()),
        OpenTriple("a", "k", "d", ("a", "c"), ("d", "b")),
        OpenTriple("a", "l", "d"),
    ]
    asked = questions(chained, known_of(chained, []).answers)
    assert [question.triples for question in asked] == [[0, 2], [0], [1], [1, 2], [3], [3]]
    numbers = groups(asked)
    assert len(set(numbers[:4])) == len(set(numbers[4:])) == 1
    assert numbers[0] != numbers[4]


def test_the_papers_example() -> None:
    nbc, new_york = ("NBC-TV", "NBC"), ("NYC", "New York City", "New York")
    asked = OpenTriple("NBC-TV", "has office in", "NYC", nbc, new_york)
    known = known_of([asked], [OpenTriple("NBC-TV", "has office in", "Los Angeles"), OpenTriple("ABC", "in", "NYC")])
    tail, head = questions([asked], known.answers)
    assert (tail.prefix, tail.answers, tail.filtered) == (("NBC-TV", "has office in", "?"), new_york, ("Los Angeles",))
    assert (head.prefix, head.answers, head.filtered) == (("?", "has office in", "NYC"), nbc, ())
    assert (tail.side, head.side) == ("tail", "head")


@given(evaluated=TRIPLES, seed=st.integers(0, 3))
def test_ids_follow_from_what_everybody_sees(evaluated: list[OpenTriple], seed: int) -> None:
    asked = questions(evaluated, known_of(evaluated, []).answers)
    made = ids(asked, seed=seed)
    assert len(set(made)) == len(made)
    # Other answers, another order of triples: the ids of the public questions stay.
    hidden = asked[::-1]
    for question in hidden:
        question.answers = (*question.answers, "more")
        question.triples = []
    assert sorted(zip([q.prefix for q in hidden], ids(hidden, seed=seed), strict=True)) == sorted(
        zip([q.prefix for q in asked], made, strict=True)
    )
    assert not set(made) & set(ids(asked, seed=seed + 1))


def test_gold_of_one_file_that_tells_anothers_answers_is_counted() -> None:
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
    """KnowledgeNet's mentions: fold 4 is asked about, folds 1 to 3 are known."""
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
    asked = questions(evaluated, known_of(evaluated, [triple for fold, triple in triples if fold != 4]).answers)
    found = {(q.prefix, frozenset(q.answers), frozenset(q.filtered)) for q in asked}
    gold = [json.loads(line) for line in (folder / "gold.jsonl").read_text().splitlines()]
    assert len(asked) == 1027
    assert found == {
        (tuple(line["question"]), frozenset(line["answers"]), frozenset(line["filtered"])) for line in gold
    }
