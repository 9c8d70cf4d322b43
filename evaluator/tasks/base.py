"""The interface of a task: its formats, its scorer and its measures."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from evaluator.errors import UsageError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.measures.base import Measure
from evaluator.outcomes.table import Outcomes
from evaluator.scoring.score import Score
from evaluator.tasks.answers import ComparableAnswers
from evaluator.tasks.audit.split import TaskAudit
from evaluator.tasks.baselines.base import Baseline
from evaluator.tasks.gold_fields import GoldFields, Line
from evaluator.tasks.item_results import Indices, ItemResult

Options = Mapping[str, Any]
Facts = Mapping[str, Any]
"""Public facts about a gold (JSON values by name) that are needed to validate predictions without the gold."""


@dataclass(frozen=True)
class Option:
    """An option of a task, which a phase sets as NAME=VALUE.

    doc: for readers. default: the text that is parsed if the option is not set. parse: returns the option's value for a
    text; raises ValueError, whose text is what was expected.
    """

    name: str
    doc: str
    default: str
    parse: Callable[[str], Any]


@dataclass(frozen=True)
class DimensionDoc:
    """The description of a dimension that every gold of the task has, whether or not its lines declare slices.

    name: the name of the dimension. doc: the description, for readers.
    """

    name: str
    doc: str


class ReadFile(Protocol):
    """Protocol of parsed gold and predictions: the file's number of lines, and warnings for its author."""

    @property
    def n_lines(self) -> int: ...

    @property
    def warnings(self) -> list[str]: ...


class ReadPredictions(ReadFile, Protocol):
    """Protocol of parsed predictions.

    hints: one sentence for each way in which valid predictions seem to differ from gold throughout, such as offsets
    that count bytes. They are for the author of the predictions, and depend on these and the public inputs alone: gold
    is not read when predictions are validated.
    """

    @property
    def hints(self) -> list[str]: ...


Gold = TypeVar("Gold", bound=ReadFile)
ValidationData = TypeVar("ValidationData")
Answers = TypeVar("Answers", bound=ReadPredictions)


def parse_cross(text: str) -> tuple[str, str] | None:
    """Parse the names of two different dimensions, separated by a comma. Return None for an empty text.

    Raises ValueError for any other text.
    """
    if not text:
        return None
    names = text.split(",")
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise ValueError("two different dimensions, such as cross=a,b")
    return names[0], names[1]


CROSS = Option("cross", "Adds a slice for each pair of values of two dimensions a and b: cross=a,b.", "", parse_cross)


def parse_options(options: Iterable[Option], texts: Mapping[str, str], owner: str) -> dict[str, Any]:
    """Return name -> value of all of `options`, with the default value for options that are not set.

    texts: name -> text of the options that are set. owner: the name of the task or system that has the options, for
    error texts. Raises UsageError for an unknown name or an invalid value.
    """
    known = {option.name: option for option in options}
    for name in texts:
        if name not in known:
            expected = f"one of: {', '.join(known)}" if known else "no options"
            raise UsageError(f"unknown option {shown(name)} of {owner}, expected {expected}")
    parsed = {}
    for option in known.values():
        text = texts.get(option.name, option.default)
        try:
            parsed[option.name] = option.parse(text)
        except ValueError as error:
            raise UsageError(f"option {option.name} is {shown(text)}, expected {error}") from None
    return parsed


class Task(ABC, Generic[Gold, ValidationData, Answers]):
    """A kind of problem: its file formats, its scorer, its measures and its baselines.

    The type parameters are parsed gold (Gold), the data that predictions are validated against (ValidationData) and
    parsed predictions (Answers).

    version: a number that is raised by hand when scores may change.
    ranked_by: the name of the measure that ranks systems.
    title, summary, gold_format, prediction_format, prediction_example: texts for readers.
    own_options: the task's options besides `cross`, which every task has.
    id_key: the JSON key of an item's id in gold and inputs.
    gold_only: keys of gold lines that inputs must not have, besides group and slices.
    item_statistic: the name of the column of outcomes that is 1 on one row per gold line, in gold order, and 0 on other
    rows. Empty: there is no such column.
    item_result: how single gold lines are rated, for lists of them; None: they are not rated.
    label_keys: (key of the label in gold lines, key in predictions), in a task with labels; otherwise None.
    input_parts: the key under which an input line lists its parts, such as a document's passages; empty: none.
    samples: pairs of a small gold file and a small predictions file, which exercise every path of the task. A sandbox
    runs them once at its start, because its jobs cannot import anything later.
    baselines: in display order.
    audit: the task's parts of the audit of a gold.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    title: ClassVar[str]
    summary: ClassVar[str]
    measures: ClassVar[tuple[Measure, ...]]
    ranked_by: ClassVar[str]
    dimensions: ClassVar[tuple[DimensionDoc, ...]]
    own_options: ClassVar[tuple[Option, ...]] = ()
    gold_format: ClassVar[str]
    prediction_format: ClassVar[str]
    prediction_example: ClassVar[str]
    id_key: ClassVar[str] = "id"
    gold_only: ClassVar[frozenset[str]]
    item_statistic: ClassVar[str] = ""
    item_result: ClassVar[ItemResult | None] = None
    label_keys: ClassVar[tuple[str, str] | None] = None
    input_parts: ClassVar[str] = ""
    samples: ClassVar[tuple[tuple[bytes, bytes], ...]]
    baselines: ClassVar[tuple[Baseline, ...]] = ()
    audit: ClassVar[TaskAudit]

    @property
    def options(self) -> tuple[Option, ...]:
        return (*self.own_options, CROSS)

    def parse_options(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Return name -> value of all options of the task, with the default value for options that are not set.

        texts: name -> text of the options that are set. Raises UsageError for an unknown name or an invalid value.
        """
        return parse_options(self.options, texts, self.name)

    def measure(self, name: str) -> Measure:
        """Return the measure with this name. Raises KeyError if the task has none."""
        return {measure.name: measure for measure in self.measures}[name]

    def baseline(self, name: str) -> Baseline:
        """Return the baseline with this name. Raises UsageError if the task has none."""
        known = {baseline.name: baseline for baseline in self.baselines}
        if name not in known:
            raise UsageError(f"unknown baseline {shown(name)} of {self.name}, expected one of: {', '.join(known)}")
        return known[name]

    def primary(self, facts: Facts | None = None) -> str:
        """Return the name of the measure that ranks systems.

        facts: `Outcomes.facts` of the gold, on which the choice may depend; None: no gold is known.
        """
        return self.ranked_by

    @abstractmethod
    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        """Parse gold.

        file: the file's name, for error texts. limits: limits on the file's size; None: the default ones. Raises
        GoldError if the gold is invalid, UsageError if an option does not fit it.
        """

    @abstractmethod
    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> ValidationData:
        """Parse the public inputs; return the data that predictions are validated against where there is no gold.

        file: the file's name, for error texts. facts: the public facts about the gold. limits: limits on the file's
        size; None: the default ones. Raises InputsError for invalid inputs.
        """

    @abstractmethod
    def validation_data(self, gold: Gold) -> ValidationData:
        """Return the data that predictions are validated against where there is gold.

        It may hold more than the result of `read_inputs`.
        """

    @abstractmethod
    def read_predictions(
        self, stream: BinaryIO, file: str, known: ValidationData, options: Options, limits: ReadLimits | None = None
    ) -> Answers:
        """Parse and validate predictions.

        file: the file's name, for error texts. known: the result of `validation_data` or `read_inputs`. limits: limits
        on the file's size; None: the default ones. Raises PredictionError for invalid predictions.
        """

    @abstractmethod
    def empty_answers(self, gold: Gold) -> Answers:
        """Return predictions without answers, to compute the outcomes of a gold before there is any submission."""

    @abstractmethod
    def score(self, gold: Gold, answers: Answers, options: Options) -> Outcomes:
        """Compare predictions with gold and return the outcomes.

        Equal files and options always give equal tables.
        """

    def item_rows(self, gold: Gold, answers: Answers, outcomes: Outcomes) -> Indices:
        """Return for each row of the outcomes the index of its gold line, -1 for rows that rate no single line.

        outcomes: the result of `score`.
        """
        is_item = outcomes.statistics[self.item_statistic] > 0
        return np.where(is_item, np.cumsum(is_item) - 1, -1)

    @abstractmethod
    def comparable_answers(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> ComparableAnswers:
        """Return the answers of a prediction file, unit by unit, so that they can be compared with another file's.

        file: the file's name, for error texts. Raises PredictionError for invalid predictions.
        """

    def facts(self, gold: Gold) -> dict[str, Any]:
        """Return the public facts about the gold that are needed to validate predictions without it."""
        return {}

    @abstractmethod
    def public_inputs(self, gold: Gold) -> bytes:
        """Return the public inputs as JSON Lines, with only the fields of inputs: no answers, groups or slices."""

    def test_gold_problems(self, lines: Iterable[Line], dimensions: Collection[str]) -> list[str]:
        """Return the reasons why valid gold of a test split must not be published, one sentence each; may be empty.

        lines: the gold's lines, decoded when they are iterated. dimensions: the names of the dimensions of the gold's
        slices.
        """
        return []

    def prediction_format_for(self, facts: Facts, dimensions: Mapping[str, Collection[str]]) -> str:
        """Return the text `prediction_format` without the parts that predictions for a certain gold do not need.

        facts: the gold's public facts. dimensions: name -> values of each dimension of the gold.
        """
        return self.prediction_format

    def sample_answer(self, line: Line, facts: Facts) -> Line | None:
        """Return a valid, but uninformed, line of predictions for a line of the inputs; None: the task has no sample.

        line: the line of the inputs. facts: the gold's public facts.
        """
        return None

    @abstractmethod
    def gold_fields(self, line: Line) -> GoldFields:
        """Return the content of a valid gold line, field by field.

        Corrected gold is compared with the previous version by these fields.
        """

    def score_warnings(self, scores: list[Score]) -> list[str]:
        """Return warnings about a run's scores, one sentence each, which are shown with its row of the leaderboard."""
        return []


AnyTask = Task[Any, Any, Any]
