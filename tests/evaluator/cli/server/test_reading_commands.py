"""`holdout-eval login`, the commands that read from a server, and those that hide and rename, against a live server."""

from __future__ import annotations

import csv
import getpass
import hashlib
import io
import json
import re
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from knox.models import AuthToken

from evaluator.cli.main import main
from evaluator.cli.server import submit
from evaluator.cli.tables import submission_table
from evaluator.client import token_store
from leaderboard.accounts.actions import teams
from leaderboard.core.api.pagination import Pages
from leaderboard.models import Benchmark, Membership, Phase, Standing, State, Submission, System
from tests.support.api_calls import person
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.tiny_world import World, build, prediction_lines

pytestmark = pytest.mark.django_db(transaction=True)
BOARD = ("show-board", "--benchmark", "tiny", "--phase", "test")
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def world(transactional_db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("HOLDOUT_TOKEN", raising=False)
    monkeypatch.chdir(tmp_path)
    return build()


@pytest.fixture
def run(world: World, live_server: Any, capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command against the server; return its status, output and errors, without passwords or tokens."""

    def run(*words: str, server: str | None = live_server.url) -> tuple[int, str, str]:
        status = main([*words, *(["--server", server] if server else [])])
        out, err = (stream.decode() for stream in capsysbinary.readouterr())
        for secret in ("correct horse", *token_store.read().tokens.values()):
            assert secret not in out + err
        return status, out, err

    return run


@pytest.fixture
def typing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Simulate a person at a terminal who types the given password."""

    def typing(password: str) -> None:
        monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
        monkeypatch.setattr(getpass, "getpass", lambda _: password)

    return typing


def test_a_login_applies_to_later_commands(run: Run, typing: Any, world: World, live_server: Any) -> None:
    typing("correct horse")
    status, _, err = run("login", "--user", "ada")
    assert status == 0, err
    assert set(token_store.read().tokens) == {live_server.url}
    stand(world, "Bernoulli", symmetric_scores(0.75))
    submission = Submission.objects.get()
    status, out, err = run("show-scores", str(submission.pk), server=None)
    assert status == 0, err
    assert ["accuracy", "all", "0.7500"] in [line.split()[:3] for line in out.splitlines()]
    assert run("logout", server=None)[0] == 0
    assert not AuthToken.objects.exists() and not token_store.read().tokens
    assert run("show-scores", str(submission.pk))[0] == 64


def test_a_wrong_password_stores_nothing(run: Run, typing: Any) -> None:
    typing("wrong horse")
    status, _, err = run("login", "--user", "ada")
    assert (status, "(authentication_failed)" in err) == (64, True), err
    assert not token_store.token_path().exists()


def test_a_password_is_requested_only_at_a_terminal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("correct horse\n"))
    status, _, err = run("login", "--user", "ada")
    assert (status, "--token-file" in err) == (64, True)


def test_a_token_is_checked_before_it_is_stored(run: Run, world: World) -> None:
    Path("token").write_text("0" * 64)
    assert run("login", "--token-file", "token")[0] == 64
    assert not token_store.token_path().exists()
    Path("token").write_text(AuthToken.objects.create(user=world.researcher)[1])
    assert run("login", "--token-file", "token")[0] == 0
    assert list(token_store.read().tokens.values()) == [Path("token").read_text()]


def test_benchmarks_are_listed_without_an_account(run: Run, world: World) -> None:
    Benchmark.objects.create(slug="draft", title="Draft", task=world.benchmark.task, dataset=world.split.dataset)
    status, out, _ = run("list-benchmarks")
    assert (status, [line.split()[0] for line in out.splitlines()]) == (0, ["benchmark", "tiny"])
    assert json.loads(run("list-benchmarks", "--json", "--search", "zebra")[1]) == []


def test_ones_own_teams_are_listed(run: Run, world: World) -> None:
    mate = person("grace")
    compilers = teams.create(name="Compilers", by=mate)
    teams.system(team=compilers, name="A-0", by=mate)
    teams.create(name="Others", by=mate)
    Membership.objects.create(team=compilers, user=world.researcher)
    Path("token").write_text(AuthToken.objects.create(user=world.researcher)[1])
    status, out, err = run("list-teams", "--token-file", "token")
    assert status == 0, err
    assert [re.split(" {2,}", line) for line in out.splitlines()] == [
        ["team", "you are", "members", "systems"],
        ["Analytical Engines", "owner", "ada", "Bernoulli"],
        ["Compilers", "member", "grace, ada", "A-0"],
    ]
    listed = json.loads(run("list-teams", "--token-file", "token", "--json")[1])
    assert [row["name"] for row in listed] == ["Analytical Engines", "Compilers"]


def test_ones_own_submissions_are_listed_with_state_score_and_rank(run: Run, world: World) -> None:
    command = "list-submissions"
    queued = world.insert_run().prediction.submission
    Path("token").write_text(AuthToken.objects.create(user=world.researcher)[1])
    status, out, err = run(command, "--token-file", "token", "--benchmark", "tiny", "--state", "queued")
    assert status == 0, err
    head, row = (re.split(" {2,}", line) for line in out.splitlines())
    assert head == ["received (UTC)", "benchmark", "phase", "system", "state", "score", "rank", "id"]
    received = f"{queued.received_at:%Y-%m-%d %H:%M}"
    assert row == [received, "tiny", "test", "Bernoulli", "queued", "-", "-", str(queued.pk)]
    (listed,) = json.loads(run(command, "--token-file", "token", "--search", "bern", "--json")[1])
    assert (listed["value"], listed["rank"], listed["primary"]) == (None, None, "")
    assert json.loads(run(command, "--token-file", "token", "--system", "Jacquard", "--json")[1]) == []
    scored = {**listed, "value": 0.75, "primary": "accuracy", "rank": 2}
    assert "0.7500 accuracy  2 " in submission_table([scored])


def test_a_submission_is_taken_off_the_board_and_put_back_and_its_system_renamed(run: Run, world: World) -> None:
    submission = stand(world, "Loom", symmetric_scores(0.5)).submission
    Path("token").write_text(AuthToken.objects.create(user=world.researcher)[1])
    token = ("--token-file", "token")
    status, out, err = run("take-off-board", str(submission.pk), "--json", *token)
    assert (status, json.loads(out)["hidden_by"]) == (0, "team"), err
    assert "off the board" in err and not Standing.objects.filter(system=submission.system).exists()
    assert run("put-back", str(submission.pk), *token)[0] == 0
    assert Standing.objects.filter(system=submission.system).exists()
    assert run("take-off-board", "nothing", *token)[0] == 64
    assert run("rename-system", "loom", "Jacquard", *token)[0] == 0
    submission.system.refresh_from_db()
    assert submission.system.name == "Jacquard"
    status, _, err = run("rename-system", "Loom", "Engine", *token)
    assert status == 64 and "expected the name of a system of your teams" in err
    twin = System.objects.create(team=teams.create(name="Compilers", by=world.researcher), name="Jacquard")
    status, _, err = run("rename-system", "Jacquard", "Engine", *token)
    assert status == 64 and "expected also its team, one of: Analytical Engines, Compilers" in err
    assert run("rename-system", "Jacquard", "Engine", "--team", "compilers", *token)[0] == 0
    twin.refresh_from_db()
    assert twin.name == "Engine"


def test_a_user_without_a_team_gets_a_message(run: Run, world: World) -> None:
    Path("token").write_text(AuthToken.objects.create(user=person("grace"))[1])
    status, out, err = run("list-teams", "--token-file", "token", "--json")
    assert (status, json.loads(out)) == (0, [])
    assert "in no team" in err
    assert run("list-teams")[0] == 64


def test_all_pages_of_a_list_are_read(run: Run, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pages, "max_page_size", 2)
    for name in ("One", "Two", "Three", "Four"):
        teams.create(name=name, by=world.researcher)
    Path("token").write_text(AuthToken.objects.create(user=world.researcher)[1])
    listed = json.loads(run("list-teams", "--token-file", "token", "--json")[1])
    assert [row["name"] for row in listed] == ["Analytical Engines", "Four", "One", "Three", "Two"]


def test_inputs_are_downloaded_completely_and_not_overwritten(run: Run, world: World) -> None:
    status, _, err = run("download-inputs", "--benchmark", "tiny")
    assert status == 0, err
    content = Path("tiny-test-inputs.jsonl").read_bytes()
    assert hashlib.sha256(content).hexdigest() == world.split.inputs_sha256
    assert run("download-inputs", "--benchmark", "tiny")[0] == 64
    assert (
        run("download-inputs", "--benchmark", "tiny", "--output", "tiny-test-inputs.jsonl", "--phase", "test")[0] == 0
    )


def test_inputs_with_a_wrong_digest_are_not_stored(run: Run, world: World) -> None:
    world.split.inputs_sha256 = "0" * 64
    world.split.save()
    status, _, err = run("download-inputs", "--benchmark", "tiny")
    assert (status, f"expected {'0' * 64}" in err) == (4, True)
    assert list(Path().glob("*.jsonl")) == [] and list(Path().glob("tmp*")) == []


@pytest.mark.parametrize("words", [("--phase", "final"), ("--split", "nowhere")])
def test_inputs_of_an_unknown_phase_or_split(run: Run, words: tuple[str, ...]) -> None:
    assert run("download-inputs", "--benchmark", "tiny", *words)[0] == 64
    assert not list(Path().glob("tmp*"))


def test_pending_scores_have_their_own_exit_status(run: Run, world: World) -> None:
    Path("token").write_text(AuthToken.objects.create(user=world.researcher)[1])
    submission = world.insert_run().prediction.submission
    status, out, err = run("show-scores", str(submission.pk), "--token-file", "token")
    assert (status, out) == (75, ""), err
    assert "--wait" in err
    assert run("show-scores", "../benchmarks", "--token-file", "token")[0] == 64


def test_scores_that_are_not_revealed(run: Run, world: World) -> None:
    Path("token").write_text(AuthToken.objects.create(user=world.researcher)[1])
    done = {"finished_at": timezone.now(), "outcomes": "outcomes", "outcomes_sha256": "0" * 64, "attempt": 1}
    scored = world.insert_run(state=State.DONE, **done).prediction.submission_id
    soon = timezone.now() + timedelta(days=1)
    Phase.objects.update(disclosure="sealed", sealed_until=soon, closes_at=soon)
    status, out, err = run("show-scores", str(scored), "--token-file", "token")
    assert (status, out) == (0, ""), err
    assert "scored when it is unsealed" in err


def test_a_board_as_text(run: Run, world: World) -> None:
    stand(world, "First", symmetric_scores(0.75))
    stand(world, "Second", symmetric_scores(0.5))
    status, out, err = run(*BOARD, "--measure", "accuracy", "--slices", "origin")
    assert status == 0, err
    head, first, second = out.splitlines()
    assert head.split("  ")[0] == "rank" and "accuracy origin=original" in head
    assert first.split()[:2] == ["1", "First"] and "0.7500 [0.6500, 0.8500]" in first
    assert second.split()[:2] == ["2", "Second"]


def test_a_board_in_the_servers_own_formats(run: Run, world: World) -> None:
    stand(world, "First", symmetric_scores(0.75))
    for option, suffix in {"csv": "csv", "markdown": "md", "latex": "tex", "bibtex": "bib"}.items():
        status, out, err = run(*BOARD, f"--{option}")
        assert status == 0, err
        assert out == Client().get(f"/api/v1/benchmarks/tiny/phases/test/leaderboard.{suffix}").content.decode()
    (row,) = csv.DictReader(io.StringIO(run(*BOARD, "--csv", "--measure", "accuracy")[1]))
    assert (row["system"], row["accuracy"]) == ("First", "0.75")
    assert json.loads(run(*BOARD, "--json")[1])["rows"][0]["rank"] == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--measure", "beauty"), "beauty"),
        (("--gold-version", "1"), "expected it together with gold_version"),
        (("--gold-version", "7", "--task-version", "7"), "has no public board"),
        (("--json", "--csv"), "not allowed with"),
    ],
)
def test_invalid_board_options_are_refused(run: Run, words: tuple[str, ...], text: str) -> None:
    status, out, err = run(*BOARD, *words)
    assert (status, text in out + err) == (64, True), err


def test_an_unavailable_server_has_its_own_exit_status(run: Run) -> None:
    assert run("list-benchmarks", server="http://127.0.0.1:9")[0] == 4


def test_validate_for_a_phase_needs_neither_task_nor_inputs_nor_token(run: Run, world: World) -> None:
    where = ("--benchmark", "tiny", "--phase", "test")
    Path("predictions.jsonl").write_bytes(prediction_lines())
    status, out, err = run("validate", "predictions.jsonl", *where)
    assert (status, out) == (0, f"predictions.jsonl: {len(prediction_lines().splitlines())} lines, no problems\n"), err
    Path("predictions.jsonl").write_text('{"id": "zz", "predicted_label": "SUPPORTS"}\n')
    status, out, err = run("validate", *where, "predictions.jsonl", "--json")
    assert status == 2 and json.loads(out)["fault"] == "predictions" and "predictions.jsonl" in err
    status, _, err = run("validate", "predictions.jsonl", "--benchmark", "tiny", "--phase", "final")
    assert status == 64 and 'phase is "final", expected a phase of the benchmark: test' in err
    assert run("validate", "predictions.jsonl", *where, "--inputs", "x.jsonl")[0] == 64
    world.split.inputs_public = False
    world.split.save()
    status, _, err = run("validate", "predictions.jsonl", *where)
    assert status == 64 and "not_found" in err


def test_the_top_of_a_board_fits_a_terminal(run: Run, world: World) -> None:
    for number in range(4):
        stand(
            world, f"System {number} with a name of many words, none of them short", symmetric_scores(0.9 - number / 10)
        )
    status, out, err = run(*BOARD, "--top", "3")
    lines = out.splitlines()
    assert status == 0, err
    assert len(lines) == 4 and max(map(len, lines)) <= 80 and lines[0].split() == ["rank", "accuracy", "system", "team"]
    assert [line.split()[:2] for line in lines[1:]] == [["1", "0.9000"], ["2", "0.8000"], ["3", "0.7000"]]
    assert all("…" in line for line in lines[1:])
    assert run(*BOARD, "--top", "0")[0] == 64
    assert run(*BOARD, "--top", "2", "--csv")[0] == 64


def test_a_scored_submission_has_rank_and_score(run: Run, typing: Any, world: World) -> None:
    typing("correct horse")
    run("login", "--user", "ada")
    stand(world, "Leader", symmetric_scores(0.9), team="Others")
    own = stand(world, "Bernoulli", symmetric_scores(0.75)).submission_id
    assert run("show-scores", str(own))[1].splitlines()[0] == "accuracy 0.7500, rank 2 of 2"
    Standing.objects.update(rank_low=1, rank_high=2)
    assert run("show-scores", str(own))[1].splitlines()[0] == "accuracy 0.7500, rank 2 of 2 (could be 1 to 2)"


def test_a_ladders_rounded_score_is_not_repeated() -> None:
    """The table shows it; here it would look exact."""
    result = {"primary": "accuracy", "rank": 3, "is_tied": True, "n_ranked": 4, "rank_low": None, "rank_high": None}
    scores = {"policy": "ladder", "scores": [{"measure": "accuracy", "slice": {}, "value": 0.4}]}
    assert submit._result_lines({"result": {**result, "is_shown": True}}, scores) == ["rank 3= of 4"]
    exact = {**scores, "policy": "full"}
    shown = submit._result_lines({"result": {**result, "is_shown": False}}, exact)
    assert shown == ["accuracy 0.4000, the board shows a better submission, at rank 3= of 4"]
    assert submit._result_lines({"result": None}, exact) == [], "it is not on the board"
