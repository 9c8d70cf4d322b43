"""How long the audit of a split takes, and how much memory it needs; numbers are printed, none is asserted."""

import json
import random
import resource
import subprocess
import sys

import pytest

from tests.conftest import ROOT

pytestmark = [pytest.mark.benchmark, pytest.mark.slow]

LINES = 100_000
VOCABULARY = 30_000


def _claims(path, seed):
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(VOCABULARY)]
    weights = [1 / (number + 10) for number in range(VOCABULARY)]
    with path.open("w") as file:
        for _ in range(LINES):
            line = {
                "id": f"{rng.getrandbits(64):016x}",
                "claim": " ".join(rng.choices(words, weights, k=rng.randint(6, 14))),
                "evidence_text": " ".join(rng.choices(words, weights, k=rng.randint(15, 30))),
                "label": rng.choice(["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]),
            }
            file.write(json.dumps(line) + "\n")


def test_a_hundred_thousand_claims(tmp_path):
    gold, train = tmp_path / "gold.jsonl", tmp_path / "train.jsonl"
    _claims(gold, 1)
    _claims(train, 2)
    for name, words in (("alone", []), ("with as many training claims", ["--train", train])):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "evaluator", "audit", "split", "fact-verification", "--gold", gold, *words]
        ran = subprocess.run([*command, "--json"], cwd=ROOT, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"\n{LINES:,} claims {name}: {seconds:.0f} s of a processor, at most {after.ru_maxrss / 1024:.0f} MB")
        assert json.loads(ran.stdout)["lines"] == LINES
