"""Time and memory of the audit of a split; they are printed and not asserted."""

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
        usage_before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "evaluator", "audit", "split", "fact-verification", "--gold", gold, *words]
        done = subprocess.run([*command, "--json"], cwd=ROOT, capture_output=True, check=True)
        usage_after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = usage_after.ru_utime + usage_after.ru_stime - usage_before.ru_utime - usage_before.ru_stime
        print(
            f"\n{LINES:,} claims {name}: {seconds:.0f} s of a processor, at most {usage_after.ru_maxrss / 1024:.0f} MB"
        )
        assert json.loads(done.stdout)["lines"] == LINES
