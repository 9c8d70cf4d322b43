"""Strict reader for UTF-8 JSON Lines: one typed record per line, and every problem with its line number.

The same rules apply to predictions, gold and inputs (`docs/evaluator.md` lists them). msgspec decodes a block of lines.
If the block has as many `":` as the records have keys, no line has a duplicate or unknown key. The slow
`strict_json.py` parses only lines of other blocks.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO, Generic, TypeVar, cast

import msgspec
import numpy as np

from evaluator.errors import FileError, ProblemList, shown
from evaluator.jsonl.decode_errors import describe
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.other_formats import HEAD, refuse_other_formats
from evaluator.jsonl.separated_values import JSON_SUFFIX
from evaluator.jsonl.strict_json import LineError, Schema, may_hold_long_digits, not_utf8, unknown_keys
from evaluator.jsonl.tables import FIRST_ROW, first_line, line_chunks

Record = TypeVar("Record", bound=msgspec.Struct)
_Plain = str | int | float | bool | None | msgspec.UnsetType

MAX_UNKNOWN_KEYS = 64
_MAX_NAMED_KEYS = 20
_MAX_TRACKED_KEYS = 10_000
_BLOCK = 1 << 17  # the objects of a block fit into a processor's second cache
_LIKE_A_SLICE = re.compile(r"slices?[:._ -](.+)", re.IGNORECASE)
_SUSPICIOUS_ESCAPE = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_UTF_8_BOM = b"\xef\xbb\xbf"
_BEFORE_COLON = np.isin(np.arange(256), list(b'" \t\r'))


@dataclass(frozen=True)
class Format(Generic[Record]):
    """The layout of a file's lines.

    record: the type that a line is decoded into. shape: the keys that the format names. count_keys: returns how many
    JSON keys the line of a record should have; a line with more keys has unknown or repeated ones.
    """

    record: type[Record]
    shape: Schema
    count_keys: Callable[[Record], int]


@dataclass(frozen=True)
class Block(Generic[Record]):
    """Lines that follow each other.

    first: the number of the first line. records: one for each line; None if a line is invalid, or may be. lines: yields
    (line number, record) of each valid line; invalid lines are reported meanwhile.
    """

    first: int
    records: Sequence[Record] | None
    lines: Callable[[], Iterator[tuple[int, Record]]]


class Reader(Generic[Record]):
    """Reader of one file. Iterate `records` or `blocks` to its end, then use `problems`, `warnings`, `n_lines` and
    `n_unread`.

    n_lines: the number of lines. n_unread: the number of lines that gave no record. The lines of a table are its rows,
    numbered as in a spreadsheet, where the header is row 1 (`tables.py`).

    file: the file's name, for messages. layout: the layout of its lines. error: the exception type for a file that
    cannot be used. limits: None: the default limits.
    """

    def __init__(
        self, file: str, layout: Format[Record], error: type[FileError], limits: ReadLimits | None = None
    ) -> None:
        self.problems = ProblemList(file, error)
        self.limits = limits or ReadLimits()
        self.n_lines = 0
        self.n_unread = 0
        self._first = first_line(self.problems)
        self._layout = layout
        self._decode = msgspec.json.Decoder(layout.record).decode
        self._unknown: dict[str, list[int]] = {}  # key: [first line, number of lines]
        self._wide: tuple[frozenset[str], _Widened[Record]] | None = None

    def records(self, stream: BinaryIO) -> Iterator[tuple[int, Record]]:
        """Yield (line number, record) of each valid line; invalid lines are reported in `problems`.

        Raises the reader's `error` type if the file is empty, is in another format or encoding, cannot be decompressed
        or exceeds the limits.
        """
        for block in self.blocks(stream):
            yield from block.lines()

    def blocks(self, stream: BinaryIO) -> Iterator[Block[Record]]:
        """Yield the lines as blocks, for callers that check and store the records of a valid block as columns.

        Of each block, use `records`, or else iterate `lines` before the next block is read. Raises the same errors as
        `records`.
        """
        for raw, ends_file in self._blocks(stream):
            block = raw.replace(b"\r\n", b"\n") if b"\r" in raw else raw
            lines = block.split(b"\n")
            if not lines[-1]:
                lines.pop()
            first = self.n_lines + self._first
            if self.n_lines + len(lines) > self.limits.lines:
                self.problems.stop(
                    None, "too many lines", f"over {self.limits.lines} lines", f"at most {self.limits.lines} lines"
                )
            self.n_lines += len(lines)
            yield self._read_block(block, lines, first, ends_file)

    @property
    def warnings(self) -> list[str]:
        """Sentences about a table's cells, and about the keys that the format does not name and that were ignored.

        There is one sentence for each of the first _MAX_NAMED_KEYS keys, and one with the number of further keys.
        """
        sentences = list(self.problems.notes)
        at, unit = ("in", "row") if self._is_table else ("on", "line")
        for key, (first, count) in list(self._unknown.items())[:_MAX_NAMED_KEYS]:
            where = f"{at} {unit} {first}"
            if count > 1:
                where = f"{at} {count} {unit}s, first {where}"
            sentence = f"{self.problems.file}: key {shown(key)} is not part of the format, ignored {where}"
            sentences.append(sentence + self._offer_of_key(key))
        if len(self._unknown) > _MAX_NAMED_KEYS:
            more = len(self._unknown) - _MAX_NAMED_KEYS
            sentences.append(f"{self.problems.file}: {more} more unknown keys were ignored")
        return sentences

    @property
    def _is_table(self) -> bool:
        return self._first == FIRST_ROW

    def _offer_of_column(self, error: LineError) -> str:
        """Return the end of what is expected if a column of a table has texts instead of another type."""
        key = error.what.removesuffix(" has the wrong type")
        is_text = error.found == "a string" and key != error.what and key in self._layout.shape.names
        return f", in a column {shown(key + JSON_SUFFIX)}" if self._is_table and is_text else ""

    def _offer_of_key(self, key: str) -> str:
        """Return the end of a sentence about an unknown key that is named like a slice, such as `slice:source`, or that
        differs from a key of the format in case or white space alone.
        """
        alike = next((name for name in self._layout.shape.names if name.lower() == key.strip().lower()), None)
        if alike is not None:
            return f"; the format has {shown(alike)}"
        match = _LIKE_A_SLICE.fullmatch(key)
        if not match or "slices" not in self._layout.shape.names:
            return ""
        column = "in the column slices:json" if self._is_table else "under the key slices"
        return f"; slices are an object {column}: {{{shown(match[1])}: ...}}"

    def _blocks(self, stream: BinaryIO) -> Iterator[tuple[bytes, bool]]:
        """Yield (block of whole lines, True if it ends the file); only the file's last line may lack a newline.

        Raises the reader's `error` type if the file cannot be read.
        """
        parts: list[bytes] = []
        n_bytes = 0
        complete = b""  # a block that may be the last one
        started = False
        for raw in _pieces(line_chunks(stream, self.limits, self.problems)):
            chunk = raw if started else self._without_bom(raw)
            if not started:
                refuse_other_formats(chunk[:HEAD], self.problems)
            started = True
            parts.append(chunk)
            n_bytes += len(chunk)
            if n_bytes < _BLOCK or b"\n" not in chunk:
                if n_bytes > _BLOCK + self.limits.line_bytes and b"\n" not in parts[-1]:
                    # The buffered bytes already prove this line too long, so its middle can be dropped.
                    parts = [b"".join(parts)[: _BLOCK + self.limits.line_bytes]]
                continue
            whole, newline, rest = b"".join(parts).rpartition(b"\n")
            if complete:
                yield complete, False
            complete = whole + newline
            parts, n_bytes = [rest], len(rest)
        if not started:
            self.problems.stop(None, "the file is empty", "0 bytes", "one JSON object per line")
        last = b"".join(parts)
        if complete:
            yield complete, not last
        if last:
            yield last, True

    def _without_bom(self, chunk: bytes) -> bytes:
        if chunk.startswith(_UTF_8_BOM):
            self.problems.add(
                1, "the file begins with a byte order mark", "EF BB BF", "UTF-8 without a byte order mark"
            )
            return chunk[len(_UTF_8_BOM) :]
        return chunk

    def _read_block(self, block: bytes, lines: Sequence[bytes], first: int, ends_file: bool) -> Block[Record]:
        if not self.problems.reported.isdisjoint(range(first, first + len(lines))):
            return Block(first, None, lambda: self._read_lines(lines, None, first, 0))
        records: Sequence[Record] | None = self._decode_all(block, lines)
        if records is not None and _most_keys_of_block(block) == sum(map(self._layout.count_keys, records)):
            return Block(first, records, lambda: enumerate(records, first))
        wide = self._decode_wide(block, lines, first) if records is not None else None
        if wide is not None:
            return Block(first, wide, lambda: enumerate(wide, first))
        last = first + len(lines) - 1 if ends_file and not block.endswith(b"\n") else 0
        return Block(first, None, lambda: self._read_lines(lines, records, first, last))

    def _read_lines(
        self, lines: Sequence[bytes], records: Sequence[Record] | None, first: int, last: int
    ) -> Iterator[tuple[int, Record]]:
        for index, line in enumerate(lines):
            number = first + index
            if number in self.problems.reported:
                self.n_unread += 1
                continue
            try:
                record = records[index] if records is not None else self._examine(line, number == last)
                if _most_keys(line) != self._layout.count_keys(record):
                    self._note_unknown_keys(line, number)
            except LineError as error:
                self.n_unread += 1
                self.problems.add(number, error.what, error.found, error.expected + self._offer_of_column(error))
            else:
                yield number, record

    def _decode_all(self, block: bytes, lines: Sequence[bytes]) -> list[Record] | None:
        """Return the records of a block; None if its lines must be examined one by one. Keys are not checked yet.

        lines: the lines of the block, without ends.
        """
        if b"\r" in block or b"\0" in block or (b"\\" in block and _SUSPICIOUS_ESCAPE.search(block)):
            return None
        if max(map(len, lines), default=0) > self.limits.line_bytes or may_hold_long_digits(block):
            return None
        decode = self._decode
        try:
            if not block.isascii():
                block.decode("utf-8")
            return [decode(line) for line in lines]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def _decode_wide(self, block: bytes, lines: Sequence[bytes], first: int) -> Sequence[Record] | None:
        """Return the records of a block and note its unknown keys; None if its lines must be examined one by one.

        This works only if all unknown keys of the block occur on its first line, and all their values are scalars.
        first: the number of the first line.
        """
        try:
            keys = frozenset(self._unknown_keys(lines[0]))
            if not keys:
                return None
            if self._wide is None or self._wide[0] != keys:
                self._wide = keys, _Widened(self._layout.record, keys)
            widened = self._wide[1]
            records = [widened.decode(line) for line in lines]
        except (LineError, ValueError, msgspec.MsgspecError, RecursionError):
            return None
        counts_by_key = widened.positions(records)
        ignored = sum(count for _, count in counts_by_key.values())
        if _most_keys_of_block(block) != sum(map(self._layout.count_keys, records)) + ignored:
            return None
        for key, (index, count) in counts_by_key.items():
            self._note(key, first + index, count)
        return records

    def _examine(self, line: bytes, is_last: bool) -> Record:
        """Return one line's record.

        Raises LineError for the first rule that the line breaks. is_last: True for the last line of a file that does
        not end in a newline: it may have been cut off, and the error then says so.
        """
        _check_bytes(line, self.limits)
        try:
            record = self._decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as failure:
            if self.problems.full:
                raise describe(failure) from None  # only counted: slower checks would change no reported text
            try:
                unknown = self._unknown_keys(line)
            except LineError as error:
                if is_last and error.is_syntax and not error.found.startswith("Extra data"):
                    raise LineError("the last line is incomplete", error.found, "one JSON object") from None
                raise
            raise describe(failure, line, unknown) from None
        if _SUSPICIOUS_ESCAPE.search(line) or may_hold_long_digits(line):
            self._unknown_keys(line)
        return record

    def _unknown_keys(self, line: bytes) -> set[str]:
        unknown = unknown_keys(line, self._layout.shape, self.limits.depth)
        if len(unknown) > MAX_UNKNOWN_KEYS:
            raise LineError("too many unknown keys", str(len(unknown)), f"at most {MAX_UNKNOWN_KEYS} on a line")
        return unknown

    def _note_unknown_keys(self, line: bytes, number: int) -> None:
        for key in sorted(self._unknown_keys(line)):
            self._note(key, number, 1)

    def _note(self, key: str, number: int, count: int) -> None:
        seen = self._unknown.get(key)
        if seen is not None:
            seen[1] += count
        elif len(self._unknown) < _MAX_TRACKED_KEYS:
            self._unknown[key] = [number, count]


class _Widened(Generic[Record]):
    """A decoder for a record type with additional keys, whose values are ignored.

    Files with unknown keys mostly have the same keys on every line, with scalar values. A record type with these keys
    as fields lets the reader count them at full speed instead of examining each line. Decoding fails on a line in which
    an additional key has an object or a list as its value.
    """

    def __init__(self, record: type[Record], keys: Collection[str]) -> None:
        """Build the decoder: for the record type `record`, with each of `keys` as an optional field.

        Raises ValueError for a key that cannot be a field's name, such as one that contains a quote.
        """
        fields = {f"ignored_{index}": key for index, key in enumerate(sorted(keys))}
        wide = msgspec.defstruct(
            f"Wide{record.__name__}",
            [(name, _Plain, msgspec.UNSET) for name in fields],
            bases=(record,),
            rename=fields,
            kw_only=True,
            gc=False,
        )
        self.decode = msgspec.json.Decoder(cast(type[Record], wide)).decode
        self._fields = fields

    def positions(self, records: Sequence[Record]) -> dict[str, list[int]]:
        """Return additional key -> [index of the first record that has it, number of records that have it].

        records: as decoded. A key that no record has is left out.
        """
        result = {}
        for name, key in self._fields.items():
            indices = [index for index, record in enumerate(records) if getattr(record, name) is not msgspec.UNSET]
            if indices:
                result[key] = [indices[0], len(indices)]
        return result


def _pieces(chunks: Iterator[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        yield from (chunk[begin : begin + _BLOCK] for begin in range(0, len(chunk), _BLOCK))


def _most_keys(text: bytes) -> int:
    """Return an upper bound on the number of JSON keys in the text.

    It counts each closing quote that is followed by a colon, with or without white space between them. Strings that
    contain such characters only raise the count.
    """
    return text.count(b'":') + text.count(b" :") + text.count(b"\t:") + text.count(b"\r:")


def _most_keys_of_block(block: bytes) -> int:
    """Return an upper bound on the number of JSON keys in a block of lines: the same one as `_most_keys`.

    It is computed faster, from the byte before each colon.
    """
    text = np.frombuffer(block, dtype=np.uint8)
    before = text[np.flatnonzero(text == 0x3A) - 1]
    return int(np.count_nonzero(_BEFORE_COLON[before]))


def _check_bytes(line: bytes, limits: ReadLimits) -> None:
    if len(line) > limits.line_bytes:
        raise LineError("the line is too long", f"over {limits.line_bytes} bytes", f"at most {limits.line_bytes} bytes")
    if not line.strip(b" \t\r"):
        raise LineError("blank line", "no JSON", "one JSON object per line")
    if b"\r" in line:
        raise LineError("a carriage return alone", "CR without LF", "lines that end in LF or CRLF")
    if b"\0" in line:
        raise LineError("NUL byte", f"at byte {line.index(0) + 1} of the line", "text without NUL")
    if not line.isascii():
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            raise not_utf8(line) from None
