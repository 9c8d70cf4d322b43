"""The address file, from which commands in another terminal learn the site's address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leaderboard.operations import embedded


def test_the_address_is_recorded_while_the_site_is_served(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDOUT_BASE_URL", raising=False)
    settings.BASE_URL = "http://127.0.0.1:8000"
    with embedded.announced(tmp_path, "http://127.0.0.1:8311/"):
        assert embedded.address(tmp_path) == "http://127.0.0.1:8311"
    assert embedded.address(tmp_path) == "http://127.0.0.1:8000"


def test_an_interrupted_site_is_not_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt), embedded.announced(tmp_path, "http://127.0.0.1:8311"):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_the_operators_setting_has_priority(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDOUT_BASE_URL", "https://holdout.example")
    settings.BASE_URL = "https://holdout.example"
    with embedded.announced(tmp_path, "http://127.0.0.1:8311"):
        assert embedded.address(tmp_path) == "https://holdout.example"
