"""Conversion between the API's JSON and pandas DataFrames."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluator.errors import UsageError, shown
from evaluator.text import slice_text

if TYPE_CHECKING:
    from pandas import DataFrame

BOUNDS = ("at_least", "at_most")
"""Bounds of the true score behind the rounded one of a ladder."""
_SYSTEM_FIELDS = ("rank", "rank_low", "rank_high", "system", "team", "kind", "track", "received_at", "submission")
_BOARD_ATTRIBUTES = (
    "benchmark",
    "phase",
    "gold_version",
    "task_version",
    "primary",
    "disclosure",
    "step",
    "rank_ranges",
    "as_of",
)


def pandas() -> Any:
    """Import pandas. Raises ImportError with the command that installs it."""
    try:
        import pandas
    except ModuleNotFoundError as error:
        if error.name != "pandas":
            raise
        raise ImportError("DataFrames need pandas: pip install 'holdout-eval[notebook]'", name="pandas") from None
    return pandas


def frame(rows: Sequence[Mapping[str, Any]], columns: Iterable[str] = ()) -> DataFrame:
    """Return a DataFrame with a column for each key of the rows, in the order in which the keys first occur.

    columns: names of columns that exist even if no row has them; they come first.
    """
    library = pandas()
    names = dict.fromkeys([*columns, *(name for row in rows for name in row)])
    result: DataFrame = library.DataFrame({name: _column(library, [row.get(name) for row in rows]) for name in names})
    return result


def _column(library: Any, values: list[Any]) -> Any:
    return library.Series(values, dtype=_dtype(values))


def _dtype(values: list[Any]) -> str | None:
    """Return the dtype for a column that preserves all of its values except null; None: pandas infers the dtype."""
    present = {type(value) for value in values if value is not None}
    if present == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return "Int64" if None in values else "int64"
    if present and present <= {int, float} and all(type(value) is not int or abs(value) <= 2**53 for value in values):
        return "float64"
    return None if present == {str} or (present == {bool} and None not in values) else "object"


def score_rows(scores: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return one dict per slice: `slice`, then four or six keys of each measure. scores: in the form of the API.

    The keys of the measure `accuracy` are `accuracy`, `accuracy_low`, `accuracy_high` and `accuracy_n`; if the scores
    have bounds, which the disclosure policy Ladder gives, also two keys that end in `at_least` and `at_most`.
    """
    is_ladder = any(score.get(bound) is not None for score in scores for bound in BOUNDS)
    rows: dict[str, dict[str, Any]] = {}
    for score in scores:
        name, measure = slice_name(score["slice"]), score["measure"]
        row = rows.setdefault(name, {"slice": name})
        row |= {measure: score["value"], f"{measure}_low": score["low"], f"{measure}_high": score["high"]}
        row[f"{measure}_n"] = score["n"]
        if is_ladder:
            row |= {f"{measure}_{bound}": score.get(bound) for bound in BOUNDS}
    return list(rows.values())


def slice_name(values: Mapping[str, Any]) -> str:
    """Return a slice as text: `all` for the whole gold, otherwise a text such as `property=CEO, origin=web`.

    values: dimension -> value.
    """
    return ", ".join(f"{dimension}={slice_text(value)}" for dimension, value in values.items()) or "all"


def score_frame(scores: Sequence[Mapping[str, Any]]) -> DataFrame:
    return _with_floats(frame(score_rows(scores), ["slice"]), {score["measure"] for score in scores})


def board_frame(board: Mapping[str, Any], measures: Iterable[str]) -> DataFrame:
    """Return a board with one row per system and slice. board: in the form of the API.

    measures: names of measures that have columns even if no row has a score of them.
    """
    rows = []
    for row in board["rows"]:
        system = {name: row.get(name) for name in _SYSTEM_FIELDS}
        rows += [{**system, **scores} for scores in score_rows(row["scores"]) or [{"slice": "all"}]]
    present = {score["measure"] for row in board["rows"] for score in row["scores"]}
    ordered = [measure for measure in board["measures"] if measure in present | set(measures)]
    columns = [f"{measure}{end}" for measure in ordered for end in ("", "_low", "_high", "_n")]
    result = _with_floats(frame(rows, [*_SYSTEM_FIELDS, "slice", *columns]), ordered)
    result.attrs = {name: board.get(name) for name in _BOARD_ATTRIBUTES}
    return result


def _with_floats(result: DataFrame, measures: Iterable[str]) -> DataFrame:
    """Return the table with float64 columns for the scores of the measures, in which null becomes NaN."""
    ends = ("", "_low", "_high", *(f"_{bound}" for bound in BOUNDS))
    columns = [f"{measure}{end}" for measure in measures for end in ends]
    return result.astype({column: "float64" for column in columns if column in result})


def json_lines(predictions: Any) -> bytes:
    """Return predictions, a DataFrame or an iterable of dicts, as JSON Lines.

    A DataFrame's missing values are left out. Raises UsageError, with the row and the column, for anything that JSON
    does not have or that would be read back as something else: NaN, infinity, dates, decimals, bytes, sets, keys that
    are no strings, lone surrogates.
    """
    is_frame = _is_frame(predictions)
    if is_frame:
        _check_columns(predictions)
        predictions = predictions.to_dict("records")
    elif isinstance(predictions, Mapping) or not isinstance(predictions, Iterable):
        raise UsageError(
            f"the predictions are a {type(predictions).__name__}, expected a DataFrame, a path, or a list of dicts"
        )
    lines = []
    for index, row in enumerate(predictions):
        where = f"row {index} (counted from 0)" if is_frame else f"prediction {index} (counted from 0)"
        if not isinstance(row, Mapping):
            raise UsageError(f"{where} is a {type(row).__name__}, expected a dict")
        content = {}
        for key, value in row.items():
            if is_frame and _is_missing(value):
                continue
            place = f"{where}, {'column' if is_frame else 'key'} {shown(str(key))}"
            content[_key(key, place)] = _plain(value, place)
        lines.append(json.dumps(content, ensure_ascii=False, allow_nan=False).encode() + b"\n")
    return b"".join(lines)


def _is_frame(predictions: Any) -> bool:
    library = sys.modules.get("pandas")  # a DataFrame cannot exist without it
    return library is not None and isinstance(predictions, library.DataFrame)


def _check_columns(frame: DataFrame) -> None:
    """Raise UsageError unless the columns have different names, which are strings."""
    if frame.columns.nlevels > 1:
        raise UsageError(
            f"the columns have {frame.columns.nlevels} levels of names (MultiIndex), expected one name each: "
            "set frame.columns"
        )
    if not frame.columns.is_unique:
        name = frame.columns[frame.columns.duplicated()][0]
        raise UsageError(f"two columns are named {shown(str(name))}, expected different names: keep one of them")


def _is_missing(value: Any) -> bool:
    return bool(pandas().api.types.is_scalar(value) and pandas().isna(value))


_ADVICE = {
    "float": "expected a finite number; leave the cell empty if there is no value",
    "Decimal": "expected a number: convert it with float()",
    "complex": "expected a real number",
    "bytes": "expected text: convert it with .decode()",
    "set": "expected a list: convert it with sorted()",
    "frozenset": "expected a list: convert it with sorted()",
}
_MAX_DEPTH = 16  # of nested lists and dicts, as in every format


def _plain(value: Any, place: str, depth: int = 1) -> Any:
    """Return a value in the types that JSON has, NumPy's numbers and arrays as Python's.

    place: where the value is, for the error text. Raises UsageError for a value that JSON does not have.
    """
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return _text(value, place)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise _unfit(value, place)
        return value
    if depth > _MAX_DEPTH:
        raise UsageError(f"{place} has lists and dicts nested more than {_MAX_DEPTH} deep, expected fewer")
    if isinstance(value, Mapping):
        return {_key(key, place): _plain(item, place, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, place, depth + 1) for item in value]
    kind = getattr(getattr(value, "dtype", None), "kind", "")  # of a NumPy value: its kind of number
    if isinstance(kind, str) and kind in "biufUO" and kind and hasattr(value, "tolist"):
        plain = value.tolist()
        if type(plain) is not type(value):  # a long double, say, is no number of Python
            return _plain(plain, place, depth)
    raise _unfit(value, place)


def _key(key: Any, place: str) -> str:
    if not isinstance(key, str):
        raise UsageError(f"{place}: the name {shown(str(key))} is of type {type(key).__name__}, expected a string")
    return _text(key, place)


def _text(text: str, place: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        surrogate = f"U+{ord(text[error.start]):04X}"
        raise UsageError(
            f"{place} has the lone surrogate {surrogate} at character {error.start} (counted from 0), expected text: "
            'it was decoded with errors="surrogateescape", or is half of a character'
        ) from None
    return text


def _unfit(value: Any, place: str) -> UsageError:
    kind = type(value)
    found = str(value) if isinstance(value, float) else f"of type {kind.__name__}, {shown(str(value))}"
    advice = (_ADVICE[base.__name__] for base in kind.__mro__ if base.__name__ in _ADVICE)
    other = "expected a value that JSON has: convert it to text or a number"
    return UsageError(f"{place} is {found}, {next(advice, other)}")
