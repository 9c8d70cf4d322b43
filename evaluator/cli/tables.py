"""Scores and comparisons as text tables, for people at a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.errors import printable
from evaluator.outcomes.table import slice_text
from evaluator.statistics import confidence

Row = Mapping[str, Any]


def score_table(scores: Sequence[Row]) -> str:
    """scores: as `score --json` has them."""
    rows: list[tuple[str, ...]] = [("measure", "slice", "value", _interval_heading(), "n")]
    for score in scores:
        rows.append((score["measure"], _place(score), _number(score["value"]), _interval(score), str(score["n"])))
    return _aligned(rows)


def comparison_table(comparisons: Sequence[Row]) -> str:
    """comparisons: as `compare --json` has them."""
    rows: list[tuple[str, ...]] = [
        ("measure", "slice", "a", "b", "a - b", _interval_heading(), "p", "McNemar", "n", "groups")
    ]
    for row in comparisons:
        numbers = [_number(row[name]) for name in ("a", "b", "difference")]
        chances = [_chance(row[name]) for name in ("p", "p_mcnemar")]
        counts = [str(row[name]) for name in ("n", "n_groups")]
        rows.append((row["measure"], _place(row), *numbers, _interval(row), *chances, *counts))
    return _aligned(rows)


def _interval_heading() -> str:
    return f"{confidence.percent().replace(' ', '')} interval"


def benchmark_table(benchmarks: Sequence[Row]) -> str:
    """benchmarks: as the API lists them."""
    rows: list[tuple[str, ...]] = [("benchmark", "task", "title")]
    rows += [(row["slug"], row["task"], printable(row["title"])) for row in benchmarks]
    return _aligned(rows)


def team_table(teams: Sequence[Row]) -> str:
    """teams: your own, as the API lists them."""
    rows: list[tuple[str, ...]] = [("team", "you are", "members", "systems")]
    for row in teams:
        members = ", ".join(printable(member["username"]) for member in row["members"])
        systems = ", ".join(map(printable, row["systems"]))
        rows.append((printable(row["name"]), "owner" if row["is_owner"] else "member", members, systems or "-"))
    return _aligned(rows)


def board_table(board: Row) -> str:
    """board: as the API tells a leaderboard. A column a measure and slice, in the order of the answer."""
    keys = list(dict.fromkeys((s["measure"], _place(s)) for row in board["rows"] for s in row["scores"]))
    heads = (measure if place == "all" else f"{measure} {place}" for measure, place in keys)
    # A server that knows no tracks tells none.
    tracked = [printable(row.get("track", "")) for row in board["rows"]]
    rows: list[tuple[str, ...]] = [("rank", "system", "team", *(["track"] * any(tracked)), *heads)]
    for row, track in zip(board["rows"], tracked, strict=True):
        told = {(score["measure"], _place(score)): score for score in row["scores"]}
        cells = (_value(told[key]) if key in told else "-" for key in keys)
        rows.append((_rank(row), printable(row["system"]), printable(row["team"]), *([track] * any(tracked)), *cells))
    return _aligned(rows)


def _rank(row: Row) -> str:
    if row["rank"] is None:
        return "-"
    place = f"{row['rank']}{'=' if row['tied'] else ''}"
    return place if row["rank_low"] is None else f"{place} ({row['rank_low']}-{row['rank_high']})"


def _value(score: Row) -> str:
    ends = "" if score["low"] is None else f" [{score['low']:.4f}, {score['high']:.4f}]"
    return _number(score["value"]) + ends


def _place(row: Row) -> str:
    names = [f"{printable(name)}={printable(slice_text(value))}" for name, value in row["slice"].items()]
    return ", ".join(names) or "all"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _interval(row: Row) -> str:
    return "-" if row["low"] is None else f"{row['low']:.4f} to {row['high']:.4f}"


def _chance(p: float | None) -> str:
    return f"{p:.1e}" if p is not None and 0 < p < 0.0001 else _number(p)


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
