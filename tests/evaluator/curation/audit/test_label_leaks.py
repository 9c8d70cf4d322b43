"""Label leaks by ids, order and columns: planted leaks are found, random data gives no finding."""

from __future__ import annotations

import random

import numpy as np
import pytest

from evaluator.curation.audit.leaks.effect_sizes import EffectSizes
from evaluator.curation.audit.leaks.feature_statistics import along, by_value
from evaluator.curation.audit.leaks.features import column_features
from evaluator.curation.audit.leaks.id_features import id_order, id_parts
from evaluator.curation.audit.leaks.label_leaks import LEVEL, find_label_leaks
from evaluator.curation.audit.leaks.max_t_test import Permutations, encode_by_frequency, hidden, max_t_test
from evaluator.progress import Steps
from tests.evaluator.curation.audit.splits import claims, facts, split
from tests.support.full_run import FULL

N = 200


def findings_by_code(lines, columns=None, seed=0):
    gold_split = split("fact-verification", lines)
    results = find_label_leaks(gold_split, list(range(len(gold_split))), columns or {}, order_is_public=True, seed=seed)
    return {finding.code: finding for finding in results.findings}


def test_random_data_gives_no_finding():
    assert findings_by_code(claims(N), {"colour": [random.Random(3).choice("rgb") for _ in range(N)]}) == {}


def test_a_sorted_order_is_found():
    lines = sorted(claims(N), key=lambda line: line["label"])
    results = findings_by_code(lines)
    assert set(results) == {"order-tells-label"}
    assert results["order-tells-label"].severity.value == "error"
    assert results["order-tells-label"].numbers["share_told"] == 1


def test_an_effect_that_changes_no_guess_is_described():
    guesses = EffectSizes(["a"] * 9 + ["b"], Permutations(range(10)))
    effect = guesses.by_value(np.array([0] * 5 + [1] * 5))
    assert effect.share == 0
    assert "the most frequent value stays the best guess" in effect.text
    assert "right on" not in effect.text


def test_an_alternating_order_is_found():
    lines = claims(N)
    for i, line in enumerate(lines):
        line["label"] = ["SUPPORTS", "REFUTES"][i % 2]
    assert findings_by_code(lines)["order-tells-label"].severity.value == "error"


def test_a_weak_order_is_a_warning():
    lines, rng = claims(1000), random.Random(1)
    for i, line in enumerate(lines):
        line["label"] = "SUPPORTS" if rng.random() < 0.35 + 0.3 * i / 1000 else "REFUTES"
    assert findings_by_code(lines)["order-tells-label"].severity.value == "warning"


@pytest.mark.parametrize(
    "change",
    [
        lambda line, i, yes: f"{line['id']}{'13579'[i % 5] if yes else '02468'[i % 5]}",  # parity
        lambda line, i, yes: line["id"] + ("x" if yes else ""),  # length
        lambda line, i, yes: ("a" if yes else "b") + line["id"],  # prefix
        lambda line, i, yes: f"{line['id']}-{'pos' if yes else 'neg'}",  # suffix
        lambda line, i, yes: f"{(i + 1) * 7 + (100_000 if yes else 0):08d}",  # order of the ids
        lambda line, i, yes: f"{line['id'][:7]}{'89abcdef'[i % 8] if yes else '01234567'[i % 8]}{line['id'][8:]}",
        lambda line, i, yes: f"{line['id'][:10]}{'13579bdf'[i % 8] if yes else '02468ace'[i % 8]}{line['id'][11:]}",
        lambda line, i, yes: line["id"].upper() if yes else line["id"],
        lambda line, i, yes: 7 * (random.Random(line["id"]).randrange(10**9)) + yes,
        lambda line, i, yes: 13 * (random.Random(line["id"]).randrange(10**9)) + yes * 5,
        lambda line, i, yes: f"{'4567'[i % 4] if yes else '012389abcdef'[i % 12]}{line['id']}",
        lambda line, i, yes: f"{11 * random.Random(line['id']).randrange(2**48) + yes:016x}",
    ],
    ids=[
        "parity",
        "length",
        "prefix",
        "suffix",
        "order",
        "half of a position",
        "odd position",
        "case",
        "modulo 7",
        "modulo 13",
        "range",
        "hexadecimal modulo 11",
    ],
)
def test_ids_that_reveal_the_label(change):
    lines = claims(N)
    for i, line in enumerate(lines):
        line["id"] = change(line, i, line["label"] == "SUPPORTS")
    results = findings_by_code(lines)
    assert set(results) == {"ids-tell-label"}
    assert results["ids-tell-label"].severity.value == "error"


def test_ids_that_reveal_the_member_of_a_group():
    lines = claims(N)
    for i, line in enumerate(lines):
        line |= {
            "group": i // 4,
            "id": f"{7919 * (i // 4) % 1000:03d}-{i % 4}",
            "slices": {"origin": "generated" if i % 4 else "original"},
        }
    assert "ids-tell-origin" in findings_by_code(lines)


@pytest.mark.parametrize("exact", [True, False])
def test_a_column_that_reveals_the_label(exact):
    lines, rng = claims(N), random.Random(5)
    column = [line["label"][0] if exact or rng.random() < 0.7 else rng.choice("SR") for line in lines]
    results = findings_by_code(lines, {"note": column})
    assert set(results) == {"column-tells-label"}
    assert results["column-tells-label"].severity.value == "error"


def test_empty_values_that_reveal_the_label():
    lines = claims(N)
    column = [f"note {i}" if line["label"] == "SUPPORTS" else None for i, line in enumerate(lines)]
    assert set(findings_by_code(lines, {"note": column})) == {"column-tells-label"}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text + ".",
        lambda text: text + " ",
        lambda text: text.replace(" ", "\u00a0", 1),
        lambda text: text.upper(),
        lambda text: text + " and then some more words",
        lambda text: "A" + text[1:],
        lambda text: f"perhaps {text.split(' ', 1)[1]}",
        lambda text: text.replace(" ", "  ", 1),
    ],
    ids=["end", "white space", "another space", "case", "length", "first letter", "first word", "double space"],
)
@pytest.mark.parametrize("field", ["claim", "evidence_text"])
def test_surface_features_that_reveal_the_label(change, field):
    lines = claims(N)
    for line, other in zip(lines, claims(N, seed=9), strict=True):
        line["evidence_text"] = other["claim"]
        if line["label"] == "SUPPORTS":
            line[field] = change(line[field])
    results = findings_by_code(lines)
    assert set(results) == {"text-tells-label"}
    assert results["text-tells-label"].severity.value == "error"
    assert results["text-tells-label"].numbers["source"] == f"text {field}"


def test_surface_features_are_tested_in_every_task():
    rng = random.Random(4)
    rated = [{"id": f"{rng.getrandbits(64):016x}", "human": rng.random(), "generated": "it rains"} for _ in range(N)]
    for line in rated:
        line["generated"] += "!" * (line["human"] > 0.5)
    gold_split = split("metric-correlation", rated)
    results = find_label_leaks(gold_split, list(range(N)), {}, order_is_public=True, seed=0).findings
    assert "text-tells-label" in {finding.code for finding in results}
    triples = facts(N)
    for line in triples:
        line["object"] += " " * line["label"]
    gold_split = split("fact-checking", triples)
    results = find_label_leaks(gold_split, list(range(N)), {}, order_is_public=True, seed=0).findings
    assert {finding.code for finding in results} == {"text-tells-label"}


def test_adjacent_lines_of_a_group_are_no_finding():
    """All lines of a group have one label and are adjacent, like a document's passages."""
    lines, rng = claims(N), random.Random(2)
    label = [rng.choice(["SUPPORTS", "REFUTES"]) for _ in range(N // 10)]
    for i, line in enumerate(lines):
        line |= {"label": label[i // 10], "group": f"g{i // 10}"}
    assert findings_by_code(lines) == {}
    for line in lines:
        del line["group"]
    assert set(findings_by_code(lines)) == {"order-tells-label"}


def test_permutations_keep_groups_whole_and_of_equal_size():
    groups = [1, 1, 2, 3, 3, 4, 5, 5, 5]
    group_permutations, random_ = Permutations(groups), np.random.default_rng(0)
    orders = set()
    for _ in range(200):
        order = group_permutations.sample(random_).tolist()
        assert sorted(order) == list(range(9))
        assert {order[0], order[1]} in ({0, 1}, {3, 4})
        assert {order[6], order[7], order[8]} == {6, 7, 8}
        orders.add(tuple(order))
    assert len(orders) > 50


def test_statistics_equal_scipys():
    from scipy.stats import chi2_contingency, kruskal

    rng = np.random.default_rng(4)
    codes, labels = rng.integers(0, 4, 80), rng.integers(0, 3, 80)
    table = np.zeros((4, 3))
    np.add.at(table, (codes, labels), 1)
    statistic = by_value("x", codes).statistic(hidden([str(value) for value in labels]))
    assert statistic**3 == pytest.approx(chi2_contingency(table, correction=False).statistic)
    ranks = rng.random(80)
    numeric = by_value("x", codes).statistic(hidden([float(value) for value in ranks]))
    expected = kruskal(*(ranks[codes == code] for code in range(4))).statistic
    assert numeric**3 == pytest.approx(expected * 80 / 79)
    trend = along("o", np.arange(80))[0].statistic(hidden([str(value) for value in labels]))
    expected_trend = kruskal(*(np.flatnonzero(labels == label) for label in range(3))).statistic
    assert trend**3 == pytest.approx(expected_trend * 80 / 79)


def test_rare_values_share_one_code():
    assert encode_by_frequency(["a", "a", "b", "c", "a"], most=9, least=2).tolist() == [0, 0, 1, 1, 0]
    assert len(set(encode_by_frequency(list("abcdefg"), most=3).tolist())) == 4


def test_the_choice_among_equally_frequent_values_does_not_depend_on_their_order():
    values = [f"v{i}" for i in range(100)]
    most_frequent_values = {
        value for value, code in zip(values, encode_by_frequency(values, most=20), strict=True) if code < 20
    }
    reversed_values = values[::-1]
    assert {
        value
        for value, code in zip(reversed_values, encode_by_frequency(reversed_values, most=20), strict=True)
        if code < 20
    } == most_frequent_values
    assert len(most_frequent_values) == 20
    assert most_frequent_values != set(values[:20])


def test_a_hundred_different_answers_give_no_finding():
    """More values than are tested, all equally frequent; lines are in the order of random ids."""
    alarms = 0
    for seed in range(10 if FULL else 4):
        rng = random.Random(seed)
        lines = [
            {
                "id": f"{rng.getrandbits(64):016x}",
                "question": [f"head {i}", "r", "?"],
                "answers": [f"tail {i}"],
                "filtered": [],
            }
            for i in range(100)
        ]
        lines.sort(key=lambda line: line["id"])
        gold_split = split("link-prediction", lines)
        alarms += bool(find_label_leaks(gold_split, list(range(100)), {}, order_is_public=True, seed=seed).findings)
    assert alarms <= 1, alarms  # P(more than 1 | n=10, p=.01) < .005


@pytest.mark.slow
def test_the_rate_of_false_alarms_is_at_most_the_level():
    """False alarms over 400 clean splits, with and without groups, are binomial with at most the level."""
    alarms = 0
    for seed in range(400):
        lines, rng = claims(60, seed), random.Random(seed)
        for i, line in enumerate(lines):
            if seed % 2:
                line["group"] = f"g{i // 3}"
            line["slices"] = {"origin": rng.choice(["original", "generated"])}
        alarms += bool(findings_by_code(lines, {"note": [rng.randrange(9) for _ in lines]}, seed))
    assert alarms <= 11, alarms  # P(more than 11 | n=400, p=.01) < .001
    assert LEVEL == 0.01


def test_p_is_the_share_of_permutations_that_are_as_large():
    values = hidden(["a", "b"] * 10)
    features = [by_value("told", np.arange(20) % 2), by_value("not", np.arange(20) // 10)]
    first, second = max_t_test(features, values, Permutations(range(20)), seed=1, n_permutations=199, steps=Steps(0))
    assert first.p == pytest.approx(1 / 200)
    assert second.p > 0.5


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("length", ["x1", "xx1"]),
        ("first character", ["ab1", "bb1"]),
        ("first two characters", ["ab1", "ac1"]),
        ("last character", ["10ab", "10aa"]),
        ("last two characters", ["10cab", "10cbb"]),
        ("last 7 characters", ["11-x-0000-2", "11-x-1000-2"]),
        ("part before the first separator", ["11x-0123456", "11y-0123456"]),
    ],
)
def test_parts_of_ids(name, ids):
    """The two halves of ids differ in this part, and in none of the parts tested before it."""
    results = id_parts([*ids[:1] * 5, *ids[1:] * 5])
    assert next(iter(results)) == name
    assert results[name].tolist() == [0] * 5 + [1] * 5


def test_ids_are_ordered_by_their_numbers():
    assert id_order(["10", "9", "x2", "x10", "100"]).tolist() == [1, 0, 4, 2, 3]


def test_numbers_of_a_column_are_binned_by_size() -> None:
    """Distinct numbers share no value, and their texts have one length: only their size can reveal a label."""
    numbers = [1000 + 7 * ((37 * index) % 100) for index in range(100)]
    (codes,) = column_features(numbers).values()
    by_size = codes[np.argsort(numbers)].tolist()
    assert by_size == sorted(by_size) and set(np.bincount(codes)) == {5} and len(set(by_size)) == 20
    assert column_features([str(number) for number in numbers])["size"].tolist() == codes.tolist()
    assert "size" not in column_features([*numbers[:-1], "many"])
