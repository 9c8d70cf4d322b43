"""Parser of the gold and the public inputs of link-prediction."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec

from evaluator.errors import GoldError, InputsError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, IdRegister, format_ids
from evaluator.jsonl.reader import Reader
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.link_prediction.layout import GOLD, INPUTS, QUERY_MARKER, Triple, side
from evaluator.tasks.spelling import Trait, traits_of

Mentions = tuple[str, ...]


@dataclass(frozen=True)
class ValidationData:
    """The data that predictions are checked against.

    index_of: id -> index of the question. usual: traits of the questions' mentions. mentions: for each question (its
    answers, mentions of other known answers); None if there is no gold.
    """

    index_of: Mapping[Id, int]
    usual: frozenset[Trait] = frozenset()
    mentions: Sequence[tuple[Mentions, Mentions]] | None = None


@dataclass
class Gold:
    """Parsed gold. The lists have one entry per question, in the order of the file.

    ids: id -> index of the question. sides: the missing part, `head` or `tail`. mentions: (the answers, mentions of
    other known answers).
    """

    ids: Mapping[Id, int]
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    questions: list[Triple] = field(default_factory=list)
    sides: list[str] = field(default_factory=list)
    mentions: list[tuple[Mentions, Mentions]] = field(default_factory=list)
    groups: list[Id] = field(default_factory=list)
    slices: list[dict[str, SliceValue] | None] = field(default_factory=list)

    def validation_data(self) -> ValidationData:
        return ValidationData(self.ids, _usual(self.questions), self.mentions)


def read_gold(stream: BinaryIO, file: str, limits: ReadLimits | None) -> Gold:
    """Parse gold. Raises GoldError for invalid gold.

    file: the file's name in messages. limits: limits on its size; None: the default ones. A question without answers
    gives a warning, since no system can answer it.
    """
    reader = Reader(file, GOLD, GoldError, limits)
    register = IdRegister(reader.problems)
    gold = Gold(register.indices)
    unanswerable: list[Id] = []
    texts: dict[str, str] = {}  # one copy of each mention
    for block in reader.blocks(stream):
        added = block.records is not None and register.add_all(block.records)
        for number, line in block.lines():
            unknown_side = side(line.question)
            if unknown_side is None:
                expected = '["...", "...", "?"] or ["?", "...", "..."]'
                reader.problems.add(
                    number, 'question does not have "?" as one of subject and object', "another triple", expected
                )
            if not (added or register.add(line.id, number)) or unknown_side is None:
                continue
            if not line.answers:
                unanswerable.append(line.id)
            gold.questions.append(line.question)
            gold.sides.append(unknown_side)
            gold.mentions.append((_shared(line.answers, texts), _shared(line.filtered, texts)))
            gold.groups.append(line.id if line.group is msgspec.UNSET else line.group)
            gold.slices.append(None if line.slices is msgspec.UNSET else line.slices)
    reader.problems.raise_if_any()
    gold.n_lines = reader.n_lines
    gold.warnings = reader.warnings
    if unanswerable:
        gold.warnings.append(
            f"{file}: questions without answers, which no system can answer: {format_ids(unanswerable)}"
        )
    return gold


def _shared(mentions: list[str], texts: dict[str, str]) -> Mentions:
    return tuple([texts.setdefault(mention, mention) for mention in mentions])


def read_inputs(stream: BinaryIO, file: str, limits: ReadLimits | None) -> ValidationData:
    """Parse public inputs. Raises InputsError for invalid inputs.

    file: the file's name in messages. limits: limits on its size; None: the default ones.
    """
    reader = Reader(file, INPUTS, InputsError, limits)
    register = IdRegister(reader.problems)
    questions = [line.question for line in register.added(reader.blocks(stream))]
    reader.problems.raise_if_any()
    return ValidationData(register.indices, _usual(questions))


def _usual(questions: Iterable[Triple]) -> frozenset[Trait]:
    """Return the traits of the mentions in questions."""
    return traits_of(mention for first, _, last in questions for mention in (first, last) if mention != QUERY_MARKER)
