"""Systems for fact-checking that learn from the paths between subject and object: `sfe`, `pra` and `kg-miner`.

Each describes a claim by features of the graph without the claim's own triple, and learns from labelled claims by
logistic regression. They differ in their features. The regression has two weights per feature: one that all relations
share, and one of the claim's relation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.errors import UsageError
from evaluator.outcomes.table import Numbers
from evaluator.progress import Steps
from evaluator.reference_systems.base import Job, Line, System, whole_number
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.graphs.embeddings import read_labelled
from evaluator.reference_systems.graphs.entity_types import EntityTypes
from evaluator.reference_systems.graphs.graph import read_graph
from evaluator.reference_systems.graphs.information_gain import best_gains
from evaluator.reference_systems.graphs.predict import FACT_CHECKING, read_claims
from evaluator.reference_systems.graphs.walks import LONGEST, Walks
from evaluator.tasks.base import Option
from evaluator.tasks.fact_checking.layout import Claim

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Features = dict[Hashable, float]
Example = tuple[str, Features]
"""Relation and features of a claim."""
Describe = Callable[[int, int, int], Features]
"""Returns the features of a claim: subject, relation and object by their numbers in the graph, or -1."""

_STRENGTHS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
_FOLDS = 5
_BATCH = 1000
"""The number of claims that are scored at once."""


class SubgraphFeatures:
    """Binary features of a claim: the paths that join its two entities, and the relations of each entity's triples.

    The claim's own triple is left out.
    """

    def __init__(self, walks: Walks, longest: int) -> None:
        self._walks = walks
        self._longest = longest

    def __call__(self, subject: int, relation: int, object_: int) -> Features:
        paths = self._walks.between(subject, 2 * relation, object_, self._longest).codes.tolist()
        features: Features = {("path", path): 1.0 for path in paths}
        ends = (("subject", subject, object_, 2 * relation), ("object", object_, subject, 2 * relation + 1))
        for name, here, there, claimed in ends:
            edges = self._walks.edges(here)
            others = edges.relations[(edges.ends != there) | (edges.relations != claimed)]
            features |= {(name, step): 1.0 for step in others.tolist()}
        return features


class PathProbabilities:
    """Features of a claim: the probability of each path from its subject to its object.

    This is the probability that a random walker who follows the path's relations gets from subject to object.
    """

    def __init__(self, walks: Walks, longest: int) -> None:
        self._walks = walks
        self._longest = longest

    def __call__(self, subject: int, relation: int, object_: int) -> Features:
        paths = self._walks.between(subject, 2 * relation, object_, self._longest)
        return dict(zip(paths.codes.tolist(), paths.probabilities.tolist(), strict=True))


class TypedPaths:
    """Features of a claim: for each path, the logarithm of 1 plus the number of walks along it from subject to object.

    Each path gives two features: one for the path alone, and one for the path with the types of subject and object.
    """

    def __init__(self, walks: Walks, longest: int, type_relation: str) -> None:
        """Look up the types of the graph's entities.

        longest: the maximum number of steps of a path. type_relation: the name of the relation by which the graph
        declares types; empty: none. Raises UsageError for a relation that is not in the graph.
        """
        self._walks = walks
        self._longest = longest
        self._types = EntityTypes(walks, type_relation)

    def __call__(self, subject: int, relation: int, object_: int) -> Features:
        paths = self._walks.between(subject, 2 * relation, object_, self._longest)
        counts = dict(zip(paths.codes.tolist(), np.log1p(paths.counts).tolist(), strict=True))
        if not counts:
            return {}
        ends = self._types.of(subject, object_, 2 * relation), self._types.of(object_, subject, 2 * relation + 1)
        return counts | {(path, *ends): count for path, count in counts.items()}


class Classifier:
    """Logistic regression on features, with weights that all relations share and weights of single relations.

    Its scores are log-odds: a claim with a score above 0 is more likely true than false.
    """

    def __init__(self, examples: Sequence[Example], labels: npt.NDArray[np.bool_], seed: int, most: int | None) -> None:
        """Train on examples (relation, features) with their labels, which must include both True and False.

        The strength of regularization is the one with the best AUROC in cross-validation. most: for each relation, only
        the `most` features with the highest information gain are used; None: all features.
        """
        self._chosen: dict[str, set[Hashable]] | None = None if most is None else {}
        if self._chosen is not None and most is not None:
            rows_of: dict[str, list[int]] = defaultdict(list)
            for row, (relation, _) in enumerate(examples):
                rows_of[relation].append(row)
            for relation, rows in rows_of.items():
                self._chosen[relation] = informative([examples[row][1] for row in rows], labels[rows], most)
            self._shared = set().union(*self._chosen.values())
        self._columns: dict[Hashable, int] = {}
        self._model = _fitted(self._matrix(examples, learning=True), labels, seed)

    def scores(self, examples: Sequence[Example]) -> Numbers:
        """Return for each example (relation, features of a claim) the log-odds that the claim is true."""
        scores: Numbers = self._model.decision_function(self._matrix(examples, learning=False))
        return scores

    def _weighted(self, relation: str, features: Features) -> Iterator[tuple[Hashable, float]]:
        """Yield (key of a weight, feature value) for each weight that applies to a claim.

        The key of a weight that all relations share begins with None, that of a single relation's weight with the
        relation.
        """
        yield (relation,), 1.0
        for feature, value in features.items():
            if self._chosen is None or feature in self._shared:
                yield (None, feature), value
            if self._chosen is None or feature in self._chosen.get(relation, ()):
                yield (relation, feature), value

    def _matrix(self, examples: Sequence[Example], *, learning: bool) -> csr_matrix:
        from scipy.sparse import csr_matrix

        columns, values, starts = [], [], [0]
        for relation, features in examples:
            for key, value in self._weighted(relation, features):
                if learning or key in self._columns:
                    columns.append(self._columns.setdefault(key, len(self._columns)))
                    values.append(value)
            starts.append(len(columns))
        return csr_matrix((values, columns, starts), shape=(len(examples), len(self._columns)), dtype=np.float64)


def informative(
    examples: Sequence[Mapping[Hashable, float]], labels: npt.NDArray[np.bool_], most: int
) -> set[Hashable]:
    """Return the features whose presence has the highest information gain about the label, above 0; at most `most`.

    examples: feature -> value of each example. labels: one per example. Of features with an equal gain, those that
    occur first are preferred.
    """
    present: dict[Hashable, list[int]] = defaultdict(list)
    for row, features in enumerate(examples):
        for feature in features:
            present[feature].append(row)
    having = np.array([len(rows) for rows in present.values()], dtype=np.float64)
    having_true = np.array([labels[rows].sum() for rows in present.values()], dtype=np.float64)
    names = list(present)
    return {names[index] for index in best_gains(having, having_true, labels, most)}


def _fitted(matrix: csr_matrix, labels: npt.NDArray[np.bool_], seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    models = [LogisticRegression(C=strength, solver="liblinear", random_state=seed) for strength in _STRENGTHS]
    folds = min(_FOLDS, int(labels.sum()), int((~labels).sum()))
    best = _STRENGTHS.index(1.0)
    if folds > 1:
        splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(matrix, labels))
        areas = [0.0] * len(models)
        for index, model in enumerate(models):
            for learned, held_out in splits:
                scores = model.fit(matrix[learned], labels[learned]).decision_function(matrix[held_out])
                areas[index] += float(roc_auc_score(labels[held_out], scores)) / folds
        rounded = np.round(areas, 6)
        best = int(rounded.argmax())
    return models[best].fit(matrix, labels)


def _predicting(describing: Callable[[Walks, Mapping[str, Any]], Describe]) -> Callable[[Job], Iterator[Line]]:
    def run(job: Job) -> Iterator[Line]:
        labelled = read_labelled(job)
        if labelled.labels.all() or not labelled.labels.any():
            raise UsageError("--train has claims of one label only, expected true and false claims")
        claims = [claim for path in job.paths(INPUTS) for claim in read_claims(path)]
        walks = Walks(read_graph(job.paths("graph")))
        describe = describing(walks, job.options)
        steps = Steps(len(labelled.claims) + len(claims))

        def examples(batch: Iterable[Claim]) -> Iterator[Example]:
            for claim in batch:
                numbers = walks.graph.numbers([(claim.subject, claim.relation, claim.object)])[0].tolist()
                yield claim.relation, describe(*numbers)
                steps.add(1)

        most = job.options.get("paths")
        classifier = Classifier(list(examples(labelled.claims)), labelled.labels, job.seed, most)
        for first in range(0, len(claims), _BATCH):
            batch = claims[first : first + _BATCH]
            for claim, score in zip(batch, classifier.scores(list(examples(batch))).tolist(), strict=True):
                yield {"id": claim.id, "score": score}

    return run


STEPS = Option("steps", "Number of steps of the longest paths, 1 or 2.", "2", whole_number(2))
LONGEST_PATH = Option("longest", "Number of steps of the longest paths.", str(LONGEST), whole_number(LONGEST))
TYPE_RELATION = Option("type-relation", "Relation of the graph whose objects are types of its subjects.", "", str)
SFE, PRA, KG_MINER = "Gardner and Mitchell 2015", "Lao and Cohen 2010", "Shi and Weninger 2016"


def _system(
    name: str, doc: str, source: str, describing: Callable[[Walks, Mapping[str, Any]], Describe], *options: Option
) -> System:
    return System(
        name, (FACT_CHECKING,), doc, source, _predicting(describing), needs=("graph", "train"), options=options
    )


SYSTEMS = (
    _system(
        "sfe",
        "logistic regression on the presence of short paths, and of relations around the entities",
        SFE,
        lambda walks, options: SubgraphFeatures(walks, options["steps"]),
        STEPS,
    ),
    _system(
        "pra",
        "logistic regression on the probabilities of random walks along paths",
        PRA,
        lambda walks, options: PathProbabilities(walks, options["longest"]),
        LONGEST_PATH,
    ),
    _system(
        "kg-miner",
        "logistic regression on the paths that discriminate best, with the types of their ends",
        KG_MINER,
        lambda walks, options: TypedPaths(walks, options["longest"], options["type-relation"]),
        LONGEST_PATH,
        Option("paths", "The most paths that are used for a relation.", "100", whole_number()),
        TYPE_RELATION,
    ),
)
