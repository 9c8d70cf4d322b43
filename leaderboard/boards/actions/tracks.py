"""Tracks: which a phase has, and whether a submission may declare the one that it names (ADR 20)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db import transaction

from leaderboard.boards.actions import boards
from leaderboard.boards.queries import tracks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages
from leaderboard.models import AuditEntry, Leaderboard, Phase, Split, System, User


def check_known(*, phase: Phase, track: str) -> None:
    """Raises Refused INVALID_TRACK unless the phase has this track; where it has none, unless `track` is empty."""
    known = [one.name for one in tracks.of(phase)]
    if track in known or not (track or known):
        return
    if not known:
        raise Refused(Code.INVALID_TRACK, f'The track is "{track}", and this phase has no tracks; leave it out.')
    found = f'The track is "{track}"' if track else "No track is declared"
    raise Refused(Code.INVALID_TRACK, f"{found}; expected one of {', '.join(known)}.")


def check(*, phase: Phase, system: System, track: str) -> None:
    """The same, and OTHER_TRACK where the system has declared another one before. Under the phase's lock it holds."""
    check_known(phase=phase, track=track)
    if system.pk is None:
        return
    declared = declared_by(phase=phase, system=system)
    if declared is not None and declared != track:
        raise Refused(
            Code.OTHER_TRACK,
            f'{system.name} competes in the track "{declared}" of this phase; expected that one again, '
            f'or a system of another name for "{track}".',
        )


def declared_by(*, phase: Phase, system: System) -> str | None:
    """What the system's submissions to the phase have declared; None: there are none yet."""
    return phase.submissions.filter(system=system).order_by().values_list("track", flat=True).first()


def checked(given: Sequence[Mapping[str, object]]) -> tracks.Stored:
    """`leaderboard.boards.queries.tracks.checked`, as a refusal."""
    try:
        return tracks.checked(given)
    except ValueError as error:
        raise Refused(Code.INVALID_TRACK, f"The tracks do not fit: {error}.") from error


@transaction.atomic
def change(*, phase: Phase, given: Sequence[Mapping[str, object]], by: User) -> Phase:
    """Set a phase's tracks. Once something was submitted names stay: tracks may be added, retitled and reordered."""
    check_manages(phase.benchmark, by)
    # In the order of `submissions.locked_split`, which whoever submits holds.
    Split.objects.select_for_update().get(pk=phase.split_id)
    held = Phase.objects.select_for_update().get(pk=phase.pk)
    stored = checked(given)
    before, after = [one["name"] for one in held.tracks], [one["name"] for one in stored]
    if held.submissions.exists():
        if after and not before:
            raise Refused(
                Code.INVALID_TRACK,
                "Something was submitted to this phase without a track; expected tracks before that.",
            )
        if gone := [name for name in before if name not in after]:
            raise Refused(
                Code.INVALID_TRACK,
                f"The track {gone[0]} is gone, and something was submitted to this phase; expected every name to stay.",
            )
    phase.tracks = stored
    phase.save(update_fields=["tracks"])
    boards.revise(Leaderboard.objects.filter(phase=phase))
    AuditEntry.record("phase.tracks_changed", phase, by=by, before=before, after=after)
    return phase
