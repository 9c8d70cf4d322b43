"""The invented lives: facts stand in their texts, every relation is there, and scores are what sets say."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.unit.evaluator.running import run_score

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "life-facts"
SYSTEMS = sorted(path.stem for path in (FOLDER / "predictions/test").iterdir())
CORRUPTED = {"corrupted-dates": 1230, "corrupted-places": 1179, "corrupted-people": 1215}  # facts left right, of 1323
Facts = list[set[tuple[str, ...]]]


def lines_of(name: str) -> list[dict[str, Any]]:
    # Not splitlines: a Unicode line separator inside a text would end a line there.
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def split(name: str) -> list[dict[str, Any]]:
    return lines_of(f"splits/{name}.jsonl")


def answers(system: str) -> Facts:
    given = {
        line["id"]: {tuple(fact) for fact in line["facts"]} for line in lines_of(f"predictions/test/{system}.jsonl")
    }
    return [given[line["id"]] for line in split("test")]


def measured(gold: Facts, predicted: Facts) -> dict[str, float | None]:
    """The task's sums, with sets alone."""
    found = sum(len(g & p) for g, p in zip(gold, predicted, strict=True))
    n_gold, n_predicted = sum(map(len, gold)), sum(map(len, predicted))
    judged = [{f for f in p if f[:2] in {g[:2] for g in texts}} for texts, p in zip(gold, predicted, strict=True)]
    shares = [len(j & g) / len(j) for j, g in zip(judged, gold, strict=True) if j]
    return {
        "precision": found / n_predicted if n_predicted else 0.0,
        "recall": found / n_gold if n_gold else 0.0,
        "f1": 2 * found / (n_predicted + n_gold) if n_predicted + n_gold else 0.0,
        "fact_acc": found / sum(map(len, judged)) if shares else None,
        "fact_acc_macro": sum(shares) / len(shares) if shares else None,
        "fact_acc_macro_zero": sum(shares) / len(gold) if shares else None,
    }


@pytest.mark.parametrize("system", SYSTEMS)
def test_scores_are_what_sets_say(system: str) -> None:
    """The whole, every relation, and every kind of text."""
    lines, predicted = split("test"), answers(system)
    gold = [{tuple(fact) for fact in line["facts"]} for line in lines]
    report = run_score("fact-extraction", lines, lines_of(f"predictions/test/{system}.jsonl"))
    slices: dict[str, dict[str, Any]] = {}
    for score in report["result"]["scores"]:
        slices.setdefault(json.dumps(score["slice"]), {})[score["measure"]] = score["value"]
    assert len(slices) == 1 + 11 + 3
    for where, values in slices.items():
        wanted = json.loads(where)
        here = [i for i, line in enumerate(lines) if wanted.get("kind") in (None, line["slices"]["kind"])]
        one, other = ([side[i] for i in here] for side in (gold, predicted))
        if relation := wanted.get("relation"):
            one, other = ([{fact for fact in facts if fact[1] == relation} for facts in side] for side in (one, other))
        expected = measured(one, other)
        assert values == {name: pytest.approx(expected[name], abs=1e-9) for name in values}, where
        assert values.keys() >= {"precision", "recall", "f1", "fact_acc"}


@pytest.mark.parametrize("system", CORRUPTED)
def test_corruption_leaves_as_many_facts_right_as_it_says(system: str) -> None:
    gold = [{tuple(fact) for fact in line["facts"]} for line in split("test")]
    predicted = answers(system)
    right, n = sum(len(g & p) for g, p in zip(gold, predicted, strict=True)), sum(map(len, gold))
    assert (right, n, sum(map(len, predicted))) == (CORRUPTED[system], 1323, 1323)
    systems = json.loads((FOLDER / "benchmark.json").read_text(encoding="utf-8"))["systems"]
    (told,) = (one for one in systems if system in one["predictions"])
    assert f"({right / n:.3f})" in told["name"]
    assert told["description"].startswith(f"Expected accuracy {right / n:.3f}.")
    assert f"{right} of {n} facts stay right" in told["description"]
    values = measured(gold, predicted)
    assert values["precision"] == values["recall"] == pytest.approx(right / n)
    # Objects alone change places with dates and towns; people are subjects of facts too.
    assert (values["fact_acc"] == pytest.approx(right / n)) == (system != "corrupted-people")


@pytest.mark.parametrize("kind", ["dates", "places"])
def test_corruption_moves_what_a_text_mentions(kind: str) -> None:
    """What is wrong stands in the text all the same; a date keeps its year."""
    for line, predicted in zip(split("test"), answers(f"corrupted-{kind}"), strict=True):
        gold = {tuple(fact) for fact in line["facts"]}
        years = {fact[:2]: fact[2][-4:] for fact in gold if fact[1].startswith("date")}
        for fact in predicted - gold:
            assert fact[1].startswith(kind[:-1]), fact
            if kind == "places":
                assert fact[2] in line["text"]
            else:
                assert years[fact[:2]] == fact[2][-4:]


def test_what_factual_accuracy_does_not_ask() -> None:
    gold = [{tuple(fact) for fact in line["facts"]} for line in split("test")]
    values = {system: measured(gold, answers(system)) for system in SYSTEMS}
    assert values["birth-only"]["fact_acc"] == 1 and values["birth-only"]["recall"] < 0.05
    assert values["nothing"]["fact_acc"] is None
    careful, ready = values["careful-classifier"], values["classifier"]
    assert careful["fact_acc"] > ready["fact_acc"] and careful["recall"] < ready["recall"]
    assert max(values["patterns"]["fact_acc"], careful["fact_acc"]) > 0.95 > ready["fact_acc"]


@pytest.mark.parametrize(("name", "size"), [("test", 180), ("dev", 60), ("train", 210)])
def test_facts_stand_in_their_texts(name: str, size: int) -> None:
    lines = split(name)
    assert len(lines) == size == len({line["text"] for line in lines}) == len({line["subject"] for line in lines})
    assert set(Counter(line["slices"]["kind"] for line in lines).values()) == {size // 3}
    for line in lines:
        text = re.sub(r"([A-Z][a-z]+) (\d+), (\d{4})", r"\2 \1 \3", line["text"])
        for fact in line["facts"]:
            assert fact[0] in text and fact[2] in text, (line["id"], fact)
        assert len({tuple(fact) for fact in line["facts"]}) == len(line["facts"]) >= 2


def test_there_is_enough_of_everything() -> None:
    lines = split("test")
    facts = [(line["subject"], fact) for line in lines for fact in line["facts"]]
    counts = Counter(fact[1] for _, fact in facts)
    assert len(counts) == 11 and min(counts.values()) >= 20
    assert sum(subject != fact[0] for subject, fact in facts) > 50  # facts of a wife, a husband, a father
    per_text = (Counter(tuple(fact[:2]) for fact in line["facts"]) for line in lines)
    assert sum(max(pairs.values()) == 2 for pairs in per_text) >= 10  # two works
    stated = {fact[2] for line in lines for fact in line["facts"]}
    dates = [date for line in lines for date in re.findall(r"\d+ [A-Z]\w+ \d{4}", line["text"])]
    assert len([date for date in dates if date not in stated]) >= 15  # dates that state nothing
    public = split("train") + split("dev")
    assert not {line["subject"] for line in public} & {line["subject"] for line in lines}
