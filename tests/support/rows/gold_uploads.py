"""Uploads of gold files with four claims, and checks of refused ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from leaderboard.core.refusal import Refused
from tests.support.rows import tiny_world
from tests.support.rows.tiny_world import gold_lines

_sent: list[Any] = []


def close_all() -> None:
    """Close uploads, as the end of a request does."""
    while _sent:
        _sent.pop().close()


def uploaded(content: bytes, name: str = "inputs.jsonl") -> Any:
    """Return a file like one from the upload handler; `close_all` closes it."""
    _sent.append(tiny_world.uploaded(content, name))
    return _sent[-1]


def files_of(name: str) -> set[Path]:
    folder = settings.DATA / "files" / name
    return {path for path in folder.rglob("*") if path.is_file()}


def edited(change: Callable[[list[dict[str, Any]]], Any]) -> bytes:
    rows = [json.loads(line) for line in gold_lines().splitlines()]
    change(rows)
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def refusal(action: Callable[..., Any], **arguments: Any) -> Refused:
    with pytest.raises(Refused) as caught:
        action(**arguments)
    return caught.value
