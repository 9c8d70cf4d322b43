"""What a monitor is told."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_live_answers_by_any_host_name() -> None:
    response = Client(headers={"host": "10.1.2.3"}).get("/health/live")
    assert (response.status_code, response.content) == (200, b"ok\n")


def test_ready_when_everything_answers(sandbox: str) -> None:
    response = Client().get("/health/ready")
    assert response.json() == {"database": True, "broker": True, "sandbox": True}
    assert response.status_code == 200


def test_not_ready_names_what_does_not_answer(settings: object, tmp_path: Path) -> None:
    settings.SANDBOX_SOCKET = str(tmp_path / "nobody")  # type: ignore[attr-defined]
    response = Client().get("/health/ready")
    assert response.json() == {"database": True, "broker": True, "sandbox": False}
    assert response.status_code == 503
