"""Serializers of benchmarks. Payloads list public fields explicitly, so that nothing else can leak."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from leaderboard.boards.api.serializers import ReportedSerializer
from leaderboard.core.api import addresses
from leaderboard.datasets.queries.errata import IN_FORCE, SCORED_AGAIN, SET_ASIDE
from leaderboard.evaluation import container_limits as limits
from leaderboard.models import Benchmark, Download, Phase, Split
from leaderboard.models.benchmark import PHASE_FIELDS
from leaderboard.submissions.queries.quotas import Quota
from leaderboard.work_queue import worker_status


class BenchmarkLine(serializers.Serializer[Any]):
    slug = serializers.CharField()
    title = serializers.CharField()
    summary = serializers.CharField()
    task = serializers.CharField()
    state = serializers.ChoiceField(Benchmark.State.choices, help_text="drafts are listed to their organisers")
    url = serializers.URLField()
    page = serializers.URLField(help_text="the benchmark's page on the site")


class DatasetSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    licence = serializers.CharField(
        help_text="an SPDX expression, the address of a licence, or text; empty: not stated"
    )
    citation = serializers.CharField()
    source_url = serializers.CharField()


class FileSerializer(serializers.Serializer[Any]):
    url = serializers.URLField()
    bytes = serializers.IntegerField()
    sha256 = serializers.CharField()


class SplitSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    kind = serializers.ChoiceField(Split.Kind.choices)
    state = serializers.ChoiceField(Split.State.choices, help_text="a retired split is read-only")
    sha256 = serializers.CharField(
        source="inputs_sha256", help_text="SHA-256 of the split's inputs, also if they are hidden; empty: none yet"
    )
    options = serializers.DictField(help_text="values of the task's options for this split, by name")
    inputs = FileSerializer(allow_null=True, help_text="input file of systems; null: not uploaded yet, or hidden")
    gold = FileSerializer(allow_null=True, help_text="the answers, if they are public; null: held out")


class DownloadSerializer(FileSerializer):
    """An additional public file; its bytes never change."""

    name = serializers.CharField()
    filename = serializers.CharField(help_text="name to save the file under")
    title = serializers.CharField()
    description = serializers.CharField()


class QuotaSerializer(serializers.Serializer[Any]):
    team = serializers.CharField(allow_null=True, help_text="null: you have no team before your first submission")
    used_today = serializers.IntegerField()
    left_today = serializers.IntegerField()
    used_total = serializers.IntegerField()
    left_total = serializers.IntegerField(
        help_text="submissions that the team has left, within the limit for all teams"
    )
    resets_at = serializers.DateTimeField()
    left_detailed = serializers.IntegerField(
        allow_null=True,
        help_text="how many further submissions of the team are shown with slices, intervals and all measures while "
        "the gold is hidden; null: all",
    )


class LimitsSerializer(serializers.Serializer[Any]):
    """Limits of a submitted container: seconds, bytes and counts."""

    wall_seconds = serializers.FloatField()
    memory_bytes = serializers.IntegerField()
    cpus = serializers.FloatField()
    processes = serializers.IntegerField()
    image_bytes = serializers.IntegerField()
    output_bytes = serializers.IntegerField()
    output_files = serializers.IntegerField()
    log_bytes = serializers.IntegerField()
    gpus = serializers.IntegerField(help_text="number of GPUs that the container has; 0: none")
    gpu_memory_gb = serializers.IntegerField(help_text="GB of memory of each of these GPUs at least; 0: any")


class ExtensionSerializer(serializers.Serializer[Any]):
    before = serializers.DateTimeField()
    closes_at = serializers.DateTimeField()
    reason = serializers.CharField()
    made_at = serializers.DateTimeField(source="created_at")


class AnnouncementSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    title = serializers.CharField()
    text = serializers.CharField()
    made_at = serializers.DateTimeField(source="created_at")


class TrackSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="what a submission declares")
    title = serializers.CharField()
    description = serializers.CharField()


def _of_phase(name: str) -> Any:
    """Return the serializer field of a field of Phase, with its choices and text."""
    column: Any = Phase._meta.get_field(name)
    options: dict[str, Any] = {"help_text": column.help_text or None, "allow_null": column.null}
    if column.choices:
        return serializers.ChoiceField(column.choices, **options)
    return serializers.ModelSerializer.serializer_field_mapping[type(column)](**options)


class PhaseSerializer(serializers.Serializer[Any]):
    """A phase of a benchmark."""

    slug = serializers.CharField()
    title = serializers.CharField()
    split = serializers.CharField()
    options = serializers.DictField()
    opens_at = _of_phase("opens_at")
    closes_at = _of_phase("closes_at")
    time_zone = _of_phase("time_zone")
    extensions = ExtensionSerializer(many=True, help_text="extensions of the deadline, the earliest first")
    is_open = serializers.BooleanField()
    quota_per_day = _of_phase("quota_per_day")
    quota_total = _of_phase("quota_total")
    quota = QuotaSerializer(allow_null=True, help_text="what your team has left; null: you are not logged in")
    quota_everybody = _of_phase("quota_everybody")
    disclosure = _of_phase("disclosure")
    scope = _of_phase("scope")
    gold_subset = serializers.CharField(
        help_text="`public` or `private`: the subset of the gold's groups that is scored; empty: all groups"
    )
    exact_scores = _of_phase("exact_scores")
    least_groups = _of_phase("least_groups")
    detailed_answers = _of_phase("detailed_answers")
    afterwards = _of_phase("afterwards")
    sealed_until = _of_phase("sealed_until")
    is_sealed = serializers.BooleanField(help_text="whether nothing is scored yet")
    finals_per_team = _of_phase("finals_per_team")
    takes_predictions = _of_phase("takes_predictions")
    takes_images = _of_phase("takes_images")
    images_run = serializers.BooleanField(
        allow_null=True, help_text="whether a worker is ready to run containers; null: the phase accepts none"
    )
    limits = LimitsSerializer(allow_null=True, help_text="of a submitted container; null: the phase accepts none")
    shows_logs = serializers.BooleanField(help_text="whether a team sees what its container prints")
    tracks = TrackSerializer(many=True, help_text="tracks, one of which a submission must declare; empty: none")
    leaderboard = serializers.URLField()
    leaderboard_csv = serializers.URLField()
    submissions = serializers.URLField(help_text="where to POST predictions")
    images = serializers.URLField(help_text="where to start the upload of an image")
    page = serializers.URLField()


class OrganiserSerializer(serializers.Serializer[Any]):
    name = serializers.CharField(help_text="with the affiliation, if there is one")
    url = serializers.CharField(help_text="empty: none")


class FactSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    kind = serializers.CharField(help_text="what its values are: `text`, `number`, ...")


class ReplacedSerializer(serializers.Serializer[Any]):
    """Serializer of a board that was replaced after a correction of gold; the frozen board stays available."""

    phase = serializers.CharField(source="phase.slug")
    gold_version = serializers.IntegerField(source="gold_version.number")
    task_version = serializers.IntegerField()


class ErratumSerializer(serializers.Serializer[Any]):
    """Serializer of an erratum: the public notice of a correction of published gold."""

    split = serializers.CharField(source="gold.split.name")
    gold_version = serializers.IntegerField(source="gold.number")
    corrected_at = serializers.DateTimeField(source="gold.created_at")
    reason = serializers.CharField(source="gold.reason")
    n_changed = serializers.IntegerField(
        allow_null=True, help_text="number of items that the correction changed; null: not counted or not published"
    )
    state = serializers.ChoiceField(
        [IN_FORCE, SCORED_AGAIN, SET_ASIDE], help_text="set aside: the rescoring on the corrected gold was cancelled"
    )
    replaced = ReplacedSerializer(many=True, help_text="former boards, available by `gold_version` and `task_version`")


class BenchmarkSerializer(BenchmarkLine):
    description = serializers.CharField()
    rules = serializers.CharField()
    access = serializers.ChoiceField(
        Benchmark.Access.choices,
        help_text="who may submit: everybody, teams that the organisers approve, or invited teams, which alone see it",
    )
    asks_agreement = serializers.BooleanField(help_text="whether participants agree to the rules before they submit")
    join = serializers.URLField(help_text="the page to agree to the rules and to register a team")
    contact = serializers.CharField(help_text="where to send questions: a mail address or a page; empty: none")
    questions_url = serializers.CharField(help_text="page where participants ask questions; empty: none")
    paper_url = serializers.CharField(help_text="paper that describes the benchmark; empty: none")
    organisers = OrganiserSerializer(many=True, help_text="as shown to everybody")
    facts = FactSerializer(many=True, help_text="facts about systems that the benchmark asks for")
    main_phase = serializers.CharField(
        allow_null=True, help_text="phase whose board the benchmark's page shows; null: chosen by its results"
    )
    croissant = serializers.URLField(
        allow_null=True, help_text="Croissant 1.0 description of the public files; null: the benchmark is not public"
    )
    announcements = AnnouncementSerializer(many=True, help_text="the latest first")
    dataset = DatasetSerializer()
    splits = SplitSerializer(many=True)
    downloads = DownloadSerializer(many=True)
    phases = PhaseSerializer(many=True)
    reported = ReportedSerializer(many=True)
    errata = ErratumSerializer(many=True, help_text="corrections of published gold, the latest first")


def line(benchmark: Benchmark, request: Request) -> dict[str, Any]:
    names = ("slug", "title", "summary", "task", "state")
    return {
        **{name: getattr(benchmark, name) for name in names},
        "url": addresses.of(request, "api_benchmark", benchmark.slug),
        "page": addresses.of(request, "benchmark", benchmark.slug),
    }


def croissant(benchmark: Benchmark, request: Request) -> str | None:
    is_public = benchmark.state == Benchmark.State.PUBLIC
    return addresses.of(request, "api_croissant", benchmark.slug) if is_public else None


def split(benchmark: Benchmark, split: Split, request: Request) -> dict[str, Any]:
    """Return the payload of a split; its gold versions should be prefetched."""
    url_args = (benchmark.slug, split.name)
    inputs = (
        split.inputs_public
        and split.inputs
        and {
            "url": addresses.of(request, "api_inputs", *url_args),
            "bytes": split.inputs_bytes,
            "sha256": split.inputs_sha256,
        }
    )
    version = max(split.gold_versions.all(), key=lambda version: version.number, default=None)
    gold = (
        split.gold_public
        and version
        and {
            "url": addresses.of(request, "download_gold", *url_args),
            "bytes": version.bytes,
            "sha256": version.sha256,
        }
    )
    names = ("name", "kind", "state", "inputs_sha256", "options")
    return {**{name: getattr(split, name) for name in names}, "inputs": inputs or None, "gold": gold or None}


def download(benchmark: Benchmark, download: Download, request: Request) -> dict[str, Any]:
    names = ("name", "filename", "title", "description", "bytes", "sha256")
    return {
        **{name: getattr(download, name) for name in names},
        "url": addresses.of(request, "download_file", benchmark.slug, download.name),
    }


def phase(benchmark: Benchmark, phase: Phase, quota: dict[str, Any] | None, request: Request) -> dict[str, Any]:
    url_args = (benchmark.slug, phase.slug)
    return {
        **{name: getattr(phase, name) for name in (*PHASE_FIELDS, "is_sealed")},
        "gold_subset": phase.subset,
        "split": phase.split.name,
        "extensions": [extension for extension in phase.extensions.all() if extension.team_id is None],
        "is_open": phase.is_open(),
        "quota": quota,
        "leaderboard": addresses.of(request, "api_leaderboard", *url_args),
        "leaderboard_csv": addresses.of(request, "api_leaderboard_csv", *url_args),
        "images_run": worker_status.of_phase(phase).ready if phase.takes_images else None,
        "limits": limits.of(phase).as_dict() if phase.takes_images else None,
        "shows_logs": phase.logs_are_shown,
        "submissions": addresses.of(request, "api_submit", *url_args),
        "images": addresses.of(request, "api_image_uploads", *url_args),
        "page": addresses.of(request, "leaderboard", *url_args),
    }


def quota(quota: Quota, team: str | None) -> dict[str, Any]:
    names = ("used_today", "left_today", "used_total", "left_total", "resets_at", "left_detailed")
    return {"team": team, **{name: getattr(quota, name) for name in names}}
