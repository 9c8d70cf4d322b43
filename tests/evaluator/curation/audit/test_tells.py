"""Ids, order and columns: what is planted is found, what is drawn at random is not."""

from __future__ import annotations

import random

import numpy as np
import pytest

from evaluator.curation.audit.leaks.effect_sizes import Guesses
from evaluator.curation.audit.leaks.feature_statistics import along, by_value
from evaluator.curation.audit.leaks.id_features import id_order, id_parts
from evaluator.curation.audit.leaks.label_leaks import LEVEL, find_label_leaks
from evaluator.curation.audit.leaks.permutation_test import Permutations, encode, hidden, max_t_test
from evaluator.progress import Steps
from tests.evaluator.curation.audit.splits import claims, facts, split
from tests.support.full_run import FULL

N = 200


def told(lines, columns=None, seed=0):
    one = split("fact-verification", lines)
    found = find_label_leaks(one, list(range(len(one))), columns or {}, order_is_public=True, seed=seed)
    return {finding.code: finding for finding in found.findings}


def test_nothing_is_told_by_what_was_drawn():
    assert told(claims(N), {"colour": [random.Random(3).choice("rgb") for _ in range(N)]}) == {}


def test_an_order_that_is_sorted():
    lines = sorted(claims(N), key=lambda line: line["label"])
    found = told(lines)
    assert set(found) == {"order-tells-label"}
    assert found["order-tells-label"].severity.value == "error"
    assert found["order-tells-label"].numbers["share_told"] == 1


def test_a_guess_that_nothing_moves_is_said_so():
    guesses = Guesses(["a"] * 9 + ["b"], Permutations(range(10)))
    effect = guesses.by_value(np.array([0] * 5 + [1] * 5))
    assert effect.share == 0
    assert "the most frequent value stays the best guess" in effect.text
    assert "right on" not in effect.text


def test_an_order_that_alternates():
    lines = claims(N)
    for place, line in enumerate(lines):
        line["label"] = ["SUPPORTS", "REFUTES"][place % 2]
    assert told(lines)["order-tells-label"].severity.value == "error"


def test_a_weak_order_is_a_warning():
    lines, rng = claims(1000), random.Random(1)
    for place, line in enumerate(lines):
        line["label"] = "SUPPORTS" if rng.random() < 0.35 + 0.3 * place / 1000 else "REFUTES"
    assert told(lines)["order-tells-label"].severity.value == "warning"


@pytest.mark.parametrize(
    "spoil",
    [
        lambda line, place, yes: f"{line['id']}{'13579'[place % 5] if yes else '02468'[place % 5]}",  # parity
        lambda line, place, yes: line["id"] + ("x" if yes else ""),  # length
        lambda line, place, yes: ("a" if yes else "b") + line["id"],  # prefix
        lambda line, place, yes: f"{line['id']}-{'pos' if yes else 'neg'}",  # suffix
        lambda line, place, yes: f"{(place + 1) * 7 + (100_000 if yes else 0):08d}",  # order of the ids
        lambda line, place, yes: (
            f"{line['id'][:7]}{'89abcdef'[place % 8] if yes else '01234567'[place % 8]}{line['id'][8:]}"
        ),
        lambda line, place, yes: (
            f"{line['id'][:10]}{'13579bdf'[place % 8] if yes else '02468ace'[place % 8]}{line['id'][11:]}"
        ),
        lambda line, place, yes: line["id"].upper() if yes else line["id"],
        lambda line, place, yes: 7 * (random.Random(line["id"]).randrange(10**9)) + yes,
        lambda line, place, yes: 13 * (random.Random(line["id"]).randrange(10**9)) + yes * 5,
        lambda line, place, yes: f"{'4567'[place % 4] if yes else '012389abcdef'[place % 12]}{line['id']}",
        lambda line, place, yes: f"{11 * random.Random(line['id']).randrange(2**48) + yes:016x}",
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
def test_ids_that_tell_the_label(spoil):
    lines = claims(N)
    for place, line in enumerate(lines):
        line["id"] = spoil(line, place, line["label"] == "SUPPORTS")
    found = told(lines)
    assert set(found) == {"ids-tell-label"}
    assert found["ids-tell-label"].severity.value == "error"


def test_ids_that_tell_the_member_of_a_group():
    lines = claims(N)
    for place, line in enumerate(lines):
        line |= {
            "group": place // 4,
            "id": f"{7919 * (place // 4) % 1000:03d}-{place % 4}",
            "slices": {"origin": "generated" if place % 4 else "original"},
        }
    assert "ids-tell-origin" in told(lines)


@pytest.mark.parametrize("exact", [True, False])
def test_a_column_that_tells(exact):
    lines, rng = claims(N), random.Random(5)
    column = [line["label"][0] if exact or rng.random() < 0.7 else rng.choice("SR") for line in lines]
    found = told(lines, {"note": column})
    assert set(found) == {"column-tells-label"}
    assert found["column-tells-label"].severity.value == "error"


def test_a_column_that_tells_by_being_empty():
    lines = claims(N)
    column = [f"note {place}" if line["label"] == "SUPPORTS" else None for place, line in enumerate(lines)]
    assert set(told(lines, {"note": column})) == {"column-tells-label"}


@pytest.mark.parametrize(
    "spoil",
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
def test_looks_of_a_text_that_tell(spoil, field):
    lines = claims(N)
    for line, other in zip(lines, claims(N, seed=9), strict=True):
        line["evidence_text"] = other["claim"]
        if line["label"] == "SUPPORTS":
            line[field] = spoil(line[field])
    found = told(lines)
    assert set(found) == {"text-tells-label"}
    assert found["text-tells-label"].severity.value == "error"
    assert found["text-tells-label"].numbers["source"] == f"text {field}"


def test_looks_are_looked_at_in_every_task():
    rng = random.Random(4)
    rated = [{"id": f"{rng.getrandbits(64):016x}", "human": rng.random(), "generated": "it rains"} for _ in range(N)]
    for line in rated:
        line["generated"] += "!" * (line["human"] > 0.5)
    one = split("metric-correlation", rated)
    found = find_label_leaks(one, list(range(N)), {}, order_is_public=True, seed=0).findings
    assert "text-tells-label" in {finding.code for finding in found}
    triples = facts(N)
    for line in triples:
        line["object"] += " " * line["label"]
    one = split("fact-checking", triples)
    found = find_label_leaks(one, list(range(N)), {}, order_is_public=True, seed=0).findings
    assert {finding.code for finding in found} == {"text-tells-label"}


def test_groups_that_stand_together_tell_nothing():
    """All lines of a group have one label and stand together, as a document's passages do."""
    lines, rng = claims(N), random.Random(2)
    label = [rng.choice(["SUPPORTS", "REFUTES"]) for _ in range(N // 10)]
    for place, line in enumerate(lines):
        line |= {"label": label[place // 10], "group": f"g{place // 10}"}
    assert told(lines) == {}
    for line in lines:
        del line["group"]
    assert set(told(lines)) == {"order-tells-label"}


def test_a_deal_keeps_groups_whole_and_in_their_size():
    groups = [1, 1, 2, 3, 3, 4, 5, 5, 5]
    deals, random_ = Permutations(groups), np.random.default_rng(0)
    seen = set()
    for _ in range(200):
        dealt = deals.sample(random_).tolist()
        assert sorted(dealt) == list(range(9))
        assert {dealt[0], dealt[1]} in ({0, 1}, {3, 4})
        assert {dealt[6], dealt[7], dealt[8]} == {6, 7, 8}
        seen.add(tuple(dealt))
    assert len(seen) > 50


def test_statistics_are_those_of_the_books():
    from scipy.stats import chi2_contingency, kruskal

    rng = np.random.default_rng(4)
    codes, labels = rng.integers(0, 4, 80), rng.integers(0, 3, 80)
    table = np.zeros((4, 3))
    np.add.at(table, (codes, labels), 1)
    statistic = by_value("x", codes).statistic(hidden([str(value) for value in labels]))
    assert statistic**3 == pytest.approx(chi2_contingency(table, correction=False).statistic)
    ranks = rng.random(80)
    numeric = by_value("x", codes).statistic(hidden([float(value) for value in ranks]))
    theirs = kruskal(*(ranks[codes == code] for code in range(4))).statistic
    assert numeric**3 == pytest.approx(theirs * 80 / 79)
    trend = along("o", np.arange(80))[0].statistic(hidden([str(value) for value in labels]))
    by_place = kruskal(*(np.flatnonzero(labels == label) for label in range(3))).statistic
    assert trend**3 == pytest.approx(by_place * 80 / 79)


def test_rare_values_are_one():
    assert encode(["a", "a", "b", "c", "a"], most=9, least=2).tolist() == [0, 0, 1, 1, 0]
    assert len(set(encode(list("abcdefg"), most=3).tolist())) == 4


def test_which_of_equally_frequent_values_are_kept_does_not_follow_from_their_order():
    values = [f"v{place}" for place in range(100)]
    kept = {value for value, code in zip(values, encode(values, most=20), strict=True) if code < 20}
    turned = values[::-1]
    assert {value for value, code in zip(turned, encode(turned, most=20), strict=True) if code < 20} == kept
    assert len(kept) == 20
    assert kept != set(values[:20])


def test_a_hundred_different_answers_raise_no_alarm():
    """More kinds than are looked at, all as frequent; lines stand in the order of random ids."""
    alarms = 0
    for seed in range(10 if FULL else 4):
        rng = random.Random(seed)
        lines = [
            {
                "id": f"{rng.getrandbits(64):016x}",
                "question": [f"head {place}", "r", "?"],
                "answers": [f"tail {place}"],
                "filtered": [],
            }
            for place in range(100)
        ]
        lines.sort(key=lambda line: line["id"])
        one = split("link-prediction", lines)
        alarms += bool(find_label_leaks(one, list(range(100)), {}, order_is_public=True, seed=seed).findings)
    assert alarms <= 1, alarms  # P(more than 1 | n=10, p=.01) < .005


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_the_level_says():
    """Of 400 clean splits, each with all features, alarms are binomial with at most the level; with groups too."""
    alarms = 0
    for seed in range(400):
        lines, rng = claims(60, seed), random.Random(seed)
        for place, line in enumerate(lines):
            if seed % 2:
                line["group"] = f"g{place // 3}"
            line["slices"] = {"origin": rng.choice(["original", "generated"])}
        alarms += bool(told(lines, {"note": [rng.randrange(9) for _ in lines]}, seed))
    assert alarms <= 11, alarms  # P(more than 11 | n=400, p=.01) < .001
    assert LEVEL == 0.01


def test_p_is_the_share_of_deals_that_are_as_large():
    values = hidden(["a", "b"] * 10)
    features = [by_value("told", np.arange(20) % 2), by_value("not", np.arange(20) // 10)]
    first, second = max_t_test(features, values, Permutations(range(20)), seed=1, times=199, steps=Steps(0))
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
    """The two halves differ in the part, and in none that is looked at before it."""
    found = id_parts([*ids[:1] * 5, *ids[1:] * 5])
    assert next(iter(found)) == name
    assert found[name].tolist() == [0] * 5 + [1] * 5


def test_ids_are_ordered_as_numbers_where_they_have_some():
    assert id_order(["10", "9", "x2", "x10", "100"]).tolist() == [1, 0, 4, 2, 3]
