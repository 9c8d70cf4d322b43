"""Open triples (Broscheit et al. 2020): subject, relation and object are texts, and one entity has many mentions.

A file has one triple per line, tab-separated: subject, relation, object, and then, optionally, two more columns: all
mentions of the subject's entity and all mentions of the object's entity, each list separated by `|||`. An empty list
means that the subject, or the object, is linked to no entity. This is the layout of OLPBENCH. Files are read in blocks,
since training data have 30 million lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from evaluator.curation.io.text_blocks import text_blocks
from evaluator.errors import GoldError, ProblemList, shown

SEPARATOR = "|||"
_WIDTHS = frozenset({3, 5})

Row = list[str]
"""Columns of a line, three or five; subject, relation and object are not blank."""

Mentions = tuple[str, ...]


class OpenTriple(NamedTuple):
    """A triple of texts.

    subjects, objects: all mentions of the subject's and of the object's entity, the triple's own first; empty if it is
    linked to no entity.
    """

    subject: str
    relation: str
    object: str
    subjects: Mentions = ()
    objects: Mentions = ()

    @property
    def linked(self) -> bool:
        """True if subject and object are linked to entities."""
        return bool(self.subjects and self.objects)


@dataclass(frozen=True, slots=True)
class Block:
    """One chunk of a file: its valid lines, in order.

    numbers: line numbers, from 1. lines: the text, unchanged, without line ends. rows: the columns of each line.
    """

    numbers: Sequence[int]
    lines: list[str]
    rows: list[Row]


class Dictionary:
    """Dictionary of mentions (texts that name an entity) and their entities; a mention may mean several entities."""

    def __init__(self, pairs: Mapping[str, Sequence[str]] | None = None) -> None:
        """Build the dictionary. pairs: {mention: the entities that it may mean}; None: the dictionary is empty."""
        self._entities = {mention: tuple(entities) for mention, entities in (pairs or {}).items() if entities}
        self._mentions: dict[str, list[str]] = {}
        for mention, entities in self._entities.items():
            for entity in entities:
                self._mentions.setdefault(entity, []).append(mention)

    def others(self, mention: str) -> Mentions:
        """Return all mentions of the entities that a mention may mean, the mention itself first; empty if it has no
        entity.
        """
        entities = self._entities.get(mention)
        if entities is None:
            return ()
        return tuple(dict.fromkeys([mention, *(other for entity in entities for other in self._mentions[entity])]))

    def links(self, row: Row) -> bool:
        """Return True if the row's subject and object are linked to entities: `triple(row).linked`, but faster."""
        return ((len(row) == 5 and _names(row[3])) or row[0] in self._entities) and (
            (len(row) == 5 and _names(row[4])) or row[2] in self._entities
        )

    def triple(self, row: Row) -> OpenTriple:
        """Return the row of a file as a triple; the row's own lists of mentions take precedence over the dictionary."""
        subjects, objects = (_listed(row[0], row[3]), _listed(row[2], row[4])) if len(row) == 5 else ((), ())
        return OpenTriple(row[0], row[1], row[2], subjects or self.others(row[0]), objects or self.others(row[2]))


def _listed(own: str, text: str) -> Mentions:
    listed = [mention for mention in map(str.strip, text.split(SEPARATOR)) if mention]
    return tuple(dict.fromkeys([own, *listed])) if listed else ()


def _names(text: str) -> bool:
    return any(map(str.strip, text.split(SEPARATOR)))


def to_line(triple: OpenTriple, *, entities: bool) -> str:
    """Return the triple as a line of five tab-separated columns. entities: False: the lists of mentions stay empty."""
    listed = (triple.subjects, triple.objects) if entities else ((), ())
    return "\t".join([*triple[:3], *map(SEPARATOR.join, listed)])


def read_blocks(stream: BinaryIO, file: str) -> Iterator[Block]:
    """Yield a file's triples in blocks; a file whose name ends in .gz is decompressed.

    Raises GoldError for a file that is empty or over its limits, and, after the last block, for invalid lines.
    """
    problems = ProblemList(file, GoldError)
    for first, lines in text_blocks(stream, problems, "one triple per line"):
        rows = [line.split("\t") for line in lines]
        is_valid = [len(row) in _WIDTHS and row[0].strip() and row[1].strip() and row[2].strip() for row in rows]
        if all(is_valid):
            yield Block(range(first, first + len(lines)), lines, rows)
            continue
        valid = [index for index, row in enumerate(rows) if _is_valid(row, first + index, problems)]
        yield Block(
            [first + index for index in valid], [lines[index] for index in valid], [rows[index] for index in valid]
        )
    problems.raise_if_any()


def read_triples(stream: BinaryIO, file: str, dictionary: Dictionary) -> list[OpenTriple]:
    """Return all triples of a file that fits in memory. dictionary: links mentions to entities where lines do not.

    Raises GoldError for an invalid file.
    """
    return [dictionary.triple(row) for block in read_blocks(stream, file) for row in block.rows]


def read_dictionary(stream: BinaryIO, file: str) -> Dictionary:
    """Read a dictionary: a mention and its entity per line, tab-separated. Raises GoldError for an invalid file.

    An empty entity means that the mention is linked to no entity.
    """
    problems = ProblemList(file, GoldError)
    entities: dict[str, dict[str, None]] = {}
    for first, lines in text_blocks(stream, problems, "one mention and its entity per line"):
        for number, line in enumerate(lines, first):
            columns = line.split("\t")
            if len(columns) != 2 or not columns[0].strip():
                problems.add(
                    number, "not a mention and an entity", _columns(columns), "two columns, with a mention in the first"
                )
                continue
            if SEPARATOR in columns[0]:
                problems.add(
                    number,
                    "the mention contains the separator of mention lists",
                    shown(columns[0]),
                    f"a mention without {SEPARATOR}",
                )
                continue
            meant = entities.setdefault(columns[0], {})
            if columns[1]:
                meant[columns[1]] = None
    problems.raise_if_any()
    return Dictionary({mention: tuple(meant) for mention, meant in entities.items()})


def _is_valid(row: Row, number: int, problems: ProblemList) -> bool:
    if len(row) not in _WIDTHS:
        expected = "subject, relation, object, and both or none of the lists of mentions, tab-separated"
        problems.add(number, "not an open triple", _columns(row), expected)
        return False
    for name, text in zip(("subject", "relation", "object"), row, strict=False):
        if not text.strip():
            problems.add(number, f"the {name} is empty", shown(text), "at least one word")
            return False
    return True


def _columns(row: Row) -> str:
    return "1 column" if len(row) == 1 else f"{len(row)} columns"
