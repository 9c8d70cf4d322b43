"""OLPBENCH's files (Broscheit et al. 2020): one open triple per line, with other mentions of its subject and object.

The columns are separated by tabs: subject, relation, object, mentions of the subject's entity, mentions of the object's
entity. The mentions within one of the last two columns are separated by `|||`; both columns may be missing, and a
column is empty if the entity is unknown. A training file has 30 million lines, so it is read once, and only its answers
to questions of the evaluation files are stored.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from leaderboard.hosting.importers.published import PublishedFileError, text

BETWEEN = "|||"
WIDTHS = (3, 5)

Prefix = tuple[str, str, str]
"""A question: (subject, relation, object) with "?" for the missing subject or object."""


@dataclass(frozen=True)
class OpenTriple:
    """An open triple: subject, relation and object as text, not as ids of entities.

    subjects: all known mentions (names) of the entity that `subject` names, `subject` first; objects: the same for
    `object`. line: line number in the triple's file, from 1.
    """

    subject: str
    relation: str
    object: str
    subjects: tuple[str, ...]
    objects: tuple[str, ...]
    line: int

    @property
    def tail(self) -> Prefix:
        return self.subject, self.relation, "?"

    @property
    def head(self) -> Prefix:
        return "?", self.relation, self.object


@dataclass
class Known:
    """The known answers (mentions) to each question that was registered with `ask`, in the order of first occurrence.

    answers: question -> its answers, as the keys of a map.
    """

    answers: dict[Prefix, dict[str, None]] = field(default_factory=dict)

    def ask(self, prefix: Prefix) -> None:
        self.answers.setdefault(prefix, {})

    def learn(self, triple: OpenTriple) -> None:
        for prefix, mentions in ((triple.tail, triple.objects), (triple.head, triple.subjects)):
            known = self.answers.get(prefix)
            if known is not None:
                known.update(dict.fromkeys(mentions))

    def learn_from(self, path: Path) -> int:
        """Add the answers in a file of triples; return the number of triples in the file.

        Memory does not grow with the file. Raises PublishedFileError, with the location, for an invalid line.
        """
        tails = {f"{subject}\t{relation}".encode() for subject, relation, object_ in self.answers if object_ == "?"}
        heads = {f"{relation}\t{object_}".encode() for subject, relation, object_ in self.answers if subject == "?"}
        count = 0
        for number, line, fields in _lines(path):
            count += 1
            if fields[0] + b"\t" + fields[1] in tails or fields[1] + b"\t" + fields[2] in heads:
                self.learn(_triple(path, number, line))
        return count


def triples(path: Path) -> Iterator[OpenTriple]:
    """Yield every triple of a file. Raises PublishedFileError, with the location, for an invalid line."""
    for number, line, _ in _lines(path):
        yield _triple(path, number, line)


def _lines(path: Path) -> Iterator[tuple[int, bytes, list[bytes]]]:
    """Yield (line number, line, columns) of each line of a file, plain or gzip.

    Line and columns stay bytes, because decoding 30 million lines would be slow. Raises PublishedFileError, with the
    location, for a wrong number of columns, an empty column or a damaged gzip file.
    """
    number = 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                fields = line.rstrip(b"\r\n").split(b"\t")
                if len(fields) not in WIDTHS:
                    raise PublishedFileError(
                        f"{path.name}:{number}: found {len(fields)} columns, expected 3 (subject, relation, object) "
                        "or 5 (also the subject's mentions and the object's mentions)"
                    )
                for column, field in zip(("subject", "relation", "object"), fields, strict=False):
                    if not field:
                        raise PublishedFileError(f"{path.name}:{number}: the {column} is empty, expected a text")
                yield number, line, fields
    except (gzip.BadGzipFile, EOFError) as error:
        raise PublishedFileError(f"{path.name}:{number + 1}: {error}, expected a whole gzip file") from error


def _triple(path: Path, number: int, line: bytes) -> OpenTriple:
    fields = text(path, number, line).split("\t")
    subject, relation, object_ = fields[:3]
    others = fields[3:] or ["", ""]
    return OpenTriple(subject, relation, object_, _mentions(subject, others[0]), _mentions(object_, others[1]), number)


def _mentions(own: str, others: str) -> tuple[str, ...]:
    listed = (mention.strip() for mention in others.split(BETWEEN))
    return tuple(dict.fromkeys([own, *(mention for mention in listed if mention)]))
