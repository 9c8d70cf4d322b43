"""Questions of the task link-prediction out of open triples (Broscheit et al. 2020, section 3).

An evaluation triple (i, k, j) asks (i, k, ?) and (?, k, j). Any mention of the entity that was meant is an answer; the
mentions of what else is known to stand there, in training, validation or test triples, are filtered out of rankings.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evaluator.curation.open_triples.triples import Dictionary, Mentions, OpenTriple, Row
from evaluator.tasks.link_prediction.layout import ASKED

Prefix = tuple[str, str, str]
"""A triple with ASKED for one end."""


class Asked(Protocol):
    """What an `OpenTriple` has; subjects, objects: the mentions of either end, none where only its own is known."""

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
class Known:
    """The known answers of each prefix that is asked, in the order in which they were met."""

    answers: dict[Prefix, dict[str, None]] = field(default_factory=dict)

    def ask(self, triples: Iterable[OpenTriple]) -> None:
        """Evaluation triples: ask all of them before anything is learnt."""
        for triple in triples:
            for prefix, _ in sides(triple):
                self.answers.setdefault(prefix, {})

    def learn(self, triples: Iterable[OpenTriple]) -> None:
        for triple in triples:
            for prefix, mentions in sides(triple):
                if (known := self.answers.get(prefix)) is not None:
                    known.update(dict.fromkeys(mentions))

    def learn_rows(self, rows: Iterable[Row], dictionary: Dictionary) -> None:
        """The same of a file's lines: of 30 million most answer nothing, and are passed over fast."""
        asked = self.answers
        self.learn(
            dictionary.triple(row)
            for row in rows
            if (row[0], row[1], ASKED) in asked or (ASKED, row[1], row[2]) in asked
        )


@dataclass
class Question:
    """answers: the mentions of the evaluated entity; filtered: other known answers; triples: places in the list of
    triples that it was made of."""

    prefix: Prefix
    answers: Mentions
    filtered: Mentions
    triples: list[int]

    @property
    def side(self) -> str:
        return "head" if self.prefix[0] == ASKED else "tail"


def sides(triple: Asked) -> tuple[tuple[Prefix, Mentions], tuple[Prefix, Mentions]]:
    """(prefix, mentions of the end that is asked for), tail first."""
    subjects, objects = triple.subjects or (triple.subject,), triple.objects or (triple.object,)
    return ((triple.subject, triple.relation, ASKED), objects), ((ASKED, triple.relation, triple.object), subjects)


def questions(triples: Sequence[Asked], known: Mapping[Prefix, Iterable[str]]) -> list[Question]:
    """In the order of the triples, tail first. Triples that ask the same for the same mentions make one question.

    known: the known answers of every prefix asked, those of these triples among them.
    """
    made: dict[tuple[Prefix, frozenset[str]], Question] = {}
    for place, triple in enumerate(triples):
        for prefix, answers in sides(triple):
            right = frozenset(answers)
            question = made.get((prefix, right))
            if question is None:
                filtered = tuple(mention for mention in known[prefix] if mention not in right)
                question = made[prefix, right] = Question(prefix, answers, filtered, [])
            question.triples.append(place)
    return list(made.values())


def groups(asked: Sequence[Question]) -> list[int]:
    """A number a question: two questions have the same if a chain of shared triples leads from one to the other.

    (a, k, ?) and (?, k, b) of one triple answer each other, so they are resampled and split together.
    """
    leader: dict[int, int] = {}

    def lead(place: int) -> int:
        while leader.setdefault(place, place) != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    for question in asked:
        for place in question.triples[1:]:
            leader[lead(place)] = lead(question.triples[0])
    return [lead(question.triples[0]) for question in asked]


def ids(asked: Sequence[Question], *, seed: int) -> list[str]:
    """Sixteen digits a question, a digest of what everybody sees of it.

    So they tell neither which questions are of one triple nor what answers them, to those who know the seed either. Of
    questions that ask the same for different entities the order decides, and that follows from seed and answers.
    """

    def digest(*parts: object) -> str:
        text = json.dumps([seed, *parts], ensure_ascii=False).encode()
        return hashlib.blake2b(text, digest_size=8).hexdigest()

    order = sorted(range(len(asked)), key=lambda place: digest(asked[place].prefix, sorted(asked[place].answers)))
    count: dict[Prefix, int] = {}
    made = [""] * len(asked)
    for place in order:
        nth = count[asked[place].prefix] = count.get(asked[place].prefix, 0) + 1
        made[place] = digest(asked[place].prefix, nth)
    return made


def told(public: Iterable[Question], hidden: Iterable[Question]) -> int:
    """How many hidden questions have an answer that the public gold of others names for the same prefix."""
    named: dict[Prefix, set[str]] = {}
    for question in public:
        named.setdefault(question.prefix, set()).update(question.answers, question.filtered)
    return sum(not named.get(question.prefix, set()).isdisjoint(question.answers) for question in hidden)
