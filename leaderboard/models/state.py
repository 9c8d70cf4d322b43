"""State, reason and lease of background work such as predictions and runs. The reason explains the state."""

from django.db import models
from django.db.models import Q


class State(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    REJECTED = "rejected", "rejected (the file)"
    FAILED = "failed", "failed (the server)"
    CANCELLED = "cancelled"


ACTIVE = (State.QUEUED, State.RUNNING)
TERMINAL = (State.DONE, State.REJECTED, State.FAILED, State.CANCELLED)


class Reason(models.TextChoices):
    """Reasons why background work is in its state, such as the cause of a failure."""

    NONE = ""
    BAD_PREDICTIONS = "bad_predictions", "the predictions do not fit the format"
    TIME = "time", "scoring the file took longer than allowed"
    MEMORY = "memory", "scoring the file took more memory than allowed"
    OUTPUT = "output", "scoring the file produced no usable report"
    EXIT = "exit", "the scorer stopped with an error"
    BAD_GOLD = "bad_gold", "the benchmark's own files are at fault; its organisers are notified"
    BAD_REPORT = "bad_report", "the scorer reported impossible numbers"
    SANDBOX = "sandbox", "the sandbox could not run"
    STORAGE = "storage", "a stored file is missing or altered"
    LOST = "lost", "every attempt was interrupted"
    INTERNAL = "internal", "an internal error"
    BAD_IMAGE = "bad_image", "the image cannot be accepted"
    SYSTEM_EXIT = "system_exit", "the container ended with an error"
    SYSTEM_TIME = "system_time", "the container reached its time limit"
    SYSTEM_RESOURCES = "resources", "the container reached its limit of memory, processes or space"
    SYSTEM_OUTPUT = "system_output", "the container wrote no usable predictions"
    ENGINE = "engine", "the container engine could not run"
    SCORER = "scorer", "the benchmark's scorer failed; its organisers are notified"
    OUTDATED = "outdated", "the server is being upgraded"
    WITHDRAWN = "withdrawn", "withdrawn"
    SUPERSEDED = "superseded", "replaced by another scoring"


def lease_constraints(name: str) -> list[models.BaseConstraint]:
    """Return the check constraints of a model with a state and a lease. name: prefix of the constraints' names."""
    return [
        models.CheckConstraint(condition=Q(state__in=State.values), name=f"{name}_state_is_known"),
        models.CheckConstraint(
            condition=Q(state__in=TERMINAL, finished_at__isnull=False) | Q(state__in=ACTIVE, finished_at__isnull=True),
            name=f"{name}_finished_when_terminal",
        ),
        models.CheckConstraint(
            condition=Q(state=State.RUNNING, lease_until__isnull=False)
            | (~Q(state=State.RUNNING) & Q(lease_until__isnull=True)),
            name=f"{name}_leased_when_running",
        ),
    ]


class LeasedWork(models.Model):
    """Abstract model of background work: state, attempt, lease and timestamps.

    attempt: number of times that a worker has claimed the row, without attempts that do not count. lease_until: the
    time until which the worker that has claimed the row may write to it; null unless the row is running.
    """

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    reason = models.CharField(max_length=20, choices=Reason.choices, default=Reason.NONE, blank=True)
    attempt = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    queued_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def is_over(self) -> bool:
        return self.state in TERMINAL
