"""Knowledge Linker (Ciampaglia et al. 2015): `knowledge-linker`, which scores a claim by a distance in the graph.

The weight of an entity is its degree or the degree's logarithm. A path costs the sum (metric closure) or the maximum
(ultra-metric closure) of the weights of the entities between its two ends. With C for the least cost of a path from
subject to object, in either direction of each triple, the score is 1 / (1 + C): 1 if a triple joins the two, 0 if no
path does. Relations do not matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from evaluator.outcomes.table import Numbers
from evaluator.progress import Steps
from evaluator.reference_systems.base import Job, Line, System
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.graphs.graph import Graph, Ints, read_graph
from evaluator.reference_systems.graphs.predict import FACT_CHECKING, TASKS, predict, read_claims
from evaluator.tasks.base import Option
from evaluator.tasks.fact_checking.layout import Claim
from evaluator.tasks.link_prediction.layout import QUERY_MARKER, Question

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_BATCH_COSTS = 4_000_000
"""The number of costs that are computed at once."""


class KnowledgeLinker:
    """Scores a claim by the distance of its two entities, and an answer by its distance from the known entity."""

    def __init__(
        self,
        graph: Graph,
        *,
        closure: str = "metric",
        degree: str = "triples",
        logarithm: str = "log",
        without: Sequence[Claim] = (),
        remove_own: bool = False,
    ) -> None:
        """Compute the weights of the entities.

        closure, degree, logarithm: the values of the system's options of these names. without: claims whose triples are
        removed from the graph before the weights are computed. remove_own: True to score each claim in the graph
        without the claim's own triple.
        """
        self.entities = graph.entities
        self._graph = graph
        self._closure = closure
        self._remove_own = remove_own
        removed = set(map(tuple, graph.numbers((c.subject, c.relation, c.object) for c in without).tolist()))
        triples = np.unique(graph.triples, axis=0)
        remaining = [tuple(triple) not in removed for triple in triples.tolist()] if removed else slice(None)
        self._triples: Ints = triples[remaining]
        self._weights = weights(self._triples[:, [0, 2]], len(graph.entities), degree, logarithm)
        self._network = _Network(self._triples[:, [0, 2]], self._weights, closure)

    def score_claims(self, claims: Sequence[Claim]) -> Numbers:
        numbers = self._graph.numbers((claim.subject, claim.relation, claim.object) for claim in claims)
        scores = np.zeros(len(claims))
        steps = Steps(len(claims))
        ends = numbers[:, [0, 2]]
        known = np.flatnonzero((ends >= 0).all(axis=1))
        removed = self._directly_joined_by_claim(numbers[known])
        for row in known[removed].tolist():
            scores[row] = self._score_without(numbers[row])
            steps.add(1)
        rest = known[~removed]
        # Costs are the same in both directions: start from the side with fewer entities.
        start = int(len(np.unique(ends[rest, 1])) < len(np.unique(ends[rest, 0])))
        for rows in self._grouped(rest, ends[rest, start]):
            sources, index = np.unique(ends[rows, start], return_inverse=True)
            costs = self._network.costs(sources)
            for row, source in zip(rows.tolist(), index.tolist(), strict=True):
                scores[row] = _score(self._network.to(costs[source], int(ends[row, 1 - start]), int(sources[source])))
            steps.add(len(rows))
        return scores

    def score_answers(self, questions: Sequence[Question]) -> Numbers:
        given = [o if s == QUERY_MARKER else s for s, _, o in (question.question for question in questions)]
        rows = np.full((len(questions), len(self.entities)), -np.inf)
        for row, name in zip(rows, given, strict=True):
            source = self._graph.entity.get(name, -1)
            if source >= 0:
                costs = self._network.to_all(self._network.costs(np.array([source]))[0])
                costs[source] = np.inf
                reached = costs < np.inf
                row[reached] = 1 / (1 + costs[reached])
        return rows

    def _grouped(self, rows: Ints, sources: Ints) -> Iterator[Ints]:
        """Yield the claims in batches, as indices. Each batch has few distinct sources, which bounds its memory.

        rows: the indices of the claims. sources: for each of them, the entity from which path costs are computed.
        """
        ordered = rows[np.argsort(sources, kind="stable")]
        first = np.r_[0, np.flatnonzero(np.diff(np.sort(sources))) + 1] if len(rows) else np.zeros(0, dtype=np.int64)
        size = max(1, _BATCH_COSTS // max(1, len(self.entities)))
        bounds = [*first[::size].tolist(), len(rows)]
        for begin, end in pairwise(bounds):
            yield ordered[begin:end]

    def _directly_joined_by_claim(self, numbers: Ints) -> np.typing.NDArray[np.bool_]:
        """Return a mask of the claims whose own triple is in the graph and has to be removed for their score.

        numbers: the claims' triples, shape (claims, 3).
        """
        if not self._remove_own:
            return np.zeros(len(numbers), dtype=np.bool_)
        triples = set(map(tuple, self._triples.tolist()))
        return np.array([tuple(triple) in triples for triple in numbers.tolist()], dtype=np.bool_)

    def _score_without(self, triple: Ints) -> float:
        """Return the score of a claim in the graph without the claim's own triple.

        The entities' weights stay the same.
        """
        others = self._triples[(self._triples != triple).any(axis=1)][:, [0, 2]]
        subject, object_ = int(triple[0]), int(triple[2])
        joining = [(others == pair).all(axis=1).any() for pair in ((subject, object_), (object_, subject))]
        if subject == object_ or any(joining):
            return _score(0)
        if self._closure == "metric":
            return _score(self._network.cost_without_edge(subject, object_))
        network = _Network(others, self._weights, self._closure)
        return _score(network.to(network.costs(triple[:1])[0], object_, subject))


def weights(ends: Ints, n_entities: int, degree: str, logarithm: str) -> Numbers:
    """Return the weight of each entity, which is the cost of a path through it.

    ends: subject and object of each triple. degree, logarithm: the values of the system's options of these names.
    """
    if degree == "neighbours":
        ends = np.unique(np.sort(ends, axis=1), axis=0)
        ends = ends[ends[:, 0] != ends[:, 1]]
    degrees = np.bincount(ends.ravel(), minlength=n_entities).astype(np.float64)
    if logarithm == "log1p":
        return np.log1p(degrees)
    return np.log(np.maximum(degrees, 1)) if logarithm == "log" else degrees


def _score(cost: float) -> float:
    return 1 / (1 + cost)  # 0 for an infinite cost


class _Network:
    """An undirected graph with weighted entities, which computes the least costs of paths from these weights."""

    def __init__(self, ends: Ints, weights: Numbers, closure: str) -> None:
        from scipy.sparse import coo_matrix

        n = len(weights)
        pairs = np.unique(np.concatenate([ends, ends[:, ::-1]]), axis=0)
        heads, tails = pairs[pairs[:, 0] != pairs[:, 1]].T
        self._tails = tails
        self._first = np.searchsorted(heads, np.arange(n + 1))
        self._weights = weights
        self._matrix: csr_matrix = coo_matrix((weights[tails], (heads, tails)), shape=(n, n)).tocsr()
        self._tree = _spanning_tree(heads, tails, weights) if closure == "ultrametric" else None

    def costs(self, sources: Ints) -> Numbers:
        """Return the least cost of a path from each source to each entity, including that entity's weight.

        sources: numbers of entities. The result has the shape (sources, entities).
        """
        if self._tree is not None:
            return self._greatest(sources, self._tree)
        from scipy.sparse.csgraph import dijkstra

        costs: Numbers = dijkstra(self._matrix, indices=sources)
        return costs

    def to(self, costs: Numbers, entity: int, source: int) -> float:
        """Return the least cost of a path from `source` to `entity`, without the weight of `entity`.

        costs: the row of the result of the method `costs` for this source.
        """
        if entity == source:
            return 0.0
        return float(costs[self._tails[self._first[entity] : self._first[entity + 1]]].min(initial=np.inf))

    def cost_without_edge(self, source: int, entity: int) -> float:
        """Return the least cost of a path from an entity to its neighbour that does not follow the edge between them.

        source, entity: the two entities. The cost is by the metric closure, without the weight of `entity`.
        """
        first, last = self._first[source : source + 2]
        edge = first + np.searchsorted(self._tails[first:last], entity)
        self._matrix.data[edge] = np.inf
        costs = self.costs(np.array([source]))[0]
        self._matrix.data[edge] = self._weights[entity]
        costs[source] = np.inf
        return self.to(costs, entity, source)

    def to_all(self, costs: Numbers) -> Numbers:
        """Return the least cost of a path from one source to each entity, without the weight of that entity.

        costs: the row of the result of the method `costs` for this source.
        """
        least = np.full(len(self._weights), np.inf)
        joined = np.flatnonzero(np.diff(self._first))
        if len(joined):
            least[joined] = np.minimum.reduceat(costs[self._tails], self._first[joined])
        return least

    def _greatest(self, sources: Ints, tree: tuple[Ints, Ints]) -> Numbers:
        """Return the result of `costs` for the ultra-metric closure, in which a path costs its greatest weight.

        Of all paths between two entities, the one in the spanning tree has the smallest greatest weight. The source's
        own weight does not count, so a path starts at a neighbour of the source.
        """
        weights = np.append(self._weights, np.inf)
        costs = np.full((len(weights), len(sources)), np.inf)
        for column, source in enumerate(sources.tolist()):
            neighbours = self._tails[self._first[source] : self._first[source + 1]]
            costs[neighbours, column] = weights[neighbours]
        order, parents = tree
        for towards in (True, False):
            for child, parent in zip(*(part.tolist() for part in (order, parents)), strict=True):
                here, there = (child, parent) if towards else (parent, child)
                np.minimum(costs[there], np.maximum(costs[here], weights[there]), out=costs[there])
            order, parents = order[::-1], parents[::-1]
        costs[sources, np.arange(len(sources))] = 0
        return costs[:-1].T


def _spanning_tree(heads: Ints, tails: Ints, weights: Numbers) -> tuple[Ints, Ints]:
    """Return a minimum spanning tree as (entities, the parent of each), children before their parents.

    heads, tails: the two ends of each edge. weights: one per entity. Of all paths between two entities, the one in the
    tree has the smallest greatest weight. The root is an additional node, number len(weights), that joins the
    components of the graph: one entity of each component is its child.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components, minimum_spanning_tree

    n = len(weights)
    # SciPy drops edges of weight 0. Both ends of one have a single triple, so no path goes on from there.
    edges = np.maximum(weights[heads], weights[tails])
    forest = minimum_spanning_tree(coo_matrix((edges, (heads, tails)), shape=(n + 1, n + 1)).tocsr()).tocoo()
    _, component = connected_components(forest, directed=False)
    firsts = np.unique(component[:-1], return_index=True)[1]
    rows = np.concatenate([forest.row, np.full(len(firsts), n)])
    tree = coo_matrix((np.ones(len(rows)), (rows, np.concatenate([forest.col, firsts]))), shape=(n + 1, n + 1)).tocsr()
    order, parents = breadth_first_order(tree, n, directed=False)
    children = order[:0:-1].astype(np.int64)
    return children, parents[children].astype(np.int64)


def _choice(*names: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        if text not in names:
            raise ValueError("one of: " + ", ".join(names))
        return text

    return parse


def _predict(job: Job) -> Iterator[Line]:
    claims = []
    if job.task == FACT_CHECKING and job.options["remove"] == "claims":
        claims = [claim for path in job.paths(INPUTS) for claim in read_claims(path)]
    scorer = KnowledgeLinker(
        read_graph(job.paths("graph")),
        closure=job.options["closure"],
        degree=job.options["degree"],
        logarithm=job.options["logarithm"],
        without=claims,
        remove_own=job.options["remove"] == "own",
    )
    return predict(job, scorer)


SYSTEMS = (
    System(
        "knowledge-linker",
        TASKS,
        "closeness in the graph, where entities of many triples make a path long",
        "Ciampaglia et al. 2015",
        _predict,
        needs=("graph",),
        options=(
            Option(
                "closure",
                "metric: a path costs the sum of its entities' weights; ultrametric: the greatest of them.",
                "metric",
                _choice("metric", "ultrametric"),
            ),
            Option(
                "degree",
                "triples: the number of an entity's triples; neighbours: that of entities it is joined with.",
                "triples",
                _choice("triples", "neighbours"),
            ),
            Option(
                "logarithm",
                "An entity of degree k weighs: log: ln k; log1p: ln(1 + k); none: k.",
                "log",
                _choice("log", "log1p", "none"),
            ),
            Option(
                "remove",
                "Triples removed from the graph. claims: those of all inputs; own: that of the claim; none.",
                "claims",
                _choice("claims", "own", "none"),
            ),
        ),
    ),
)
