"""Systems that only count triples: `popularity`, `relation-frequency`, `predict-with-rel` and `predict-with-ent`.

They show how much of a benchmark needs no reasoning. The last two are the diagnostics of Broscheit et al. 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.reference_systems.base import Job, Line, System
from evaluator.reference_systems.graphs.graph import Graph, Ints, read_graph
from evaluator.reference_systems.graphs.predict import TASKS, Scorer, predict
from evaluator.reference_systems.graphs.tokens import TOKENS, Tokens
from evaluator.tasks.fact_checking.layout import Claim
from evaluator.tasks.link_prediction.layout import QUERY_MARKER, Question


class Popularity:
    """Scores an entity by its degree, which is the number of its triples (Huynh & Papotti 2019).

    An answer has the score of its entity, a claim the lower of the scores of its subject and its object.
    """

    def __init__(self, graph: Graph, *, tokens: bool = False) -> None:
        self.entities = graph.entities
        self._graph = graph
        ends = graph.triples[:, [0, 2]]
        degrees = np.bincount(ends.ravel(), minlength=len(graph.entities) + 1)
        self._degrees: Numbers = degrees.astype(np.float64)  # the last is of unknown names

    def score_claims(self, claims: Sequence[Claim]) -> Numbers:
        numbers = self._graph.numbers((claim.subject, claim.relation, claim.object) for claim in claims)
        lowest: Numbers = self._degrees[numbers[:, [0, 2]]].min(axis=1)
        return lowest

    def score_answers(self, questions: Sequence[Question]) -> Numbers:
        return np.tile(self._degrees[:-1], (len(questions), 1))


class Counts:
    """How often a value (an entity) occurs together with a name, such as how often it is the subject of a relation.

    Occurrences are counted for each token of a name; the count for a name is the mean of the counts for its tokens.
    """

    def __init__(self, tokens: Tokens, keys: Ints, values: Ints) -> None:
        """Count how often each value occurs with each token.

        tokens: the tokens of a list of names. keys, values: one pair per occurrence: the index of a name in this list,
        and the value (the number of an entity) that occurs with the name.
        """
        token_of_pair, lengths = tokens.of_names(keys)
        pairs = np.stack([token_of_pair, np.repeat(values, lengths)], axis=1)
        unique, self._counts = np.unique(pairs, axis=0, return_counts=True)
        self._values: npt.NDArray[np.int64] = np.ascontiguousarray(unique[:, 1])
        self._starts = np.searchsorted(unique[:, 0], np.arange(len(tokens.names) + 1))
        self._tokens = tokens

    def add_to(self, row: Numbers, name: str) -> None:
        """Add to `row`, which has one entry per value, how often each value occurs with a name.

        This is the mean over those tokens of the name that were counted; other tokens are ignored.
        """
        tokens = self._tokens.of(name)
        for token in tokens:
            part = slice(self._starts[token], self._starts[token + 1])
            row[self._values[part]] += self._counts[part] / len(tokens)

    def count(self, name: str, value: int) -> float:
        """Return how often one value occurs with a name; 0 for the value -1.

        This is the mean over those tokens of the name that were counted; other tokens are ignored.
        """
        total, tokens = 0.0, self._tokens.of(name)
        for token in tokens:
            first, end = self._starts[token], self._starts[token + 1]
            index = first + np.searchsorted(self._values[first:end], value)
            if index < end and self._values[index] == value:
                total += self._counts[index] / len(tokens)
        return total


class RelationCounts:
    """Scores an entity by how often it is the subject, or the object, of a question's relation in the graph.

    The side that the question asks for decides which. A claim's score is the sum of both counts: of its subject as a
    subject of its relation, and of its object as an object.
    """

    def __init__(self, graph: Graph, *, tokens: bool = False) -> None:
        self.entities = graph.entities
        self._graph = graph
        subjects, relations, objects = graph.triples.T
        names = Tokens(graph.relations, shared=tokens)
        self._subjects, self._objects = Counts(names, relations, subjects), Counts(names, relations, objects)

    def score_claims(self, claims: Sequence[Claim]) -> Numbers:
        entity = self._graph.entity
        scores = [
            self._subjects.count(claim.relation, entity.get(claim.subject, -1))
            + self._objects.count(claim.relation, entity.get(claim.object, -1))
            for claim in claims
        ]
        return np.array(scores, dtype=np.float64)

    def score_answers(self, questions: Sequence[Question]) -> Numbers:
        rows = np.zeros((len(questions), len(self.entities)))
        for row, question in zip(rows, questions, strict=True):
            counts = self._subjects if question.question[0] == QUERY_MARKER else self._objects
            counts.add_to(row, question.question[1])
        rows[rows == 0] = -np.inf
        return rows


class EntityCounts:
    """Scores an entity by the number of triples, of any relation and direction, that join it with the known entity.

    A claim's score is the number of triples that join its subject and object.
    """

    def __init__(self, graph: Graph, *, tokens: bool = False) -> None:
        self.entities = graph.entities
        self._graph = graph
        subjects, _, objects = graph.triples.T
        names = Tokens(graph.entities, shared=tokens)
        self._joined = Counts(names, np.concatenate([subjects, objects]), np.concatenate([objects, subjects]))

    def score_claims(self, claims: Sequence[Claim]) -> Numbers:
        entity = self._graph.entity
        return np.array([self._joined.count(claim.subject, entity.get(claim.object, -1)) for claim in claims])

    def score_answers(self, questions: Sequence[Question]) -> Numbers:
        rows = np.zeros((len(questions), len(self.entities)))
        for row, question in zip(rows, questions, strict=True):
            subject, _, object_ = question.question
            self._joined.add_to(row, object_ if subject == QUERY_MARKER else subject)
        rows[rows == 0] = -np.inf
        return rows


def _predicting(scorer: Callable[..., Scorer]) -> Callable[[Job], Iterator[Line]]:
    def run(job: Job) -> Iterator[Line]:
        return predict(job, scorer(read_graph(job.paths("graph")), tokens=bool(job.options.get(TOKENS.name))))

    return run


_BUCKLE = "Huynh and Papotti 2019 (BUCKLE)"
_OLPBENCH = "Broscheit et al. 2020 (OLPBENCH)"
SYSTEMS = (
    System(
        "popularity",
        TASKS,
        "the number of triples with the entity; for a claim, the lower one of its two entities",
        _BUCKLE,
        _predicting(Popularity),
        needs=("graph",),
    ),
    System(
        "relation-frequency",
        TASKS,
        "how often the relation has this subject, plus how often it has this object",
        _BUCKLE,
        _predicting(RelationCounts),
        needs=("graph",),
    ),
    System(
        "predict-with-rel",
        TASKS,
        "how often the relation has the entity as the missing part; ignores the given entity",
        _OLPBENCH,
        _predicting(RelationCounts),
        needs=("graph",),
        options=(TOKENS,),
    ),
    System(
        "predict-with-ent",
        TASKS,
        "how many triples join the entity with the given one; ignores the relation",
        _OLPBENCH,
        _predicting(EntityCounts),
        needs=("graph",),
        options=(TOKENS,),
    ),
)
