"""The rated summaries: ratings and groups are what the page says, and correlations are SciPy's."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from tests.unit.evaluator.running import run_score

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "rated-summaries"
SYSTEMS = sorted(path.stem for path in (FOLDER / "predictions/test").iterdir())
Columns = tuple[list[float], list[float], list[str]]


def lines_of(name: str) -> list[dict[str, Any]]:
    # Not splitlines: a Unicode line separator inside a text would end a line there.
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def split(name: str) -> list[dict[str, Any]]:
    return lines_of(f"splits/{name}.jsonl")


def columns(metric: str, subset: str | None) -> Columns:
    """Ratings, scores and systems."""
    given = {line["id"]: line["score"] for line in lines_of(f"predictions/test/{metric}.jsonl")}
    here = [line for line in split("test") if subset in (None, line["slices"]["subset"])]
    return [x["human"] for x in here], [given[x["id"]] for x in here], [x["system"] for x in here]


def within(column: list[float], systems: list[str]) -> list[Fraction]:
    """Less each system's mean, in fractions of the decimals in the file."""
    exact = [Fraction(str(value)) for value in column]
    mine = defaultdict(list)
    for value, system in zip(exact, systems, strict=True):
        mine[system].append(value)
    return [value - sum(mine[system]) / len(mine[system]) for value, system in zip(exact, systems, strict=True)]


def places(column: list[Fraction]) -> list[int]:
    order = {value: i for i, value in enumerate(sorted(set(column)))}
    return [order[value] for value in column]


def correlations(metric: str, subset: str | None) -> dict[str, float]:
    human, scores, systems = columns(metric, subset)
    left = [within(column, systems) for column in (human, scores)]
    return {
        "spearman": stats.spearmanr(human, scores).statistic,
        "pearson": stats.pearsonr(human, scores).statistic,
        "kendall": stats.kendalltau(human, scores).statistic,
        "partial_spearman": stats.spearmanr(*map(places, left)).statistic,
        "partial_pearson": stats.pearsonr(*([float(value) for value in column] for column in left)).statistic,
    }


@pytest.mark.parametrize("metric", sorted(set(SYSTEMS) - {"constant"}))
def test_correlations_are_those_of_scipy(metric: str) -> None:
    report = run_score("metric-correlation", split("test"), lines_of(f"predictions/test/{metric}.jsonl"))
    for subset, n in ((None, 384), ("actors", 192), ("random", 192)):
        where = {"subset": subset} if subset else {}
        ours = {s["measure"]: s for s in report["result"]["scores"] if s["slice"] == where}
        expected = correlations(metric, subset)
        assert {name: score["value"] for name, score in ours.items()} == pytest.approx(expected, abs=1e-9)
        assert {score["n"] for score in ours.values()} == {n}


def test_a_constant_has_no_correlation() -> None:
    predictions = lines_of("predictions/test/constant.jsonl")
    assert len({line["score"] for line in predictions}) == 1
    report = run_score("metric-correlation", split("test"), predictions, resamples=20)
    scores = report["result"]["scores"]
    assert len(scores) == 15
    assert {(s["value"], s["low"], s["high"]) for s in scores} == {(None, None, None)}


def test_what_partial_correlations_are_for() -> None:
    style, rouge, facts = (correlations(metric, None) for metric in ("style", "rouge-l", "fact-overlap"))
    assert style["spearman"] > 0.4 and abs(style["partial_spearman"]) < 0.1
    assert rouge["spearman"] < 0.2 and rouge["partial_spearman"] > 0.4
    assert min(facts["spearman"], facts["partial_spearman"]) > 0.8


def test_exact_ties_count_here() -> None:
    """Residuals of ratings with one decimal tie across systems; plain floats would part some of them."""
    human, _, systems = columns("rouge-1", None)
    exact = within(human, systems)
    mean = {system: sum(h for h, s in zip(human, systems, strict=True) if s == system) / 48 for system in set(systems)}
    floats = [h - mean[s] for h, s in zip(human, systems, strict=True)]
    assert len(set(exact)) < len(set(floats))


@pytest.mark.parametrize(("name", "size"), [("test", 48), ("dev", 24)])
def test_a_group_is_a_source_that_every_system_summarised(name: str, size: int) -> None:
    groups = defaultdict(list)
    for line in split(name):
        groups[line["group"]].append(line)
    assert len(groups) == size
    for members in groups.values():
        assert len(members) == len({line["system"] for line in members}) == 8
        assert len({line["reference"] for line in members}) == len({line["slices"]["subset"] for line in members}) == 1
    assert len({members[0]["reference"] for members in groups.values()}) == size
    subsets = Counter(members[0]["slices"]["subset"] for members in groups.values())
    assert subsets == {"actors": size // 2, "random": size // 2}
    assert not {line["reference"] for line in split("test")} & {line["reference"] for line in split("dev")}


def alpha(units: list[list[int]]) -> float:
    """Ordinal, after Krippendorff 2011, in fractions: coincidences of all pairs of ratings of a text."""
    values = range(1, 6)
    pairs: Counter[tuple[int, int]] = Counter()
    for unit in units:
        pairs.update((a, b) for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j)
    total = Counter({a: Fraction(sum(pairs[a, b] for b in values), 4) for a in values})
    n = sum(total.values())

    def apart(a: int, b: int) -> Fraction:
        low, high = sorted((a, b))
        return (sum(total[k] for k in range(low, high + 1)) - (total[a] + total[b]) / 2) ** 2

    observed = sum(Fraction(count, 4) * apart(a, b) for (a, b), count in pairs.items()) / n
    expected = sum(total[a] * total[b] * apart(a, b) for a in values for b in values) / (n * (n - 1))
    return float(1 - observed / expected)


def test_dev_ratings_are_public_and_make_the_gold() -> None:
    ratings = {line["id"]: line["ratings"] for line in lines_of("ratings/dev.jsonl")}
    assert {line["id"]: line["human"] for line in split("dev")} == {k: sum(r) / 5 for k, r in ratings.items()}
    assert {len(r) for r in ratings.values()} == {5} and {x for r in ratings.values() for x in r} == {1, 2, 3, 4, 5}
    assert f"{alpha(list(ratings.values())):.3f}" == "0.720"
    manifest = json.loads((FOLDER / "benchmark.json").read_text(encoding="utf-8"))
    assert "alpha is 0.720" in " ".join(manifest["description"])
    assert [download["file"] for download in manifest["downloads"]] == ["ratings/dev.jsonl"]


def test_ids_and_order_tell_nothing() -> None:
    lines = split("test")
    by_id = sorted(range(len(lines)), key=lambda i: lines[i]["id"])
    for order in (range(len(lines)), by_id):
        together = sum(lines[i]["group"] == lines[j]["group"] for i, j in pairwise(order))
        alike = sum(lines[i]["system"] == lines[j]["system"] for i, j in pairwise(order))
        assert together <= 18  # seven are expected by chance
        assert 24 <= alike <= 75  # 48 are


def test_rouge_of_texts_worked_by_hand() -> None:
    """One source, "a b c d" against "a c b d e": 4 of 4 and 5 words shared; pairs none; subsequence a b d."""
    script = (
        "import rouge, json; print(json.dumps([rouge.rouge_n('a b c d', 'a c b d e', 1), "
        "rouge.rouge_n('a b c d', 'a c b d e', 2), rouge.rouge_l('a b c d', 'A c, b-d e'), rouge.rouge_n('', 'a', 2)]))"
    )
    said = subprocess.run([sys.executable, "-c", script], cwd=FOLDER, capture_output=True, text=True, check=True)
    assert json.loads(said.stdout) == pytest.approx([8 / 9, 0, 6 / 9, 0])
