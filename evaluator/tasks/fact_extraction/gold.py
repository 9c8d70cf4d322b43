"""Parser of the gold and the public inputs of fact-extraction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from evaluator.errors import GoldError, InputsError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.fact_extraction.layout import GOLD, INPUTS, Fact, InputText

Facts = frozenset[Fact]


@dataclass(frozen=True)
class GoldFacts:
    """The gold facts. texts: the facts of each text, in the order of the file. relations: relation -> its number."""

    texts: Sequence[Facts]
    relations: Mapping[str, int]


@dataclass(frozen=True)
class ValidationData:
    """The data that predictions are checked against: the index of each id and, where gold is available, its facts.

    subjects: the subject of each text, as in the public inputs; None: the line has none.
    """

    index_of: Mapping[Id, int]
    subjects: Sequence[str | None]
    gold: GoldFacts | None = None


@dataclass
class Gold:
    """Parsed gold. The lists have one entry per text, in the order of the file.

    ids: id -> index of the text. relations: relation -> its number, in alphabetical order.
    """

    ids: Mapping[Id, int]
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    facts: list[Facts] = field(default_factory=list)
    relations: dict[str, int] = field(default_factory=dict)
    inputs: list[InputText] = field(default_factory=list)
    groups: list[Id] = field(default_factory=list)
    slices: list[dict[str, SliceValue] | None] = field(default_factory=list)

    def validation_data(self) -> ValidationData:
        return ValidationData(self.ids, _subjects(self.inputs), GoldFacts(self.facts, self.relations))


def read_gold(stream: BinaryIO, file: str, limits: ReadLimits | None) -> Gold:
    """Parse gold. Raises GoldError for invalid gold.

    file: the file's name in messages. limits: limits on its size; None: the default ones.
    """
    reader = Reader(file, GOLD, GoldError, limits)
    register = IdRegister(reader.problems)
    gold = Gold(register.indices)
    texts: dict[str, str] = {}  # one copy of each text
    for line in register.added(reader.blocks(stream)):
        gold.facts.append(_shared(line.facts, texts))
        gold.inputs.append(InputText(line.id, line.text, line.subject))
        gold.groups.append(line.id if line.group is msgspec.UNSET else line.group)
        gold.slices.append(None if line.slices is msgspec.UNSET else line.slices)
    reader.problems.raise_if_any()
    gold.n_lines = reader.n_lines
    gold.warnings = reader.warnings
    relations = {relation for facts in gold.facts for _, relation, _ in facts}
    gold.relations = {relation: code for code, relation in enumerate(sorted(relations))}
    return gold


def _shared(facts: list[Fact], texts: dict[str, str]) -> Facts:
    intern = texts.setdefault
    return frozenset([(intern(s, s), intern(r, r), intern(o, o)) for s, r, o in facts])


def read_inputs(stream: BinaryIO, file: str, limits: ReadLimits | None) -> ValidationData:
    """Parse public inputs. Raises InputsError for invalid inputs.

    file: the file's name in messages. limits: limits on its size; None: the default ones.
    """
    reader = Reader(file, INPUTS, InputsError, limits)
    register = IdRegister(reader.problems)
    subjects = _subjects(register.added(reader.blocks(stream)))
    reader.problems.raise_if_any()
    return ValidationData(register.indices, subjects)


def _subjects(lines: Iterable[InputText]) -> list[str | None]:
    return [None if line.subject is msgspec.UNSET else line.subject for line in lines]
