"""Serialization of outcomes: compressed, deterministic bytes, and a reader that validates everything."""

import math
import zlib
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.errors import SandboxError
from evaluator.outcomes.table import Dimension, Outcomes, RaggedColumn

_MAGIC = b"holdout outcomes 1\n"
_MAX_BYTES = 1 << 30
_LEVEL = 3  # of zlib: takes a third of the time of the default level 6, for 5 % more bytes
_TYPES = ("u1", "i4", "f8")  # a column has the narrowest type that holds it exactly; little-endian


class _Column(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    type: str
    length: int


class _Dimension(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    values: list[str | int | float | bool]
    declared: bool
    within_groups: bool


class _Header(msgspec.Struct, forbid_unknown_fields=True):
    task: str
    task_version: int
    n_units: int
    group_names: list[str | int]
    statistics: list[str]
    dimensions: list[_Dimension]
    ragged: list[str]
    facts: dict[str, Any]
    columns: list[_Column]


def to_bytes(outcomes: Outcomes) -> bytes:
    """Serialize the whole table, compressed: a JSON header, then the columns it names."""
    arrays: dict[str, npt.NDArray[Any]] = {"groups": outcomes.groups}
    arrays |= {f"statistic {name}": column for name, column in outcomes.statistics.items()}
    arrays |= {f"dimension {name}": dimension.codes for name, dimension in outcomes.dimensions.items()}
    for name, lengths in outcomes.ragged.items():
        arrays |= {f"values {name}": lengths.values, f"rows {name}": lengths.rows}
    packed = {name: _narrow(array) for name, array in arrays.items()}
    header = _Header(
        outcomes.task,
        outcomes.task_version,
        outcomes.n_units,
        list(outcomes.group_names),
        list(outcomes.statistics),
        [
            _Dimension(name, list(dimension.values), dimension.declared, dimension.within_groups)
            for name, dimension in outcomes.dimensions.items()
        ],
        list(outcomes.ragged),
        dict(outcomes.facts),
        [_Column(name, array.dtype.str[1:], len(array)) for name, array in packed.items()],
    )
    text = msgspec.json.encode(header)
    body = b"".join([len(text).to_bytes(8, "little"), text, *(array.tobytes() for array in packed.values())])
    return _MAGIC + zlib.compress(body, _LEVEL)


def from_bytes(data: bytes) -> Outcomes:
    """Deserialize a table. Raises SandboxError where the bytes are not a complete and consistent table."""
    body = _unpack(data)
    size = int.from_bytes(body[:8], "little")
    try:
        header = msgspec.json.decode(body[8 : 8 + size], type=_Header)
    except msgspec.MsgspecError as error:
        raise SandboxError(f"outcomes: the header cannot be read: {error}") from None
    arrays = _columns(header, body[8 + size :])
    try:
        return Outcomes(
            task=header.task,
            task_version=header.task_version,
            n_units=header.n_units,
            group_names=tuple(header.group_names),
            groups=arrays["groups"].astype(np.int32),
            statistics={name: arrays[f"statistic {name}"].astype(np.float64) for name in header.statistics},
            dimensions={
                dimension.name: Dimension(
                    arrays[f"dimension {dimension.name}"].astype(np.int32),
                    tuple(dimension.values),
                    dimension.declared,
                    dimension.within_groups,
                )
                for dimension in header.dimensions
            },
            ragged={
                name: RaggedColumn(arrays[f"values {name}"].astype(np.float64), arrays[f"rows {name}"].astype(np.int64))
                for name in header.ragged
            },
            facts=header.facts,
        )
    except KeyError as error:
        raise SandboxError(f"outcomes: column {error} is missing") from None


def _narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    for kind in _TYPES[:-1]:
        limits = np.iinfo(kind)
        if not len(array) or (array.min() >= limits.min and array.max() <= limits.max):
            narrow = array.astype(f"<{kind}")
            if np.array_equal(narrow, array) and not _has_negative_zero(array):
                return narrow
    return array.astype("<f8")


def _has_negative_zero(array: npt.NDArray[Any]) -> bool:
    return array.dtype.kind == "f" and bool(np.any(np.signbit(array) & (array == 0)))


def _unpack(data: bytes) -> bytes:
    if not data.startswith(_MAGIC):
        raise SandboxError(f"outcomes: the data does not begin with {_MAGIC!r}")
    unpacker = zlib.decompressobj()
    try:
        body = unpacker.decompress(data[len(_MAGIC) :], _MAX_BYTES)
    except zlib.error:
        raise SandboxError("outcomes: the compressed data is damaged") from None
    if len(body) == _MAX_BYTES:
        raise SandboxError(f"outcomes: the data has {_MAX_BYTES} bytes or more, expected fewer")
    if not unpacker.eof:
        raise SandboxError("outcomes: the compressed data is truncated")
    if unpacker.unused_data:
        raise SandboxError("outcomes: other data follows the compressed data")
    return body


def _columns(header: _Header, body: bytes) -> dict[str, npt.NDArray[Any]]:
    arrays = {}
    offset = 0
    for column in header.columns:
        if column.type not in _TYPES:
            raise SandboxError(f"outcomes: column {column.name} has an unknown type")
        if column.length < 0:
            raise SandboxError(f"outcomes: column {column.name} has a negative length")
        if column.name in arrays:
            raise SandboxError(f"outcomes: column {column.name} occurs twice")
        kind = np.dtype(f"<{column.type}")
        end = offset + column.length * kind.itemsize
        if end > len(body):
            raise SandboxError(f"outcomes: the data ends before the end of column {column.name}")
        arrays[column.name] = np.frombuffer(body[offset:end], dtype=kind)
        offset = end
    if offset != len(body):
        raise SandboxError("outcomes: there is data after the last column")
    if any(isinstance(v, float) and not math.isfinite(v) for d in header.dimensions for v in d.values):
        raise SandboxError("outcomes: a slice value is NaN or infinite")
    return arrays
