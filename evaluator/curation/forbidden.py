"""What evaluation triples forbid, so that a training triple is held against all of them at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from evaluator.curation.open_triples import OpenTriple
from evaluator.curation.open_words import Normaliser, Words
from evaluator.curation.subsets import Subsets

Ends = frozenset[int]
"""Entities: triples whose ends have the same mentions share them, so that they are few for any one mention."""

Holds = tuple[tuple[int, Ends], ...]
"""Of a text: each evaluated relation whose words it holds, and the entities of which it holds a mention besides."""

_NONE: Ends = frozenset()


class Mention(NamedTuple):
    """ends: the entities that the mention may mean; whole: it holds a fact, with both ends."""

    ends: Ends
    whole: bool


class Relation(NamedTuple):
    """same: the evaluated relation with the same words, -1 if there is none."""

    same: int
    holds: Holds


class Forbidden:
    """The evaluation triples as (entity, relation, entity), each of them found by its words."""

    def __init__(self, evaluated: Iterable[OpenTriple], words: Normaliser) -> None:
        self._words = words
        self._relations: dict[Words, int] = {}
        entities: dict[frozenset[Words], int] = {}
        self._tails: defaultdict[int, set[int]] = defaultdict(set)
        self._tails_by: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        self._heads_by: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
        for triple in evaluated:
            relation = self._relations.setdefault(words(triple.relation), len(self._relations))
            head, tail = (
                entities.setdefault(frozenset(map(words, mentions)), len(entities))
                for mentions in ((triple.subject, *triple.subjects), (triple.object, *triple.objects))
            )
            self._tails[head].add(tail)
            self._tails_by[relation, head].add(tail)
            self._heads_by[relation, tail].add(head)
        owners: defaultdict[Words, set[int]] = defaultdict(set)
        for mentions, entity in entities.items():
            for mention in mentions:
                owners[mention].add(entity)
        self._owners: dict[Words, Ends] = {mention: frozenset(ends) for mention, ends in owners.items()}
        self._held_relations = Subsets(self._relations)
        self._held_mentions = Subsets(self._owners)

    def mention(self, text: str) -> Mention | None:
        """None: the evaluation has nothing to do with it."""
        words = self._words(text)
        ends = self._owners.get(words, _NONE)
        whole = any(self.goes_on_tail(held, ((relation, held),)) for relation, held in self._holds(words))
        return Mention(ends, whole) if ends or whole else None

    def relation(self, text: str) -> Relation | None:
        """None: the evaluation has nothing to do with it."""
        words = self._words(text)
        same, holds = self._relations.get(words, -1), self._holds(words)
        return Relation(same, holds) if same >= 0 or holds else None

    def says(self, subjects: Ends, relation: int, objects: Ends) -> bool:
        """Whether a triple has this relation between these ends, in either order."""
        by_order = ((subjects, objects), (objects, subjects))
        return any(self.goes_on_tail(heads, ((relation, tails),)) for heads, tails in by_order)

    def joins(self, subjects: Ends, objects: Ends) -> bool:
        """Whether a triple has these ends, in either order."""
        return self._leads(subjects, objects) or self._leads(objects, subjects)

    def goes_on_tail(self, heads: Ends, holds: Holds) -> bool:
        """Whether a triple has one of these heads, and a relation and a tail that are held together."""
        return any(
            not self._tails_by.get((relation, head), _NONE).isdisjoint(tails)
            for relation, tails in holds
            for head in heads
        )

    def goes_on_head(self, tails: Ends, holds: Holds) -> bool:
        """Whether a triple has one of these tails, and a relation and a head that are held together."""
        return any(
            not self._heads_by.get((relation, tail), _NONE).isdisjoint(heads)
            for relation, heads in holds
            for tail in tails
        )

    def _leads(self, heads: Ends, tails: Ends) -> bool:
        known = self._tails
        return any(head in known and not known[head].isdisjoint(tails) for head in heads)

    def _holds(self, words: Words) -> Holds:
        relations = [self._relations[held] for held in self._held_relations.within(words)]
        if not relations:
            return ()
        ends = _NONE.union(*(self._owners[held] for held in self._held_mentions.within(words)))
        return tuple((relation, ends) for relation in relations) if ends else ()
