"""Team invitations: secret links that work once and expire."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from .team import Team


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
