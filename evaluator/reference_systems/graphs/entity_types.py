"""Types of entities: those that the graph declares, and types of other entities, guessed from their triples."""

from __future__ import annotations

import numpy as np

from evaluator.errors import UsageError, shown
from evaluator.reference_systems.graphs.graph import Ints
from evaluator.reference_systems.graphs.walks import Walks


class EntityTypes:
    """The type of each entity, as a number below `count`.

    The graph declares types by one of its relations, from an entity to its type, which is an entity too; the number of
    such a type is that of this entity. The type of an entity without a declared one is guessed: it is the relation and
    direction that most of its triples have. All entities without a triple share one more type.
    """

    def __init__(self, walks: Walks, relation: str) -> None:
        """Find the relation by which the graph declares types.

        relation: the relation's name; empty: no types are declared. If an entity has several types, the first by name
        counts. Raises UsageError for a relation that is not in the graph.
        """
        self._walks = walks
        self._entities = len(walks.graph.entities)
        self.count = self._entities + walks.steps + 1
        number = walks.graph.relation.get(relation, -1)
        if relation and number < 0:
            raise UsageError(f"option type-relation is {shown(relation)}, expected a relation of the graph")
        self._step = 2 * number

    def of(self, entity: int, other: int, claimed: int) -> int:
        """Return an entity's type, as if one of the entity's triples were not in the graph.

        That triple is the one by which the step `claimed` (a relation and direction, by number) leads from the entity
        to the entity `other`.
        """
        edges = self._walks.edges(entity)
        others = (edges.ends != other) | (edges.relations != claimed)
        declared = edges.ends[others & (edges.relations == self._step)]
        if len(declared):
            return int(declared.min())
        counts = np.bincount(edges.relations[others])
        return self._entities + int(counts.argmax()) if len(counts) else self.count - 1

    def of_all(self) -> Ints:
        """Return the type of every entity."""
        types = np.full(self._entities, self.count - 1)
        counts = self._walks.step_counts.tocoo()
        order = np.lexsort((-counts.col, counts.data, counts.row))  # the last of a row is its most frequent step
        types[counts.row[order]] = self._entities + counts.col[order]
        if self._step >= 0:
            starts, ends, _ = self._walks.edges_of(self._step)
            order = np.argsort(-ends, kind="stable")
            types[starts[order]] = ends[order]
        return types
