"""Where a command finds its API token: a file, or the environment. Never an argument, which every process can read."""

from __future__ import annotations

import os
from pathlib import Path

from evaluator.errors import UsageError, shown

VARIABLE = "HOLDOUT_TOKEN"


def token(file: str | None) -> str:
    """Raises UsageError that quotes nothing of it."""
    if file is None:
        found = os.environ.get(VARIABLE, "").strip()
        if not found:
            raise UsageError(
                f"there is no token: set {VARIABLE}, or give --token-file FILE (tokens: your page on the site)"
            )
        return found
    try:
        return Path(file).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text of a token"
        raise UsageError(f"cannot read --token-file {shown(file)}: {why}") from None
