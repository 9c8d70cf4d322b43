"""Questions from open triples (Broscheit et al. 2020, section 3): both prefixes of each evaluation triple."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leaderboard.importers.olpbench_files import Known, Open, Prefix


@dataclass
class Question:
    """answers: the mentions of the evaluated entity; filtered: other known answers; triples: what it was made of."""

    prefix: Prefix
    answers: tuple[str, ...]
    filtered: tuple[str, ...]
    triples: list[int]
    """Places in the list of triples."""

    @property
    def side(self) -> str:
        return "head" if self.prefix[0] == "?" else "tail"


def questions(triples: Sequence[Open], known: Known) -> list[Question]:
    """In the order of the triples, tail first. Triples that ask the same for the same entity make one question."""
    made: dict[tuple[Prefix, frozenset[str]], Question] = {}
    for place, triple in enumerate(triples):
        for prefix, answers in ((triple.tail, triple.objects), (triple.head, triple.subjects)):
            question = made.get((prefix, frozenset(answers)))
            if question is None:
                right = set(answers)
                filtered = tuple(mention for mention in known.answers[prefix] if mention not in right)
                question = made[prefix, frozenset(answers)] = Question(prefix, answers, filtered, [])
            question.triples.append(place)
    return list(made.values())


def groups(asked: Iterable[Question]) -> list[int]:
    """A number a question: two questions have the same if a chain of shared triples leads from one to the other.

    (a, r, ?) and (?, r, b) of one triple answer each other, so they are resampled and split together.
    """
    leader: dict[int, int] = {}

    def lead(place: int) -> int:
        while leader.setdefault(place, place) != place:
            leader[place] = leader[leader[place]]
            place = leader[place]
        return place

    asked = list(asked)
    for question in asked:
        for place in question.triples[1:]:
            leader[lead(place)] = lead(question.triples[0])
    return [lead(question.triples[0]) for question in asked]


def told(public: Iterable[Question], hidden: Iterable[Question]) -> int:
    """How many hidden questions have an answer that the public gold of others names for the same prefix."""
    named: dict[Prefix, set[str]] = {}
    for question in public:
        named.setdefault(question.prefix, set()).update(question.answers, question.filtered)
    return sum(not named.get(question.prefix, set()).isdisjoint(question.answers) for question in hidden)
