"""Scenarios over one predicate, each determined by its own parameters and the seed (Huynh & Papotti 2019)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evaluator.curation.graph.graph import Graph, Ints
from evaluator.curation.scenarios.counts import Number, ambiguous, exact, from_largest, positives_and_negatives
from evaluator.curation.scenarios.easy_negatives import unrelated
from evaluator.curation.scenarios.embedding_clusters import cluster
from evaluator.curation.scenarios.hard_negatives import SOURCES, Pair, Plausible, Source, collect
from evaluator.curation.scenarios.homogeneity import select
from evaluator.curation.scenarios.popularity import POPULARITIES, order_by, popularity
from evaluator.curation.scenarios.types import Types
from evaluator.errors import UsageError, shown
from evaluator.outcomes.table import Numbers
from evaluator.statistics.random_streams import random_stream

POOL = 3000


@dataclass(frozen=True)
class ScenarioParams:
    """Parameters of one scenario; shares are decimals as text, from 0 to 1.

    transparency: the share of false claims that are unrelated pairs, and so easy. homogeneity: the share of true claims
    from the largest clusters; None: clusters are ignored. popularity: one of POPULARITIES.
    """

    transparency: str
    homogeneity: str | None = None
    popularity: str = "random"


@dataclass(frozen=True, slots=True)
class Claim:
    """A claim of a scenario, without the predicate, which is the same for all claims.

    origin: "true", "walks", "closed-world" or "unrelated". source: for a plausible false claim, the subject and object
    of the fact that it is derived from. cluster: of a true claim, or of the source; None if facts are not clustered.
    path: the predicates that lead from subject to object, each with a leading "(-1)" if it is followed backwards.
    """

    subject: str
    object: str
    label: bool
    origin: str
    cluster: int | None = None
    path: tuple[str, ...] = ()
    source: tuple[str, str] | None = None


@dataclass(frozen=True)
class MatrixParams:
    """Parameters common to all scenarios of a matrix.

    size: claims per scenario. ratio: true claims per false claim. plausible: the source of plausible false claims, a
    key of SOURCES. pool: the maximum number of facts to cluster, unless a scenario needs more true claims.
    """

    size: int
    ratio: Number = 1
    seed: int = 0
    plausible: str = "walks"
    pool: int = POOL


class Scenarios:
    """Generator of scenarios over one predicate, with caches shared between them.

    types: name of an entity -> its types. vectors: returns one row per entity of the graph; it is called only if
    clusters are needed. avoid: pairs (subject, object) that no claim may have. Raises UsageError for an unknown
    predicate or invalid values.

    two_way: True if the predicate links any two entities both ways. Then a pair is avoided, used once and grouped with
    its reverse.
    """

    def __init__(
        self,
        graph: Graph,
        predicate: str,
        params: MatrixParams,
        *,
        types: Mapping[str, Collection[str]],
        vectors: Callable[[], Numbers],
        avoid: Collection[tuple[str, str]] = (),
    ) -> None:
        self.graph, self.predicate, self.params = graph, predicate, params
        if predicate not in graph.predicate_number:
            raise UsageError(f"the relation is {shown(predicate)}, expected a predicate of the graph: {_some(graph)}")
        if params.plausible not in SOURCES:
            raise UsageError(f"plausible is {shown(params.plausible)}, expected {' or '.join(SOURCES)}")
        self.n_positives, self.n_negatives = positives_and_negatives(params.size, params.ratio)
        self.facts = graph.facts(predicate)
        subjects, objects = self.facts.T
        reversed_facts = np.isin(graph.key(objects, subjects), graph.key(subjects, objects))
        self.two_way = bool((reversed_facts & (subjects != objects)).any())
        self._vectors = vectors
        number = graph.number
        self._avoid = self._in_both_orders({(number[s], number[o]) for s, o in avoid if s in number and o in number})
        self._source: Source = SOURCES[params.plausible](graph, predicate, Types(graph.entities, types), params.seed)
        self._orders: dict[str, Ints] = {}
        self._clusters: dict[bytes, dict[Pair, int]] = {}
        self._plausible_claims: dict[tuple[str, str | None], list[tuple[Plausible, Pair]]] = {}
        self._used: set[Pair] = set()

    def use(self, claims: Iterable[Claim]) -> None:
        """Exclude the (subject, object) pairs of these claims from the claims of all later scenarios.

        Their reverses are excluded too if the predicate is `two_way`. The clusters of facts are still computed with
        these pairs.
        """
        number = self.graph.number
        self._used |= self._in_both_orders({(number[claim.subject], number[claim.object]) for claim in claims})
        self._plausible_claims.clear()

    @cached_property
    def scores(self) -> Numbers:
        """Popularity of each fact of the predicate, as `popularity.popularity` defines it, in the order of `facts`."""
        return popularity(self.graph, self.facts)

    def claims(self, params: ScenarioParams) -> list[Claim]:
        """Return the scenario's claims, true ones first.

        Raises UsageError for invalid parameters, and where the graph has too few true or false pairs for them.
        """
        share = exact("transparency", params.transparency)
        positives = self.positives(params)
        clusters = self._clusters_of(params) if params.homogeneity is not None else {}
        n_plausible = ambiguous(share, self.n_negatives)
        plausible = self._plausible(params, positives, n_plausible)
        used = {*self._avoid, *self._used, *(candidate.pair for candidate, _ in plausible)}
        rng = random_stream(self.params.seed, "unrelated", self.predicate, params.popularity, params.homogeneity)
        n_rest = self.n_negatives - n_plausible
        rest = unrelated(self.graph, self._batches(params, positives), n_rest, rng, used)
        if len(rest) < n_rest:
            raise UsageError(
                f"transparency {params.transparency}: {len(rest)} pairs of subjects and objects of "
                f"{shown(self.predicate)} can be used as false claims, expected {n_rest}"
            )
        name = self.graph.entities
        return [
            *(Claim(name[s], name[o], True, "true", clusters.get((s, o))) for s, o in positives),
            *(self._claim(candidate, fact, clusters.get(fact)) for candidate, fact in plausible),
            *(Claim(name[s], name[o], False, "unrelated") for s, o in rest),
        ]

    def positives(self, params: ScenarioParams) -> list[Pair]:
        """Return the (subject, object) pairs of the scenario's true claims, as entity numbers.

        Raises UsageError where the predicate has too few facts that can be used.
        """
        free = [pair for pair in _pairs(self.facts[self._order(params.popularity)]) if pair not in self._used]
        if len(free) < self.n_positives:
            raise UsageError(
                f"the graph has {len(free)} usable facts of {shown(self.predicate)}, expected at least "
                f"{self.n_positives}"
            )
        if params.homogeneity is None:
            return free[: self.n_positives]
        n_from_largest = from_largest(exact("homogeneity", params.homogeneity), self.n_positives)
        clusters = self._clusters_of(params)
        pairs = [pair for pair in free if pair in clusters]
        try:
            indices = select([clusters[pair] for pair in pairs], self.n_positives, n_from_largest)
        except UsageError as error:
            raise UsageError(f"homogeneity {params.homogeneity}: {error}") from None
        return [pairs[index] for index in indices]

    def named(self, facts: Ints) -> list[tuple[str, str]]:
        """Return the names of subject and object of each fact. facts: entity numbers, shape (n, 2)."""
        return [(self.graph.entities[s], self.graph.entities[o]) for s, o in _pairs(facts)]

    def clustered(self, flavour: str) -> list[tuple[str, str, str]]:
        """Return (subject, object, cluster number as text) of the clustered facts, sorted by cluster; 0 is the largest.

        flavour: the popularity that decides which facts are clustered, one of POPULARITIES.
        """
        clusters = self._clusters_of(ScenarioParams("1", "1", flavour))
        rows = sorted(clusters.items(), key=lambda item: (item[1], item[0]))
        return [(self.graph.entities[s], self.graph.entities[o], str(number)) for (s, o), number in rows]

    def _in_both_orders(self, pairs: set[Pair]) -> set[Pair]:
        """Return the pairs, with their reverses if the predicate is `two_way`."""
        return pairs | {(object_, subject) for subject, object_ in pairs} if self.two_way else pairs

    def _order(self, flavour: str) -> Ints:
        """Return the indices of the predicate's facts in order of preference, without the pairs that no claim may have.

        flavour: the popularity that decides the order, one of POPULARITIES. Raises UsageError for another value.
        """
        if flavour not in POPULARITIES:
            raise UsageError(f"popularity is {shown(flavour)}, expected one of: {', '.join(POPULARITIES)}")
        if flavour not in self._orders:
            order = order_by(flavour, self.scores, self.params.seed)
            free = [pair not in self._avoid for pair in _pairs(self.facts[order])]
            self._orders[flavour] = order[np.array(free, dtype=np.bool_)]
        return self._orders[flavour]

    def _clusters_of(self, params: ScenarioParams) -> dict[Pair, int]:
        """Return the cluster number of each fact in the scenario's pool; 0 is the largest cluster.

        The pool is the set of facts that come first in the order of the scenario's popularity.
        """
        pool = max(self.params.pool, self.n_positives)
        indices = self._order(params.popularity)[:pool].copy()
        indices.sort()
        key = indices.tobytes()
        if key not in self._clusters:
            facts = self.facts[indices]
            labels = cluster(self._vectors(), facts).tolist()
            self._clusters[key] = dict(zip(_pairs(facts), labels, strict=True))
        return self._clusters[key]

    def _plausible(self, params: ScenarioParams, positives: list[Pair], n: int) -> list[tuple[Plausible, Pair]]:
        """Return the first n plausible false pairs, each with the true pair from which it is derived.

        Scenarios that differ only in transparency share these pairs: a more transparent one has fewer, the first ones.
        Raises UsageError if there are fewer than n.
        """
        if not n:
            return []
        key = params.popularity, params.homogeneity
        if len(self._plausible_claims.get(key, ())) < n:
            self._plausible_claims[key] = collect(
                self._source, self._batches(params, positives), n, self._avoid | self._used
            )
        candidates = self._plausible_claims[key]
        if len(candidates) < n:
            raise UsageError(
                f"transparency {params.transparency}: {len(candidates)} plausible false claims found, from all "
                f"{len(self.facts)} facts of {shown(self.predicate)}; expected {n}"
            )
        return candidates[:n]

    def _batches(self, params: ScenarioParams, positives: list[Pair]) -> Iterator[list[Pair]]:
        """Yield the facts to derive false claims from: the true claims, then the predicate's other facts.

        The other facts follow in the order of the scenario's popularity, in batches of as many as there are true
        claims.
        """
        yield positives
        sample = set(positives)
        rest = [pair for pair in _pairs(self.facts[self._order(params.popularity)]) if pair not in sample]
        for first in range(0, len(rest), self.n_positives):
            yield rest[first : first + self.n_positives]

    def _claim(self, candidate: Plausible, fact: Pair, number: int | None) -> Claim:
        name, predicates = self.graph.entities, self.graph.predicates
        codes = candidate.path if candidate.from_subject else tuple(code ^ 1 for code in reversed(candidate.path))
        path = tuple(("(-1)" if code % 2 else "") + predicates[code // 2] for code in codes)
        subject, object_ = candidate.pair
        source = name[fact[0]], name[fact[1]]
        return Claim(name[subject], name[object_], False, self.params.plausible, number, path, source)


def _pairs(facts: Ints) -> list[Pair]:
    return [(subject, object_) for subject, object_ in facts.tolist()]


def _some(graph: Graph, most: int = 10) -> str:
    names = ", ".join(shown(name) for name in graph.predicates[:most])
    return f"{names}, ..." if len(graph.predicates) > most else names
