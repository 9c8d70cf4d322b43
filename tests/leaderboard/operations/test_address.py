"""Where the site is, as commands of another terminal learn it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from leaderboard.operations import embedded


def test_what_is_served_tells_its_address_while_it_is(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDOUT_BASE_URL", raising=False)
    settings.BASE_URL = "http://127.0.0.1:8000"
    with embedded.announced(tmp_path, "http://127.0.0.1:8311/"):
        assert embedded.address(tmp_path) == "http://127.0.0.1:8311"
    assert embedded.address(tmp_path) == "http://127.0.0.1:8000"


def test_a_site_that_breaks_off_is_not_announced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KeyboardInterrupt), embedded.announced(tmp_path, "http://127.0.0.1:8311"):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_an_operators_word_goes_first(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDOUT_BASE_URL", "https://holdout.example")
    settings.BASE_URL = "https://holdout.example"
    with embedded.announced(tmp_path, "http://127.0.0.1:8311"):
        assert embedded.address(tmp_path) == "https://holdout.example"
