"""Quadruples from originals and contrary pairs: complete, checked, with ids that reveal nothing."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.symmetric.build import Pair, quadruples
from evaluator.errors import GoldError, UsageError
from evaluator.tasks.fact_verification.symmetric import check_symmetric, symmetric_problems

FILES = ("originals.jsonl", "contraries.jsonl")
SALT = "nothing that is public"
OTHER = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}


def pairs(n, label=lambda number: "SUPPORTS"):
    originals = [Pair(k + 1, k, f"claim {k} yes", f"sentence {k} yes", label(k)) for k in range(n)]
    return originals, [Pair(k + 1, k, f"claim {k} no", f"sentence {k} no") for k in range(n)]


def make(originals, contraries, salt=SALT):
    return quadruples(originals, contraries, salt=salt, files=FILES)


@given(labels=st.lists(st.sampled_from(["SUPPORTS", "REFUTES"]), min_size=1, max_size=6), order=st.randoms())
@settings(deadline=None)
def test_each_group_has_the_four_members(labels, order):
    originals, contraries = pairs(len(labels), labels.__getitem__)
    order.shuffle(contraries)
    lines = make(originals, contraries)
    groups = defaultdict(set)
    for line in lines:
        groups[line["group"]].add((line["claim"], line["evidence_text"], line["label"], line["slices"]["origin"]))
    assert sorted(map(sorted, groups.values())) == sorted(
        sorted(
            [
                (f"claim {k} yes", f"sentence {k} yes", label, "original"),
                (f"claim {k} yes", f"sentence {k} no", OTHER[label], "generated"),
                (f"claim {k} no", f"sentence {k} yes", OTHER[label], "generated"),
                (f"claim {k} no", f"sentence {k} no", label, "generated"),
            ]
        )
        for k, label in enumerate(labels)
    )
    assert check_symmetric(lines) == []


def test_ids_and_their_order_reveal_neither_member_nor_original():
    """The original's rank among its group's ids, in the order of the file, is uniform over the four ranks."""
    originals, contraries = pairs(400)
    lines = make(originals, contraries)
    assert all(re.fullmatch("[0-9a-f]{16}", text) for line in lines for text in (line["id"], line["group"]))
    assert [line["id"] for line in lines] == sorted({line["id"] for line in lines})
    assert not {line["id"] for line in lines} & {line["group"] for line in lines}
    rank_counts, lines_seen = Counter(), Counter()
    for line in lines:
        if line["slices"]["origin"] == "original":
            rank_counts[lines_seen[line["group"]]] += 1
        lines_seen[line["group"]] += 1
    assert sum(rank_counts.values()) == 400
    assert all(60 < rank_counts[rank] < 140 for rank in range(4))  # 100 expected, four deviations are 35


def test_ids_depend_on_the_salt_which_is_required():
    originals, contraries = pairs(3)
    assert make(originals, contraries) == make(originals[::-1], contraries)
    other = make(originals, contraries, salt="another salt")
    assert not {line["id"] for line in other} & {line["id"] for line in make(originals, contraries)}
    with pytest.raises(UsageError, match="the salt has 7 characters, expected 8"):
        make(originals, contraries, salt="1234567")


def test_an_integer_and_a_string_are_two_originals():
    originals = [Pair(1, 1, "c1", "e1", "SUPPORTS"), Pair(2, "1", "c2", "e2", "REFUTES")]
    contraries = [Pair(1, "1", "d2", "f2"), Pair(2, 1, "d1", "f1")]
    lines = make(originals, contraries)
    assert ("c1", "f1") in {(line["claim"], line["evidence_text"]) for line in lines}
    assert len({line["group"] for line in lines}) == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda o, c: c.pop(), "originals.jsonl:3: the original 2 has no contrary pair"),
        (lambda o, c: o.pop(), "contraries.jsonl:3: the contrary pair 2 has no original"),
        (lambda o, c: o.append(o[0]._replace(line=4)), "originals.jsonl:4: duplicate id, found 0 (first on line 1)"),
        (lambda o, c: c.append(c[0]._replace(line=4)), "contraries.jsonl:4: duplicate id, found 0 (first on line 1)"),
        (lambda o, c: o.__setitem__(1, o[1]._replace(label="NOT ENOUGH INFO")), "originals.jsonl:2: unknown label"),
        (lambda o, c: o.__setitem__(1, o[1]._replace(claim=" ")), "originals.jsonl:2: a text is empty"),
        (lambda o, c: c.__setitem__(1, c[1]._replace(evidence="")), "contraries.jsonl:2: a text is empty"),
        (
            lambda o, c: c.__setitem__(1, c[1]._replace(claim=o[1].claim)),
            "originals.jsonl:2: the pairs of 1: the crossed members are missing, expected one more member",
        ),
        (
            lambda o, c: c.__setitem__(1, c[1]._replace(evidence=o[1].evidence)),
            "originals.jsonl:2: the pairs of 1: the crossed members are missing, expected one more member",
        ),
        (
            lambda o, c: (
                o.append(o[0]._replace(line=4, id=9, label="REFUTES")),
                c.append(c[0]._replace(line=4, id=9)),
            ),
            "originals.jsonl:4: the pairs of 9 and of 0 (line 1) have the same claim and sentence with different "
            "labels",
        ),
    ],
)
def test_invalid_pairs_are_reported_with_their_line(change, message):
    originals, contraries = pairs(3)
    change(originals, contraries)
    with pytest.raises(GoldError) as caught:
        make(originals, contraries)
    assert message in str(caught.value)


def test_problems_of_both_files_are_reported_together():
    originals, contraries = pairs(3)
    originals[0] = originals[0]._replace(label="?")
    with pytest.raises(GoldError) as caught:
        make(originals, [*contraries[:2], Pair(3, 7, "c", "e")])
    assert [(problem.file, problem.line) for problem in caught.value.problems] == [
        ("originals.jsonl", 1),
        ("originals.jsonl", 3),
        ("contraries.jsonl", 3),
    ]


def test_a_problem_has_the_index_of_its_group():
    lines = make(*pairs(3))
    lines[5]["label"] = OTHER[lines[5]["label"]]
    group = lines[5]["group"]
    first = next(i for i, line in enumerate(lines) if line["group"] == group)
    indices = {i for i, _ in symmetric_problems(lines)}
    assert indices == {first, None}


def published(path):
    """Gold lines of a published file: members 2-4 have the original's id followed by 0000002-4."""
    for text in path.read_text().splitlines():
        line = json.loads(text)
        ending = re.fullmatch("(.+)000000([234])", line["id"])
        name, member = ending.groups() if ending else (line["id"], "1")
        evidence = line.get("evidence_sentence") or line["evidence"]
        origin = "original" if member == "1" else "generated"
        yield line | {"evidence_text": evidence, "group": name, "slices": {"origin": origin}, "member": member}


@pytest.mark.realdata
@pytest.mark.parametrize(("name", "n_groups"), [("full", 239), ("dev", 177), ("test", 178)])
def test_published_quadruples_pass_and_are_reproduced(realdata, name, n_groups):
    lines = list(published(realdata / f"symmetric/source/fever_symmetric_{name}.jsonl"))
    assert check_symmetric(lines) == []
    originals = [
        Pair(0, line["group"], line["claim"], line["evidence_text"], line["label"])
        for line in lines
        if line["member"] == "1"
    ]
    contraries = [
        Pair(0, line["group"], line["claim"], line["evidence_text"]) for line in lines if line["member"] == "4"
    ]
    assert len(originals) == len(contraries) == n_groups
    rebuilt = make(originals, contraries)

    def content(some):
        fields = ("claim", "evidence_text", "label")
        return Counter((*(line[field] for field in fields), line["slices"]["origin"]) for line in some)

    assert content(rebuilt) == content(lines)


@pytest.mark.realdata
def test_the_generated_pairs_alone_are_not_a_symmetric_set(realdata):
    lines = list(published(realdata / "symmetric/source/fever_symmetric_generated.jsonl"))
    assert sum("3 members, expected 4" in problem for problem in check_symmetric(lines)) == 239
