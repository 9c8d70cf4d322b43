"""Progress of `compare` on standard error."""

import sys

import pytest

from evaluator.cli import progress_line
from evaluator.cli.local import scoring
from evaluator.progress import Steps, progress_listener
from tests.evaluator.cli.test_compare_command import COMPARE, folder, run  # noqa: F401  - a fixture

COMMAND = [*COMPARE, "mine.jsonl", "theirs.jsonl", "--json"]


def test_progress_rises_to_the_whole_and_does_not_change_results(folder, capsys, monkeypatch):  # noqa: F811
    alone = run(capsys, *COMMAND)[1]
    shares = []
    with progress_listener(shares.append):
        monkeypatch.setattr(scoring, "progress_reported", lambda what: progress_listener(shares.append))
        assert run(capsys, *COMMAND)[1] == alone
    assert shares == sorted(shares)
    assert shares[-1] == pytest.approx(1)
    assert len(shares) > 2


def test_a_terminal_shows_the_share_and_clears_its_line(folder, capsys, monkeypatch):  # noqa: F811
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, _, err = run(capsys, *COMMAND)
    assert "\r\x1b[Kcomparing: 100 %" in err
    assert err.endswith("\r\x1b[K")


def test_a_script_gets_a_progress_line_every_ten_seconds(folder, capsys, monkeypatch):  # noqa: F811
    moments = iter(range(0, 10_000, 6))
    monkeypatch.setattr(progress_line.time, "monotonic", lambda: float(next(moments)))
    lines = run(capsys, *COMMAND)[2].splitlines()
    assert lines
    assert all(line.startswith("comparing: ") and "%" in line for line in lines)
    assert [int(line.split()[-2]) for line in lines][:2] == [12, 24]


def test_a_short_job_prints_no_progress(folder, capsys):  # noqa: F811
    assert run(capsys, *COMMAND)[2] == ""


def test_no_steps_report_no_progress():
    shares = []
    with progress_listener(shares.append):
        Steps(0).add(0)
    assert shares == []
