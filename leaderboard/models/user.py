"""User accounts."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractUser
from django.db import models, transaction

from .audit import AuditEntry


class User(AbstractUser):
    """A user account. Curators may manage all benchmarks, other users those of which they are organisers."""

    email = models.EmailField(unique=True)
    is_curator = models.BooleanField(default=False, help_text="may create benchmarks and manage all of them")
    mailed_since = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="mail is sent for submissions that end after this time; null: never",
    )

    def set_unusable_password(self) -> None:
        super().set_unusable_password()
        self._password = ""  # as after `set_password`, so that `save` takes it for a change

    @transaction.atomic
    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the user; if the password has changed, delete the user's API tokens in the same transaction."""
        # Django sets it in `set_password`, and not when it only renews the hash of the same password.
        is_changed = self._password is not None
        super().save(*args, **kwargs)
        if is_changed and (keys := list(self.auth_token_set.values_list("token_key", flat=True))):
            self.auth_token_set.all().delete()
            AuditEntry.record("token.ended_by_password", self, tokens=keys)
