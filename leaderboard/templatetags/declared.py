"""What a submission declares, as pages say it."""

from __future__ import annotations

from django import template

from leaderboard.boards.queries import tracks
from leaderboard.models import Submission

register = template.Library()


@register.filter
def track_title(submission: Submission) -> str:
    """The title of the track that it declares; empty where its phase has none."""
    return tracks.title_of(submission.phase, submission.track) if submission.track else ""
