"""User accounts."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models


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
        self._password = ""  # as after `set_password`, so that validators learn of the change
