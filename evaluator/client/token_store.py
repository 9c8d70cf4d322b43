"""Stored API tokens by server: one file that only the user can read."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evaluator.errors import UsageError, shown


@dataclass
class StoredTokens:
    """Content of the token file.

    latest: the address of the server of the last log-in, which is the default of all commands. tokens: the API token of
    each server, by its address.
    """

    latest: str = ""
    tokens: dict[str, str] = field(default_factory=dict)


def token_path() -> Path:
    """Return the path of the token file: holdout/servers.json below XDG_CONFIG_HOME, or below ~/.config."""
    home = os.environ.get("XDG_CONFIG_HOME", "")
    return (Path(home) if home else Path.home() / ".config") / "holdout" / "servers.json"


def read() -> StoredTokens:
    """Return the content of the token file; if there is no file, StoredTokens without any token.

    Raises UsageError if other users can read the file, or if it is invalid.
    """
    path = token_path()
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise UsageError(f"{shown(str(path))} can be read by other users: run chmod 600 on it, or log in again")
            content: Any = json.load(file)
        return StoredTokens(
            str(content["latest"]), {str(server): str(token) for server, token in content["tokens"].items()}
        )
    except FileNotFoundError:
        return StoredTokens()
    except OSError as error:
        raise UsageError(f"cannot read {shown(str(path))}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise UsageError(f"{shown(str(path))} is not a valid token file: delete it, and log in again") from None


def write(tokens: StoredTokens) -> None:
    """Replace the token file atomically by one with these tokens. Raises UsageError if it cannot be written."""
    path = token_path()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent)  # with mode 0600
        try:
            with os.fdopen(descriptor, "w") as file:
                json.dump({"latest": tokens.latest, "tokens": tokens.tokens}, file)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {shown(str(path))}: {error.strerror}") from None
