"""Audits of a split's gold by scoring workers, and curators' answers to the audits' findings.

The log of users' actions on the site is unrelated: see `audit_log`.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from .dataset import GoldVersion
from .state import ACTIVE, LeasedWork, State, lease_constraints


class SplitAudit(LeasedWork):
    """One audit of a gold version, together with the split's inputs and the public training gold (`trains`).

    `report` and `parts` quote gold: only managers of a benchmark with the split see them, and each view is recorded in
    the audit log. `leaderboard.datasets.queries.audit_results` derives a report for everybody.
    """

    gold = models.ForeignKey(GoldVersion, on_delete=models.CASCADE, related_name="audits")
    trains = models.ManyToManyField(GoldVersion, related_name="+", blank=True)
    inputs_sha256 = models.CharField(max_length=64, blank=True, help_text="of the audited inputs")
    options = models.JSONField(default=dict, blank=True, help_text="the task's options at the time of the audit")
    code_sha256 = models.CharField(max_length=64, blank=True, help_text="code digest of the sandbox that ran the audit")
    parts = models.JSONField(default=list, blank=True, help_text="reports of the completed parts, in order")
    report = models.JSONField(
        default=dict, blank=True, help_text="the audit's report (evaluator.curation.audit); empty until done"
    )
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    enqueued_at = models.DateTimeField(help_text="when it was last enqueued for a worker")
    accepted_at = models.DateTimeField(null=True, blank=True, help_text="when it was published with its answers")
    accepted_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["-queued_at", "-id"]
        constraints = [
            *lease_constraints("split_audit"),
            models.UniqueConstraint(
                fields=["gold"],
                condition=Q(state__in=ACTIVE),
                name="one_audit_of_a_gold_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(accepted_at=None, accepted_by=None) | Q(accepted_at__isnull=False, state=State.DONE),
                name="split_audit_public_when_done",
            ),
        ]
        indexes = [models.Index(fields=["state", "queued_at"])]

    def __str__(self) -> str:
        return f"audit of {self.gold}"


class AuditAnswer(models.Model):
    """A curator's answer to one finding of an audit. It becomes public when the audit is published."""

    audit = models.ForeignKey(SplitAudit, on_delete=models.CASCADE, related_name="answers")
    finding = models.PositiveSmallIntegerField(help_text="index in the report, from 0")
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ["audit", "finding"]
        constraints = [
            models.UniqueConstraint(fields=["audit", "finding"], name="one_answer_a_finding"),
            models.CheckConstraint(condition=~Q(text=""), name="audit_answer_says_something"),
        ]

    def __str__(self) -> str:
        return f"answer {self.finding} to {self.audit}"
