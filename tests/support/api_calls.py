"""API calls as a given user."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from leaderboard.accounts.actions import tokens
from leaderboard.models import AuditEntry, Prediction, QuotaCharge, Run, Submission, System, User

ROOT = "/api/v1"
SUBMIT = f"{ROOT}/benchmarks/tiny/phases/test/submissions/"


def person(name: str, **rights: Any) -> User:
    return User.objects.create_user(name, f"{name}@holdout.example", "correct horse", **rights)


def client_of(user: User | None = None, **more: Any) -> Client:
    """Return a client with a token of this user, or without one. Server errors are responses, as for real clients."""
    headers = {"Authorization": f"Token {tokens.issue(by=user)[1]}"} if user else {}
    return Client(headers=headers, raise_request_exception=False, **more)


def send(client: Client, content: bytes, name: str = "predictions.jsonl", **fields: Any) -> Any:
    """Upload a file as a form."""
    return client.post(SUBMIT, {"system": "Bernoulli", "file": SimpleUploadedFile(name, content), **fields})


def error_of(response: Any) -> dict[str, Any]:
    """Return the members of an error response that are Holdout's own: `code`, `message` and those of the code."""
    standard = ("type", "title", "status", "detail", "instance")
    return {name: value for name, value in json.loads(response.content).items() if name not in standard}


def fixed_text(content: str | bytes) -> str:
    """Return a response's text without times of day, UUIDs and tokens, in which any digits and letters can occur."""
    text = content.decode(errors="replace") if isinstance(content, bytes) else content
    text = re.sub(r"\d\d:\d\d:\d\d\.\d+", "", text)
    text = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "", text)
    return re.sub(r'(name="csrfmiddlewaretoken" value=)"\w+"', r"\1", text)


def stored_files() -> list[str]:
    """Return every file in the predictions' store and in the folder of unfinished uploads."""
    folders = (Path(settings.DATA) / "files" / "predictions", Path(settings.FILE_UPLOAD_TEMP_DIR))
    walks = (found for folder in folders for found in os.walk(folder))
    return sorted(f"{folder}/{name}" for folder, _, names in walks for name in names)


def footprint() -> dict[str, Any]:
    """Return the state that a refused upload must not change."""
    rows = {model.__name__: model.objects.count() for model in (Submission, Prediction, Run, QuotaCharge, System)}
    charged = AuditEntry.objects.filter(action="submission.accepted").count()
    return {**rows, "accepted": charged, "files": stored_files()}
