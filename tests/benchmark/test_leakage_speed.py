"""Time of THOROUGH leakage removal by number of training triples: printed, not asserted.

Run with `pytest tests/benchmark/test_leakage_speed.py -m benchmark -s`. It measures the command from file to files in a
separate process, with 10,000 evaluation triples whose ends have up to seven mentions each. Set MILLIONS=1,3,10,30 in
the environment for the paper's size, which takes a file of 1.5 GB and some minutes.
"""

from __future__ import annotations

import os
import shutil
from itertools import islice

import pytest

from evaluator.cli.main import main
from tests.benchmark.support.measuring import timed
from tests.benchmark.support.open_world import OpenWorld

pytestmark = pytest.mark.benchmark
SIZES = [int(number) for number in os.environ.get("MILLIONS", "1,3").split(",")]
EVALUATED = 10_000


def written(folder, n_training):
    OpenWorld().write(folder, n_training, EVALUATED)


def cleaned(training, evaluation, output):
    """Run the command; the process has loaded nothing else."""
    words = ["split", "remove-leakage", training, "--evaluation", evaluation, "--output", output]
    timer = timed(lambda: main([str(word) for word in words]))
    n_left = sum(1 for _ in (output / "train_thorough.tsv").open("rb"))
    return timer, n_left


def test_thorough_leakage_removal(tmp_path, in_new_process, capsys):
    largest, evaluation, training = (tmp_path / name for name in ("training.tsv", "evaluation.tsv", "first.tsv"))
    in_new_process(written, tmp_path, max(SIZES) * 1_000_000)
    first = None
    for size in SIZES:
        with largest.open("rb") as lines, training.open("wb") as file:
            file.writelines(islice(lines, size * 1_000_000))
        timer, n_left = in_new_process(cleaned, training, evaluation, tmp_path / "cleaned")
        shutil.rmtree(tmp_path / "cleaned")
        first = first or timer
        megabytes = training.stat().st_size / 1e6
        with capsys.disabled():
            growth = timer.processor / first.processor
            print(f"\n  {size} million triples, {megabytes:.0f} MB, {n_left:,} left: {timer} ({growth:.1f}x the first)")
