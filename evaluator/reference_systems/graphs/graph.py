"""Knowledge graphs with numbered entities and relations, read from tab-separated files of three or five columns.

The first three columns are subject, relation and object. The fourth and fifth list the mentions of the subject's and
of the object's entity, as `split remove-leakage` writes them; the systems do not use them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evaluator.curation.graph.files import rows
from evaluator.errors import GoldError, ProblemList
from evaluator.reference_systems.base import opened
from evaluator.text import count_noun

Ints = npt.NDArray[np.int64]

_COLUMNS = "subject, relation and object, tab-separated, then both lists of mentions or neither"
_WIDTHS = (3, 5)


class Graph:
    """A list of triples whose entities and relations are numbered in the order of their names.

    entities, relations: the names, sorted. entity, relation: name -> number. triples: shape (triples, 3), the numbers
    of subject, relation and object, sorted, with duplicates. The order of lines makes no difference.
    """

    def __init__(self, entities: Sequence[str], relations: Sequence[str], triples: Ints) -> None:
        """Sort the names and the triples.

        entities, relations: the distinct names. triples: shape (triples, 3), in the numbering of these two lists.
        """
        self.entities, entity_rank = _sorted_names(entities)
        self.relations, relation_rank = _sorted_names(relations)
        self.entity = {name: number for number, name in enumerate(self.entities)}
        self.relation = {name: number for number, name in enumerate(self.relations)}
        heads, predicates, tails = triples.T
        columns = np.stack([entity_rank[heads], relation_rank[predicates], entity_rank[tails]], axis=1)
        self.triples: Ints = columns[np.lexsort(columns.T[::-1])]

    @classmethod
    def of(cls, triples: Iterable[Sequence[str]]) -> Graph:
        """Return the graph of (subject, relation, object) triples of names."""
        builder = _Builder()
        for triple in triples:
            builder.add(triple)
        return builder.graph()

    def numbers(self, triples: Iterable[Sequence[str]]) -> Ints:
        """Return triples of names as numbers of this graph: shape (triples, 3); -1 for a name that it lacks."""
        found = [(self.entity.get(s, -1), self.relation.get(r, -1), self.entity.get(o, -1)) for s, r, o in triples]
        return np.array(found, dtype=np.int64).reshape(-1, 3)


class _Builder:
    def __init__(self) -> None:
        self._entities: dict[str, int] = {}
        self._relations: dict[str, int] = {}
        self._numbers = array("q")

    def add(self, triple: Sequence[str]) -> None:
        subject, relation, object_ = triple
        self._numbers.extend(
            (
                self._entities.setdefault(subject, len(self._entities)),
                self._relations.setdefault(relation, len(self._relations)),
                self._entities.setdefault(object_, len(self._entities)),
            )
        )

    def graph(self) -> Graph:
        triples = np.frombuffer(self._numbers, dtype=np.int64).reshape(-1, 3)
        return Graph(list(self._entities), list(self._relations), triples)


def _sorted_names(names: Sequence[str]) -> tuple[list[str], Ints]:
    """Return (the names, sorted; the index in the sorted list of each of `names`, in their order)."""
    order = np.array(sorted(range(len(names)), key=names.__getitem__), dtype=np.int64)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return [names[index] for index in order], rank


def read_graph(paths: Iterable[Path]) -> Graph:
    """Return the graph of the triples of all files, which are tab-separated.

    A file whose name ends in .gz is decompressed. Raises GoldError for lines that are not triples, UsageError for
    unreadable files.
    """
    builder = _Builder()
    for path in paths:
        problems = ProblemList(str(path), GoldError)
        with opened(path) as stream:
            for number, columns in rows(stream, problems):
                if len(columns) not in _WIDTHS:
                    problems.add(number, "not a triple", count_noun(len(columns), "column"), _COLUMNS)
                elif not all(name.strip() for name in columns[:3]):
                    problems.add(number, "a name is empty", "a blank column", _COLUMNS)
                else:
                    builder.add(columns[:3])
        problems.raise_if_any()
    return builder.graph()
