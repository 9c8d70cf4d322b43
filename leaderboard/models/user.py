"""User accounts, their public profiles and API tokens."""

from __future__ import annotations

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.urls import reverse
from django.utils.functional import cached_property


class User(AbstractUser):
    """A user account. Curators may manage all benchmarks, other users the benchmarks that they organise."""

    email = models.EmailField(unique=True)
    is_curator = models.BooleanField(default=False, help_text="may create benchmarks and manage all of them")
    mailed_since = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="mail is sent for submissions that end after this time; null: never",
    )
    news_mailed_since = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="mail is sent for announcements and deadlines after this time; null: never",
    )

    @cached_property
    def n_unread_notices(self) -> int:
        return self.notices.filter(webhook=None, read_at=None).count()

    def set_unusable_password(self) -> None:
        super().set_unusable_password()
        self._password = ""  # as after `set_password`, so that validators learn of the change


class TokenDetails(models.Model):
    """Name, scope and last use of an API token. A token that is older than this table has no row until it is used."""

    class Scope(models.TextChoices):
        READ = "read", "read only"
        SUBMIT = "submit", "read and submit"

    token = models.OneToOneField("knox.AuthToken", primary_key=True, on_delete=models.CASCADE, related_name="details")
    name = models.CharField(max_length=60, blank=True)
    scope = models.CharField(max_length=6, choices=Scope.choices, default=Scope.SUBMIT)
    last_used = models.DateField(null=True, blank=True, help_text="to the day, so that most requests write nothing")

    def __str__(self) -> str:
        return self.name or self.token.token_key


class Profile(models.Model):
    """A user's public profile, shown if `is_public`: a page, and the name on the pages of the user's teams."""

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="profile")
    is_public = models.BooleanField(default=False)
    name = models.CharField(max_length=100)
    affiliation = models.CharField(max_length=200, blank=True)
    url = models.URLField(max_length=300, blank=True)
    orcid = models.CharField(max_length=19, blank=True, help_text="with hyphens; its check digit is right")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("person", args=[self.pk])
