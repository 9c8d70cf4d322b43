"""API views of `/benchmarks/`: benchmarks and their public inputs."""

from __future__ import annotations

from typing import cast

from django.db.models import Prefetch
from django.http import FileResponse, Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.http import conditional_page, etag
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.benchmarks.api import serializers
from leaderboard.boards.api import query_parameters
from leaderboard.boards.api.serializers import reported
from leaderboard.boards.queries import lookup
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.core.api import addresses
from leaderboard.core.api.base import View
from leaderboard.core.api.pagination import Pages, pages_of
from leaderboard.core.api.serializers import errors
from leaderboard.core.web.byte_ranges import part_of_file
from leaderboard.datasets.queries.croissant import document_of
from leaderboard.datasets.queries.errata import errata_of
from leaderboard.models import Benchmark, GoldVersion, Split, Team
from leaderboard.submissions.queries.quotas import quotas_of, with_details


class BenchmarksView(View):
    @extend_schema(
        operation_id="benchmark_list",
        parameters=[query_parameters.BenchmarkQuery],
        responses={200: pages_of(serializers.BenchmarkLine), **errors()},
    )
    def get(self, request: Request) -> Response:
        """List the benchmarks that you may see, by title."""
        params = query_parameters.read(query_parameters.BenchmarkQuery, request)
        rows = Benchmark.objects.visible_to(request.user).order_by("title", "pk")
        if params["task"]:
            rows = rows.filter(task=params["task"])
        rows = rows.search(params["search"].split())
        pages = Pages()
        page = pages.paginate_queryset(rows, request, view=self) or []
        return pages.get_paginated_response(
            serializers.BenchmarkLine([serializers.line(row, request) for row in page], many=True).data
        )


class BenchmarkView(View):
    @extend_schema(
        operation_id="benchmark",
        parameters=[query_parameters.QuotaQuery],
        responses={200: serializers.BenchmarkSerializer, **errors()},
    )
    def get(self, request: Request, slug: str) -> Response:
        """Return a benchmark: data, phases, rules, licence, results reported in papers, and your remaining quota."""
        benchmark = lookup.benchmark_or_404(request.user, slug)
        team = _team(request)
        phases = list(benchmark.phases.select_related("split").prefetch_related("extensions"))
        quotas = {}
        if request.user.is_authenticated:
            quotas = with_details(quotas_of(phases=phases, team=team), phases=phases, team=team)
        versions = Prefetch("gold_versions", GoldVersion.objects.filter(split__gold_public=True))
        splits = benchmark.dataset.splits.visible_to(request.user).prefetch_related(versions)
        quota_by_phase = {pk: serializers.quota(quota, team.name if team else None) for pk, quota in quotas.items()}
        payload = {
            **serializers.line(benchmark, request),
            "description": benchmark.description,
            "rules": benchmark.rules,
            "access": benchmark.access,
            "asks_agreement": benchmark.needs_agreement,
            "join": addresses.of(request, "join", benchmark.slug),
            **{name: getattr(benchmark, name) for name in ("contact", "questions_url", "paper_url", "facts")},
            "organisers": [{"name": name, "url": url} for name, url in benchmark.organisers_with_links],
            "main_phase": next((phase.slug for phase in phases if phase.is_main), None),
            "croissant": addresses.of(request, "api_croissant", benchmark.slug)
            if benchmark.state == "public"
            else None,
            "announcements": benchmark.announcements.all(),
            "dataset": benchmark.dataset,
            "splits": [serializers.split(benchmark, split, request) for split in splits],
            "downloads": [serializers.download(benchmark, file, request) for file in benchmark.dataset.downloads.all()],
            "phases": [serializers.phase(benchmark, phase, quota_by_phase.get(phase.pk), request) for phase in phases],
            "reported": reported(reported_of(benchmark)),
            "errata": errata_of(benchmark, viewer=request.user),
        }
        return Response(serializers.BenchmarkSerializer(payload).data)


def _team(request: Request) -> Team | None:
    """Return the user's team whose quota is shown: the one named by `?team=`, else the team that the user joined first.

    None: the user is not logged in or has no team. Raises Http404 for a name that is not one of the user's teams.
    """
    if not request.user.is_authenticated:
        return None
    name = query_parameters.read(query_parameters.QuotaQuery, request)["team"]
    teams = request.user.teams.order_by("membership__id")
    if not name:
        return teams.first()
    team = teams.filter(name__iexact=name).first()
    if team is None:
        raise Http404
    return team


class CroissantView(View):
    @extend_schema(
        operation_id="benchmark_croissant",
        responses={(200, "application/ld+json"): OpenApiTypes.OBJECT, 304: None, **errors()},
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """Return the Croissant 1.0 description of a public benchmark's files, as JSON-LD."""
        document = document_of(lookup.benchmark_or_404(None, slug))
        respond = conditional_page(lambda _: HttpResponse(document, content_type="application/ld+json"))
        return cast(HttpResponse, respond(request))


class InputsView(View):
    @extend_schema(
        operation_id="split_inputs",
        responses={
            (200, "application/x-ndjson"): OpenApiTypes.BINARY,
            (206, "application/x-ndjson"): OpenApiTypes.BINARY,
            304: None,
            416: None,
            **errors(),
        },
    )
    def get(self, request: Request, slug: str, split: str) -> HttpResponseBase:
        """Download a split's public inputs, or a part of them, to run systems on. The ETag is the file's sha256."""
        split_row = lookup.split_or_404(request.user, slug, split)
        if not split_row.inputs or not split_row.inputs_public:
            raise Http404
        return etag(lambda *_: f'"{split_row.inputs_sha256}"')(_inputs)(request, split_row)


def _inputs(request: Request, split: Split) -> HttpResponseBase:
    filename = f"{split.dataset.slug}-{split.name}-inputs.jsonl"
    response = part_of_file(request._request, split.inputs, etag=f'"{split.inputs_sha256}"')
    if response is None:
        response = FileResponse(split.inputs.open("rb"), as_attachment=True, filename=filename)
    if response.status_code == 206:
        response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["Content-Type"] = "application/x-ndjson"
    response["Accept-Ranges"] = "bytes"
    return response
