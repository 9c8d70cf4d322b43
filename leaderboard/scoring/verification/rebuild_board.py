"""A board made again from what is stored: runs with their scores, the order of their releases, and the rules.

What was shown must follow from it byte for byte; `manage.py check_boards` compares.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from leaderboard.boards.disclosure import ladder
from leaderboard.boards.disclosure.policies import Scores, reveal, reveal_warnings
from leaderboard.boards.queries import as_of, board_state
from leaderboard.boards.queries.representative import Told, ranked, represented
from leaderboard.models import HiddenSubmission, Leaderboard, Phase, Release, System
from leaderboard.scoring.actions import releases

Document = dict[str, Any]
"""{"releases": what was revealed, in sequence; "standings": each system's row}."""


def as_bytes(document: Document) -> bytes:
    """Canonical JSON: the same bytes for the same board, on every database."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def as_stored(board: Leaderboard) -> Document:
    """The board as it is shown."""
    rows = board.standings.select_related("release").order_by("system_id")
    return {
        "releases": [_line(release, release.values, release.warnings) for release in _releases(board)],
        "standings": [
            {"system": row.system_id, "sequence": row.release.sequence, "value": row.value, "rank": row.rank}
            for row in rows
        ],
    }


def as_rebuilt(board: Leaderboard) -> Document:
    """The board from its runs' scores alone, released again in the sequence that was kept."""
    phase = board.phase
    told: list[tuple[Release, Scores]] = []
    for release in _releases(board):
        told.append((release, _revealed(board, phase, release, told)))
    lines = [
        _line(release, values, reveal_warnings(phase=phase, warnings=release.run.warnings)) for release, values in told
    ]
    return {"releases": lines, "standings": _standings(board, told)}


def differences(board: Leaderboard) -> list[str]:
    """Where the two are not the same; none where they are, byte for byte."""
    stored, rebuilt = as_stored(board), as_rebuilt(board)
    if as_bytes(stored) == as_bytes(rebuilt):
        return []
    found = []
    for part, named in (("releases", "sequence"), ("standings", "system")):
        here = {row[named]: row for row in stored[part]}
        there = {row[named]: row for row in rebuilt[part]}
        found += [
            f"{part} {named} {key}"
            for key in sorted(here | there)
            if as_bytes(here.get(key)) != as_bytes(there.get(key))  # type: ignore[arg-type]
        ]
    return found or ["the order"]


def _releases(board: Leaderboard) -> Sequence[Release]:
    return list(board_state.releases_of(board).select_related("run", "submission__system"))


def _line(release: Release, values: Scores, warnings: list[str]) -> Document:
    return {
        "sequence": release.sequence,
        "submission": str(release.submission_id),
        "policy": release.policy,
        "primary": release.primary,
        "values": values,
        "warnings": warnings,
    }


def _revealed(board: Leaderboard, phase: Phase, release: Release, told: Sequence[tuple[Release, Scores]]) -> Scores:
    system = release.submission.system
    measure_of = board_state.measures_of(board)
    shown = [
        value
        for earlier, values in told
        if earlier.submission.system.kind == System.Kind.PARTICIPANT
        and (phase.scope == Phase.Scope.TASK or earlier.submission.system.team_id == system.team_id)
        and (value := _primary(values, release.primary)) is not None
    ]
    best = None
    for value in shown:
        best = value if ladder.beats(value, best, measure=measure_of(release.primary)) else best
    scores = releases.stored_scores(release.run, board)
    if phase.disclosure != Phase.Disclosure.LADDER:
        scores = [{name: value for name, value in score.items() if name != "n_groups"} for score in scores]
    return reveal(
        phase=phase,
        scores=scores,
        primary=release.primary,
        measure_of=measure_of,
        best=best,
        competes=system.kind == System.Kind.PARTICIPANT,
    )


def _primary(values: Scores, primary: str) -> float | None:
    return next((one["value"] for one in values if one["measure"] == primary and not one["slice"]), None)


def _standings(board: Leaderboard, told: Sequence[tuple[Release, Scores]]) -> list[Document]:
    sign = board_state.direction(board, told[0][0].primary) if told else 1
    chosen, out = as_of.decided_now(board, {release.submission.system_id for release, _ in told})
    hidden = set(HiddenSubmission.objects.now().values_list("submission", flat=True))
    shown = [(release, values) for release, values in told if release.submission_id not in hidden]
    best = represented(
        (Told.of(release, _primary(values, release.primary)) for release, values in shown), chosen=chosen, sign=sign
    )
    ranks = ranked(best, out=out, sign=sign)
    return [
        {"system": system, "sequence": one.sequence, "value": one.value, "rank": ranks.get(system)}
        for system, one in sorted(best.items())
    ]
