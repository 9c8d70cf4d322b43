"""Template filters and tags for what submissions and boards declare: tracks and measures."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from evaluator.disclosure import ladder
from evaluator.measures.base import Measure
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import Board, ShownScore, tracks
from leaderboard.boards.web.tables.number_format import bound, score, shown_value
from leaderboard.evaluation import scorer_of_phase
from leaderboard.models import Benchmark, Phase, Submission
from leaderboard.templatetags.addresses import about_measures

register = template.Library()


@register.filter
def track_title(submission: Submission) -> str:
    """Return the title of the track that a submission declares; empty if it declares none."""
    return tracks.title_of(submission.phase, submission.track) if submission.track else ""


@register.filter
def measure_title(phase: Phase, name: str) -> str:
    """Return the title of a phase's measure; `name` itself if the phase's current scorer does not declare it."""
    return next((measure.title for measure in scorer_of_phase.of(phase).declared if measure.name == name), name)


@register.simple_tag
def revealed_value(phase: Phase, name: str, value: float | None) -> str:
    """Format a revealed overall value of a phase's measure `name`; on a ladder as the bound that it is: `≥ 0.456`."""
    measure = next((measure for measure in scorer_of_phase.of(phase).declared if measure.name == name), None)
    if phase.disclosure != Phase.Disclosure.LADDER or value is None or measure is None:
        return score(value)
    return shown_value(ShownScore(value, bounds=ladder.bounds(value, measure=measure, n_groups=None)))


@register.filter
def task_measure_title(benchmark: Benchmark, name: str) -> str:
    """Return the title of a measure of the benchmark's task; `name` itself if the task does not declare it."""
    return next((measure.title for measure in TASKS[benchmark.task].measures if measure.name == name), name)


@register.filter
def task_title(benchmark: Benchmark) -> str:
    """Return the title of the benchmark's task."""
    return TASKS[benchmark.task].title


@register.simple_tag
def declared_measure(board: Board, name: str) -> Measure | None:
    """Return the measure called `name` of a board; None if the board has no such measure."""
    return board.measure(name)


@register.filter
def better(measure: Measure) -> SafeString:
    """Render an arrow: up if higher values of a measure are better, down if lower ones are; empty if neither."""
    if measure.higher_is_better is None:
        return SafeString("")
    arrow, word = ("↑", "higher") if measure.higher_is_better else ("↓", "lower")
    words = f'<span class="visually-hidden"> {word} is better</span>'
    return SafeString(
        f'<span class="better" title="{word} is better"><span aria-hidden="true">{arrow}</span>{words}</span>'
    )


@register.simple_tag
def about_measure(board: Board, benchmark: Benchmark, name: str, number: object = "") -> SafeString:
    """Render a button that opens an explanation of the measure `name`; empty if the board has no such measure.

    number: makes the HTML id unique if a page has several buttons for the measure.
    """
    measure = board.measure(name)
    if measure is None:
        return SafeString("")
    ends = f"From {bound(measure.low)} to {bound(measure.high)}"
    ends += {True: "; higher is better", False: "; lower is better", None: ""}[measure.higher_is_better]
    url = about_measures(board.scoring, benchmark)
    return _about((f"about-{name}-{number}", name, measure.title, measure.doc, ends, url))


@lru_cache(maxsize=1000)
def _about(texts: tuple[str, ...]) -> SafeString:
    """Render a button and the explanation of a measure that it opens.

    texts: the explanation's HTML id; the measure's name, title, description and bounds; the URL of its page.
    """
    return format_html(
        '<button type="button" class="about" popovertarget="{0}" aria-label="What {2} means">?</button>'
        '<div class="about-text" popover id="{0}" role="dialog" aria-label="{2}"><p><strong>{2}</strong> '
        '<code>{1}</code></p><p>{3}</p><p>{4}. <a href="{5}#{1}">How it is computed</a></p></div>',
        *texts,
    )
