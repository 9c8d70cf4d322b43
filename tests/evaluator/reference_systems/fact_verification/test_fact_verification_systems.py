"""claim-only and claim-and-evidence: known answers, symmetric sets, weights, and files that are refused."""

import json
import sys
from itertools import product
from pathlib import Path

import pytest

from evaluator.cli.main import main
from evaluator.errors import FileError, UsageError
from evaluator.reference_systems.fact_verification.claim_and_evidence import Features
from evaluator.reference_systems.fact_verification.examples import Pair
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.registry import systems_of

CLAIM_ONLY, CLAIM_AND_EVIDENCE = "claim-only", "claim-and-evidence"
TASK = "fact-verification"
SUPPORTS, REFUTES, UNKNOWN = "SUPPORTS", "REFUTES", "NOT ENOUGH INFO"


def claim(number: int | str, text: str, label: str | None = None, evidence: str | None = None) -> dict:
    line = {"id": number, "claim": text, "label": label, "evidence_text": evidence}
    return {key: value for key, value in line.items() if value is not None}


def write(path: Path, lines: list[dict]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def predicted(name: str, folder: Path, train: list, inputs: list, weights: list | None = None, **options) -> list[str]:
    files = {"train": [write(folder / "train.jsonl", train)], INPUTS: [write(folder / "inputs.jsonl", inputs)]}
    if weights is not None:
        files["weights"] = [write(folder / "weights.jsonl", weights)]
    system = systems_of(TASK)[name]
    lines = list(system.predict(system.job(TASK, files, options, 0)))
    assert [line["id"] for line in lines] == [line["id"] for line in inputs]
    assert all(line["predicted_evidence"] == [] for line in lines)
    return [line["predicted_label"] for line in lines]


CUES = [
    *(claim(n, f"it is never {n}", REFUTES) for n in range(4)),
    *(claim(n, f"it is also {n}", SUPPORTS) for n in range(4, 8)),
    *(claim(n, f"it is perhaps {n}", UNKNOWN) for n in range(8, 12)),
]


def symmetric(numbers: range) -> list[dict]:
    """Return a symmetric set: both claims of a group with both sentences."""
    lines = []
    for n in numbers:
        words = f"ulm{n}", f"rom{n}"
        for is_second, (a, b) in enumerate(product(words, words)):
            label = SUPPORTS if a == b else REFUTES
            lines.append(claim(f"{n}:{is_second}", f"ann{n} lives in {a}", label, f"ann{n} is a poet who lives in {b}"))
    return lines


def test_claim_only_learns_cues_and_its_labels_can_be_limited(tmp_path) -> None:
    inputs = [claim("a", "that is never so"), claim("b", "that is also so"), claim("c", "that is perhaps so")]
    assert predicted(CLAIM_ONLY, tmp_path, CUES, inputs) == [REFUTES, SUPPORTS, UNKNOWN]
    limited = predicted(CLAIM_ONLY, tmp_path, CUES, inputs, labels="refutes, SUPPORTS")
    assert limited[:2] == [REFUTES, SUPPORTS] and limited[2] in (REFUTES, SUPPORTS)


def test_claim_only_is_right_about_half_of_any_symmetric_set(tmp_path) -> None:
    gold = symmetric(range(5))
    labels = predicted(CLAIM_ONLY, tmp_path, CUES, gold, labels=f"{SUPPORTS},{REFUTES}")
    assert sum(label == line["label"] for label, line in zip(labels, gold, strict=True)) == len(gold) / 2


def test_claim_and_evidence_learns_what_claim_only_cannot(tmp_path) -> None:
    train, gold = symmetric(range(10)), symmetric(range(10, 15))
    assert predicted(CLAIM_AND_EVIDENCE, tmp_path, train, gold) == [line["label"] for line in gold]


def test_weights_decide_between_claims_that_disagree(tmp_path) -> None:
    train = [claim(n, "the same words", SUPPORTS if n < 4 else REFUTES) for n in range(6)]
    inputs = [claim(0, "the same words")]
    weights = [{"id": n, "weight": 1.0 if n < 4 else 5.0} for n in range(6)]
    assert predicted(CLAIM_ONLY, tmp_path, train, inputs) == [SUPPORTS]
    assert predicted(CLAIM_ONLY, tmp_path, train, inputs, weights) == [REFUTES]


def test_the_weights_of_split_reweight_are_read_by_the_command(tmp_path, capfdbinary) -> None:
    train, inputs = write(tmp_path / "train.jsonl", CUES), tmp_path / "inputs.jsonl"
    made = tmp_path / "weights"
    words = ["--lambda", "0.1", "--grams", "1", "--min-frequency", "2", "--output", str(made)]
    assert main(["split", "reweight", str(train), *words]) == 0
    write(inputs, [claim("a", "that is never so")])
    capfdbinary.readouterr()
    files = ["--inputs", str(inputs), "--train", str(train), "--weights", str(made / "weights.jsonl")]
    assert main(["run-baseline", TASK, CLAIM_ONLY, *files]) == 0
    output = capfdbinary.readouterr().out
    assert json.loads(output) == {"id": "a", "predicted_label": REFUTES, "predicted_evidence": []}
    assert main(["run-baseline", TASK, CLAIM_ONLY, *files]) == 0
    assert capfdbinary.readouterr().out == output


def test_a_missing_package_is_named(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    path = str(write(tmp_path / "train.jsonl", CUES))
    assert main(["run-baseline", TASK, CLAIM_ONLY, "--inputs", path, "--train", path]) == 64
    assert "claim-only needs the Python package scikit-learn" in capsys.readouterr().err


def test_features_compare_the_texts() -> None:
    features = Features([Pair("a b", "b c"), Pair("b", "b")])
    values = features.of(Pair("Ann never moved to Ulm in 1944", "ann moved to Rome, in 1951"))
    for name, value in {
        "shared words": 4 / 7,
        "shared bigrams": 1 / 6,
        "missing words": 3 / 5,
        "missing number": 1,
        "other number": 1,
        "missing name": 1,
        "other name": 1,
        "only claim negative": 1,
        "only in claim: ulm": 1,
        "only in evidence: rome": 1,
    }.items():
        assert values.pop(name) == pytest.approx(value), name
    # All words are equally rare, since none is in the pairs that were counted.
    assert values.pop("shared weight") == pytest.approx(4 / 7)
    assert set(values) == {"only in claim: never", "only in claim: 1944", "only in evidence: 1951"}
    equal = features.of(Pair("a b", "a b"))
    assert equal == {"shared words": 1, "shared weight": 1, "shared bigrams": 1, "all words": 1}
    assert features.of(Pair("", "")) == {"shared weight": 1, "all words": 1}


@pytest.mark.parametrize(
    ("name", "train", "inputs", "weights", "message"),
    [
        (CLAIM_ONLY, [*CUES, claim(99, "c", "MAYBE")], [], None, 'train.jsonl:13: unknown label, found "MAYBE"'),
        (CLAIM_ONLY, CUES, [{"id": 1}], None, "inputs.jsonl:1: "),
        (
            CLAIM_ONLY,
            CUES,
            [claim(1, "c")],
            [{"id": 0, "weight": 1}],
            "train.jsonl:2: the claim has no weight",
        ),
        (CLAIM_ONLY, CUES, [claim(1, "c")], [{"id": 0, "weight": 0}], "weights.jsonl:1: weight is not valid, found 0"),
        (CLAIM_ONLY, CUES, [claim(1, "c")], [{"id": 0}], "weights.jsonl:1: "),
        (CLAIM_AND_EVIDENCE, CUES, [claim(1, "c")], None, "train.jsonl:1: evidence_text is missing"),
        (CLAIM_AND_EVIDENCE, symmetric(range(3)), [claim(1, "c")], None, "inputs.jsonl:1: evidence_text is missing"),
    ],
)
def test_invalid_files_are_refused_with_their_line(tmp_path, name, train, inputs, weights, message) -> None:
    with pytest.raises(FileError) as caught:
        predicted(name, tmp_path, train, inputs or CUES[:1], weights)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("train", "options", "message"),
    [
        (CUES[:4], {}, "the claims of --train have only 1 of the labels that the option `labels` lists"),
        ([claim(1, "a", SUPPORTS), claim(2, "b", REFUTES)], {}, "no word is in two claims"),
        (CUES, {"labels": "SUPPORTS"}, "two or more of SUPPORTS, REFUTES, NOT ENOUGH INFO"),
        (CUES, {"strength": "0"}, "a number above 0"),
    ],
)
def test_training_data_and_options_that_do_not_fit_are_refused(tmp_path, train, options, message) -> None:
    with pytest.raises(UsageError, match=message):
        predicted(CLAIM_ONLY, tmp_path, train, CUES[:1], **options)
