"""Changes to a phase's tracks, and checks of the track that a submission declares (docs/adr/0020)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import tracks
from leaderboard.core import row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, Leaderboard, Phase, System, User


def check_known(*, phase: Phase, track: str) -> None:
    """Raise Refused INVALID_TRACK unless the phase has this track, or has no tracks and `track` is empty."""
    known = [item.name for item in tracks.of(phase)]
    if track in known or not (track or known):
        return
    if not known:
        raise Refused(Code.INVALID_TRACK, f'The track is "{track}", but this phase has no tracks; omit it.')
    problem = f'The track is "{track}"' if track else "No track is declared"
    raise Refused(Code.INVALID_TRACK, f"{problem}; expected one of {', '.join(known)}.")


def check(*, phase: Phase, system: System, track: str) -> None:
    """Check the track that a new submission of a system declares.

    Raises Refused INVALID_TRACK as `check_known` does, and OTHER_TRACK if earlier submissions of the system to this
    phase declare another track. The caller locks the split (`lock_split`), so that nothing changes between check and
    insert.
    """
    check_known(phase=phase, track=track)
    if system.pk is None or not track:  # in a phase without tracks, no submission declares one (`change`)
        return
    declared = declared_by(phase=phase, system=system)
    if declared is not None and declared != track:
        raise Refused(
            Code.OTHER_TRACK,
            f'{system.name} competes in the track "{declared}" of this phase; expected that track, '
            f'or a system with another name for "{track}".',
        )


def declared_by(*, phase: Phase, system: System) -> str | None:
    """Return the track that the system's submissions to the phase declare, or None if it has no submissions there."""
    return phase.submissions.filter(system=system).order_by().values_list("track", flat=True).first()


def validated(new_tracks: Sequence[Mapping[str, object]]) -> tracks.Stored:
    """Validate and normalise a phase's tracks for storage; raise Refused INVALID_TRACK if they are not valid.

    new_tracks: dicts {"name", "title", "description"}; title and description are optional.
    """
    try:
        return tracks.validated(new_tracks)
    except ValueError as error:
        raise Refused(Code.INVALID_TRACK, f"The tracks are not valid: {error}.") from error


@transaction.atomic
def change(*, phase: Phase, new_tracks: Sequence[Mapping[str, object]], by: User) -> Phase:
    """Replace a phase's tracks, and return the phase.

    new_tracks: dicts as for `validated`. Once the phase has submissions, tracks can be added, retitled and reordered,
    but not removed or renamed, and a phase without tracks can no longer get any. Raises Refused: NOT_AN_ORGANISER;
    INVALID_TRACK if a track is not valid or the change is not possible any more.
    """
    check_manages(phase.benchmark, by)
    # Submissions lock the split (`lock_split` in leaderboard/scoring/actions/runs.py), and read the tracks.
    row_locks.lock_split(phase.split_id)
    locked = row_locks.lock_phase(phase.pk)
    stored = validated(new_tracks)
    before, after = [track["name"] for track in locked.tracks], [track["name"] for track in stored]
    if locked.submissions.exists():
        if after and not before:
            raise Refused(
                Code.INVALID_TRACK,
                "This phase has submissions without a track; tracks can only be set before the first submission.",
            )
        if gone := [name for name in before if name not in after]:
            raise Refused(
                Code.INVALID_TRACK,
                f"The track {gone[0]} is missing, but this phase has submissions; "
                f"expected all existing names: {', '.join(before)}.",
            )
    phase.tracks = stored
    phase.save(update_fields=["tracks"])
    boards.revise(Leaderboard.objects.filter(phase=phase))
    AuditEntry.record("phase.tracks_changed", phase, by=by, before=before, after=after)
    return phase
