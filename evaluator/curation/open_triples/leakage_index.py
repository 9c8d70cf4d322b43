"""Index of evaluation triples, with which the module `leakage` compares a training triple with all of them at once."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from evaluator.curation.open_triples.token_sets import Normaliser, Words
from evaluator.curation.open_triples.triples import OpenTriple

Ends = frozenset[int]
"""Numbers of entities. Subjects and objects with the same set of mentions are one entity, in any triple."""

_NONE: Ends = frozenset()


class Subsets:
    """Index of sets of words, to find those that are subsets of a given set.

    Sets are indexed by their rarest word: a given set is compared only with the sets whose rarest word it contains.
    """

    def __init__(self, sets: Iterable[Words]) -> None:
        """Index the sets. No set may be empty; equal sets count once."""
        distinct = list(dict.fromkeys(sets))
        frequency = Counter(word for words in distinct for word in words)
        self._under: dict[str, list[Words]] = {}
        for words in distinct:
            rarest = min(words, key=lambda word: (frequency[word], word))
            self._under.setdefault(rarest, []).append(words)

    def within(self, words: Words) -> Iterator[Words]:
        """Yield the sets that are subsets of `words`."""
        for word in words & self._under.keys():
            for candidate in self._under[word]:
                if candidate <= words:
                    yield candidate


class Mention(NamedTuple):
    """A training mention (the text of a subject or object), looked up in the evaluation triples.

    ends: the entities that the mention may mean. tails: the objects of evaluation triples whose subject is one of
    `ends`. whole: True if the mention contains the words of a whole evaluation triple.

    A mention may mean thousands of entities, so these sets are computed once per text, not once per triple.
    """

    ends: Ends
    tails: Ends
    whole: bool


class Relation(NamedTuple):
    """A training relation, looked up in the evaluation triples.

    number: the number of the evaluation relation with the same words, -1 if there is none. heads: the subjects of
    evaluation triples whose relation's and object's words are all in the training relation. tails: the objects of
    evaluation triples whose relation's and subject's words are all in it.
    """

    number: int
    heads: Ends
    tails: Ends


class _Facts:
    """Evaluation triples of one relation, indexed by subject (head) and by object (tail)."""

    def __init__(self) -> None:
        self.tails: defaultdict[int, set[int]] = defaultdict(set)
        self.heads: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, head: int, tail: int) -> None:
        self.tails[head].add(tail)
        self.heads[tail].add(head)

    def lead(self, heads: Ends, tails: Ends) -> bool:
        """Return True if an evaluation triple of the relation links one of the heads to one of the tails."""
        return any(not self.tails[head].isdisjoint(tails) for head in heads & self.tails.keys())


class EvaluationIndex:
    """Evaluation triples as (entity, relation, entity), indexed by the words of mentions and relations."""

    def __init__(self, evaluated: Iterable[OpenTriple], words: Normaliser) -> None:
        self._words = words
        self._relations: dict[Words, int] = {}
        self._facts: list[_Facts] = []
        entities: dict[frozenset[Words], int] = {}
        tails: defaultdict[int, set[int]] = defaultdict(set)
        for triple in evaluated:
            relation = self._relations.setdefault(words(triple.relation), len(self._relations))
            if relation == len(self._facts):
                self._facts.append(_Facts())
            head, tail = (
                entities.setdefault(frozenset(map(words, mentions)), len(entities))
                for mentions in ((triple.subject, *triple.subjects), (triple.object, *triple.objects))
            )
            self._facts[relation].add(head, tail)
            tails[head].add(tail)
        owners: defaultdict[Words, set[int]] = defaultdict(set)
        for mentions, entity in entities.items():
            for mention in mentions:
                owners[mention].add(entity)
        self._owners = {
            mention: (frozenset(ends), _NONE.union(*(tails[end] for end in ends & tails.keys())))
            for mention, ends in owners.items()
        }
        self._held_relations = Subsets(self._relations)
        self._held_mentions = Subsets(self._owners)

    def mention(self, text: str) -> Mention | None:
        """Look up a training mention (the text of a subject or object) in the evaluation triples.

        Return None if its words are those of no entity's mention and do not contain a whole evaluation triple.
        """
        words = self._words(text)
        ends, tails = self._owners.get(words, (_NONE, _NONE))
        facts, ends_of_mentions = self._held(words)
        whole = any(
            fact.lead(heads, tails) for fact in facts for heads in ends_of_mentions for tails in ends_of_mentions
        )
        return Mention(ends, tails, whole) if ends or whole else None

    def relation(self, text: str) -> Relation | None:
        """Look up a training relation by its text in the evaluation triples.

        Return None if no evaluation relation has the same words, and the text contains no evaluation triple's relation
        together with its subject or object.
        """
        words = self._words(text)
        number = self._relations.get(words, -1)
        heads: set[int] = set()
        tails: set[int] = set()
        facts, ends_of_mentions = self._held(words)
        for fact in facts:
            for ends in ends_of_mentions:
                heads.update(*(fact.heads[tail] for tail in ends & fact.heads.keys()))
                tails.update(*(fact.tails[head] for head in ends & fact.tails.keys()))
        return Relation(number, frozenset(heads), frozenset(tails)) if number >= 0 or heads or tails else None

    def says(self, subject: Mention, relation: Relation, object_: Mention) -> bool:
        """Return True if an evaluation triple has the words of this relation, and links entities of these mentions.

        It may link them in either direction.
        """
        if relation.number < 0:
            return False
        facts = self._facts[relation.number]
        return facts.lead(subject.ends, object_.ends) or facts.lead(object_.ends, subject.ends)

    def _held(self, words: Words) -> tuple[list[_Facts], list[Ends]]:
        """Find the evaluation triples' relations and mentions whose words are all in `words`.

        Return (the triples of each such relation, the entities of each such mention); two empty lists if there is no
        such relation.
        """
        facts = [self._facts[self._relations[relation]] for relation in self._held_relations.within(words)]
        return facts, [self._owners[mention][0] for mention in self._held_mentions.within(words)] if facts else []


def joined(subject: Mention, object_: Mention) -> bool:
    """Return True if an evaluation triple links an entity of one mention to an entity of the other, in either order."""
    return not (subject.tails.isdisjoint(object_.ends) and object_.tails.isdisjoint(subject.ends))
