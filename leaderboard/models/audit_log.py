"""Audit log: users' actions, and their accesses to gold. The database refuses updates of its rows.

The entries that concern one benchmark are its audit trail (`leaderboard.benchmarks.queries.audit_trail`). Audits of a
split's gold are unrelated: see `split_audit`.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models


class Audited(models.Model):
    """A row that counts the entries about it: from the number, caches and forms see that it has changed."""

    n_entries = models.PositiveIntegerField(
        default=0, editable=False, help_text="number of entries of the audit log about it"
    )

    class Meta:
        abstract = True


class AuditEntry(models.Model):
    """One action: the user, the action, the row concerned, and the time. It never contains gold or file contents."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    action = models.CharField(max_length=60)
    subject = models.CharField(max_length=120, help_text="model:primary key")
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ["-at", "-id"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["subject", "-at"])]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"

    @classmethod
    def record(cls, action: str, subject: models.Model, *, by: Any = None, **detail: Any) -> AuditEntry:
        """Store an entry for an action on the row `subject`, and return the entry.

        action: its name, such as "scorer.added". by: the acting user; None: the server. detail: JSON values by name.
        """
        actor = by if getattr(by, "pk", None) else None
        name = f"{subject._meta.model_name}:{subject.pk}"
        if isinstance(subject, Audited):
            type(subject)._base_manager.filter(pk=subject.pk).update(n_entries=models.F("n_entries") + 1)
        return cls.objects.create(action=action, subject=name, actor=actor, detail=detail)
