"""Teams, invitations to them, and their systems."""

from __future__ import annotations

from datetime import date

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower


class Renamable(models.Model):
    """Abstract model of teams and systems, whose names boards show, and which keep their former names."""

    former_names = models.JSONField(
        default=list, blank=True, editable=False, help_text="objects with `name` and `until`, a date; the latest last"
    )

    class Meta:
        abstract = True

    def former(self) -> list[tuple[str, date]]:
        """Return (former name, day on which the name was changed), the latest first."""
        return [(row["name"], date.fromisoformat(row["until"])) for row in reversed(self.former_names)]


class Team(Renamable):
    """A team of participants. Quotas are per team. A team without members is closed: nobody can submit for it."""

    name = models.CharField(max_length=100)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="teams")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(Lower("name"), name="team_name_once")]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A user's membership in a team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE)
    is_owner = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_place_in_a_team")]

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class Invitation(models.Model):
    """One invitation link. Only its token's sha256 is stored, so that database access does not reveal the link."""

    class Answer(models.TextChoices):
        OPEN = "", "not answered"
        ACCEPTED = "accepted"
        DECLINED = "declined"
        REVOKED = "revoked"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")
    address = models.EmailField(help_text="recipient of the link")
    token_sha256 = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    answer = models.CharField(max_length=10, choices=Answer.choices, default=Answer.OPEN, blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(answer="", answered_at=None) | (~Q(answer="") & Q(answered_at__isnull=False)),
                name="invitation_answered_at_a_moment",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.address} into {self.team}"


class System(Renamable):
    """A method of a team, under a name, that makes predictions."""

    class Kind(models.TextChoices):
        PARTICIPANT = "participant"
        BASELINE = "baseline"
        ORGANISER = "organiser", "organiser\N{RIGHT SINGLE QUOTATION MARK}s own"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="systems")
    name = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    paper_url = models.URLField(blank=True)
    code_url = models.URLField(blank=True)
    facts = models.JSONField(default=dict, blank=True, help_text="{name: value}, for the benchmarks that ask for it")
    bibtex = models.TextField(blank=True, help_text="how to cite it")
    anonymous_until = models.DateTimeField(
        null=True, blank=True, help_text='until then boards show "Anonymous N"; null: the name is shown'
    )
    anonymous_number = models.PositiveIntegerField(
        null=True, blank=True, unique=True, help_text='the N of "Anonymous N"; never reassigned'
    )
    kind = models.CharField(max_length=12, choices=Kind.choices, default=Kind.PARTICIPANT)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="system_name_once_a_team"),
            # A comparison with NULL is unknown, and a check that is unknown passes.
            models.CheckConstraint(
                condition=Q(anonymous_until=None) | Q(anonymous_number__isnull=False),
                name="system_anonymous_has_a_number",
            ),
        ]
        indexes = [
            # Boards ask for the few systems that are anonymous, or of organisers.
            models.Index(
                fields=["anonymous_until"], condition=Q(anonymous_until__isnull=False), name="system_anonymous"
            ),
            models.Index(fields=["kind"], condition=~Q(kind="participant"), name="system_not_participant"),
        ]

    def __str__(self) -> str:
        return self.name
