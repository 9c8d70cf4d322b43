"""Fields of the records of a JSON Lines file, with their types, found in its first lines."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import msgspec

from leaderboard.core.storage import first_bytes
from leaderboard.datasets.queries.public_files import PublicFile

SAMPLE_BYTES = 2_000_000
"""How much of a file is read, and at most decompressed. A field that first occurs later is not found."""
_TYPES = {bool: "boolean", int: "integer", float: "float", str: "text"}
_SIMPLE_KEY = re.compile(r"(?!where\Z)[A-Za-z_][A-Za-z0-9_]*\Z")
"""A key that needs no quotes in JSONPath. The reader of mlcroissant reserves `where`."""


@dataclass(frozen=True)
class RecordField:
    """A field of each record of a file, or of an object in each record.

    path: the keys that lead from the record to the value; of a field in `parts`, from the object to the value. type: of
    the value, or of each value in a list: boolean, integer, float or text; empty for a field with `parts`. is_list:
    True if the value is a list. parts: the fields of a value that is an object, or of each object in the list.
    """

    path: tuple[str, ...]
    type: str = ""
    is_list: bool = False
    parts: tuple[RecordField, ...] = ()


def fields_of(file: PublicFile) -> tuple[RecordField, ...]:
    """Return the fields of a public JSON Lines file, in the order of their first occurrence; none for any other file.

    Fields that Croissant 1.0 cannot describe are left out: lists of objects within objects, and keys whose values are
    objects on some lines and not on others.
    """
    if not file.filename.endswith((".jsonl", ".jsonl.gz")):
        return ()
    return _fields(_ByDigest(file.sha256, file))


@dataclass(frozen=True)
class _ByDigest:
    """Cache key of a file: wrappers of files with the same digest are equal, so that results are cached by content."""

    sha256: str
    file: PublicFile = field(compare=False)


@lru_cache(maxsize=1024)
def _fields(by_digest: _ByDigest) -> tuple[RecordField, ...]:
    return fields_in(_sampled_lines(by_digest.file))


def fields_in(records: Iterable[Any]) -> tuple[RecordField, ...]:
    """Return the fields that occur in `records`, decoded JSON objects, in the order of their first occurrence."""
    root = _Seen()
    for record in records:
        root.add(record)
    return tuple(filter(None, (_field((key,), seen) for key, seen in root.parts.items())))


def _sampled_lines(file: PublicFile) -> Iterator[Any]:
    """Yield the complete lines in the first SAMPLE_BYTES of a JSON Lines file, decoded; stop at one that is not JSON.

    For a compressed file, SAMPLE_BYTES is also the limit after decompression. A file that only has the name of a
    compressed one yields nothing.
    """
    sample = first_bytes(file.stored, SAMPLE_BYTES)
    is_whole = len(sample) == file.bytes
    if file.filename.endswith(".gz"):
        unpacked = zlib.decompressobj(wbits=31)
        try:
            sample = unpacked.decompress(sample, SAMPLE_BYTES)
        except zlib.error:
            return
        is_whole = is_whole and unpacked.eof
    lines = sample.split(b"\n")
    for line in lines if is_whole else lines[:-1]:
        if line.strip():
            try:
                yield msgspec.json.decode(line)
            except (msgspec.DecodeError, RecursionError):
                return


@dataclass
class _Seen:
    """Types of the values that one key has in the records.

    types: of the values that are no objects or lists, and of the items of lists. is_list, is_object: True if any value
    is a list or an object. parts: by key, the same for the keys of the objects.
    """

    types: set[str] = field(default_factory=set)
    is_list: bool = False
    is_object: bool = False
    parts: dict[str, _Seen] = field(default_factory=dict)

    def add(self, value: Any) -> None:
        if isinstance(value, dict):
            self.is_object = True
            for key, part in value.items():
                if key not in self.parts:
                    self.parts[key] = _Seen()
                self.parts[key].add(part)
        elif isinstance(value, list):
            self.is_list = True
            for item in value:
                self.add(item)
        elif value is not None:
            self.types.add(_TYPES[type(value)])


def _field(path: tuple[str, ...], seen: _Seen) -> RecordField | None:
    if not seen.is_object:
        return RecordField(path, _type(seen.types), seen.is_list)
    parts = tuple(_parts((), seen))
    return RecordField(path, is_list=seen.is_list, parts=parts) if parts and not seen.types else None


def _parts(path: tuple[str, ...], seen: _Seen) -> Iterator[RecordField]:
    """Yield the fields of an object as a flat sequence: an inner object is replaced by its fields.

    Objects in lists are left out. path: the keys that lead to the object; the paths of the fields begin with them.
    seen: the types of the object's values.
    """
    for key, part in seen.parts.items():
        if '"' in key or "\\" in key:  # JSONPath has no notation for these that all readers understand
            continue
        if not part.is_object:
            yield RecordField((*path, key), _type(part.types), part.is_list)
        elif not part.is_list and not part.types:
            yield from _parts((*path, key), part)


def _type(types: set[str]) -> str:
    if types == {"integer", "float"}:
        return "float"
    return next(iter(types)) if len(types) == 1 else "text"


def json_path(path: tuple[str, ...]) -> str:
    """Return the JSONPath of a value in an object. path: the keys that lead from the object to the value."""
    return ".".join(("$", *(key if _SIMPLE_KEY.match(key) else f'"{key}"' for key in path)))
