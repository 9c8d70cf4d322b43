"""The limits of files follow from one environment variable, in the sandbox server too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from evaluator.jsonl.decompress import ReadLimits
from evaluator.sandbox.process import launch

PRINT = "from evaluator.jsonl.decompress import ReadLimits as R; print(R().file_bytes, R().lines)"


def test_the_sandbox_server_has_the_limits_of_its_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (ReadLimits().file_bytes, ReadLimits().lines) == (200_000_000, 2_000_000)
    monkeypatch.setenv("HOLDOUT_MAX_FILE_MB", "1000")
    monkeypatch.setenv("HOLDOUT_SECRET_KEY", "secret")
    environment = launch.environment()
    assert "secret" not in environment.values()
    done = subprocess.run(
        [sys.executable, "-c", PRINT], env=environment, cwd=launch.ROOT, capture_output=True, check=True
    )
    assert done.stdout.split() == [b"1000000000", b"10000000"]


@pytest.mark.parametrize("value", ["abc", "-1"])
def test_an_invalid_limit_is_wrong_usage(value: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "evaluator", "score", "fact-checking", "--gold", "gold", "predictions"],
        env={**os.environ, "HOLDOUT_MAX_FILE_MB": value},
        cwd=launch.ROOT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 64
    assert f'HOLDOUT_MAX_FILE_MB is "{value}", expected a whole number, 1 or more' in done.stderr.decode()
