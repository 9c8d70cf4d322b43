"""Public pages of a benchmark: overview, data, rules and how to submit, each with a card of facts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import Row, ShownScore, board_of, by_primary
from leaderboard.boards.queries.lookup import benchmark_or_404
from leaderboard.boards.queries.main_phase import main_phase, phases_of
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.charts.strips import strips_of
from leaderboard.boards.web.page_description import describe_benchmark
from leaderboard.core.text.plain_text import one_line
from leaderboard.datasets.queries import croissant
from leaderboard.datasets.queries.errata import errata_of
from leaderboard.datasets.web import data_examples
from leaderboard.evaluation import container_limits_text, scorer_of_phase
from leaderboard.models import Benchmark, Extension, GoldVersion, Phase, Team
from leaderboard.submissions.actions import registrations
from leaderboard.submissions.queries.quotas import quota_of
from leaderboard.submissions.web import prediction_format

SHOWN = 10
_DOI = re.compile(r"https?://(?:dx\.)?doi\.org/(10\.[0-9]{4,9}/\S+)\Z")
_ARXIV = re.compile(r"https?://arxiv\.org/(?:abs|pdf)/([0-9]{4}\.[0-9]{4,5})(?:v[0-9]+)?(?:\.pdf)?\Z")


@require_safe
@conditional_page
def benchmark(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the description, the announcements and the best systems of the main phase, as its board orders them."""
    benchmark, phases, context = _page(request, slug)
    main = context["main"]
    board = board_of(main, within=(), viewer=request.user, most=SHOWN * 10) if main else None
    rows = sorted(by_primary(board), key=lambda row: not row.competes) if board else []
    scores = [row.score(board.primary) for row in rows[:SHOWN]] if board else []
    strips = strips_of(scores, band=_leaders_interval(rows[:SHOWN], scores))
    context |= {
        "tab": "overview",
        "preview": describe_benchmark(benchmark, board),
        "croissant": croissant.document_of(benchmark),
        "paper_tags": _paper_tags(benchmark),
        "announcements": benchmark.announcements.all(),
        "board": board,
        "rows": rows,
        "top": list(zip(rows[:SHOWN], scores, strips.strips, strict=True)),
        "n_more": (board.summary.n_rows if board else 0) - SHOWN,
        "strips": strips,
        "boards": other_boards(board) if board else [],
        "other_phases": [phase for phase in phases if phase != main],
        "reported": reported_of(benchmark),
    }
    return render(request, "benchmarks/benchmark.html", context)


def _leaders_interval(rows: Sequence[Row], scores: Sequence[ShownScore]) -> tuple[float, float] | None:
    """Return the interval of the system of rank 1, whose score has the same index in `scores`; None if it has none."""
    for row, score in zip(rows, scores, strict=True):
        if row.rank == 1 and score.low is not None and score.high is not None:
            return score.low, score.high
    return None


@require_safe
@conditional_page
def data(request: HttpRequest, slug: str) -> HttpResponse:
    """Show examples of the data, the format of predictions, starter code, and the files."""
    benchmark, _, context = _page(request, slug)
    versions = Prefetch("gold_versions", GoldVersion.objects.order_by("-number"), to_attr="versions")
    splits = list(benchmark.dataset.splits.visible_to(request.user).prefetch_related(versions))
    main = context["main"]
    shown = main if main and any(split.pk == main.split_id for split in splits) else None
    errata = errata_of(benchmark, viewer=request.user)
    context |= {
        "tab": "data",
        "splits": splits,
        "examples": data_examples.examples_of(splits),
        "format": prediction_format.format_of(benchmark.task, shown.split if shown else None),
        "starter": shown,
        "site": settings.BASE_URL,
        "is_packed": bool(shown and str(shown.split.inputs.name).endswith(".gz")),
        "downloads": benchmark.dataset.downloads.all(),
        "errata": errata,
        "names_split": len({erratum.gold.split_id for erratum in errata}) > 1,
    }
    return render(request, "benchmarks/data.html", context)


@require_safe
@conditional_page
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the rules, and the limits and disclosure of each phase."""
    _, phases, context = _page(request, slug)
    return render(request, "benchmarks/rules.html", {**context, "tab": "rules", "phases": phases})


@require_safe
@conditional_page
def how_to_submit(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the steps to a submission, and the phases."""
    benchmark, phases, context = _page(request, slug)
    main = context["main"]
    is_public = main is not None and main.split_is_shown and main.split.inputs and main.split.inputs_public
    context |= {
        "tab": "submit",
        "inputs": main.split if is_public else None,
        "has_sample": is_public and prediction_format.has_sample(benchmark.task, main.split),
        "phases": phases,
        "extensions": Extension.objects.filter(phase__in=phases, team=None).select_related("phase"),
        "containers": [(phase, container_limits_text.of(phase)) for phase in phases if phase.takes_images],
    }
    return render(request, "benchmarks/how_to_submit.html", context)


def _page(request: HttpRequest, slug: str) -> tuple[Benchmark, list[Phase], dict[str, Any]]:
    """Return a benchmark that the user may see, its phases, and the context of the parts that its pages share."""
    benchmark = benchmark_or_404(request.user, slug)
    phases = list(phases_of([benchmark.pk]))
    main = main_phase(phases)
    scoring = scorer_of_phase.of(main) if main else None
    gold = main.split.current_gold if main else None
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "main": main,
        "scoring": scoring,
        "measure": scoring.measure(scoring.primary(gold)) if scoring and gold else None,
        "quota": quota_of(phase=main, team=_team(request)) if main and request.user.is_authenticated else None,
        "follows": request.user.is_authenticated and benchmark.follows.filter(user=request.user).exists(),
        "may_join": not (request.user.is_authenticated and registrations.may_submit(benchmark, request.user)),
        "is_manager": benchmark.is_managed_by(request.user),
    }
    return benchmark, phases, context


def _team(request: HttpRequest) -> Team | None:
    """Return the team that the user joined first; None if there is none."""
    return Team.objects.filter(members=request.user.pk).order_by("membership__id").first()


def _paper_tags(benchmark: Benchmark) -> list[tuple[str, str]]:
    """Return (name, content) of each HTML meta tag `citation_*` (Highwire) of a benchmark's page.

    Reference managers and Google Scholar read them. None unless the benchmark is public and has a paper.
    """
    if benchmark.state != Benchmark.State.PUBLIC or not benchmark.paper_url:
        return []
    tags = [("citation_title", one_line(benchmark.title))]
    for organiser, _ in benchmark.organisers_with_links:
        author, _, institution = organiser.partition(",")
        tags.append(("citation_author", one_line(author)))
        if institution.strip():
            tags.append(("citation_author_institution", one_line(institution)))
    tags.append(("citation_publication_date", f"{benchmark.created_at:%Y/%m/%d}"))
    tags.append(("citation_abstract_html_url", settings.BASE_URL + benchmark.get_absolute_url()))
    is_pdf = benchmark.paper_url.endswith(".pdf")
    tags.append(("citation_pdf_url" if is_pdf else "citation_fulltext_html_url", benchmark.paper_url))
    for name, pattern in (("citation_doi", _DOI), ("citation_arxiv_id", _ARXIV)):
        if match := pattern.match(benchmark.paper_url):
            tags.append((name, match[1]))
    return tags
