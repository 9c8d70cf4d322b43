"""Rebuilding of a board from its stored runs and scores, the sequence of its releases, and the disclosure policy.

The rebuilt board must equal the stored board byte for byte; `manage.py check_boards` compares the two.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from evaluator.disclosure.ladder import Scores
from leaderboard.boards.disclosure.policies import policy_of, reveal, reveal_warnings
from leaderboard.boards.queries import as_of, board_state
from leaderboard.boards.queries.representative import ShownRun, ranked, represented
from leaderboard.models import HiddenSubmission, Leaderboard, Phase, Release, System
from leaderboard.scoring.actions import releases

Document = dict[str, Any]
"""A board: {"releases": [the revealed scores of each release, in sequence], "standings": [one row per system]}."""


def as_bytes(document: Document) -> bytes:
    """Encode a board, or a part of one, as canonical JSON, so that equal boards have equal bytes on every database."""
    return json.dumps(document, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()


def as_stored(board: Leaderboard) -> Document:
    """Return the board's releases and standings as they are stored and shown."""
    rows = board.standings.select_related("release").order_by("system_id")
    return {
        "releases": [_line(release, release.values, release.warnings) for release in _releases(board)],
        "standings": [
            {"system": row.system_id, "sequence": row.release.sequence, "value": row.value, "rank": row.rank}
            for row in rows
        ],
    }


def as_rebuilt(board: Leaderboard) -> Document:
    """Return the board's releases and standings, rebuilt from its runs' scores.

    The disclosure policy is applied again to the scores, in the recorded sequence of releases.
    """
    phase, measure_of = board.phase, board_state.measures_of(board)
    n_earlier = releases.n_earlier_of(phase)
    lines: list[Document] = []
    revealed: list[tuple[Release, Scores]] = []
    best: dict[tuple[int | None, str], float | None] = {}
    weakest: dict[str, float | None] = {}
    n_shown: Counter[tuple[int | None, str]] = Counter()
    is_ladder, is_exact = phase.disclosure == Phase.Disclosure.LADDER, policy_of(phase).exact
    for release in _releases(board):
        system = release.submission.system
        ladder_key = releases.scope(phase, system.team_id), release.primary
        sign = board_state.direction(board, release.primary)
        competes = system.kind == System.Kind.PARTICIPANT
        scores = releases.stored_scores(release.run, board)
        values = reveal(
            phase=phase,
            scores=scores,
            primary=release.primary,
            measure_of=measure_of,
            best=releases.better(best.get(ladder_key), weakest.get(release.primary), sign=sign),
            n_earlier=n_shown[ladder_key] if is_ladder else n_earlier.get(release.run.prediction_id, 0),
            competes=competes,
        )
        revealed.append((release, values))
        of_scores = partial(releases.warnings_of, scores, board)
        warnings = reveal_warnings(phase=phase, warnings=release.run.warnings, of_scores=of_scores)
        lines.append(_line(release, values, warnings))
        value = _primary(values, release.primary)
        if value is not None and competes:
            n_shown[ladder_key] += 1
            best[ladder_key] = releases.better(best.get(ladder_key), value, sign=sign)
        elif value is not None and not is_exact:
            weakest[release.primary] = releases.better(weakest.get(release.primary), value, sign=-sign)
    return {"releases": lines, "standings": _standings(board, revealed)}


def differences(board: Leaderboard) -> list[str]:
    """Return a text for each row in which the stored and the rebuilt board differ, such as `releases sequence 3`.

    Empty if the boards are equal byte for byte; `the order of the rows` if only the order differs.
    """
    stored, rebuilt = as_stored(board), as_rebuilt(board)
    if as_bytes(stored) == as_bytes(rebuilt):
        return []
    different = []
    for part, key_name in (("releases", "sequence"), ("standings", "system")):
        stored_rows = {row[key_name]: row for row in stored[part]}
        rebuilt_rows = {row[key_name]: row for row in rebuilt[part]}
        different += [
            f"{part} {key_name} {key}"
            for key in sorted(stored_rows | rebuilt_rows)
            if as_bytes(stored_rows.get(key)) != as_bytes(rebuilt_rows.get(key))  # type: ignore[arg-type]
        ]
    return different or ["the order of the rows"]


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


def _primary(values: Scores, primary: str) -> float | None:
    return next((score["value"] for score in values if score["measure"] == primary and not score["slice"]), None)


def _standings(board: Leaderboard, revealed: Sequence[tuple[Release, Scores]]) -> list[Document]:
    sign = board_state.direction(board, revealed[0][0].primary) if revealed else 1
    chosen, out = as_of.decided_now(board, {release.submission.system_id for release, _ in revealed})
    hidden = set(HiddenSubmission.objects.now().values_list("submission", flat=True))
    shown = [(release, values) for release, values in revealed if release.submission_id not in hidden]
    best = represented(
        (ShownRun.of(release, _primary(values, release.primary)) for release, values in shown), chosen=chosen, sign=sign
    )
    ranks = ranked(best, out=out, sign=sign)
    return [
        {"system": system, "sequence": result.sequence, "value": result.value, "rank": ranks.get(system)}
        for system, result in sorted(best.items())
    ]
