"""Names files for the migrations before the initial one; goes with them."""

from __future__ import annotations


def unguessable_dry_run(instance: object, filename: str) -> str:
    raise NotImplementedError
