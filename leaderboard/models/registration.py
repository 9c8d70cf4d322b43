"""Registrations of teams for benchmarks, and participants' agreements to a benchmark's rules."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from .benchmark import Benchmark
from .team import Team


class Registration(models.Model):
    """A team's registration for a benchmark. Teams need one only if `Benchmark.access` is not OPEN."""

    class State(models.TextChoices):
        REQUESTED = "requested"
        APPROVED = "approved"
        DECLINED = "declined"

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="registrations")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="registrations")
    state = models.CharField(max_length=10, choices=State.choices, default=State.REQUESTED)
    message = models.CharField(max_length=500, blank=True, help_text="from the team to the organisers")
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+", help_text="null: no request"
    )
    requested_at = models.DateTimeField()
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    decided_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-requested_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "team"], name="one_registration_a_team"),
            models.CheckConstraint(
                condition=Q(state="requested", decided_at=None) | (~Q(state="requested") & Q(decided_at__isnull=False)),
                name="registration_decided_at_a_moment",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.team} in {self.benchmark}"


class BarQuerySet(models.QuerySet["Bar"]):
    def against(self, *, benchmark: Any, team: Any, user: Any) -> BarQuerySet:
        """Return the bars because of which the user may not submit to the benchmark for the team.

        Each argument is a row, a primary key, or an expression for one. team: None for any team without a bar.
        """
        return self.filter(Q(team=team, team__isnull=False) | Q(people=user), benchmark=benchmark)


class Bar(models.Model):
    """The organisers' decision that a team may not submit to a benchmark, whatever the benchmark's access is.

    It also holds for the people who were members when the team was barred, in any team.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="bars")
    team = models.ForeignKey(
        Team, null=True, on_delete=models.SET_NULL, related_name="bars", help_text="null: it was deleted"
    )
    team_name = models.CharField(max_length=100, help_text="when it was barred")
    people = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="bars", blank=True)
    barred_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    barred_at = models.DateTimeField()

    objects = BarQuerySet.as_manager()

    class Meta:
        ordering = ["-barred_at", "-id"]
        constraints = [models.UniqueConstraint(fields=["benchmark", "team"], name="one_bar_a_team")]

    def __str__(self) -> str:
        return f"{self.team_name} from {self.benchmark}"


class RulesAgreement(models.Model):
    """A user's agreement to one version of a benchmark's rules."""

    benchmark = models.ForeignKey(Benchmark, on_delete=models.PROTECT, related_name="agreements")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    rules_sha256 = models.CharField(max_length=64, help_text="digest of the rules' text (Benchmark.rules_sha256)")
    agreed_at = models.DateTimeField()

    class Meta:
        ordering = ["-agreed_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "user", "rules_sha256"], name="agreed_once_to_a_version")
        ]

    def __str__(self) -> str:
        return f"{self.user} to the rules of {self.benchmark}"
