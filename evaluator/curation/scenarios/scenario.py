"""Scenarios over one predicate: each follows from its own parameters and the seed alone (Huynh & Papotti 2019)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluator.curation.graph.graph import Graph, Ints
from evaluator.curation.scenarios.clusters import cluster
from evaluator.curation.scenarios.counts import Number, ambiguous, exact, from_largest, positives_and_negatives
from evaluator.curation.scenarios.easy_negatives import unrelated
from evaluator.curation.scenarios.hard_negatives import SOURCES, Pair, Plausible, Source, collect
from evaluator.curation.scenarios.homogeneity import select
from evaluator.curation.scenarios.popularity import POPULARITIES, popularity, preferred
from evaluator.curation.scenarios.types import Types
from evaluator.errors import UsageError, shown
from evaluator.outcomes.table import Numbers
from evaluator.statistics.random_streams import draws

POOL = 3000


@dataclass(frozen=True)
class Cell:
    """What a scenario is to be like. homogeneity None: the first facts by popularity, whatever their clusters."""

    transparency: str
    homogeneity: str | None = None
    popularity: str = "random"


@dataclass(frozen=True, slots=True)
class Claim:
    """origin: "true", "walks", "closed-world" or "unrelated". cluster: of the true claim, or of the one that a
    plausible false one was found from (`source`), where clusters were made. path: predicates from subject to object,
    those against their direction with a leading "(-1)"."""

    subject: str
    object: str
    label: bool
    origin: str
    cluster: int | None = None
    path: tuple[str, ...] = ()
    source: tuple[str, str] | None = None


@dataclass(frozen=True)
class Wanted:
    """What all scenarios of a matrix share. ratio: true claims to false ones. pool: most facts that are clustered."""

    size: int
    ratio: Number = 1
    seed: int = 0
    plausible: str = "walks"
    pool: int = POOL


class Scenarios:
    """Makes scenarios, and keeps what several of them need.

    types: of entities by name. vectors: called once, where clusters are needed: a row an entity of the graph. avoid:
    pairs (subject, object) that no claim may have. Raises UsageError for a predicate or values that cannot be.
    """

    def __init__(
        self,
        graph: Graph,
        predicate: str,
        wanted: Wanted,
        *,
        types: Mapping[str, Collection[str]],
        vectors: Callable[[], Numbers],
        avoid: Collection[tuple[str, str]] = (),
    ) -> None:
        self.graph, self.predicate, self.wanted = graph, predicate, wanted
        if predicate not in graph.predicate_number:
            raise UsageError(f"the relation is {shown(predicate)}, expected one of the graph's: {_some(graph)}")
        if wanted.plausible not in SOURCES:
            raise UsageError(f"false claims are from {shown(wanted.plausible)}, expected {' or '.join(SOURCES)}")
        self.n_positives, self.n_negatives = positives_and_negatives(wanted.size, wanted.ratio)
        self.facts = graph.facts(predicate)
        self._vectors = vectors
        number = graph.number
        self._avoid = {(number[s], number[o]) for s, o in avoid if s in number and o in number}
        self._source: Source = SOURCES[wanted.plausible](graph, predicate, Types(graph.entities, types), wanted.seed)
        self._orders: dict[str, Ints] = {}
        self._clusters: dict[bytes, dict[Pair, int]] = {}
        self._found: dict[tuple[str, str | None], list[tuple[Plausible, Pair]]] = {}
        self._used: set[Pair] = set()

    def use(self, claims: Iterable[Claim]) -> None:
        """No claim made from here on has the pair of one of these. Clusters stay what they are."""
        number = self.graph.number
        self._used |= {(number[claim.subject], number[claim.object]) for claim in claims}
        self._found.clear()

    @cached_property
    def scores(self) -> Numbers:
        """The popularity of each fact."""
        return popularity(self.graph, self.facts)

    def claims(self, cell: Cell) -> list[Claim]:
        """True ones first. Raises UsageError where the graph does not hold what is wanted."""
        share = exact("transparency", cell.transparency)
        positives = self.positives(cell)
        clusters = self._clusters_of(cell) if cell.homogeneity is not None else {}
        n_plausible = ambiguous(share, self.n_negatives)
        found = self._plausible(cell, positives, n_plausible)
        used = {*self._avoid, *self._used, *(one.pair for one, _ in found)}
        rng = draws(self.wanted.seed, "unrelated", self.predicate, cell.popularity, cell.homogeneity)
        n_rest = self.n_negatives - n_plausible
        rest = unrelated(self.graph, self._batches(cell, positives), n_rest, rng, used)
        if len(rest) < n_rest:
            raise UsageError(
                f"transparency {cell.transparency}: {len(rest)} pairs of subjects and objects of "
                f"{shown(self.predicate)} are unlinked, expected {n_rest} for false claims"
            )
        name = self.graph.entities
        return [
            *(Claim(name[s], name[o], True, "true", clusters.get((s, o))) for s, o in positives),
            *(self._told(one, fact, clusters.get(fact)) for one, fact in found),
            *(Claim(name[s], name[o], False, "unrelated") for s, o in rest),
        ]

    def positives(self, cell: Cell) -> list[Pair]:
        """The true claims. Raises UsageError."""
        free = [pair for pair in _pairs(self.facts[self._order(cell.popularity)]) if pair not in self._used]
        if len(free) < self.n_positives:
            raise UsageError(
                f"the graph has {len(free)} facts of {shown(self.predicate)} to ask for, expected at least "
                f"{self.n_positives}"
            )
        if cell.homogeneity is None:
            return free[: self.n_positives]
        wanted = from_largest(exact("homogeneity", cell.homogeneity), self.n_positives)
        clusters = self._clusters_of(cell)
        pairs = [pair for pair in free if pair in clusters]
        try:
            places = select([clusters[pair] for pair in pairs], self.n_positives, wanted)
        except UsageError as error:
            raise UsageError(f"homogeneity {cell.homogeneity}: {error}") from None
        return [pairs[place] for place in places]

    def named(self, facts: Ints) -> list[tuple[str, str]]:
        """Subject and object of each. facts: shape (n, 2)."""
        return [(self.graph.entities[s], self.graph.entities[o]) for s, o in _pairs(facts)]

    def clustered(self, flavour: str) -> list[tuple[str, str, str]]:
        """Subject, object and cluster of every fact that true claims were chosen from, by cluster."""
        clusters = self._clusters_of(Cell("1", "1", flavour))
        found = sorted(clusters.items(), key=lambda item: (item[1], item[0]))
        return [(self.graph.entities[s], self.graph.entities[o], str(number)) for (s, o), number in found]

    def _order(self, flavour: str) -> Ints:
        """Places of facts, those to take first in front."""
        if flavour not in POPULARITIES:
            raise UsageError(f"popularity is {shown(flavour)}, expected {', '.join(POPULARITIES)}")
        if flavour not in self._orders:
            order = preferred(flavour, self.scores, self.wanted.seed)
            free = [pair not in self._avoid for pair in _pairs(self.facts[order])]
            self._orders[flavour] = order[np.array(free, dtype=np.bool_)]
        return self._orders[flavour]

    def _clusters_of(self, cell: Cell) -> dict[Pair, int]:
        """The cluster of each fact of the cell's pool."""
        pool = max(self.wanted.pool, self.n_positives)
        places = self._order(cell.popularity)[:pool].copy()
        places.sort()
        key = places.tobytes()
        if key not in self._clusters:
            facts = self.facts[places]
            labels = cluster(self._vectors(), facts).tolist()
            self._clusters[key] = dict(zip(_pairs(facts), labels, strict=True))
        return self._clusters[key]

    def _plausible(self, cell: Cell, positives: list[Pair], n: int) -> list[tuple[Plausible, Pair]]:
        """The first n: those of a higher transparency are among those of a lower one."""
        if not n:
            return []
        key = cell.popularity, cell.homogeneity
        if len(self._found.get(key, ())) < n:
            self._found[key] = collect(self._source, self._batches(cell, positives), n, self._avoid | self._used)
        found = self._found[key]
        if len(found) < n:
            raise UsageError(
                f"transparency {cell.transparency}: {len(found)} plausible false claims are there, from all "
                f"{len(self.facts)} facts of {shown(self.predicate)}; expected {n}"
            )
        return found[:n]

    def _batches(self, cell: Cell, positives: list[Pair]) -> Iterator[list[Pair]]:
        """The true claims; then, if they do not lead to enough, the facts beside them, as many at a time."""
        yield positives
        sample = set(positives)
        rest = [pair for pair in _pairs(self.facts[self._order(cell.popularity)]) if pair not in sample]
        for first in range(0, len(rest), self.n_positives):
            yield rest[first : first + self.n_positives]

    def _told(self, one: Plausible, fact: Pair, number: int | None) -> Claim:
        name, predicates = self.graph.entities, self.graph.predicates
        codes = one.path if one.from_subject else tuple(code ^ 1 for code in reversed(one.path))
        path = tuple(("(-1)" if code % 2 else "") + predicates[code // 2] for code in codes)
        subject, object_ = one.pair
        source = name[fact[0]], name[fact[1]]
        return Claim(name[subject], name[object_], False, self.wanted.plausible, number, path, source)


def _pairs(facts: Ints) -> list[Pair]:
    return [(subject, object_) for subject, object_ in facts.tolist()]


def _some(graph: Graph, most: int = 10) -> str:
    names = ", ".join(shown(name) for name in graph.predicates[:most])
    return f"{names}, ..." if len(graph.predicates) > most else names
