"""Title and description of a board's page for search engines and link previews."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.boards.queries import Board
from leaderboard.boards.web.tables.number_format import shown_value
from leaderboard.core.plain_text import one_line
from leaderboard.models import Benchmark

LEADERS = 3


@dataclass(frozen=True)
class PageDescription:
    title: str
    description: str


def describe(board: Board) -> PageDescription | None:
    """Return the description of a board: its leaders, such as "1. Pair features 0.708".

    None unless everybody may read the page. Systems that are still anonymous are left out, also where this viewer sees
    their names: a preview is passed on to others.
    """
    phase, benchmark = board.phase, board.phase.benchmark
    if benchmark.state != Benchmark.State.PUBLIC:
        return None
    ranked = sorted((row for row in board.rows if row.rank is not None), key=lambda row: (row.rank, row.received_at))
    leaders = [
        f"{row.rank}. {one_line(row.system)} {shown_value(row.score(board.primary))}"
        for row in ranked[:LEADERS]
        if row.rank is not None and row.rank <= LEADERS and row.anonymous_until is None
    ]
    title = f"{one_line(benchmark.title)}, {one_line(phase.title)}: leaderboard"
    measure = board.measure(board.primary)
    by = f"{measure.title}: {'; '.join(leaders)}. " if measure and leaders else ""
    n = board.summary.n_rows
    return PageDescription(title, f"{by}{n} system{'' if n == 1 else 's'}. {one_line(benchmark.summary)}")
