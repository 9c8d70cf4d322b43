"""The interface of a task: its formats, its scorer and its measures."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Generic, Protocol, TypeVar

from evaluator.errors import UsageError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.measures.base import Measure
from evaluator.outcomes.table import Outcomes
from evaluator.scoring.score import Score
from evaluator.tasks.answers import ComparableAnswers
from evaluator.tasks.audit.findings import Finding
from evaluator.tasks.audit.split import AuditColumns, Split
from evaluator.tasks.baselines.base import Baseline
from evaluator.tasks.gold_fields import GoldFields, Line

Options = Mapping[str, Any]
Facts = Mapping[str, Any]
"""Public facts about a gold, plain JSON values, which validation without gold needs."""


@dataclass(frozen=True)
class Option:
    """An option of a task. parse: returns the value of a text; raises ValueError saying what was expected."""

    name: str
    doc: str
    default: str
    parse: Callable[[str], Any]


@dataclass(frozen=True)
class DimensionDoc:
    """A dimension that every gold of the task has."""

    name: str
    doc: str


class ReadFile(Protocol):
    """The line count and warnings that every parsed file has."""

    @property
    def n_lines(self) -> int: ...

    @property
    def warnings(self) -> list[str]: ...


Gold = TypeVar("Gold", bound=ReadFile)
Known = TypeVar("Known")
Answers = TypeVar("Answers", bound=ReadFile)


def parse_cross(text: str) -> tuple[str, str] | None:
    """Parse two dimensions separated by a comma; empty text: None. Raises ValueError."""
    if not text:
        return None
    names = text.split(",")
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise ValueError("two different dimensions, such as cross=a,b")
    return names[0], names[1]


CROSS = Option("cross", "Adds the two-way slices of two dimensions: cross=a,b.", "", parse_cross)


class Task(ABC, Generic[Gold, Known, Answers]):
    """A kind of problem. `version` is raised by hand when scores may change.

    id_key: the key of an item's id in gold and inputs.
    gold_only: keys of gold lines that inputs must not have, besides group and slices.
    input_parts: the key under which an input line lists its parts, if it does.
    samples: small gold and predictions that exercise every path of the task. A sandbox runs them once at its start,
    because its jobs cannot import anything later.
    baselines: in display order.
    """

    name: ClassVar[str]
    version: ClassVar[int]
    title: ClassVar[str]
    summary: ClassVar[str]
    measures: ClassVar[tuple[Measure, ...]]
    dimensions: ClassVar[tuple[DimensionDoc, ...]]
    own_options: ClassVar[tuple[Option, ...]] = ()
    gold_format: ClassVar[str]
    prediction_format: ClassVar[str]
    prediction_example: ClassVar[str]
    id_key: ClassVar[str] = "id"
    gold_only: ClassVar[frozenset[str]]
    input_parts: ClassVar[str] = ""
    samples: ClassVar[tuple[tuple[bytes, bytes], ...]]
    baselines: ClassVar[tuple[Baseline, ...]] = ()

    @property
    def options(self) -> tuple[Option, ...]:
        return (*self.own_options, CROSS)

    def parse_options(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Return the value of every option, with defaults for missing ones. Raises UsageError."""
        known = {option.name: option for option in self.options}
        for name in texts:
            if name not in known:
                raise UsageError(f"unknown option {shown(name)} of {self.name}, expected one of: {', '.join(known)}")
        parsed = {}
        for option in known.values():
            text = texts.get(option.name, option.default)
            try:
                parsed[option.name] = option.parse(text)
            except ValueError as error:
                raise UsageError(f"option {option.name} is {shown(text)}, expected {error}") from None
        return parsed

    def measure(self, name: str) -> Measure:
        """Return the measure of that name. Raises KeyError."""
        return {measure.name: measure for measure in self.measures}[name]

    def baseline(self, name: str) -> Baseline:
        """Return the baseline of that name. Raises UsageError."""
        known = {baseline.name: baseline for baseline in self.baselines}
        if name not in known:
            raise UsageError(f"unknown baseline {shown(name)} of {self.name}, expected one of: {', '.join(known)}")
        return known[name]

    @abstractmethod
    def primary(self, facts: Facts | None = None) -> str:
        """Return the name of the ranking measure for a gold with these facts."""

    @abstractmethod
    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        """Parse gold. Raises GoldError, and UsageError where an option does not fit this gold."""

    @abstractmethod
    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> Known:
        """Parse the public inputs and facts into what validation may know. Raises InputsError."""

    @abstractmethod
    def known(self, gold: Gold) -> Known:
        """Return the same as `read_inputs`, from gold."""

    @abstractmethod
    def read_predictions(
        self, stream: BinaryIO, file: str, known: Known, options: Options, limits: ReadLimits | None = None
    ) -> Answers:
        """Parse and validate predictions. Raises PredictionError."""

    @abstractmethod
    def unanswered(self, gold: Gold) -> Answers:
        """Return empty predictions, to get the outcomes of a gold before any submission."""

    @abstractmethod
    def score(self, gold: Gold, answers: Answers, options: Options) -> Outcomes:
        """Return the outcomes; the same files give the same table."""

    @abstractmethod
    def answered(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> ComparableAnswers:
        """Return the answers of a prediction file, unit by unit, for comparison with another file. Raises
        PredictionError.
        """

    @abstractmethod
    def facts(self, gold: Gold) -> dict[str, Any]:
        """Return the public facts that validation without gold needs."""

    @abstractmethod
    def public_inputs(self, gold: Gold) -> bytes:
        """Return the public inputs as JSON Lines: listed fields only, never answers, groups or slices."""

    @abstractmethod
    def audit_columns(self, gold: Gold) -> AuditColumns:
        """Return the gold as columns for audits and baselines."""

    def check_gold(self, split: Split) -> Iterator[Finding]:
        """Yield an audit's findings about the gold itself; `split.gold` is as returned by `read_gold`."""
        return iter(())

    @abstractmethod
    def gold_fields(self, line: Line) -> GoldFields:
        """Return the fields of a valid gold line, for comparing corrected gold with the previous version."""

    def remarks(self, scores: list[Score]) -> list[str]:
        """Return the warnings shown with a leaderboard row."""
        return []


AnyTask = Task[Any, Any, Any]
