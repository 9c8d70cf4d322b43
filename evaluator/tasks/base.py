"""What a task is: its formats, its scorer and its measures, behind one interface."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Generic, Protocol, TypeVar

from evaluator.errors import UsageError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.measures.base import Measure
from evaluator.outcomes.table import Outcomes
from evaluator.scoring.score import Score
from evaluator.tasks.answers import Answered
from evaluator.tasks.audit.findings import Finding
from evaluator.tasks.audit.split import AuditColumns, Split
from evaluator.tasks.baselines.base import Baseline
from evaluator.tasks.gold_fields import GoldFields, Line

Options = Mapping[str, Any]
Facts = Mapping[str, Any]
"""Public facts about a gold, plain JSON values: what validation without gold must know."""


@dataclass(frozen=True)
class Option:
    """An option of a task. parse: the value that its text means; raises ValueError with what was expected."""

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
    """What every file that was read says of itself."""

    @property
    def n_lines(self) -> int: ...

    @property
    def warnings(self) -> list[str]: ...


Gold = TypeVar("Gold", bound=ReadFile)
Known = TypeVar("Known")
Answers = TypeVar("Answers", bound=ReadFile)


def parse_cross(text: str) -> tuple[str, str] | None:
    """Two dimensions, comma between them; nothing: none."""
    if not text:
        return None
    names = text.split(",")
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise ValueError("two different dimensions, such as cross=a,b")
    return names[0], names[1]


CROSS = Option("cross", "Adds the two-way slices of two dimensions: cross=a,b.", "", parse_cross)


class Task(ABC, Generic[Gold, Known, Answers]):
    """A kind of problem. `version` is raised by hand when scores may change.

    id_key: the key of an item's id in gold and inputs. gold_only: keys of gold lines that inputs must not have, besides
    group and slices. input_parts: the key under which a line of the inputs lists its parts, where it does. samples:
    small gold and predictions that take every path of the task: a sandbox runs them once when it starts, because its
    jobs can import nothing later. baselines: in the order in which they are shown.
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

    def parse_options(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Every option's value, defaults where none was given; raises UsageError."""
        known = {option.name: option for option in self.options}
        for name in given:
            if name not in known:
                raise UsageError(f"unknown option {shown(name)} of {self.name}, expected one of: {', '.join(known)}")
        parsed = {}
        for option in known.values():
            text = given.get(option.name, option.default)
            try:
                parsed[option.name] = option.parse(text)
            except ValueError as error:
                raise UsageError(f"option {option.name} is {shown(text)}, expected {error}") from None
        return parsed

    def measure(self, name: str) -> Measure:
        """The measure of that name; raises KeyError."""
        return {measure.name: measure for measure in self.measures}[name]

    def baseline(self, name: str) -> Baseline:
        """The baseline of that name; raises UsageError."""
        known = {baseline.name: baseline for baseline in self.baselines}
        if name not in known:
            raise UsageError(f"unknown baseline {shown(name)} of {self.name}, expected one of: {', '.join(known)}")
        return known[name]

    @abstractmethod
    def primary(self, facts: Facts | None = None) -> str:
        """The name of the measure that ranks, for a gold with these facts."""

    @abstractmethod
    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        """Raises GoldError; UsageError where an option does not fit this gold."""

    @abstractmethod
    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> Known:
        """What validation may know: the public inputs and public facts. Raises InputsError."""

    @abstractmethod
    def known(self, gold: Gold) -> Known:
        """The same as `read_inputs`, from gold."""

    @abstractmethod
    def read_predictions(
        self, stream: BinaryIO, file: str, known: Known, options: Options, limits: ReadLimits | None = None
    ) -> Answers:
        """Raises PredictionError."""

    @abstractmethod
    def unanswered(self, gold: Gold) -> Answers:
        """Predictions that find nothing: what the outcomes of a gold look like before anybody answered."""

    @abstractmethod
    def score(self, gold: Gold, answers: Answers, options: Options) -> Outcomes:
        """The outcomes; the same files give the same table."""

    @abstractmethod
    def answered(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> Answered:
        """What a prediction file answered, unit by unit, to be laid beside another's. Raises PredictionError."""

    @abstractmethod
    def facts(self, gold: Gold) -> dict[str, Any]:
        """What validation without gold must know, all of it public."""

    @abstractmethod
    def public_inputs(self, gold: Gold) -> bytes:
        """JSON Lines of what the public gets: named fields only, never answers, groups or slices."""

    @abstractmethod
    def audit_columns(self, gold: Gold) -> AuditColumns:
        """The gold as audits and baselines see it."""

    def check_gold(self, split: Split) -> Iterator[Finding]:
        """What an audit finds wrong with the gold itself; `split.gold` is as `read_gold` reads it."""
        return iter(())

    @abstractmethod
    def gold_fields(self, line: Line) -> GoldFields:
        """What a line of gold that `read_gold` accepts says, for comparing corrected gold with the version before."""

    def remarks(self, scores: list[Score]) -> list[str]:
        """Warnings that a leaderboard row carries."""
        return []


AnyTask = Task[Any, Any, Any]
