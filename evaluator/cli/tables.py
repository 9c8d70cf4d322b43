"""Scores, comparisons and leaderboards as text tables for a terminal."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.errors import printable
from evaluator.statistics import confidence
from evaluator.text import slice_text

Row = Mapping[str, Any]


def score_table(scores: Sequence[Row]) -> str:
    """Render scores as a table. scores: in the form of `score --json`."""
    rows: list[tuple[str, ...]] = [("measure", "slice", "value", _interval_heading(), "n")]
    for score in scores:
        value = _bounds(score) if _is_bounded(score) else _number(score["value"])
        rows.append((score["measure"], _slice_name(score), value, _interval(score), str(score["n"])))
    return _aligned(rows)


def comparison_table(comparisons: Sequence[Row]) -> str:
    """Render comparisons as a table. comparisons: in the form of `compare --json`."""
    rows: list[tuple[str, ...]] = [
        ("measure", "slice", "a", "b", "a - b", _interval_heading(), "p", "McNemar", "n", "groups")
    ]
    for row in comparisons:
        numbers = [_number(row[name]) for name in ("a", "b", "difference")]
        chances = [_p_value(row[name]) for name in ("p", "p_mcnemar")]
        counts = [str(row[name]) for name in ("n", "n_groups")]
        rows.append((row["measure"], _slice_name(row), *numbers, _interval(row), *chances, *counts))
    return _aligned(rows)


def _interval_heading() -> str:
    return f"{confidence.percent().replace(' ', '')} interval"


def benchmark_table(benchmarks: Sequence[Row]) -> str:
    """Render benchmarks as a table. benchmarks: in the form of the API."""
    rows: list[tuple[str, ...]] = [("benchmark", "task", "title")]
    rows += [(row["slug"], row["task"], printable(row["title"])) for row in benchmarks]
    return _aligned(rows)


def team_table(teams: Sequence[Row]) -> str:
    """Render the user's teams as a table. teams: in the form of the API."""
    rows: list[tuple[str, ...]] = [("team", "you are", "members", "systems")]
    for row in teams:
        members = ", ".join(printable(member["username"]) for member in row["members"])
        systems = ", ".join(map(printable, row["systems"]))
        rows.append((printable(row["name"]), "owner" if row["is_owner"] else "member", members, systems or "-"))
    return _aligned(rows)


def submission_table(submissions: Sequence[Row]) -> str:
    """Render the user's submissions as a table. submissions: in the form of the API; missing values are `-`."""
    rows: list[tuple[str, ...]] = [("received (UTC)", "benchmark", "phase", "system", "state", "score", "rank", "id")]
    for row in submissions:
        score = f"{_number(row['value'])} {row['primary']}" if row.get("value") is not None else "-"
        place = (row["received_at"][:16].replace("T", " "), row["benchmark"], row["phase"], printable(row["system"]))
        rows.append((*place, row["state"], score, str(row.get("rank") or "-"), row["id"]))
    return _aligned(rows)


def board_table(board: Row) -> str:
    """Render a leaderboard as a table: one column per measure and slice, in the order of the response.

    board: in the form of the API.
    """
    keys = list(dict.fromkeys((s["measure"], _slice_name(s)) for row in board["rows"] for s in row["scores"]))
    heads = (measure if slice_name == "all" else f"{measure} {slice_name}" for measure, slice_name in keys)
    # A server without tracks omits the key.
    tracks = [printable(row.get("track", "")) for row in board["rows"]]
    rows: list[tuple[str, ...]] = [("rank", "system", "team", *(["track"] * any(tracks)), *heads)]
    for row, track in zip(board["rows"], tracks, strict=True):
        scores = {(score["measure"], _slice_name(score)): score for score in row["scores"]}
        values = (_value(scores[key]) if key in scores else "-" for key in keys)
        rows.append((_rank(row), printable(row["system"]), printable(row["team"]), *([track] * any(tracks)), *values))
    return _aligned(rows)


def top_table(board: Row, width: int = 80) -> str:
    """Render the rows of a leaderboard with one score each, every line cut to `width` characters.

    board: in the form of the API. The score is that of the primary measure on the whole gold if the board has it,
    otherwise that of the first column of scores.
    """
    keys = list(dict.fromkeys((s["measure"], _slice_name(s)) for row in board["rows"] for s in row["scores"]))
    key = (board["primary"], "all") if (board["primary"], "all") in keys else (keys or [("score", "all")])[0]
    heading = key[0] if key[1] == "all" else f"{key[0]} {key[1]}"
    rows: list[tuple[str, ...]] = [("rank", _cut(heading, 24), "system", "team")]
    for row in board["rows"]:
        values = [_value(score) for score in row["scores"] if (score["measure"], _slice_name(score)) == key]
        rows.append((_rank(row), values[0] if values else "-", printable(row["system"]), printable(row["team"])))
    left = width - sum(max(len(row[column]) for row in rows) + 2 for column in (0, 1)) - 2
    team = min(max(len(row[3]) for row in rows), left // 3)
    return _aligned([(*row[:2], _cut(row[2], left - team), _cut(row[3], team)) for row in rows])


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _rank(row: Row) -> str:
    if row["rank"] is None:
        return "-"
    rank, low, high = f"{row['rank']}{'=' if row['tied'] else ''}", row["rank_low"], row["rank_high"]
    return rank if low in (None, high) else f"{rank} ({low}-{high})"


def _value(score: Row) -> str:
    if _is_bounded(score):
        return _bounds(score)
    ends = "" if score["low"] is None else f" [{score['low']:.4f}, {score['high']:.4f}]"
    return _number(score["value"]) + ends


def _is_bounded(score: Row) -> bool:
    """Return True if the disclosure policy Ladder rounded the score, which then has a bound of the true score."""
    return score.get("at_least") is not None or score.get("at_most") is not None


def _bounds(score: Row) -> str:
    """Return the range of the true score, if the Ladder rounded the score, as text such as `0.8100 to 0.8200`.

    The lower end is rounded down and the upper end up, to four decimals. If there is only one bound, the text is such
    as `>= 0.8100`.
    """
    low, high = score["at_least"], score["at_most"]
    least = None if low is None else math.floor(round(low * 10_000, 6)) / 10_000
    most = None if high is None else math.ceil(round(high * 10_000, 6)) / 10_000
    if least is None or most is None:
        return f"<= {_number(most)}" if least is None else f">= {_number(least)}"
    return f"{_number(least)} to {_number(most)}"


def _slice_name(row: Row) -> str:
    names = [f"{printable(name)}={printable(slice_text(value))}" for name, value in row["slice"].items()]
    return ", ".join(names) or "all"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _interval(row: Row) -> str:
    return "-" if row["low"] is None else f"{row['low']:.4f} to {row['high']:.4f}"


def _p_value(p: float | None) -> str:
    return f"{p:.1e}" if p is not None and 0 < p < 0.0001 else _number(p)


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
