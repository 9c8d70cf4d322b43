"""Type test: decides if an entity can replace another one in a false claim."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from evaluator.curation.graph.graph import Bools, Ints

ENOUGH = 4


class Types:
    """The types of a graph's entities, which decide which entity may replace which in a false claim.

    entities: the names of the graph's entities, in the order of their numbers. types: name of an entity -> its types;
    an entity that is missing has no type.
    """

    def __init__(self, entities: Sequence[str], types: Mapping[str, Collection[str]]) -> None:
        sets: dict[frozenset[str], int] = {}
        self.kind: Ints = np.array(
            [sets.setdefault(frozenset(types.get(name, ())), len(sets)) for name in entities], dtype=np.int64
        )
        self._sets = list(sets)
        self._passing: dict[int, Bools] = {}

    def pass_for(self, entity: int, others: Ints) -> Bools:
        """Return a mask of the entities x in `others` that pass the type test: |T(entity) ∩ T(x)| >= min(4,
        |T(entity)|).

        T(x) is the set of types of x.
        """
        kind = int(self.kind[entity])
        if kind not in self._passing:
            types_of_entity = self._sets[kind]
            enough = min(ENOUGH, len(types_of_entity))
            self._passing[kind] = np.array(
                [len(types_of_entity & types_of_other) >= enough for types_of_other in self._sets], dtype=np.bool_
            )
        passing: Bools = self._passing[kind][self.kind[others]]
        return passing

    def same(self, entity: int, others: Ints) -> Bools:
        """Return a mask of the entities in `others` that have exactly the types of `entity`."""
        same: Bools = self.kind[others] == self.kind[entity]
        return same
