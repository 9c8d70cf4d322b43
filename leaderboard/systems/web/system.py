"""A system's page: what it is, where it stands, what was told of its runs, and what its own people may do here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.boards.disclosure.policies import lets_choose
from leaderboard.boards.queries.system_history import Place, Told, places_of, records, told_on
from leaderboard.boards.web.charts.progress import Moment, ProgressChart, progress_chart
from leaderboard.core.names import anonymous
from leaderboard.evaluation.scorer_of_phase import of_board
from leaderboard.models import Submission, System
from leaderboard.models.submission import systems_known_to
from leaderboard.submissions.queries import progress
from leaderboard.submissions.queries.progress import Progress
from leaderboard.submissions.web.score_sheet import sheet

MOST_OWN = 50
"""Of its own submissions that a team is shown here; their list has all."""


@dataclass(frozen=True)
class OwnRun:
    """One submission of the team's own. can_stand: it may be chosen to represent the system."""

    progress: Progress
    stands: bool
    can_stand: bool


@require_safe
@conditional_page
def system(request: HttpRequest, pk: int) -> HttpResponse:
    """`?board=` one of those on which it stands. 404 where it stands on none that the reader may see."""
    found = get_object_or_404(System.objects.select_related("team"), pk=pk)
    is_own = request.user.is_authenticated and found.team.members.filter(pk=request.user.pk).exists()
    places = places_of(found, request.user)
    if not places and not (is_own and systems_known_to(request.user).filter(pk=pk).exists()):
        raise Http404("no such system")
    place = next((one for one in places if str(one.board.pk) == request.GET.get("board")), next(iter(places), None))
    manages = place is not None and place.phase.benchmark.is_managed_by(request.user)
    benchmarks = {one.phase.benchmark for one in places} if anonymous.is_anonymous(found) else set()
    knows = is_own or any(benchmark.is_managed_by(request.user) for benchmark in benchmarks)
    context: dict[str, Any] = {
        "system": found,
        "shown": anonymous.shown(found, knows=knows),
        "places": places,
        "place": place,
        "is_own": is_own,
        "manages": manages,
        "own": _own(found, place, request.user) if is_own else [],
    }
    if place is not None:
        context |= _on(place, sees_all=is_own or manages)
    return render(request, "systems/system.html", context)


def _on(place: Place, *, sees_all: bool) -> dict[str, Any]:
    """What was told of it on one board."""
    scored = of_board(place.board)
    measure = scored.measure(place.release.primary)
    told = told_on(place.board, [place.standing.system_id])
    runs = runs_shown(
        told, stands=place.release.submission_id, up=measure.higher_is_better is not False, sees_all=sees_all
    )
    return {
        "phase": place.phase,
        "benchmark": place.phase.benchmark,
        "sheet": sheet(place.release),
        "chart": chart_of(runs),
        "runs": runs,
        "n_unseen": len(told) - len(runs),
        "chosen": place.phase.representatives.filter(system=place.standing.system_id).first(),
        "lets_choose": lets_choose(place.phase),
    }


def runs_shown(told: Sequence[Told], *, stands: object, up: bool, sees_all: bool) -> list[tuple[Told, bool, bool]]:
    """(run, whether it was the best so far, whether it represents the system), in the order of time."""
    best = records(told, higher_is_better=up)
    return [
        (one, one in best, one.submission_id == stands)
        for one in told
        if sees_all or one in best or one.submission_id == stands
    ]


def chart_of(runs: Sequence[tuple[Told, bool, bool]]) -> ProgressChart | None:
    moments = [
        Moment(number, "", one.at, one.cell, is_best=best) for number, (one, best, _) in enumerate(runs, start=1)
    ]
    return progress_chart(moments)


def _own(found: System, place: Place | None, reader: Any) -> list[OwnRun]:
    """The team's latest submissions of it, of the phase of that board or of all."""
    sent = Submission.objects.visible_to(reader).filter(system=found)
    if place is not None:
        sent = sent.filter(phase=place.phase)
    followed = progress.followed(sent).order_by("-received_at", "-pk")[:MOST_OWN]
    stands = place.release.submission_id if place else None
    return [
        OwnRun(
            one, one.submission.pk == stands, one.value is not None and not one.hidden and one.submission.pk != stands
        )
        for one in map(progress.of, followed)
    ]
