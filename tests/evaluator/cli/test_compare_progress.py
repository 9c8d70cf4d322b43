"""What `compare` says on standard error while it works."""

import sys

import pytest

from evaluator.cli import progress_line
from evaluator.progress import Steps, progress_listener
from tests.evaluator.cli.test_compare_command import COMPARE, folder, run  # noqa: F401  - a fixture

RIGHT = [*COMPARE, "mine.jsonl", "theirs.jsonl", "--json"]


def test_shares_rise_to_the_whole_and_results_stay(folder, capsys, monkeypatch):  # noqa: F811
    alone = run(capsys, *RIGHT)[1]
    heard = []
    with progress_listener(heard.append):
        monkeypatch.setattr("evaluator.cli.main.patience", lambda what: progress_listener(heard.append))
        assert run(capsys, *RIGHT)[1] == alone
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(1)
    assert len(heard) > 2


def test_a_terminal_sees_the_share_and_keeps_a_clean_line(folder, capsys, monkeypatch):  # noqa: F811
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, _, err = run(capsys, *RIGHT)
    assert "\r\x1b[Kcomparing: 100 %" in err
    assert err.endswith("\r\x1b[K")


def test_a_script_gets_a_line_every_ten_seconds(folder, capsys, monkeypatch):  # noqa: F811
    moments = iter(range(0, 10_000, 6))
    monkeypatch.setattr(progress_line.time, "monotonic", lambda: float(next(moments)))
    lines = run(capsys, *RIGHT)[2].splitlines()
    assert lines
    assert all(line.startswith("comparing: ") and "%" in line for line in lines)
    assert [int(line.split()[-2]) for line in lines][:2] == [12, 24]


def test_nothing_is_said_of_a_short_job(folder, capsys):  # noqa: F811
    assert run(capsys, *RIGHT)[2] == ""


def test_no_work_is_no_share():
    heard = []
    with progress_listener(heard.append):
        Steps(0).add(0)
    assert heard == []
