"""Benchmarks, their phases, and a picture of each benchmark."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from datetime import datetime
from enum import Enum, auto
from typing import Any, NamedTuple

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from .audit_log import Audited
from .dataset import Dataset, Split, inputs_storage

MAX_GPUS = 16
"""The most GPUs that a phase may ask for, for each container."""
MAX_GPU_MEMORY_GB = 1000
"""The most memory in GB of each GPU that a phase may ask for."""
LEAST_GROUPS, DETAILED_ANSWERS = 25, 10
"""Defaults of a phase on hidden gold; see `evaluator.disclosure.policy.Policy`."""
LADDER_LEAST_GROUPS = 100
"""`Phase.least_groups` as proposed for a new ladder on hidden gold."""


SEARCHED = ("title", "summary", "description", "slug", "paper_url")
SEARCHED_OF_DATASET = ("title", "citation")


class BenchmarkQuerySet(models.QuerySet["Benchmark"]):
    def public(self) -> BenchmarkQuerySet:
        return self.filter(state=Benchmark.State.PUBLIC)

    def search(self, words: Iterable[str]) -> BenchmarkQuerySet:
        """Return the benchmarks in whose texts, names of papers included, each of the words occurs."""
        found = self
        for word in words:
            fields = (*SEARCHED, *(f"dataset__{name}" for name in SEARCHED_OF_DATASET))
            found = found.filter(Q(*((f"{name}__icontains", word) for name in fields), _connector=Q.OR))
        return found

    def visible_to(self, user: object) -> BenchmarkQuerySet:
        """Return the benchmarks whose pages the user may open.

        These are public benchmarks, benchmarks that the user manages, private ones for which a team of the user is
        registered, and drafts that the user tests. A curator may open all.
        """
        if not getattr(user, "is_authenticated", False):
            return self.public()
        if getattr(user, "is_curator", False):
            return self
        tested = Q(pk__in=Benchmark.objects.tested_by(user).values("pk"))
        registered = Q(pk__in=Benchmark.objects.private_to(user).values("pk"))
        return self.filter(Q(state=Benchmark.State.PUBLIC) | Q(organisers=user) | registered | tested).distinct()

    def private_to(self, user: Any) -> BenchmarkQuerySet:
        """Return private benchmarks for which a team of the user is registered, unless the user is barred from them."""
        return self.filter(
            state=Benchmark.State.PRIVATE, registrations__state="approved", registrations__team__members=user
        ).exclude(bars__people=user)

    def tested_by(self, user: Any) -> BenchmarkQuerySet:
        """Return the drafts in which the user is a tester."""
        return self.filter(state=Benchmark.State.DRAFT, testers=user)


class Benchmark(Audited):
    """A benchmark: a task on a dataset, with rules and phases, and with a page on the site."""

    class State(models.TextChoices):
        """State of a benchmark. PRIVATE: published for registered teams only, and not in public lists.

        DRAFT: live for its organisers and testers only; publishing deletes what they have submitted.
        """

        DRAFT = "draft"
        PUBLIC = "public"
        PRIVATE = "private"

    PUBLISHED = (State.PUBLIC, State.PRIVATE)

    class Access(models.TextChoices):
        """Users who may submit to a benchmark. A published benchmark is private with INVITED, otherwise public."""

        OPEN = "open", "everybody"
        APPROVAL = "approval", "teams that the organisers approve"
        INVITED = "invited", "invited teams, and only they can see it"

    slug = models.SlugField(unique=True, max_length=80)
    title = models.CharField(max_length=200)
    summary = models.CharField(max_length=300, help_text="one sentence for the list")
    description = models.TextField(blank=True)
    rules = models.TextField(blank=True, help_text="what participants agree to")
    task = models.CharField(max_length=60, help_text="a name in evaluator.tasks.registry.TASKS")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="benchmarks")
    contact = models.CharField(
        max_length=300, blank=True, help_text="where questions go: a mail address or a page; shown to everybody"
    )
    questions_url = models.URLField(blank=True, help_text="page where participants can ask questions")
    paper_url = models.URLField(blank=True, help_text="paper that describes the benchmark")
    shown_organisers = models.TextField(
        blank=True, help_text="who organises it, for everybody: a line each, with affiliation and link after commas"
    )
    facts = models.JSONField(
        default=list, blank=True, help_text='facts of systems that it asks for: [{"name", "title", "kind"}]'
    )
    organisers = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="benchmarks", blank=True)
    testers = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        related_name="tested_benchmarks",
        blank=True,
        editable=False,
        serialize=False,  # not in archives, as what they try is not
        help_text="who may see and try a draft besides its organisers; nobody once it is published",
    )
    teams_may_hide = models.BooleanField(
        "teams may take submissions off the board",
        default=True,
        help_text="they still count against the quota, and you still see them",
    )
    baselines_team = models.OneToOneField(
        "Team",
        null=True,
        blank=True,
        editable=False,
        on_delete=models.SET_NULL,
        related_name="baselines_of",
        help_text="owns the baselines' submissions; managers of the benchmark may submit for it",
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    access = models.CharField(max_length=10, choices=Access.choices, default=Access.OPEN, help_text="who may submit")
    asks_agreement = models.BooleanField(default=False, help_text="participants agree to the rules before they submit")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["title"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(state__in=["public", "private"])
                | (Q(state="public") & ~Q(access="invited"))
                | Q(state="private", access="invited"),
                name="benchmark_private_for_invited_teams",
            )
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("benchmark", args=[self.slug])

    @property
    def is_published(self) -> bool:
        return self.state in self.PUBLISHED

    @property
    def published_state(self) -> Benchmark.State:
        """Return the state that the benchmark has, or will have, when it is published: PRIVATE or PUBLIC."""
        return Benchmark.State.PRIVATE if self.access == Benchmark.Access.INVITED else Benchmark.State.PUBLIC

    @property
    def needs_agreement(self) -> bool:
        return self.asks_agreement and bool(self.rules)

    @property
    def rules_sha256(self) -> str:
        """Return the SHA-256 digest of the rules' text in hexadecimal, which identifies a version of the rules."""
        return hashlib.sha256(self.rules.encode()).hexdigest()

    @property
    def organisers_with_links(self) -> list[tuple[str, str]]:
        """Return the organisers as shown to everybody: (name with affiliation, link or an empty string)."""
        organisers = []
        for line in filter(None, map(str.strip, self.shown_organisers.splitlines())):
            text, _, link = line.rpartition(",")
            has_link = bool(text) and link.strip().startswith(("https://", "http://"))
            organisers.append((text.strip(), link.strip()) if has_link else (line, ""))
        return organisers

    @property
    def is_draft(self) -> bool:
        return self.state == Benchmark.State.DRAFT

    def is_visible_to(self, user: object) -> bool:
        return self.state == Benchmark.State.PUBLIC or Benchmark.objects.visible_to(user).filter(pk=self.pk).exists()

    def is_tested_by(self, user: object) -> bool:
        return self.is_draft and Benchmark.objects.tested_by(user).filter(pk=self.pk).exists()

    def is_managed_by(self, user: object) -> bool:
        if not getattr(user, "is_authenticated", False):
            return False
        return bool(getattr(user, "is_curator", False)) or self.organisers.filter(pk=user.pk).exists()  # type: ignore[attr-defined]


class Phase(Audited):
    """A round of a benchmark, bound to one split, with dates, quotas and a disclosure policy."""

    class Disclosure(models.TextChoices):
        """Disclosure policies of scores; their rules are in leaderboard/boards/disclosure/policies.py."""

        FULL = "full"
        LADDER = "ladder"
        SEALED = "sealed"

    class Scope(models.TextChoices):
        """Scope of the disclosure policy LADDER, which reveals a score only if it beats the best shown one by a step.

        TEAM: it must beat the best shown score of the same team. TASK: of all teams.
        """

        TEAM = "team", "each team its own"
        TASK = "task", "one for everybody"

    class Afterwards(models.TextChoices):
        """What is shown of a team's answers on hidden gold after its first detailed ones."""

        OVERALL = "overall", "the overall score"
        IMPROVEMENTS = "improvements", "the overall score, if it is better by a step"

    class Subset(models.TextChoices):
        """Groups of the gold that a phase scores: all, or those that a PublicPrivatePartition makes public or private.

        A group is a set of units that depend on each other, such as the passages of one document.
        """

        WHOLE = "", "all groups"
        PUBLIC = "public", "the public groups"
        PRIVATE = "private", "the private groups"

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="phases")
    slug = models.SlugField(max_length=80)
    title = models.CharField(max_length=200)
    split = models.ForeignKey(Split, on_delete=models.PROTECT, related_name="phases")
    options = models.JSONField(default=dict, blank=True, help_text="the task's options in this phase")
    opens_at = models.DateTimeField(null=True, blank=True)
    closes_at = models.DateTimeField(null=True, blank=True)
    time_zone = models.CharField(
        max_length=60,
        default="UTC",
        help_text="time zone in which pages show dates next to UTC: an IANA name, or AoE",
    )
    quota_per_day = models.PositiveIntegerField(default=10, validators=[MinValueValidator(1)])
    quota_total = models.PositiveIntegerField(default=50, validators=[MinValueValidator(1)])
    quota_everybody = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="of all teams together; null: no limit"
    )
    disclosure = models.CharField(
        max_length=10, choices=Disclosure.choices, default=Disclosure.FULL, help_text="what is revealed of scores"
    )
    scope = models.CharField(
        max_length=10,
        choices=Scope.choices,
        default=Scope.TEAM,
        help_text="on a ladder, a score is revealed only if it beats the best revealed score: `team`: of the same "
        "team, `task`: of all teams",
    )
    subset = models.CharField(max_length=10, choices=Subset.choices, default=Subset.WHOLE, blank=True)
    exact_scores = models.BooleanField(
        default=False, help_text="whether scores on hidden gold are shown with all digits"
    )
    least_groups = models.PositiveIntegerField(
        default=LEAST_GROUPS,
        validators=[MinValueValidator(1)],
        help_text="while the gold is hidden, slices with fewer groups are not shown",
    )
    detailed_answers = models.PositiveIntegerField(
        null=True,
        blank=True,
        default=DETAILED_ANSWERS,
        help_text="while the gold is hidden, how many answers of a team (of a ladder: that show a score) have slices, "
        "intervals and all measures; null: all",
    )
    afterwards = models.CharField(
        max_length=12,
        choices=Afterwards.choices,
        default=Afterwards.OVERALL,
        help_text="what later answers show: the `overall` score, or only `improvements` of it by a ladder's step",
    )
    sealed_until = models.DateTimeField(null=True, blank=True, help_text="when a sealed phase is unsealed")
    unsealed_at = models.DateTimeField(null=True, blank=True, help_text="when its finals were scored")
    finals_per_team = models.PositiveSmallIntegerField(
        default=1,
        validators=[MinValueValidator(1)],
        help_text="how many submissions a team may choose in a sealed phase",
    )
    takes_predictions = models.BooleanField(default=True, help_text="whether predictions files are accepted")
    takes_images = models.BooleanField(default=False, help_text="whether container images are accepted")
    limits = models.JSONField(default=dict, blank=True, help_text="of a container, where they differ from the defaults")
    gpus = models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(MAX_GPUS)], help_text="number of GPUs of each container; 0: none"
    )
    gpu_memory_gb = models.PositiveSmallIntegerField(
        default=0,
        validators=[MaxValueValidator(MAX_GPU_MEMORY_GB)],
        help_text="GB (10^9 bytes) of memory that each of these GPUs has at least; 0: any",
    )
    scorer = models.ForeignKey(
        "Scorer",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="phases",
        help_text="the organisers' custom scorer, which replaces the task's; null: the task scores",
    )
    shows_logs = models.BooleanField(
        null=True, blank=True, help_text="owners see their container's log; null: only if the inputs are public"
    )
    tracks = models.JSONField(
        default=list,
        blank=True,
        help_text='tracks, of which a submission declares one: [{"name", "title", "description"}]; empty: no tracks',
    )
    position = models.PositiveSmallIntegerField(default=0)
    is_main = models.BooleanField(default=False, help_text="the home page and the benchmark's page show its board")
    ranked_sequence = models.PositiveIntegerField(
        default=0, editable=False, help_text="the highest Release.sequence that the phase's boards include"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["benchmark", "position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "slug"], name="phase_slug_once_a_benchmark"),
            models.UniqueConstraint(fields=["benchmark"], condition=Q(is_main=True), name="one_main_phase_a_benchmark"),
            models.CheckConstraint(
                condition=Q(opens_at=None) | Q(closes_at=None) | Q(closes_at__gt=F("opens_at")),
                name="phase_closes_after_it_opens",
            ),
            models.CheckConstraint(
                condition=Q(takes_predictions=True) | Q(takes_images=True), name="phase_takes_something"
            ),
            models.CheckConstraint(
                condition=Q(quota_per_day__gte=1) & Q(quota_total__gte=1), name="phase_quotas_are_positive"
            ),
            models.CheckConstraint(
                condition=Q(quota_everybody=None) | Q(quota_everybody__gte=1), name="phase_quota_of_all_is_positive"
            ),
            models.CheckConstraint(
                condition=Q(gpus=0, gpu_memory_gb=0) | Q(gpus__gte=1, gpus__lte=MAX_GPUS), name="phase_gpus_in_range"
            ),
            # A comparison with NULL is unknown, and a check that is unknown passes.
            models.CheckConstraint(
                condition=Q(
                    disclosure="sealed",
                    sealed_until__isnull=False,
                    closes_at__isnull=False,
                    closes_at__lte=F("sealed_until"),
                )
                | (~Q(disclosure="sealed") & Q(sealed_until=None, unsealed_at=None)),
                name="phase_is_sealed_until_it_has_closed",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.benchmark.title}: {self.title}"

    def get_absolute_url(self) -> str:
        return reverse("leaderboard", args=[self.benchmark.slug, self.slug])

    def is_open(self, at: datetime | None = None) -> bool:
        """Return whether the phase accepts a submission that is received at the time `at` (None: now).

        False before `opens_at`, except in a draft, and after `closes_at`, and if the split is not in use (`is_in_use`).
        Extensions of the deadline for single teams are not considered.
        """
        at = at or timezone.now()
        has_opened = not self.is_to_come(at) or self.benchmark.is_draft
        return self.is_in_use and has_opened and not self.is_past(at)

    @property
    def is_in_use(self) -> bool:
        """Return whether the phase's split is published and not retired; in a draft benchmark, a draft split is too."""
        return self.split_is_shown and self.split.state != Split.State.RETIRED

    @property
    def split_is_shown(self) -> bool:
        """Return whether those who see the phase see its split too: the split is no draft, or the benchmark is one."""
        return not self.split.is_draft or self.benchmark.is_draft

    @property
    def is_sealed(self) -> bool:
        """Return whether this is a sealed phase whose final submissions are not scored yet.

        At `sealed_until`, the sweep unseals the phase and scores these.
        """
        return self.disclosure == Phase.Disclosure.SEALED and self.unsealed_at is None

    @property
    def logs_are_shown(self) -> bool:
        """Return whether a team sees the logs of its own containers.

        Unless `shows_logs` is set, True only if the split's inputs are public, because logs could leak hidden inputs.
        """
        return self.split.inputs_public if self.shows_logs is None else self.shows_logs

    def is_to_come(self, at: datetime | None = None) -> bool:
        """Return whether the phase opens later than the time `at` (None: now)."""
        return self.opens_at is not None and (at or timezone.now()) < self.opens_at

    def is_past(self, at: datetime | None = None) -> bool:
        """Return whether the phase had closed before the time `at` (None: now). Teams' extensions are ignored."""
        return self.closes_at is not None and self.closes_at < (at or timezone.now())


class Change(Enum):
    """When organisers may change a field of a phase on the page that edits the phase.

    UNTIL_SUBMITTED: until the phase has submissions, since scores, and what is shown of them, depend on it. ELSEWHERE:
    never, or on another page.
    """

    ANY_TIME = auto()
    UNTIL_SUBMITTED = auto()
    ELSEWHERE = auto()


class PhaseField(NamedTuple):
    """Who may change a field of a phase, and how it is written.

    in_admin: whether the admin may change it. is_promised: what is proposed for a new phase may change with a release,
    or depends on other fields, so a manifest that leaves the field out and one that has it are different.
    """

    change: Change
    in_admin: bool = False
    is_promised: bool = False


_ALWAYS = PhaseField(Change.ANY_TIME, in_admin=True)
_FIXED = PhaseField(Change.UNTIL_SUBMITTED)
_SHOWN = PhaseField(Change.UNTIL_SUBMITTED, is_promised=True)
PHASE_FIELDS = {
    "slug": PhaseField(Change.ELSEWHERE),
    "title": _ALWAYS,
    "split": _FIXED,
    "options": _FIXED,
    "opens_at": _ALWAYS,
    "closes_at": _ALWAYS,
    "quota_per_day": PhaseField(Change.ANY_TIME, in_admin=True, is_promised=True),
    "quota_total": PhaseField(Change.ANY_TIME, in_admin=True, is_promised=True),
    "quota_everybody": _ALWAYS,
    "disclosure": _SHOWN,
    "scope": _SHOWN,
    "subset": _FIXED,
    "exact_scores": _SHOWN,
    "least_groups": _SHOWN,
    "detailed_answers": _SHOWN,
    "afterwards": _SHOWN,
    "sealed_until": PhaseField(Change.ANY_TIME),
    "finals_per_team": _ALWAYS,
    "takes_predictions": _ALWAYS,
    "takes_images": _ALWAYS,
    "limits": _ALWAYS,
    "gpus": _ALWAYS,
    "gpu_memory_gb": _ALWAYS,
    "time_zone": PhaseField(Change.ANY_TIME),
    "shows_logs": _ALWAYS,
    "tracks": PhaseField(Change.ELSEWHERE),
}
"""The fields of Phase that organisers declare, in the order of a manifest.

Their types, ranges, choices, defaults and texts are those of the model, from which manifest, form and API are made.
"""
FIXED_ONCE_SUBMITTED = tuple(n for n, field in PHASE_FIELDS.items() if field.change is Change.UNTIL_SUBMITTED)


def declared_range(column: Any) -> tuple[int | None, int | None]:
    """Return the (smallest, largest) value that a model's field declares with validators; None: no limit."""
    limits = {type(check): check.limit_value for check in column.deconstruct()[3].get("validators", ())}
    return limits.get(MinValueValidator), limits.get(MaxValueValidator)


TEASER_SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg"}


def teaser_name(instance: Teaser, filename: str) -> str:
    """Return a random name under which a picture is stored, with the suffix of its media type.

    filename: name of the uploaded file, which is ignored.
    """
    return f"teaser/{uuid.uuid4().hex}{TEASER_SUFFIXES[instance.media_type]}"


class Teaser(models.Model):
    """The picture of a benchmark: on its page, on its card, and in previews of links to it."""

    benchmark = models.OneToOneField(Benchmark, on_delete=models.PROTECT, related_name="teaser")
    file = models.FileField(storage=inputs_storage, upload_to=teaser_name)
    media_type = models.CharField(max_length=10, choices=[(media_type, media_type) for media_type in TEASER_SUFFIXES])
    sha256 = models.CharField(max_length=64)
    bytes = models.PositiveIntegerField()
    width = models.PositiveSmallIntegerField(help_text="in pixels")
    height = models.PositiveSmallIntegerField(help_text="in pixels")
    alternative_text = models.CharField(max_length=300, help_text="what the picture shows, for those who do not see it")
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            # Archives may come from anybody, and browsers run scripts in other types, such as SVG.
            models.CheckConstraint(condition=Q(media_type__in=list(TEASER_SUFFIXES)), name="teaser_is_png_or_jpeg"),
        ]

    def __str__(self) -> str:
        return f"picture of {self.benchmark}"

    def get_absolute_url(self) -> str:
        return reverse("teaser", args=[self.benchmark.slug, self.sha256])
