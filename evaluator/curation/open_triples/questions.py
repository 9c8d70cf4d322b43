"""Questions of the task link-prediction from open triples (Broscheit et al. 2020, section 3).

An evaluation triple (i, k, j) asks (i, k, ?) and (?, k, j). Any mention of the entity that was meant is an answer;
mentions of other known answers, from training, validation or test triples, are filtered out of rankings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evaluator.curation.open_triples.triples import Dictionary, Mentions, OpenTriple, Row
from evaluator.tasks.link_prediction.layout import QUERY_MARKER

Prefix = tuple[str, str, str]
"""A triple with QUERY_MARKER in place of the subject or the object that is asked for."""


class TripleLike(Protocol):
    """The part of `OpenTriple` that questions need.

    subjects, objects: all mentions of the subject's and of the object's entity; empty if no others are known.
    """

    @property
    def subject(self) -> str: ...
    @property
    def relation(self) -> str: ...
    @property
    def object(self) -> str: ...
    @property
    def subjects(self) -> Mentions: ...
    @property
    def objects(self) -> Mentions: ...


@dataclass
class KnownAnswers:
    """Known answers of each registered prefix (a triple in which `?` stands for its subject or its object).

    answers: prefix -> its answers, as the keys of a dict, in the order of reading.
    """

    answers: dict[Prefix, dict[str, None]] = field(default_factory=dict)

    def ask(self, triples: Iterable[OpenTriple]) -> None:
        """Register both prefixes of each evaluation triple: (subject, relation, ?) and (?, relation, object).

        This must be done for all evaluation triples before `learn` adds answers.
        """
        for triple in triples:
            for prefix, _ in sides(triple):
                self.answers.setdefault(prefix, {})

    def learn(self, triples: Iterable[OpenTriple]) -> None:
        """Add the mentions of the triples' subjects and objects to the answers of prefixes that `ask` registered."""
        for triple in triples:
            for prefix, mentions in sides(triple):
                if (known := self.answers.get(prefix)) is not None:
                    known.update(dict.fromkeys(mentions))

    def learn_rows(self, rows: Iterable[Row], dictionary: Dictionary) -> None:
        """Add the answers that a file's rows give to the prefixes that `ask` registered.

        A training file has 30 million rows, of which few give an answer; the others are skipped fast. dictionary: links
        mentions to entities.
        """
        answers = self.answers
        self.learn(
            dictionary.triple(row)
            for row in rows
            if (row[0], row[1], QUERY_MARKER) in answers or (QUERY_MARKER, row[1], row[2]) in answers
        )


@dataclass
class Question:
    """A question of the task link-prediction.

    prefix: the triple with `?` in place of the missing part. answers: the mentions of the entity that is asked for.
    filtered: other known answers, to be left out of rankings. triples: the indices, in the list given to `questions`,
    of the triples that ask it.
    """

    prefix: Prefix
    answers: Mentions
    filtered: Mentions
    triples: list[int]

    @property
    def side(self) -> str:
        """The part of a triple that the question asks for: `head` for the subject, `tail` for the object."""
        return "head" if self.prefix[0] == QUERY_MARKER else "tail"


def sides(triple: TripleLike) -> tuple[tuple[Prefix, Mentions], tuple[Prefix, Mentions]]:
    """Return (prefix, answers) of a triple's question for the object, then those of its question for the subject.

    The prefix is the triple with `?` in place of the part that is asked for. The answers are the mentions of that part.
    """
    subjects, objects = triple.subjects or (triple.subject,), triple.objects or (triple.object,)
    return ((triple.subject, triple.relation, QUERY_MARKER), objects), (
        (QUERY_MARKER, triple.relation, triple.object),
        subjects,
    )


def questions(triples: Sequence[TripleLike], known: Mapping[Prefix, Iterable[str]]) -> list[Question]:
    """Return the questions of triples, in their order: for each the question for the object, then for the subject.

    Triples with the same prefix and the same answers share one question. known: prefix -> known answers of every
    question, including those of these triples.
    """
    by_key: dict[tuple[Prefix, frozenset[str]], Question] = {}
    for index, triple in enumerate(triples):
        for prefix, answers in sides(triple):
            right = frozenset(answers)
            question = by_key.get((prefix, right))
            if question is None:
                filtered = tuple(mention for mention in known[prefix] if mention not in right)
                question = by_key[prefix, right] = Question(prefix, answers, filtered, [])
            question.triples.append(index)
    return list(by_key.values())


def groups(questions: Sequence[Question]) -> list[int]:
    """Return a group number per question: questions connected by shared triples have the same number.

    (a, k, ?) and (?, k, b) of one triple reveal each other's answers, so they are resampled and split together.
    """
    parent: dict[int, int] = {}

    def find_root(index: int) -> int:
        while parent.setdefault(index, index) != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for question in questions:
        for index in question.triples[1:]:
            parent[find_root(index)] = find_root(question.triples[0])
    return [find_root(question.triples[0]) for question in questions]


def ids(questions: Sequence[Question], *, seed: int) -> list[str]:
    """Return an id of sixteen hexadecimal digits per question: a hash of the seed, the prefix and a number.

    The number distinguishes questions with the same prefix for different entities: it counts them in an order that
    depends on seed and answers. Ids do not reveal which questions are of one triple, nor the answers, even if the seed
    is known.
    """

    def digest(*parts: object) -> str:
        text = json.dumps([seed, *parts], ensure_ascii=False).encode()
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    order = sorted(
        range(len(questions)), key=lambda index: digest(questions[index].prefix, sorted(questions[index].answers))
    )
    n_seen: dict[Prefix, int] = {}
    identifiers = [""] * len(questions)
    for index in order:
        nth = n_seen[questions[index].prefix] = n_seen.get(questions[index].prefix, 0) + 1
        identifiers[index] = digest(questions[index].prefix, nth)
    return identifiers


def count_leaked(public: Iterable[Question], hidden: Iterable[Question]) -> int:
    """Count the hidden questions of which the gold of public questions reveals an answer.

    An answer is revealed if a public question with the same prefix has it among its answers or filtered mentions.
    """
    known: dict[Prefix, set[str]] = {}
    for question in public:
        known.setdefault(question.prefix, set()).update(question.answers, question.filtered)
    return sum(not known.get(question.prefix, set()).isdisjoint(question.answers) for question in hidden)
