"""Template filter for the track that a submission declares."""

from __future__ import annotations

from django import template

from leaderboard.boards.queries import tracks
from leaderboard.models import Submission

register = template.Library()


@register.filter
def track_title(submission: Submission) -> str:
    """Return the title of the track that a submission declares; empty if it declares none."""
    return tracks.title_of(submission.phase, submission.track) if submission.track else ""
