"""Systems that predict with embedding models: `complex`, `distmult`, `transe` and `transh`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.errors import UsageError
from evaluator.outcomes.table import Numbers
from evaluator.reference_systems.base import Job, Line, System, number, opened, whole_number
from evaluator.reference_systems.graphs.graph import Graph, Ints, read_graph
from evaluator.reference_systems.graphs.models import ComplEx, DistMult, Floats, Model, Queries, TransE, TransH
from evaluator.reference_systems.graphs.predict import FACT_CHECKING, TASKS, predict
from evaluator.reference_systems.graphs.tokens import TOKENS, Tokens
from evaluator.reference_systems.graphs.training import Embeddings, Settings, Table, train
from evaluator.tasks.base import Option
from evaluator.tasks.fact_checking import TASK
from evaluator.tasks.fact_checking.layout import Claim
from evaluator.tasks.link_prediction.layout import QUERY_MARKER, Question

Labels = npt.NDArray[np.bool_]

MOST_DIMENSIONS = 10_000
_BATCH = 256
"""The number of claims that are scored at once."""


class Thresholds:
    """The threshold of each relation: claims with a higher score are predicted to be true.

    The threshold of a relation is the value with the highest accuracy on the relation's labelled claims; of several
    such values, the one nearest to the common threshold, which is learned from all claims together. A relation without
    labelled claims has the common threshold.
    """

    def __init__(self, scores: Numbers, labels: Labels, relations: Sequence[str]) -> None:
        """Learn the thresholds from one score, label and relation per claim. Without claims, all thresholds are 0."""
        self._overall = _threshold(scores, labels, 0.0)
        names = np.array(relations, dtype=object)
        self._by_relation = {
            name: _threshold(scores[names == name], labels[names == name], self._overall) for name in set(relations)
        }

    def of(self, relations: Sequence[str]) -> Numbers:
        """Return the threshold of each of these relations, in their order."""
        return np.array([self._by_relation.get(name, self._overall) for name in relations], dtype=np.float64)


def _threshold(scores: Numbers, labels: Labels, near: float) -> float:
    if not len(scores):
        return near
    values, index = np.unique(scores, return_inverse=True)
    true = np.bincount(index, weights=labels)
    false = np.bincount(index, weights=~labels)
    # Below threshold i are the values before i: their false claims, and the true ones of all other values, are right.
    right = np.r_[0, np.cumsum(false)] + np.r_[np.cumsum(true[::-1])[::-1], 0]
    places = np.r_[
        min(near, np.nextafter(values[0], -np.inf)), (values[1:] + values[:-1]) / 2, max(near, float(values[-1]))
    ]
    best = places[right == right.max()]
    return float(best[np.argmin(np.abs(best - near))])


class EmbeddingScorer:
    """Scores claims and answers with trained embeddings.

    A claim's score is the sum of two log-probabilities, of its object given subject and relation, and of its subject
    given relation and object, minus the threshold of its relation. If an entity or a relation is not in the graph, its
    vector is the mean of the vectors of all entities or of all relations, unless it shares tokens with some of them.
    """

    def __init__(self, graph: Graph, embeddings: Embeddings, tokens: tuple[Tokens, Tokens] | None) -> None:
        self.entities = graph.entities
        self._graph = graph
        self._embeddings = embeddings
        self._tokens = tokens
        self._vectors = embeddings.entities.rows(None)
        self._mean_entity = self._vectors.mean(axis=0)
        self._relations = embeddings.relations.rows(None)
        self._mean_relations = self._relations.reshape(-1, len(graph.relations), self._width).mean(axis=1)
        self.thresholds = Thresholds(np.zeros(0), np.zeros(0, dtype=np.bool_), [])

    @property
    def _width(self) -> int:
        return self._embeddings.model.relation_width

    def score_claims(self, claims: Sequence[Claim]) -> Numbers:
        scores = [self._log_probabilities(claims[first : first + _BATCH]) for first in range(0, len(claims), _BATCH)]
        return np.concatenate([*scores, np.zeros(0)]) - self.thresholds.of([claim.relation for claim in claims])

    def score_answers(self, questions: Sequence[Question]) -> Floats:
        triples = [question.question for question in questions]
        tail = np.array([subject != QUERY_MARKER for subject, _, _ in triples])
        known = np.stack([self._entity(o if s == QUERY_MARKER else s) for s, _, o in triples])
        relations = np.stack(
            [self._relation(r, tail=bool(side)) for (_, r, _), side in zip(triples, tail, strict=True)]
        )
        return self._embeddings.model.scores(Queries(known, relations, tail), self._vectors)

    def _log_probabilities(self, claims: Sequence[Claim]) -> Numbers:
        ends = {True: [claim.object for claim in claims], False: [claim.subject for claim in claims]}
        vectors = {tail: np.stack([self._entity(name) for name in names]) for tail, names in ends.items()}
        total = np.zeros(len(claims))
        model = self._embeddings.model
        for tail in (True, False):
            relations = np.stack([self._relation(claim.relation, tail=tail) for claim in claims])
            queries = Queries(vectors[not tail], relations, np.full(len(claims), tail))
            scores = model.scores(queries, self._vectors).astype(np.float64)
            highest = scores.max(axis=1)
            norm = highest + np.log(np.exp(scores - highest[:, None]).sum(axis=1))
            # The model scores each query with the answer of each claim; only the diagonal is of query and own answer.
            total += np.diagonal(model.scores(queries, vectors[tail])) - norm
        return total

    def _entity(self, name: str) -> Floats:
        number = self._graph.entity.get(name, -1)
        if number >= 0:
            vector: Floats = self._vectors[number]
            return vector
        return self._of_tokens(self._embeddings.entities, 0, name, 0, self._mean_entity)

    def _relation(self, name: str, *, tail: bool) -> Floats:
        number = self._graph.relation.get(name, -1)
        inverse = self._embeddings.model.reciprocal and not tail
        if number >= 0:
            row = number + inverse * len(self._graph.relations)
            vector: Floats = self._relations[row]
            return vector
        return self._of_tokens(self._embeddings.relations, 1, name, int(inverse), self._mean_relations[int(inverse)])

    def _of_tokens(self, table: Table, kind: int, name: str, half: int, otherwise: Floats) -> Floats:
        if self._tokens is None or not (numbers := self._tokens[kind].of(name)):
            return otherwise
        offset = half * len(self._tokens[kind].names)
        mean: Floats = table.vectors[np.array(numbers) + offset].mean(axis=0)
        return mean


@dataclass(frozen=True)
class LabelledClaims:
    """Claims of fact-checking (triples) with their labels, True or False."""

    claims: list[Claim]
    labels: np.typing.NDArray[np.bool_]


def read_labelled(job: Job) -> LabelledClaims:
    """Return the claims and labels of the job's public gold of fact-checking. Raises GoldError if it is invalid."""
    claims: list[Claim] = []
    labels: list[bool] = []
    for path in job.paths("train"):
        with opened(path) as stream:
            gold = TASK.read_gold(stream, str(path), {})
        claims += TASK.inputs(gold)
        labels += gold.labels
    return LabelledClaims(claims, np.array(labels, dtype=np.bool_))


def _predicting(model: Callable[[int], Model]) -> Callable[[Job], Iterator[Line]]:
    def run(job: Job) -> Iterator[Line]:
        if job.task != FACT_CHECKING and job.paths("train"):
            raise UsageError("--train has the labelled claims of fact-checking, expected no --train for this task")
        labelled = read_labelled(job)
        graph = read_graph(job.paths("graph"))
        valid: Ints | None = graph.numbers(_triples(read_graph(job.paths("valid")))) if job.paths("valid") else None
        shared = bool(job.options[TOKENS.name])
        tokens = (Tokens(graph.entities, shared=True), Tokens(graph.relations, shared=True)) if shared else None
        settings = Settings(
            epochs=job.options["epochs"],
            rate=job.options["rate"],
            strength=job.options["strength"],
            batch=job.options["batch"],
            negatives=job.options["negatives"],
        )
        embeddings = train(graph, model(job.options["dim"]), settings, job.seed, valid=valid, tokens=tokens)
        scorer = EmbeddingScorer(graph, embeddings, tokens)
        if labelled.claims:
            relations = [claim.relation for claim in labelled.claims]
            scorer.thresholds = Thresholds(scorer.score_claims(labelled.claims), labelled.labels, relations)
        yield from predict(job, scorer)

    return run


def _triples(graph: Graph) -> Iterator[tuple[str, str, str]]:
    for subject, relation, object_ in graph.triples.tolist():
        yield graph.entities[subject], graph.relations[relation], graph.entities[object_]


def _options(*, dim: int, epochs: int, rate: float, strength: float) -> tuple[Option, ...]:
    return (
        Option("dim", "Number of dimensions.", str(dim), whole_number(MOST_DIMENSIONS)),
        Option("epochs", "Number of passes over the graph.", str(epochs), whole_number()),
        Option("rate", "Learning rate of Adagrad.", str(rate), number),
        Option("strength", "Strength of the N3 regularization.", str(strength), number),
        Option("batch", "Number of queries in a batch.", "100", whole_number()),
        Option("negatives", "The most entities that a batch scores as wrong answers.", "10000", whole_number()),
        TOKENS,
    )


def _system(name: str, doc: str, source: str, model: Callable[[int], Model], options: tuple[Option, ...]) -> System:
    return System(
        name, TASKS, doc, source, _predicting(model), needs=("graph",), uses=("valid", "train"), options=options
    )


SYSTEMS = (
    _system(
        "complex",
        "embeddings by complex numbers, one-versus-all, N3, reciprocal relations",
        "Trouillon et al. 2016; Lacroix et al. 2018",
        ComplEx,
        _options(dim=100, epochs=30, rate=0.1, strength=0.01),
    ),
    _system(
        "distmult",
        "embeddings by products of three numbers, trained as complex is",
        "Yang et al. 2015",
        DistMult,
        _options(dim=200, epochs=30, rate=0.1, strength=0.01),
    ),
    _system(
        "transe",
        "embeddings in which a relation is a translation",
        "Bordes et al. 2013",
        TransE,
        _options(dim=100, epochs=40, rate=0.1, strength=0.002),
    ),
    _system(
        "transh",
        "embeddings in which a relation is a translation on a hyperplane",
        "Wang et al. 2014",
        TransH,
        _options(dim=100, epochs=40, rate=0.1, strength=0.002),
    ),
)
