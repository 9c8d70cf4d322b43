"""Position of a scored submission on the current board, and its distance from its team's best and from the leader."""

from __future__ import annotations

from dataclasses import dataclass

from leaderboard.boards.disclosure.policies import reveals_all
from leaderboard.boards.queries import board_state
from leaderboard.boards.queries.system_history import BoardEntry, primary_score, revealed_on
from leaderboard.evaluation.scorer_of_phase import of_board
from leaderboard.models import Release, Standing, System


@dataclass(frozen=True)
class SubmissionResult:
    """A submission's result on the current board of its phase.

    entry: its system's standing on the board. is_shown: this submission represents the system on the board.
    n_ranked: number of ranked systems. is_tied: another system has the same rank.
    gain, lead: how much better this submission is than the best earlier one of its team, and than the best other ranked
    system, in units of the primary measure; negative if it is worse; None if there is none, or if the phase rounds the
    scores that it shows, because differences of rounded scores mislead.
    rival: standing of that best other system; None if there is none.
    """

    entry: BoardEntry
    is_shown: bool
    n_ranked: int
    is_tied: bool
    gain: float | None
    lead: float | None
    rival: Standing | None

    @property
    def has_open_rank(self) -> bool:
        """True if the rank range has more than one rank."""
        rank_range = self.entry.rank_range
        return rank_range is not None and rank_range[0] != rank_range[1]


def result_of(release: Release) -> SubmissionResult | None:
    """Return the result of a submission from its release.

    None if the release has no overall primary value, belongs to a replaced board, or its system is not on the board.
    """
    phase, score = release.phase, primary_score(release)
    board = board_state.current(phase)
    if board is None or score is None or score.value is None:
        return None
    if (release.run.gold_version_id, release.run.task_version) != (board.gold_version_id, board.task_version):
        return None
    standings = board.standings.select_related("release__submission", "release__run", "system")
    standing = standings.filter(system=release.submission.system_id).first()
    if standing is None:
        return None
    standing.leaderboard = board
    ranked = board.standings.filter(rank__isnull=False)
    rival = ranked.exclude(system=standing.system_id).order_by("rank", "pk").first()
    gain = lead = None
    measure = of_board(board).measure(release.primary)
    if reveals_all(phase) and measure.higher_is_better is not None:
        sign = 1 if measure.higher_is_better else -1
        team = System.objects.filter(team=standing.system.team_id)
        earlier = [
            sign * run.score.value
            for run in revealed_on(board, team.values_list("pk", flat=True))
            if run.at < release.submission.received_at and run.score.value is not None
        ]
        gain = sign * score.value - max(earlier) if earlier else None
        lead = sign * (score.value - rival.value) if rival is not None and rival.value is not None else None
    return SubmissionResult(
        entry=BoardEntry(standing, phase, primary_score(standing.release, board)),
        is_shown=standing.release.submission_id == release.submission_id,
        n_ranked=ranked.count(),
        is_tied=standing.rank is not None and ranked.filter(rank=standing.rank).count() > 1,
        gain=gain,
        lead=lead,
        rival=rival,
    )
