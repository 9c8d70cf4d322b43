"""Stored files are what their rows say, or nothing is made of them."""

from __future__ import annotations

import hashlib
from typing import Any


class AlteredError(Exception):
    """A stored file no longer has the sha256 that its row names."""


def check_digest(file: Any, expected: str) -> None:
    """Raises AlteredError; the file is at its beginning afterwards."""
    file.seek(0)
    if hashlib.file_digest(file, "sha256").hexdigest() != expected:
        raise AlteredError("a stored file no longer has its sha256")
    file.seek(0)
