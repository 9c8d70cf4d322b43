"""A file on its way here: sent in pieces, each where the last one ended, over as many requests as it takes."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.core.files.storage import Storage
from django.db import models

KEPT = timedelta(days=2)
"""An upload that nobody goes on with is forgotten after so long."""


class PieceUpload(models.Model):
    """What any such upload says of itself; `actions/files/pieces.py` moves it on.

    `received` counts what is stored safely: an upload that broke off goes on from there. A model of it has `by`, the
    person who sends it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=255, help_text="the file's name, for messages")
    bytes = models.PositiveBigIntegerField(help_text="announced")
    sha256 = models.CharField(max_length=64, blank=True, help_text="announced, if the sender knows it")
    received = models.PositiveBigIntegerField(default=0)
    pieces = models.JSONField(default=list, help_text="stored names, in order")
    began_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(auto_now=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.name}: {self.received} of {self.bytes} bytes"

    @staticmethod
    def storage() -> Storage:
        """Where its pieces lie until they are put together."""
        raise NotImplementedError

    @property
    def is_whole(self) -> bool:
        return self.received == self.bytes
