"""Readers for published knowledge-graph files: triples (CoDEx, DBpedia extracts), types, embeddings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec
import numpy as np

from evaluator.curation.graph.graph import Triple
from evaluator.errors import GoldError, ProblemList, shown
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.jsonl.other_formats import HEAD, refuse_binary
from evaluator.jsonl.strict_json import LineError, Schema, not_utf8, unknown_keys
from evaluator.outcomes.table import Numbers
from evaluator.text import count_noun

LIMITS = ReadLimits(file_bytes=16 << 30, lines=1 << 40)
"""Limits for a curator's own files, which may be large and are trusted."""

Types = dict[str, frozenset[str]]
_COLUMNS = "subject, predicate and object, tab-separated"


def read_triples(stream: BinaryIO, file: str, limits: ReadLimits = LIMITS) -> tuple[list[Triple], list[str]]:
    """Return (triples, warnings) of a tab-separated file. file: the file's name, for messages.

    Duplicate triples are dropped with a warning. Raises GoldError for lines that are not triples.
    """
    problems = ProblemList(file, GoldError)
    triples: dict[Triple, None] = {}
    n_lines = 0
    names: dict[str, str] = {}  # interned: one string object per name
    for number, columns in rows(stream, problems, limits):
        n_lines += 1
        if len(columns) != 3:
            problems.add(number, "not a triple", f"{len(columns)} column{'s' * (len(columns) != 1)}", _COLUMNS)
        elif "" in columns:
            empty = ("subject", "predicate", "object")[columns.index("")]
            problems.add(number, f"the {empty} is empty", "an empty column", _COLUMNS)
        else:
            triples[Triple(*(names.setdefault(name, name) for name in columns))] = None
    problems.raise_if_any()
    extra = n_lines - len(triples)
    return list(triples), [f"{Path(file).name}: {extra} duplicate triples were ignored"] if extra else []


def read_types(stream: BinaryIO, file: str, limits: ReadLimits = LIMITS) -> Types:
    """Return each entity's types.

    A file whose name ends in .json (or .json.gz) is read as an object {entity: [type, ...]}, as in CoDEx; any other
    file as tab-separated lines of an entity and a type. Raises GoldError for an invalid file.
    """
    problems = ProblemList(file, GoldError)
    if file.removesuffix(".gz").endswith(".json"):
        return _types_of_object(b"".join(chunks(stream, limits, problems)), problems, limits)
    types: dict[str, set[str]] = {}
    for number, columns in rows(stream, problems, limits):
        if len(columns) != 2 or "" in columns:
            problems.add(number, "not an entity and a type", f"{len(columns)} columns", "two names, tab-separated")
        else:
            types.setdefault(columns[0], set()).add(columns[1])
    problems.raise_if_any()
    return {entity: frozenset(names) for entity, names in types.items()}


def read_embeddings(
    stream: BinaryIO, file: str, entities: dict[str, int], limits: ReadLimits = LIMITS
) -> tuple[Numbers, list[str]]:
    """Return (vectors, warnings): one vector per entity, as a row of shape (dimensions,); NaN where the file has none.

    Lines are an entity and its numbers, separated by tabs; all lines have the same number of numbers. entities: name of
    an entity -> its row; other entities of the file are ignored with a warning. Raises GoldError for an invalid line,
    or for an entity that occurs twice.
    """
    problems = ProblemList(file, GoldError)
    vectors: Numbers | None = None
    seen: dict[str, int] = {}
    n_unknown = 0
    for number, (entity, *numbers) in rows(stream, problems, limits):
        try:
            values = np.array(numbers, dtype=np.float64)
        except ValueError:
            values = np.array([np.nan])
        if not len(numbers) or not np.isfinite(values).all():
            problems.add(
                number, "not a vector", shown("\t".join(numbers)), "an entity and finite numbers, tab-separated"
            )
            continue
        if vectors is None:
            vectors = np.full((len(entities), len(values)), np.nan)
        if len(values) != vectors.shape[1]:
            problems.add(
                number,
                "the vector's length differs from that of the first vector",
                count_noun(len(values), "number"),
                count_noun(vectors.shape[1], "number"),
            )
        elif entity in seen:
            problems.add(
                number, "duplicate entity", f"{shown(entity)} (first on line {seen[entity]})", "each entity once"
            )
        elif entity in entities:
            vectors[entities[entity]] = values
        else:
            n_unknown += 1
        seen.setdefault(entity, number)
    problems.raise_if_any()
    warnings = [f"{Path(file).name}: {n_unknown} entities are not in the graph, ignored"] if n_unknown else []
    return vectors if vectors is not None else np.full((len(entities), 1), np.nan), warnings


def rows(stream: BinaryIO, problems: ProblemList, limits: ReadLimits = LIMITS) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, columns) of each valid line of a tab-separated file; other lines are added to `problems`.

    Files are UTF-8 without a byte order mark, lines end in LF or CRLF, and blank lines are problems. Raises the error
    class of `problems` for a file that is empty or over the limits.
    """
    number, rest = 0, b""
    for chunk in _with_end(chunks(stream, limits, problems)):
        if not number and not rest:
            refuse_binary(chunk[:HEAD], problems, "tab-separated text")
        *lines, rest = (rest + chunk).split(b"\n") if chunk else (rest, b"")
        if len(rest) > limits.line_bytes:
            problems.stop(
                number + 1,
                "the line is too long",
                f"over {limits.line_bytes} bytes",
                f"at most {limits.line_bytes} bytes",
            )
        for raw in lines:
            if not (chunk or raw):
                break
            number += 1
            line = raw[:-1] if raw.endswith(b"\r") else raw
            problem = _line_error(line, number)
            if problem is None:
                try:
                    yield number, line.decode("utf-8").split("\t")
                    continue
                except UnicodeDecodeError:
                    problem = not_utf8(line)
            problems.add(number, problem.what, problem.found, problem.expected)
    if not number:
        problems.stop(None, "the file is empty", "0 bytes", "tab-separated lines")


def _with_end(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the pieces of a file, without empty ones, then one empty piece, which marks the end of the file."""
    yield from (piece for piece in pieces if piece)
    yield b""


def _line_error(line: bytes, number: int) -> LineError | None:
    if number == 1 and line.startswith(b"\xef\xbb\xbf"):
        return LineError("the file begins with a byte order mark", "EF BB BF", "UTF-8 without a byte order mark")
    if not line.strip():
        return LineError("blank line", "no columns", "tab-separated columns")
    if b"\0" in line or b"\r" in line:
        return LineError("invalid character in a name", "NUL or CR", "text in lines that end in LF or CRLF")
    return None


def _types_of_object(data: bytes, problems: ProblemList, limits: ReadLimits) -> Types:
    if not data.strip():
        problems.stop(None, "the file is empty", "no JSON", "an object {entity: [type, ...]}")
    try:
        json.loads(data)  # reports the line number, which the strict check does not
        unknown_keys(data, Schema(frozenset(), free=True), limits.depth)  # duplicate keys, NaN, surrogates
        types_of = msgspec.json.decode(data, type=dict[str, list[str]])
    except json.JSONDecodeError as error:
        problems.stop(error.lineno, "not valid JSON", f"{error.msg} at column {error.colno}", "one JSON object")
    except LineError as line_error:
        problems.stop(None, line_error.what, line_error.found, line_error.expected)
    except (UnicodeDecodeError, msgspec.MsgspecError, RecursionError) as error:
        problems.stop(None, "not an object of types by entity", str(error), "an object {entity: [type, ...]}")
    return {entity: frozenset(names) for entity, names in types_of.items()}
