"""Training of embedding models: cross-entropy over candidate answers, N3 regularization, Adagrad.

The triples of a graph ask two questions each, for the object and for the subject. Equal questions are combined into one
query with several answers, which gives the loss of Lacroix et al. 2018 with fewer products of matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evaluator.progress import Steps
from evaluator.reference_systems.graphs.graph import Graph, Ints
from evaluator.reference_systems.graphs.models import Floats, Model, Queries
from evaluator.reference_systems.graphs.ranking import KnownAnswers, filtered_ranks
from evaluator.reference_systems.graphs.tokens import Tokens

_CHECKS = 10
"""How often the validation triples are ranked during training."""
_MAX_VALID = 2000
"""The number of validation triples that are ranked, at most."""


@dataclass(frozen=True)
class Settings:
    """Hyperparameters of training. rate: Adagrad's learning rate. strength: the weight of N3.

    scale: the standard deviation of the initial vectors. negatives: the number of random entities that are scored as
    answers in each batch, in addition to the entities of the batch; if the graph has no more than that, all entities
    are.
    """

    epochs: int
    rate: float
    strength: float
    batch: int
    negatives: int
    scale: float = 0.1


class Table:
    """The vectors of names (entities or relations), which Adagrad trains.

    tokens: the tokens of each name, the mean of whose vectors is the vector of the name; None: each name has its own
    vector.
    """

    def __init__(self, size: int, width: int, rng: np.random.Generator, scale: float, tokens: Tokens | None) -> None:
        self._tokens = tokens
        n_vectors = size if tokens is None else len(tokens.names)
        self.vectors: Floats = (rng.standard_normal((n_vectors, width)) * scale).astype(np.float32)
        self._squares = np.zeros_like(self.vectors)

    def rows(self, numbers: Ints | None) -> Floats:
        """Return the vectors of the names with these numbers, one row each; None: of all names."""
        if self._tokens is None:
            return self.vectors if numbers is None else self.vectors[numbers]
        tokens, lengths = self._tokens.of_names(numbers)
        starts = np.cumsum(lengths) - lengths
        sums: Floats = np.add.reduceat(self.vectors[tokens], starts, axis=0)
        return sums / lengths[:, None].astype(sums.dtype)

    def update(self, numbers: Ints | None, gradient: Floats, rate: float) -> None:
        """Change the vectors by one step of Adagrad.

        numbers: distinct names, one per row of `gradient`; None: all names. rate: the learning rate.
        """
        rows: Ints | slice
        if self._tokens is None:
            rows = slice(None) if numbers is None else numbers
        else:
            tokens, lengths = self._tokens.of_names(numbers)
            shares = np.repeat(gradient / lengths[:, None].astype(gradient.dtype), lengths, axis=0)
            rows, positions = np.unique(tokens, return_inverse=True)
            gradient = np.zeros((len(rows), shares.shape[1]), dtype=shares.dtype)
            np.add.at(gradient, positions, shares)
        self._squares[rows] += gradient * gradient
        self.vectors[rows] -= rate * gradient / (np.sqrt(self._squares[rows]) + 1e-8)


class Batch(NamedTuple):
    """Queries and their answers; entities are given by position in a list of candidates, or by number.

    known: each query's given entity. rows, answers: one entry per answer: the index of the answer's query, and the
    answer's entity.
    """

    known: Ints
    rows: Ints
    answers: Ints

    def among(self, entities: Ints) -> Batch:
        """Return this batch with entities given by their positions in `entities`, a sorted list, not by number."""
        return Batch(np.searchsorted(entities, self.known), self.rows, np.searchsorted(entities, self.answers))


@dataclass(frozen=True)
class QueryGroups:
    """The distinct queries of a list of triples, with all their answers.

    known, relation: the numbers of each query's entity and relation. tail: True where the object is asked for.
    answers, starts: the answers of query i are answers[starts[i]:starts[i + 1]].
    """

    known: Ints
    relation: Ints
    tail: np.typing.NDArray[np.bool_]
    answers: Ints
    starts: Ints

    @classmethod
    def of(cls, triples: Ints) -> QueryGroups:
        subjects, relations, objects = triples.T
        columns = [
            np.concatenate([np.ones_like(subjects), np.zeros_like(subjects)]),
            np.concatenate([relations, relations]),
            np.concatenate([subjects, objects]),
            np.concatenate([objects, subjects]),
        ]
        asked = np.unique(np.stack(columns, axis=1), axis=0)
        first = np.flatnonzero(np.r_[True, (asked[1:, :3] != asked[:-1, :3]).any(axis=1)])
        tail, relation, known = asked[first, :3].T
        return cls(known, relation, tail == 1, np.ascontiguousarray(asked[:, 3]), np.r_[first, len(asked)])

    def batches(self, order: Ints, size: int) -> Iterator[tuple[Ints, Batch]]:
        """Yield (the indices of up to `size` queries, the batch of these queries and their answers).

        order: the indices of all queries, in the order of use.
        """
        for start in range(0, len(order), size):
            queries = order[start : start + size]
            counts = self.starts[queries + 1] - self.starts[queries]
            rows = np.repeat(np.arange(len(queries)), counts)
            positions = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
            yield queries, Batch(self.known[queries], rows, self.answers[self.starts[queries][rows] + positions])


class Embeddings:
    """An embedding model with the vectors of a graph's entities and relations."""

    def __init__(
        self,
        graph: Graph,
        model: Model,
        scale: float,
        rng: np.random.Generator,
        *,
        tokens: tuple[Tokens, Tokens] | None,
    ) -> None:
        """Draw the vectors at random.

        scale: standard deviation of each number. tokens: the tokens of the entities' names and of the relations' names,
        whose vectors make up the vector of a name; None: each name has its own vector.
        """
        self.model = model
        self.n_relations = len(graph.relations)
        of_entities, of_relations = tokens if tokens is not None else (None, None)
        if of_relations is not None and model.reciprocal:
            of_relations = of_relations.twice()
        n_rows = self.n_relations * (2 if model.reciprocal else 1)
        self.entities = Table(len(graph.entities), model.entity_width, rng, scale, of_entities)
        self.relations = Table(n_rows, model.relation_width, rng, scale, of_relations)

    def relation_rows(self, relation: Ints, tail: np.typing.NDArray[np.bool_]) -> Ints:
        """Return the row of the table `relations` that each query uses.

        relation: the number of each query's relation. tail: True where the object is asked for. Reciprocal models have
        a second vector per relation for queries that ask for the subject.
        """
        return np.where(tail, relation, relation + self.n_relations) if self.model.reciprocal else relation

    def scores(self, known: Ints, relation: Ints, tail: np.typing.NDArray[np.bool_]) -> Floats:
        """Return the scores of all entities as answers to queries: shape (queries, entities).

        known, relation: the numbers of each query's entity and relation. tail: True where the object is asked for.
        """
        vectors = self.entities.rows(None)
        rows = self.relations.rows(self.relation_rows(relation, tail))
        return self.model.scores(Queries(vectors[known], rows, tail), vectors)


def loss_and_gradients(
    model: Model, candidates: Floats, queries: Queries, batch: Batch, strength: float
) -> tuple[float, Floats, Floats]:
    """Return (loss, its gradient by the candidates' vectors, its gradient by the relation vectors of the queries).

    The loss is the mean over answers of cross-entropy plus N3, which is `strength` times the sum of the cubed moduli of
    the vectors of the query's entity and relation and of the answer. candidates: the vectors of all entities that are
    scored or known in a query. batch: gives entities by their positions in `candidates`.
    """
    known, rows, answers = batch
    n_answers = np.bincount(rows, minlength=len(known)).astype(candidates.dtype)
    total = len(rows)
    scores = model.scores(queries, candidates)
    shifted = scores - scores.max(axis=1, keepdims=True)
    upstream = np.exp(shifted)
    sums = upstream.sum(axis=1)
    loss = float((n_answers * np.log(sums)).sum() - shifted[rows, answers].sum())
    upstream *= (n_answers / sums / total)[:, None].astype(candidates.dtype)
    upstream[rows, answers] -= 1 / total
    by_known, by_relation, by_candidates = model.gradients(queries, candidates, scores, upstream)
    np.add.at(by_candidates, known, by_known)
    if strength:
        uses = np.bincount(answers, minlength=len(candidates))
        uses = uses + np.bincount(known, weights=n_answers, minlength=len(candidates))
        of_candidates = _n3(model, candidates, uses * (strength / total))
        of_relations = _n3(model, queries.relation, n_answers * (strength / total))
        loss += total * (of_candidates[0] + of_relations[0])
        by_candidates += of_candidates[1]
        by_relation += of_relations[1]
    return loss / total, by_candidates, by_relation


def _n3(model: Model, vectors: Floats, weights: Floats) -> tuple[float, Floats]:
    """Return (N3, the weighted sum of the vectors' cubed moduli; its gradient). weights: one per vector."""
    weighted = weights.astype(vectors.dtype)[:, None] * model.moduli(vectors) * vectors
    return float((weighted * vectors).sum()), 3 * weighted


def sample_candidates(batch: Batch, n_entities: int, most: int, rng: np.random.Generator) -> Ints | None:
    """Return the sorted numbers of `most` random entities and of the entities of a batch.

    None: the graph has at most `most` entities, so that all are candidates. batch: gives entities by number.
    """
    if n_entities <= most:
        return None
    return np.unique(np.concatenate([batch.known, batch.answers, rng.choice(n_entities, most, replace=False)]))


def train(
    graph: Graph,
    model: Model,
    settings: Settings,
    seed: int,
    *,
    valid: Ints | None = None,
    tokens: tuple[Tokens, Tokens] | None = None,
) -> Embeddings:
    """Return embeddings trained on a graph.

    valid: validation triples, as numbers: if there are any, the vectors with the best filtered MRR on them are
    returned, otherwise those of the last epoch. tokens: the tokens of the entities' names and of the relations' names;
    the vector of a name is then the mean of its tokens' vectors; None: each name has its own vector.
    """
    rng = np.random.default_rng(seed)
    embeddings = Embeddings(graph, model, settings.scale, rng, tokens=tokens)
    groups = QueryGroups.of(graph.triples)
    steps = Steps(settings.epochs)
    choice = _Choice(embeddings, graph, valid, rng)
    n_entities = len(graph.entities)
    for epoch in range(1, settings.epochs + 1):
        for numbers, batch in groups.batches(rng.permutation(len(groups.known)), settings.batch):
            sample = sample_candidates(batch, n_entities, settings.negatives, rng)
            placed = batch if sample is None else batch.among(sample)
            tail = groups.tail[numbers]
            candidates = embeddings.entities.rows(sample)
            relation_rows, position = np.unique(
                embeddings.relation_rows(groups.relation[numbers], tail), return_inverse=True
            )
            relations = embeddings.relations.rows(relation_rows)
            queries = Queries(candidates[placed.known], relations[position], tail)
            _, by_candidates, by_queries = loss_and_gradients(model, candidates, queries, placed, settings.strength)
            by_relations = np.zeros_like(relations)
            np.add.at(by_relations, position, by_queries)
            embeddings.entities.update(sample, by_candidates, settings.rate)
            embeddings.relations.update(relation_rows, by_relations, settings.rate)
        steps.add(1)
        if epoch % max(1, settings.epochs // _CHECKS) == 0 or epoch == settings.epochs:
            choice.look()
    choice.restore()
    return embeddings


class _Choice:
    """Keeps, during training, the vectors with the best filtered MRR on validation triples, if there are any."""

    def __init__(self, embeddings: Embeddings, graph: Graph, valid: Ints | None, rng: np.random.Generator) -> None:
        self._embeddings = embeddings
        self._best = -1.0
        self._vectors: tuple[Floats, Floats] | None = None
        self._valid = np.zeros((0, 3), dtype=np.int64) if valid is None else valid[(valid >= 0).all(axis=1)]
        self._known = KnownAnswers(np.concatenate([graph.triples, self._valid]), len(graph.entities))
        if len(self._valid) > _MAX_VALID:
            self._valid = self._valid[np.sort(rng.choice(len(self._valid), _MAX_VALID, replace=False))]

    def look(self) -> None:
        if not len(self._valid):
            return
        mrr = float(np.mean(1 / filtered_ranks(self._valid, self._known, self._embeddings.scores)))
        if mrr > self._best:
            self._best = mrr
            self._vectors = (self._embeddings.entities.vectors.copy(), self._embeddings.relations.vectors.copy())

    def restore(self) -> None:
        if self._vectors is not None:
            self._embeddings.entities.vectors, self._embeddings.relations.vectors = self._vectors
