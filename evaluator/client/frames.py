"""Conversion between the API's JSON and pandas DataFrames."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evaluator.errors import UsageError
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

    A DataFrame's missing values are left out. Raises UsageError for values that JSON does not have.
    """
    is_frame = hasattr(predictions, "to_dict") and hasattr(predictions, "columns")
    rows = predictions.to_dict("records") if is_frame else predictions
    lines = []
    for index, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise UsageError(f"prediction {index} (counted from 0) is a {type(row).__name__}, expected a dict")
        content = {str(key): value for key, value in row.items() if not (is_frame and _is_missing(value))}
        try:
            lines.append(json.dumps(content, ensure_ascii=False, allow_nan=False, default=_plain))
        except (TypeError, ValueError) as error:
            raise UsageError(f"prediction {index} (counted from 0) cannot be written as JSON: {error}") from None
    return "".join(f"{line}\n" for line in lines).encode()


def _is_missing(value: Any) -> bool:
    return bool(pandas().api.types.is_scalar(value) and pandas().isna(value))


def _plain(value: Any) -> Any:
    """Return a NumPy number or array as a Python number or list, which JSON has.

    Raises TypeError for any other type.
    """
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"a value is a {type(value).__name__}")
