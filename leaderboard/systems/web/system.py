"""Page of a system: description, ranks on boards, revealed scores of its submissions, and links for its own team."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.accounts.queries import orcid
from leaderboard.boards.disclosure.policies import lets_choose
from leaderboard.boards.queries import ShownScore, facts
from leaderboard.boards.queries.system_history import (
    BoardEntry,
    RevealedRun,
    entries_of,
    named_standings,
    primary_score,
    records,
    revealed_on,
)
from leaderboard.core.names import anonymous
from leaderboard.evaluation.scorer_of_phase import of_board
from leaderboard.models import Submission, System
from leaderboard.models.submission import systems_visible_to
from leaderboard.plots.specs import progress as progress_plots
from leaderboard.submissions.queries import progress
from leaderboard.submissions.queries.progress import Progress
from leaderboard.submissions.web.score_sheet import sheet

MOST_OWN = 50
"""Maximum number of submissions that the page lists for the system's own team; `my_submissions` lists all."""


@dataclass(frozen=True)
class OwnRun:
    """One submission of the viewer's own team.

    progress: of the submission. score: its revealed overall score on the primary measure; None if it has none.
    represents: True if it represents the system on the board; can_represent: True if the team may choose it to do so.
    """

    progress: Progress
    score: ShownScore | None
    represents: bool
    can_represent: bool


@require_safe
@conditional_page
def system(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a system; `?board=KEY` selects one of its boards by primary key, by default the first.

    404 if the system is on no board that the viewer may see, unless the viewer is a member of its team.
    """
    is_named = Exists(named_standings().filter(system=OuterRef("pk")))
    target: Any = get_object_or_404(System.objects.select_related("team").annotate(is_named=is_named), pk=pk)
    is_own = request.user.is_authenticated and target.team.members.filter(pk=request.user.pk).exists()
    entries = entries_of(target, request.user)
    if not entries and not (is_own and systems_visible_to(request.user).filter(pk=pk).exists()):
        raise Http404("no such system")
    entry = next((row for row in entries if str(row.board.pk) == request.GET.get("board")), next(iter(entries), None))
    manages = entry is not None and entry.phase.benchmark.is_managed_by(request.user)
    benchmarks = {row.phase.benchmark for row in entries} if anonymous.is_anonymous(target) else set()
    knows = is_own or any(benchmark.is_managed_by(request.user) for benchmark in benchmarks)
    context: dict[str, Any] = {
        "system": target,
        "shown": anonymous.shown(target, knows=knows),
        "entries": entries,
        "is_in_several": len({row.phase.benchmark_id for row in entries}) > 1,
        "entry": entry,
        "team_is_public": target.is_named,
        "verified_members": orcid.verified_members(target.team) if target.is_named else [],
        "is_own": is_own,
        "manages": manages,
        "own": _own(target, entry, request.user) if is_own else [],
    }
    if entry is not None:
        context |= _on(entry, sees_all=is_own or manages)
    return render(request, "systems/system.html", context)


def _on(entry: BoardEntry, *, sees_all: bool) -> dict[str, Any]:
    """Return the template context for the board of `entry`: the system's revealed scores, plot and runs on it.

    sees_all: True if the viewer is in the system's team or manages the benchmark, and so sees all runs.
    """
    scored = of_board(entry.board)
    stated = entry.standing.system.facts
    measure = scored.measure(entry.release.primary)
    releases = revealed_on(entry.board, [entry.standing.system_id])
    runs = runs_shown(
        releases, standing=entry.release.submission_id, up=measure.higher_is_better is not False, sees_all=sees_all
    )
    return {
        "phase": entry.phase,
        "board_url": entry.url,
        "benchmark": entry.phase.benchmark,
        "sheet": sheet(entry.release),
        "facts": [(fact.title, facts.shown(fact.value(stated))) for fact in facts.of(entry.phase.benchmark)],
        "plot": progress_plots.runs(
            [run for run, _, _ in runs], [run for run, is_best, _ in runs if is_best], measure.title
        ),
        "runs": runs,
        "n_unseen": len(releases) - len(runs),
        "chosen": entry.phase.representatives.filter(system=entry.standing.system_id).first(),
        "lets_choose": lets_choose(entry.phase),
    }


def runs_shown(
    runs: Sequence[RevealedRun], *, standing: object, up: bool, sees_all: bool
) -> list[tuple[RevealedRun, bool, bool]]:
    """Return (run, was the best when it was submitted, represents the system) for each run of a system to show.

    runs: all revealed runs of the system on a board, in the order of submission, which the result keeps. standing: id
    of the submission that represents the system. up: True if higher values are better. sees_all: False returns only
    runs that were the best when they were submitted, and the one that represents the system.
    """
    best = records(runs, higher_is_better=up)
    return [
        (run, run in best, run.submission_id == standing)
        for run in runs
        if sees_all or run in best or run.submission_id == standing
    ]


def _own(target: System, entry: BoardEntry | None, viewer: Any) -> list[OwnRun]:
    """Return the latest submissions of the system `target`, at most MOST_OWN, for a viewer in its team.

    entry: on the board to whose phase the submissions were made; None: to all phases.
    """
    submissions = Submission.objects.visible_to(viewer).filter(system=target)
    if entry is not None:
        submissions = submissions.filter(phase=entry.phase)
    followed = progress.with_related(submissions).order_by("-received_at", "-pk")[:MOST_OWN]
    standing = entry.release.submission_id if entry else None
    return [
        OwnRun(
            row,
            primary_score(row.release) if row.release else None,
            row.submission.pk == standing,
            row.value is not None and not row.hidden and row.submission.pk != standing,
        )
        for row in map(progress.of, followed)
    ]
