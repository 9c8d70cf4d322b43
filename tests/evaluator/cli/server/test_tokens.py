"""Where tokens are stored, and which one is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluator.cli.server.tokens import connect
from evaluator.client import token_store
from evaluator.client.token_store import StoredTokens
from evaluator.errors import UsageError
from tests.evaluator.client.test_http import answering

SERVER = "https://board.example"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("HOLDOUT_TOKEN", raising=False)
    return tmp_path


def sent_with(token_file: str | None) -> str:
    """The Authorization header that a server sees."""
    with answering(200, b"{}") as server:
        token_store.write(StoredTokens(server.address, {server.address: "of-the-login"}))
        connect(None, token_file).get("tasks/")
    return server.asked[0][1]


def test_a_token_file_overrides_the_environment_which_overrides_a_login(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "token").write_text("of-the-file\n")
    assert sent_with(None) == "Token of-the-login"
    monkeypatch.setenv("HOLDOUT_TOKEN", "of-the-environment\n")
    assert sent_with(None) == "Token of-the-environment"
    assert sent_with(str(home / "token")) == "Token of-the-file"
    with pytest.raises(UsageError, match="cannot read --token-file"):
        sent_with(str(home / "absent"))


def test_a_token_is_sent_only_to_its_own_server() -> None:
    token_store.write(StoredTokens(SERVER, {SERVER: "secret"}))
    with answering(200, b"{}") as other:
        connect(other.address, None, needs_token=False).get("tasks/")
    assert other.asked == [("/api/v1/tasks/", "")]
    with pytest.raises(UsageError, match="there is no token"):
        connect(other.address, None)


def test_without_a_login_a_server_must_be_given() -> None:
    with pytest.raises(UsageError, match="no server is given"):
        connect(None, None, needs_token=False)


def test_other_users_cannot_read_stored_tokens(home: Path) -> None:
    token_store.write(StoredTokens(SERVER, {SERVER: "secret"}))
    assert token_store.token_path().stat().st_mode & 0o777 == 0o600
    assert token_store.token_path().parent.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in token_store.token_path().parent.iterdir()] == ["servers.json"]
    token_store.token_path().chmod(0o644)
    with pytest.raises(UsageError, match="can be read by other users") as error:
        token_store.read()
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("content", ["", "[]", '{"latest": "x"}', '{"latest": "x", "tokens": ["secret"]}', "\ufeff{}"])
def test_an_invalid_token_file_is_refused(content: str) -> None:
    token_store.token_path().parent.mkdir(parents=True)
    token_store.token_path().write_text(content)
    token_store.token_path().chmod(0o600)
    with pytest.raises(UsageError, match="delete it") as error:
        token_store.read()
    assert "secret" not in str(error.value)
