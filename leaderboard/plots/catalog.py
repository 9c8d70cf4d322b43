"""The plots of a board by name, each with the function that makes its specification for a request."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import Http404, QueryDict

from leaderboard.boards.queries import Board, page_of, parse
from leaderboard.boards.queries.lookup import board_or_404, head_or_404
from leaderboard.plots.specs.intervals import intervals
from leaderboard.plots.vega_lite import Spec


@dataclass(frozen=True)
class PlotRequest:
    """What a reader asks for: a board, and options of the plot.

    user: sees the names of anonymous systems if permitted; None: the public. version: as `board_or_404` takes it;
    empty: the current board. params: the query parameters of the plot's page.
    """

    user: Any
    slug: str
    phase: str
    version: Mapping[str, int] = field(default_factory=dict)
    params: QueryDict = field(default_factory=QueryDict)

    def board(self, within: Collection[str] | None = ()) -> Board:
        return board_or_404(self.user, self.slug, self.phase, within=within, **self.version)


def _intervals(request: PlotRequest) -> Spec | None:
    params = {name: str(value) for name, value in request.params.items()}
    board = head_or_404(request.user, request.slug, request.phase, as_of=params.get("as_of", ""), **request.version)
    query = parse(board, params)
    return intervals(page_of(board, query, viewer=request.user).board, query.slice_)


PLOTS: dict[str, Callable[[PlotRequest], Spec | None]] = {"intervals": _intervals}


def spec_or_404(name: str, request: PlotRequest) -> Spec:
    """Return the specification of a plot.

    Raises Http404 if there is no such plot, if it has nothing to show, or if the user may not see the phase; raises
    InvalidQuery for an invalid parameter.
    """
    if name not in PLOTS:
        raise Http404(f"no plot {name!r}, expected one of {', '.join(PLOTS)}")
    spec = PLOTS[name](request)
    if spec is None:
        raise Http404(f"the plot {name!r} has nothing to show on this board")
    return spec
