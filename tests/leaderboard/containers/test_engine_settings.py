"""Which engine the settings choose, and what a new attempt does with an earlier one's containers."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from evaluator.errors import SandboxError
from leaderboard.containers.actions import engine, scorer_engine
from leaderboard.evaluation import container_limits


class CancelledJob(Exception):
    """Ends the call of the sandbox."""


class RecordingSandbox:
    def __init__(self) -> None:
        self.cancelled: list[str] = []

    def cancel(self, name: str) -> bool:
        self.cancelled.append(name)
        return False

    def run(self, *arguments: Any, **more: Any) -> None:
        raise CancelledJob

    score = run


@pytest.fixture(autouse=True)
def _new_sandbox() -> Iterator[None]:
    cached = engine.sandbox
    cached.cache_clear()
    yield
    cached.cache_clear()


def test_an_engine_on_another_host_without_certificates_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://engine.example:2375")
    for name in ("DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SandboxError, match="expected TLS to another host"):
        engine.health_check()


def test_a_new_attempt_cancels_the_earlier_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    sandbox, key = RecordingSandbox(), uuid.uuid4()
    monkeypatch.setattr(engine, "sandbox", lambda: sandbox)
    image = "sha256:" + "a" * 64
    row: Any = SimpleNamespace(pk=key, attempt=3)
    shared: dict[str, Any] = {"task": "t", "options": {}, "image": image, "limits": container_limits.defaults()}
    with tempfile.TemporaryFile() as file:
        with pytest.raises(CancelledJob):
            engine.run(prediction=row, inputs=file, into=file, keep_going=lambda: True, **shared)
        assert sandbox.cancelled == [f"{key.hex}-1", f"{key.hex}-2"]
        sandbox.cancelled.clear()
        row.scorer = SimpleNamespace(number=1, measures=[], primary="")
        row.gold_version = SimpleNamespace(dimensions={})
        files: dict[str, Any] = dict.fromkeys(("gold", "predictions", "scores", "outcomes"), file)
        with pytest.raises(CancelledJob):
            scorer_engine.run(run=row, time=1, keep_going=lambda: True, **files, **shared)
        assert sandbox.cancelled == [f"{key.hex}-{attempt}-{number}" for attempt in (1, 2) for number in (1, 2)]
