"""ROUGE has the scores of the package rouge-score, and refuses inputs without texts."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from evaluator.cli.main import main
from evaluator.reference_systems.metric_correlation import rouge

PUBLISHED = {"rouge-1": "rouge1", "rouge-2": "rouge2", "rouge-l": "rougeL"}
SCORER = RougeScorer(list(PUBLISHED.values()))
OVERLAPS = {
    "rouge-1": lambda a, b: rouge.ngram_overlap(a, b, 1),
    "rouge-2": lambda a, b: rouge.ngram_overlap(a, b, 2),
    "rouge-l": rouge.subsequence_overlap,
}
# Few words, so that they repeat; and any text, with characters whose lower case is ASCII or longer.
TEXT = st.one_of(
    st.lists(st.sampled_from(["a", "b", "B,", "c-d", "4"]), max_size=30).map(" ".join), st.text(max_size=40)
)


@settings(max_examples=50)
@given(generated=TEXT, reference=TEXT)
def test_the_scores_are_those_of_the_package(generated: str, reference: str) -> None:
    published = SCORER.score(target=reference, prediction=generated)
    for name, key in PUBLISHED.items():
        ours = OVERLAPS[name](rouge.words(generated), rouge.words(reference))
        expected = published[key]
        values = (ours.precision, ours.recall, ours.f1)
        assert values == pytest.approx((expected.precision, expected.recall, expected.fmeasure), abs=1e-9), name


def write(path: Path, *lines: dict) -> str:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


@pytest.mark.parametrize(
    ("name", "options", "score"),
    [("rouge-1", [], 6 / 7), ("rouge-2", [], 2 / 5), ("rouge-l", [], 4 / 7), ("rouge-1", ["score=recall"], 1.0)],
)
def test_the_command_writes_scores(tmp_path, capfdbinary, name, options, score) -> None:
    inputs = write(tmp_path / "inputs.jsonl", {"id": 1, "generated": "Ann saw Bob. (Ulm)", "reference": "Bob: Ann saw"})
    words = [word for option in options for word in ("--option", option)]
    assert main(["run-baseline", "metric-correlation", name, "--inputs", inputs, *words]) == 0
    line = json.loads(capfdbinary.readouterr().out)
    assert line == {"id": 1, "score": pytest.approx(score)}


def test_inputs_without_texts_are_refused_with_their_line(tmp_path, capsys) -> None:
    inputs = write(
        tmp_path / "inputs.jsonl", {"id": 1, "generated": "a", "reference": "b"}, {"id": 2, "generated": "a"}
    )
    assert main(["run-baseline", "metric-correlation", "rouge-2", "--inputs", inputs]) == 3
    assert "inputs.jsonl:2: reference is missing" in capsys.readouterr().err
    assert main(["run-baseline", "metric-correlation", "rouge-2", "--inputs", inputs, "--option", "score=f2"]) == 64
    assert "f1, precision or recall" in capsys.readouterr().err
