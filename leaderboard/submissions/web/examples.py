"""Page that lists the items of public gold with a submission's predictions for them, and downloads of the list."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from evaluator.jobs.examples import Example, ExamplesReport
from leaderboard.boards.api.csv import escape_formula
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal, with_retry
from leaderboard.evaluation import sandbox_client
from leaderboard.models import User
from leaderboard.submissions.queries import examples as queries
from leaderboard.submissions.queries.progress import Progress, progress_or_404

PER_PAGE = 25
WITHIN = timedelta(hours=1)
RESULTS = (("", "Right and wrong"), ("right", "Right"), ("wrong", "Wrong"))
ORDERS = (("", "As in the gold"), ("worst", "Worst first"))


class FilterForm(forms.Form):
    """Form to filter the list of items with a submission's predictions.

    slice: `DIMENSION:VALUE`. cell: pair of gold answer and prediction. Fields that the task does not have are removed.
    """

    result = forms.ChoiceField(required=False, choices=RESULTS)
    order = forms.ChoiceField(required=False, choices=ORDERS)
    slice = forms.ChoiceField(required=False)
    cell = forms.ChoiceField(required=False, label="Gold \N{RIGHTWARDS ARROW} prediction")

    def __init__(self, *args: Any, report: ExamplesReport, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        slices = [
            (name, [(f"{name}:{value}", f"{name}: {value}") for value in values])
            for name, values in report.dimensions.items()
        ]
        cells = [(cell, f"{cell} ({n})") for cell, n in report.cells.items()]
        for name, choices in (("slice", slices), ("cell", cells)):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = [("", "All"), *choices]
            if not choices:
                del self.fields[name]
        if not report.measure:
            del self.fields["result"], self.fields["order"]


@login_required
@require_safe
def examples(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Show a page of the list of items; 404 unless the user may see the submission and `are_shown` allows the list."""
    progress = _progress(request.user, pk)
    number = int(text) if (text := request.GET.get("page", "")).isdecimal() and len(text) < 7 else 1
    number = max(1, number)
    filters = _filters(request)
    phase = progress.submission.phase
    context: dict[str, Any] = {"submission": progress.submission, "phase": phase, "benchmark": phase.benchmark}
    try:
        report = _report(request.user, progress, **filters, offset=(number - 1) * PER_PAGE, limit=PER_PAGE)
    except Refused as refused:
        context["refusal"] = Refusal(refused)
        return with_retry(render(request, "submissions/examples.html", context, status=refused.code.status), refused)
    query = {name: value for name in ("result", "order", "slice", "cell") if (value := request.GET.get(name, ""))}
    last = max(1, -(-report.n // PER_PAGE))
    context |= {
        "report": report,
        "items": [_shown(item) for item in report.examples],
        "form": FilterForm(request.GET, report=report),
        "number": number,
        "last": last,
        "previous": number - 1,
        "next": number + 1 if number < last else 0,
        "is_filtered": bool(query),
        "query": f"{urlencode(query)}&" if query else "",
    }
    return render(request, "submissions/examples.html", context)


@login_required
@require_safe
def download_csv(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Download all items that pass the filters as CSV. Texts are escaped, so that no spreadsheet runs a formula."""
    return _download(request, pk, "csv", "text/csv", _csv)


@login_required
@require_safe
def download_jsonl(request: PersonRequest, pk: UUID) -> HttpResponse:
    """Download all items that pass the filters as JSON Lines."""
    return _download(request, pk, "jsonl", "application/x-ndjson", _json_lines)


def _download(
    request: PersonRequest, pk: UUID, extension: str, media_type: str, render_items: Callable[[list[Example]], str]
) -> HttpResponse:
    progress = _progress(request.user, pk)
    try:
        report = _report(request.user, progress, **_filters(request))
    except Refused as refused:
        answer = HttpResponse(
            f"{refused.message}\n", content_type="text/plain; charset=utf-8", status=refused.code.status
        )
        return with_retry(answer, refused)
    response = HttpResponse(render_items(report.examples), content_type=f"{media_type}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="examples.{extension}"'
    return response


def _progress(user: User, pk: UUID) -> Progress:
    progress = progress_or_404(user, pk)
    if not queries.are_shown(progress):
        raise Http404("this submission has no list of items")
    return progress


def _filters(request: PersonRequest) -> dict[str, str]:
    """Return the filters in the request's query, by field of the ExamplesRequest.

    Slices and cells are not checked: one that no item has gives an empty list.
    """
    dimension, _, value = request.GET.get("slice", "").partition(":")
    result = request.GET.get("result", "")
    order = "worst" if request.GET.get("order") == "worst" else "gold"
    chosen = {"dimension": dimension, "value": value, "cell": request.GET.get("cell", ""), "order": order}
    return {**chosen, "result": result if result in dict(RESULTS) else ""}


def _report(user: User, progress: Progress, **filters: str | int) -> ExamplesReport:
    """Run the job `examples`, which lists the items, and return its report.

    A user's jobs may take REFUSED_SECONDS of processor time within an hour. The seconds used are in the cache, where
    lost entries and races only allow a few more. filters: fields of the job's ExamplesRequest. Raises Refused:
    THROTTLED beyond that limit, SANDBOX_UNAVAILABLE, and NOT_READY if the list exceeds the limits for one job.
    """
    now = timezone.now()
    key = f"examples-{user.pk}-{int(now.timestamp() // WITHIN.total_seconds())}"
    used = cache.get(key, 0.0)
    if used > settings.REFUSED_SECONDS:
        message = "These lists took too much of the server's processor time within an hour. Try again later."
        raise Refused(Code.THROTTLED, message, retry_at=now + WITHIN, heading="Too many lists")
    failure = "The examples cannot be shown"
    try:
        answer = queries.read(progress, **filters)
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable(failure, error, heading=failure) from error
    cache.set(key, used + answer.cpu_seconds, WITHIN.total_seconds())
    if not answer.ok:
        raise Refused(Code.TOO_LARGE, f"{failure}: the items exceed the limits for one list.", heading=failure)
    return answer.read(ExamplesReport)


def _shown(item: Example) -> dict[str, Any]:
    """Return template context for an item: its input, gold and predictions, each as (key, value as text) without id."""
    predictions = [pair for line in item.predictions for pair in _pairs(line)]
    return {"item": item, "input": _pairs(item.input), "gold": _pairs(item.gold), "predictions": predictions}


def _pairs(text: str) -> list[tuple[str, str]]:
    pairs = json.loads(text).items()
    shown = ((key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)) for key, value in pairs)
    return [(key.replace("_", " "), value) for key, value in shown if key not in ("id", "documentId")]


def _json_lines(examples: list[Example]) -> str:
    return "".join(
        json.dumps(
            {
                "id": item.id,
                "input": json.loads(item.input),
                "gold": json.loads(item.gold),
                "predictions": [json.loads(line) for line in item.predictions],
                "share": item.share,
                "values": item.values,
                "cell": item.cell,
                "slices": item.slices,
            },
            ensure_ascii=False,
        )
        + "\n"
        for item in examples
    )


def _csv(examples: list[Example]) -> str:
    output = io.StringIO()
    for row in _rows(examples):
        csv.writer(output).writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in row])
    return output.getvalue()


def _rows(examples: list[Example]) -> Iterator[list[object]]:
    titles = list(examples[0].values) if examples else []
    yield ["id", "share", *titles, "cell", "slices", "input", "gold", "predictions"]
    for item in examples:
        slices = json.dumps(item.slices, ensure_ascii=False)
        result = [item.share, *item.values.values(), item.cell, slices]
        yield [item.id, *result, item.input, item.gold, "\n".join(item.predictions)]
