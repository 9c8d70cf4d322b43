"""Template filters and tags for what submissions and boards declare: tracks and measures."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString

from evaluator.measures.base import Measure
from leaderboard.boards.queries import Board, tracks
from leaderboard.models import Submission

register = template.Library()


@register.filter
def track_title(submission: Submission) -> str:
    """Return the title of the track that a submission declares; empty if it declares none."""
    return tracks.title_of(submission.phase, submission.track) if submission.track else ""


@register.simple_tag
def declared_measure(board: Board, name: str) -> Measure | None:
    """Return a board's measure of this name; None without one."""
    return board.measure(name)


@register.filter
def better(measure: Measure) -> SafeString:
    """Render an arrow that points to the better values of a measure; empty if it has no direction."""
    if measure.higher_is_better is None:
        return SafeString("")
    arrow, word = ("↑", "higher") if measure.higher_is_better else ("↓", "lower")
    words = f'<span class="visually-hidden"> {word} is better</span>'
    return SafeString(
        f'<span class="better" title="{word} is better"><span aria-hidden="true">{arrow}</span>{words}</span>'
    )
