"""Change a phase's tracks, and check the track that a submission declares (ADR 20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import tracks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, Leaderboard, Phase, Split, System, User


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
    """Raise Refused as `check_known` does, and OTHER_TRACK if the system has declared another track before.

    The result stays valid while the caller holds the phase's lock.
    """
    check_known(phase=phase, track=track)
    if system.pk is None:
        return
    declared = declared_by(phase=phase, system=system)
    if declared is not None and declared != track:
        raise Refused(
            Code.OTHER_TRACK,
            f'{system.name} competes in the track "{declared}" of this phase; expected that track, '
            f'or a system with another name for "{track}".',
        )


def declared_by(*, phase: Phase, system: System) -> str | None:
    """Return the track that the system's submissions to the phase declared, or None if there are none yet."""
    return phase.submissions.filter(system=system).order_by().values_list("track", flat=True).first()


def checked(new_tracks: Sequence[Mapping[str, object]]) -> tracks.Stored:
    """Call `leaderboard.boards.queries.tracks.checked`; raise Refused INVALID_TRACK where it raises ValueError."""
    try:
        return tracks.checked(new_tracks)
    except ValueError as error:
        raise Refused(Code.INVALID_TRACK, f"The tracks are not valid: {error}.") from error


@transaction.atomic
def change(*, phase: Phase, new_tracks: Sequence[Mapping[str, object]], by: User) -> Phase:
    """Set a phase's tracks. After the first submission they may only be added, retitled and reordered."""
    check_manages(phase.benchmark, by)
    # In the order of `submissions.locked_split`, which every submission locks.
    Split.objects.select_for_update().get(pk=phase.split_id)
    locked = Phase.objects.select_for_update().get(pk=phase.pk)
    stored = checked(new_tracks)
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
                f"The track {gone[0]} is missing, but this phase has submissions; expected all existing names.",
            )
    phase.tracks = stored
    phase.save(update_fields=["tracks"])
    boards.revise(Leaderboard.objects.filter(phase=phase))
    AuditEntry.record("phase.tracks_changed", phase, by=by, before=before, after=after)
    return phase
