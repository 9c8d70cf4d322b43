"""Uploads by the tus protocol through Django's test client."""

from __future__ import annotations

import base64
from typing import Any

from django.test import Client

from leaderboard.core.api.tus import MEDIA_TYPE

VERSION = {"Tus-Resumable": "1.0.0"}


def create(client: Client, at: str, size: int, **metadata: str) -> Any:
    """Begin an upload at the address `at`; return the response. metadata: pairs of Upload-Metadata, as text."""
    pairs = ",".join(f"{name} {base64.b64encode(text.encode()).decode()}" for name, text in metadata.items())
    headers = {**VERSION, "Upload-Length": str(size), **({"Upload-Metadata": pairs} if pairs else {})}
    return client.post(at, b"", content_type=MEDIA_TYPE, headers=headers)


def append(client: Client, upload: dict[str, Any], offset: int, chunk: bytes) -> Any:
    """Send a chunk of an upload, which is the JSON of its creation; return the response."""
    headers = {**VERSION, "Upload-Offset": str(offset)}
    return client.patch(upload["url"], chunk, content_type=MEDIA_TYPE, headers=headers)
