"""The ways to look at a phase's board."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from leaderboard.boards.queries import Board, Ranges
from leaderboard.boards.web.plot_links import drawings, is_symmetric


@dataclass(frozen=True)
class BoardLink:
    """Another view of the same board."""

    title: str
    url: str
    n_values: int | None = None


def by_track(board: Board) -> str:
    """The address of the page that ranks each track by itself."""
    where = [board.phase.benchmark.slug, board.phase.slug, *(board.frozen or ())]
    return reverse("frozen_board_by_track" if board.frozen else "board_by_track", args=where)


def other_boards(board: Board) -> list[BoardLink]:
    """The symmetric board where the gold has pairs, that of two dimensions, one for each dimension, those of tracks and
    costs, and the pictures."""
    prefix = "frozen_" if board.frozen else ""
    where = [board.phase.benchmark.slug, board.phase.slug, *(board.frozen or ())]
    links: list[BoardLink] = []
    if is_symmetric(board):
        links.append(BoardLink("Symmetric board", reverse(f"{prefix}symmetric_board", args=where)))
    links += [BoardLink(title, reverse(f"{prefix}{name}", args=where)) for title, name in drawings(board)]
    if board.crossed:
        url = reverse(f"{prefix}crossed_board", args=[*where, "/".join(board.crossed)])
        links.append(BoardLink("By " + " and ".join(board.crossed), url))
    for name, values in board.dimensions.items():
        url = reverse(f"{prefix}board_by_slice", args=[*where, name])
        links.append(BoardLink(f"By {name}", url, len(values)))
    if board.phase.tracks:
        links.append(BoardLink("By track", by_track(board), len(board.phase.tracks)))
    if board.cost_kinds:
        links.append(BoardLink("Quality and cost", reverse(f"{prefix}cost_board", args=where)))
    if board.summary.n_competing:
        links.append(BoardLink("Progress", reverse(f"{prefix}progress", args=where)))
    if board.ranges is Ranges.READY:
        links.append(BoardLink("Told apart", reverse(f"{prefix}apart", args=where)))
    if board.summary.n_rows > 1:
        links.append(BoardLink("Side by side", reverse(f"{prefix}side_by_side", args=where)))
    return links
