"""Rankings by paths: `pra`, `sfe` and `kg-miner` for link-prediction, which learn from the graph alone.

A logistic regression is trained for each relation and direction that a question asks. Its true examples are triples of
the graph, each described as if it were not in the graph; in its false examples another entity replaces the answer. All
candidates of a question are scored at once, since the features are numbers of walks along a few paths
(`graphs/reach.py`).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.reference_systems.base import Job, Line, System, number, whole_number
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.graphs.entity_types import EntityTypes
from evaluator.reference_systems.graphs.graph import Ints, read_graph
from evaluator.reference_systems.graphs.information_gain import best_gains
from evaluator.reference_systems.graphs.paths import KG_MINER, LONGEST_PATH, PRA, SFE, STEPS, TYPE_RELATION
from evaluator.reference_systems.graphs.predict import LINK_PREDICTION, Scores, rank, read_questions
from evaluator.reference_systems.graphs.reach import Path, Reach
from evaluator.reference_systems.graphs.walks import Walks
from evaluator.tasks.base import Option, Options
from evaluator.tasks.link_prediction.layout import QUERY_MARKER, Question

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST_NEGATIVES = 1000
"""The most false examples of a true one."""
_SEARCHED = 60
"""The number of triples of a relation in which paths are searched."""
_BATCH_WALKS = 1_000_000
"""The number of pairs of entities whose walks are computed at once."""


class Settings(NamedTuple):
    """Limits and regularization of the logistic regression for one relation.

    longest: the maximum number of steps of a path. paths: the maximum number of paths, and also of features if features
    are selected. triples: the maximum number of true examples. negatives: the number of false examples per true
    example. strength: the weight of the L2 penalty, scikit-learn's 1 / C.
    """

    longest: int
    paths: int
    triples: int
    negatives: int
    strength: float


class Features(NamedTuple):
    """The features by which a system describes a candidate.

    probabilities: the number of a path is the probability of its walks if True, and the number of its walks if False.
    value: returns the feature of a path for this number. answer: features of the candidate alone: "relations" (binary,
    one for each relation and direction of its triples), "frequency" (how often it is an answer of the relation) or ""
    (none). types: if not None, each path also has a feature for each pair of types of the known entity and the
    candidate, and only features with an information gain are used.
    """

    probabilities: bool
    value: Callable[[Numbers], Numbers]
    answer: Literal["relations", "frequency", ""] = ""
    types: EntityTypes | None = None


class Examples(NamedTuple):
    """Training examples for one step, that is one relation and direction: known entities, each with a candidate.

    starts, ends: the known entity and the candidate of each example. true: True where the graph has a triple by which
    `step` leads from one to the other.
    """

    step: int
    starts: Ints
    ends: Ints
    true: npt.NDArray[np.bool_]


class Model(NamedTuple):
    """The trained model of one relation and direction.

    weights: one per path. typed: (index of a path, type of the known entity) -> additional weights of the path, one per
    type of the candidate. candidates: each entity's score before walks are added to it; -inf if the entity is a
    candidate only where a walk leads to it.
    """

    paths: list[Path]
    weights: Numbers
    typed: dict[tuple[int, int], Numbers]
    candidates: Numbers


class PathRanker:
    """Scores all entities as answers to questions, by the walks from each question's known entity.

    The known entity itself is never an answer.
    """

    def __init__(self, walks: Walks, features: Features, settings: Settings, seed: int) -> None:
        self.entities = walks.graph.entities
        self._walks = walks
        self._features = features
        self._settings = settings
        self._seed = seed
        self._reach = Reach(walks, probabilities=features.probabilities)
        self._types_of_all = features.types.of_all() if features.types else np.zeros(0, dtype=np.int64)
        self._model: tuple[int, Model] | None = None

    def score_answers(self, questions: Sequence[Question]) -> Scores:
        graph = self._walks.graph
        rows_of: dict[int, list[int]] = defaultdict(list)
        given = np.full(len(questions), -1)
        for row, (subject, relation, object_) in enumerate(question.question for question in questions):
            asks_subject = subject == QUERY_MARKER
            given[row] = graph.entity.get(object_ if asks_subject else subject, -1)
            rows_of[2 * graph.relation.get(relation, -1) + asks_subject].append(row)
        scores = np.full((len(questions), len(self.entities)), -np.inf)
        for step, rows in rows_of.items():
            if step >= 0:
                self._score(self.model(step), given[rows], scores, np.array(rows))
        known = np.flatnonzero(given >= 0)
        scores[known, given[known]] = -np.inf
        return scores

    def model(self, step: int) -> Model:
        """Return the model of a step, which is a relation and direction by number. Only the last model is cached."""
        if self._model is None or self._model[0] != step:
            self._model = step, self._learned(step)
        return self._model[1]

    def _score(self, model: Model, given: Ints, scores: Numbers, rows: Ints) -> None:
        """Fill those rows of `scores` that belong to questions of one relation and direction, whose model is `model`.

        given: the known entity of each of these questions; -1 for an unknown entity, from which no walk starts. rows:
        the indices of the questions' rows.
        """
        scores[rows] = model.candidates
        types = self._features.types
        for part in self._batches(np.flatnonzero(given >= 0)):
            starts, line = np.unique(given[part], return_inverse=True)
            totals = np.zeros((len(starts), len(self.entities)))
            reached = np.zeros(totals.shape, dtype=np.bool_)
            for index, matrix in enumerate(self._reach.ends(starts, model.paths)):
                at = np.repeat(np.arange(len(starts)), np.diff(matrix.indptr)), matrix.indices
                weights = np.full(matrix.nnz, model.weights[index])
                if types is not None:
                    for row, start in enumerate(starts.tolist()):
                        own = model.typed.get((index, int(self._types_of_all[start])))
                        if own is not None:
                            here = slice(matrix.indptr[row], matrix.indptr[row + 1])
                            weights[here] += own[self._types_of_all[matrix.indices[here]]]
                totals[at] += weights * self._features.value(matrix.data)
                reached[at] = True
            base = np.where(np.isneginf(model.candidates), np.where(reached, 0, -np.inf), model.candidates)
            scores[rows[part]] = (base + totals)[line]

    def _batches(self, rows: Ints) -> list[Ints]:
        size = max(1, _BATCH_WALKS // max(1, len(self.entities)))
        return [rows[first : first + size] for first in range(0, len(rows), size)]

    def _learned(self, step: int) -> Model:
        rng = np.random.default_rng([self._seed, step])
        examples = self._examples(step, rng)
        paths = self._frequent(examples, rng)
        values = self._values(examples, paths)
        keys: list[Any] = list(range(len(paths)))
        columns = [*values.T]
        if self._features.types is not None:
            self._add_typed(self._features.types, examples, values, keys, columns)
        weights = self._fitted(columns, self._of_answers(step, examples.ends, examples.true), examples.true)
        model = Model(paths, np.zeros(len(paths)), {}, np.zeros(0))
        for key, weight in zip(keys, weights[: len(keys)].tolist(), strict=True):
            if isinstance(key, int):
                model.weights[key] = weight
            else:
                index, start, end = key
                size = self._features.types.count if self._features.types else 0
                model.typed.setdefault((index, start), np.zeros(size))[end] = weight
        everything = np.arange(len(self.entities))
        answers = self._of_answers(step, everything, np.zeros(len(everything), dtype=np.bool_))
        scores = np.where(np.diff(answers.indptr) > 0, answers @ weights[len(keys) :], -np.inf)
        return model._replace(candidates=scores)

    def _examples(self, step: int, rng: np.random.Generator) -> Examples:
        """Draw true examples from the triples of a step, and for each of them false examples with other candidates.

        Half of these candidates are drawn from all answers of the step, half from all entities. step: a relation and
        direction, by number.
        """
        starts, ends, _ = self._walks.edges_of(step)
        chosen = np.sort(rng.permutation(len(starts))[: self._settings.triples])
        shape = (len(chosen), self._settings.negatives)
        n = len(self.entities)
        answers = ends[rng.integers(0, max(1, len(ends)), shape)] if len(ends) else np.zeros(shape, dtype=np.int64)
        others = np.where(rng.random(shape) < 0.5, answers, rng.integers(0, max(1, n), shape))
        given = np.repeat(starts[chosen], self._settings.negatives)
        wrong = ~np.isin(given * n + others.ravel(), starts * n + ends) & (given != others.ravel())
        return Examples(
            step,
            np.concatenate([starts[chosen], given[wrong]]),
            np.concatenate([ends[chosen], others.ravel()[wrong]]),
            np.arange(len(chosen) + wrong.sum()) < len(chosen),
        )

    def _frequent(self, examples: Examples, rng: np.random.Generator) -> list[Path]:
        """Return the paths that join known entity and answer in the largest numbers of true examples, sorted."""
        support: Counter[Path] = Counter()
        for row in rng.permutation(np.flatnonzero(examples.true))[:_SEARCHED].tolist():
            start, end = int(examples.starts[row]), int(examples.ends[row])
            found = self._walks.between(start, examples.step, end, self._settings.longest)
            support.update(tuple(self._walks.relations_of(code)) for code in found.codes.tolist())
        ordered = sorted(support.items(), key=lambda item: (-item[1], item[0]))
        return sorted(path for path, _ in ordered[: self._settings.paths])

    def _values(self, examples: Examples, paths: list[Path]) -> Numbers:
        """Return the feature of each path in each example: shape (examples, paths)."""
        numbers = np.zeros((len(examples.starts), len(paths)))
        for part in self._batches(np.argsort(examples.starts, kind="stable")):
            starts, line = np.unique(examples.starts[part], return_inverse=True)
            for index, matrix in enumerate(self._reach.ends(starts, paths)):
                numbers[part, index] = np.asarray(matrix[line, examples.ends[part]]).ravel()
        if self._features.probabilities:
            # Without its own triple, the walker has one triple less to choose from in a first step of the relation.
            first = np.array([path[0] == examples.step for path in paths], dtype=np.bool_)
            choices = np.diff(self._reach.step(examples.step).indptr)[examples.starts]
            factor = np.where(examples.true, choices / np.maximum(choices - 1, 1), 1)
            numbers[:, first] *= factor[:, None]
        return self._features.value(numbers)

    def _add_typed(
        self, types: EntityTypes, examples: Examples, values: Numbers, keys: list[Any], columns: list[Numbers]
    ) -> None:
        """Add features of paths with the types of their ends, then keep the features with the highest information gain.

        At most `Settings.paths` features are kept. values: the features of the paths, shape (examples, paths). keys,
        columns: the key and the column of each feature, which are changed in place. A typed feature has the key (index
        of the path, type of the known entity, type of the candidate).
        """
        ends = zip(examples.starts.tolist(), examples.ends.tolist(), strict=True)
        of_ends = self._types_of_all[examples.starts], self._types_of_all[examples.ends]
        for row, (start, end) in enumerate(ends):
            if examples.true[row]:
                of_ends[0][row], of_ends[1][row] = (
                    types.of(start, end, examples.step),
                    types.of(end, start, examples.step ^ 1),
                )
        for index in range(values.shape[1]):
            rows = np.flatnonzero(values[:, index])
            pairs, group = np.unique(
                np.stack([of_ends[0][rows], of_ends[1][rows]], axis=1), axis=0, return_inverse=True
            )
            for pair, (start, end) in enumerate(pairs.tolist()):
                column = np.zeros(len(values))
                chosen = rows[group.ravel() == pair]
                column[chosen] = values[chosen, index]
                keys.append((index, start, end))
                columns.append(column)
        having = np.array([np.count_nonzero(column) for column in columns], dtype=np.float64)
        having_true = np.array([np.count_nonzero(column[examples.true]) for column in columns], dtype=np.float64)
        selected = best_gains(having, having_true, examples.true, self._settings.paths)
        keys[:], columns[:] = [keys[i] for i in selected], [columns[i] for i in selected]

    def _of_answers(self, step: int, ends: Ints, own: npt.NDArray[np.bool_]) -> csr_matrix:
        """Return the features of candidates alone: shape (candidates, features).

        step: the relation and direction that is asked, by number. ends: the candidates. own: True for the candidates of
        true examples, whose features are computed without the example's own triple.
        """
        from scipy.sparse import csr_matrix

        if self._features.answer == "relations":
            rows = np.flatnonzero(own)
            triples = csr_matrix(
                (np.ones(len(rows)), (rows, np.full(len(rows), step ^ 1))), (len(ends), self._walks.steps)
            )
            return ((self._walks.step_counts[ends] - triples) > 0).astype(np.float64)
        if self._features.answer == "frequency":
            answers = np.bincount(self._walks.edges_of(step)[1], minlength=len(self.entities))
            frequency = answers[ends] - own
            return csr_matrix(np.stack([np.log1p(frequency), frequency > 0], axis=1))
        return csr_matrix((len(ends), 0))

    def _fitted(self, columns: list[Numbers], answers: csr_matrix, true: npt.NDArray[np.bool_]) -> Numbers:
        """Return the weights of the features, in the order of the columns.

        All are 1 unless there are both true and false examples. columns: the features of paths, one column per feature.
        answers: the features of candidates alone, shape (examples, features). true: True for the true examples.
        """
        from scipy.sparse import csr_matrix, hstack
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import MaxAbsScaler

        paths = csr_matrix(np.array(columns).reshape(len(columns), len(true)).T)
        matrix = hstack([paths, answers]).tocsr()
        if true.all() or not true.any() or not matrix.shape[1]:
            return np.ones(matrix.shape[1])
        scaler = MaxAbsScaler()
        model = LogisticRegression(
            C=1 / max(self._settings.strength, 1e-9), solver="liblinear", random_state=self._seed
        )
        model.fit(scaler.fit_transform(matrix), true)
        weights: Numbers = model.coef_[0] / scaler.scale_
        return weights


def _relation(question: Question) -> tuple[str, bool]:
    subject, relation, _ = question.question
    return relation, subject == QUERY_MARKER


def _predicting(features: Callable[[Walks, Options], Features], longest: str) -> Callable[[Job], Iterator[Line]]:
    def run(job: Job) -> Iterator[Line]:
        questions = [question for path in job.paths(INPUTS) for question in read_questions(path)]
        walks = Walks(read_graph(job.paths("graph")))
        options = job.options
        settings = Settings(
            longest=options[longest], **{name: options[name] for name in ("paths", "triples", "negatives", "strength")}
        )
        ranker = PathRanker(walks, features(walks, options), settings, job.seed)
        # A batch then has few relations, which share the work of the walks.
        return rank(sorted(questions, key=_relation), ranker)

    return run


def _ones(numbers: Numbers) -> Numbers:
    return (numbers > 0).astype(np.float64)


def _system(
    name: str, doc: str, source: str, features: Callable[[Walks, Options], Features], longest: Option, *more: Option
) -> System:
    options = (
        longest,
        Option("paths", "The most paths that are used for a relation.", "50", whole_number()),
        Option("triples", "The most triples of a relation that it is learned from.", "200", whole_number()),
        Option("negatives", "False answers that are drawn for each of these.", "10", whole_number(MOST_NEGATIVES)),
        Option("strength", "Strength of the L2 penalty, scikit-learn's 1 / C.", "1", number),
        *more,
    )
    predict = _predicting(features, longest.name)
    return System(name, (LINK_PREDICTION,), doc, source, predict, needs=("graph",), options=options)


SYSTEMS = (
    _system(
        "sfe",
        "logistic regression on the presence of short paths, and of relations around the answer",
        SFE,
        lambda walks, options: Features(probabilities=False, value=_ones, answer="relations"),
        STEPS,
    ),
    _system(
        "pra",
        "logistic regression on the probabilities of random walks along paths",
        PRA,
        lambda walks, options: Features(probabilities=True, value=np.sqrt, answer="frequency"),
        LONGEST_PATH,
    ),
    _system(
        "kg-miner",
        "logistic regression on the paths that discriminate best, with the types of their ends",
        KG_MINER,
        lambda walks, options: Features(
            probabilities=False, value=np.log1p, types=EntityTypes(walks, options[TYPE_RELATION.name])
        ),
        LONGEST_PATH,
        TYPE_RELATION,
    ),
)
