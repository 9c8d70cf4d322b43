"""Base class of tasks with one answer per item, found by its id.

It reads and validates the files, writes the public inputs, and makes outcomes and audit columns. A task declares the
formats of the lines, what it keeps of predictions (`ItemAnswers`), its statistics and its measures.
"""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, ClassVar, Generic, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.errors import InputsError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, IdRegister, group_codes, order_key, slice_columns
from evaluator.jsonl.reader import Format, Reader
from evaluator.outcomes.table import Dimension, Outcomes, SliceValue
from evaluator.tasks.answers import ComparableAnswers
from evaluator.tasks.base import Facts, Options, Task
from evaluator.tasks.gold_fields import GoldFields, Line, present
from evaluator.tasks.item_results import Indices
from evaluator.tasks.items.files import ItemAnswers, ItemGold, KnownItems, read_gold

Gold = TypeVar("Gold", bound=ItemGold)
Answers = TypeVar("Answers", bound=ItemAnswers)
Column = Sequence[SliceValue | None]


@dataclass(frozen=True)
class ItemStatistics:
    """The columns of a task's outcomes, each with one entry per row.

    columns: name of a statistic -> its numbers. dimensions: dimension that the task derives -> each row's value, or the
    dimension made of codes; where a gold line has a value of this name in `slices`, that value counts. items: the index
    of each row's item; None: one row per item, in gold order. n_units: the number of gold units; None: of items. facts:
    `Outcomes.facts`.
    """

    columns: Mapping[str, npt.NDArray[Any]]
    dimensions: Mapping[str, Column | Dimension] = field(default_factory=dict)
    items: Indices | None = None
    n_units: int | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)


class ItemTask(Task[Gold, KnownItems, Answers], Generic[Gold, Answers]):
    """A task with one answer per item, found by its id.

    gold_layout, inputs_layout, predictions_layout: the formats of lines (`files.format_of`). The fields of inputs are
    fields of gold too.
    gold_type, answers_type: the classes of parsed gold and of parsed predictions.
    compared_type: the class of what `comparable` gets of predictions.
    complete: True if predictions must answer every id; False if a missing answer counts as an empty one.
    shown: the field of inputs that hints compare with predictions; empty: none.
    """

    gold_layout: ClassVar[Format[Any]]
    inputs_layout: ClassVar[Format[Any]]
    predictions_layout: ClassVar[Format[Any]]
    gold_type: ClassVar[type[ItemGold]] = ItemGold
    answers_type: ClassVar[type[ItemAnswers]]
    compared_type: ClassVar[type[ItemAnswers] | None] = None
    complete: ClassVar[bool] = True
    shown: ClassVar[str] = ""

    @abstractmethod
    def statistics(self, gold: Gold, answers: Answers, options: Options) -> ItemStatistics:
        """Compare predictions with gold, item by item. Equal files and options always give equal columns."""

    @abstractmethod
    def comparable(self, gold: Gold, answers: Any) -> ComparableAnswers:
        """Return answers so that they can be compared with another file's. answers: a `compared_type`."""

    @abstractmethod
    def sample(self, line: Line, facts: Facts) -> Line:
        """Return the fields of a valid, but uninformed, answer to a line of the inputs, besides its id."""

    def read_gold(self, stream: BinaryIO, file: str, options: Options, limits: ReadLimits | None = None) -> Gold:
        return read_gold(self.gold_type, stream, file, self.gold_layout, limits)  # type: ignore[return-value]

    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> KnownItems:
        reader = Reader(file, self.inputs_layout, InputsError, limits)
        register = IdRegister(reader.problems)
        lines = register.added(reader.blocks(stream))
        shown = [getattr(line, self.shown) for line in lines if self.shown]
        reader.problems.raise_if_any()
        return KnownItems(register.indices, facts, shown)

    def validation_data(self, gold: Gold) -> KnownItems:
        shown = [getattr(line, self.shown) for line in self.inputs(gold)] if self.shown else ()
        return KnownItems(gold.ids, self.facts(gold), shown, gold)

    def read_predictions(
        self, stream: BinaryIO, file: str, known: KnownItems, options: Options, limits: ReadLimits | None = None
    ) -> Answers:
        answers = self.answers_type(file, known)
        return answers.read(stream, self.predictions_layout, limits, complete=self.complete)  # type: ignore[return-value]

    def empty_answers(self, gold: Gold) -> Answers:
        return self.answers_type("", self.validation_data(gold))  # type: ignore[return-value]

    def comparable_answers(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> ComparableAnswers:
        answers = (self.compared_type or self.answers_type)(file, self.validation_data(gold))
        return self.comparable(gold, answers.read(stream, self.predictions_layout, None, complete=self.complete))

    def score(self, gold: Gold, answers: Answers, options: Options) -> Outcomes:
        table = self.statistics(gold, answers, options)
        names, groups = group_codes(gold.groups)
        declared: dict[str, Column] = dict(slice_columns(gold.slices))
        if table.items is not None:
            groups, items = groups[table.items], table.items.tolist()
            declared = {name: [column[item] for item in items] for name, column in declared.items()}
        dimensions = {}
        for name, own in table.dimensions.items():
            column, given = own, declared.pop(name, None)
            if isinstance(column, Dimension):
                if given is None:
                    dimensions[name] = column
                    continue
                values = (*column.values, None)
                column = [values[code] for code in column.codes.tolist()]
            if given is not None:
                column = [value if own is None else own for value, own in zip(column, given, strict=True)]
            dimensions[name] = Dimension.build(list(column), groups, declared=given is not None)
        dimensions |= {name: Dimension.build(list(own), groups, declared=True) for name, own in declared.items()}
        return Outcomes(
            task=self.name,
            task_version=self.version,
            n_units=len(gold.groups) if table.n_units is None else table.n_units,
            group_names=names,
            groups=groups,
            statistics={name: np.asarray(column, dtype=np.float64) for name, column in table.columns.items()},
            dimensions=dimensions,
            facts=table.facts,
        )

    def sample_answer(self, line: Line, facts: Facts) -> Line:
        return {"id": line["id"], **self.sample(line, facts)}

    def inputs(self, gold: Gold) -> Iterable[Any]:
        """Return the lines of the public inputs, in gold order, with only the fields that inputs have."""
        return gold.inputs(self.inputs_layout.record)

    def order_key(self, value: Id) -> bytes:
        """Return the key of an id by which public inputs are sorted, since the order of gold may reveal answers."""
        return order_key(value)

    def public_inputs(self, gold: Gold) -> bytes:
        lines = sorted(self.inputs(gold), key=lambda line: self.order_key(line.id))
        return msgspec.json.Encoder().encode_lines(lines)

    def gold_fields(self, line: Line) -> GoldFields:
        question = [name for name in self.inputs_layout.record.__struct_fields__ if name != self.id_key]
        answer = [name for name in self.gold_layout.record.__struct_fields__ if name in self.gold_only]
        return GoldFields(present(line, *question), present(line, *answer))
