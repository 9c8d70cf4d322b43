"""Scenarios over the published graphs of CoDEx, checked by independent code."""

import json
from collections import Counter

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from evaluator.cli.main import main
from tests.evaluator.curation.scenarios.remeasured import Folder

pytestmark = pytest.mark.realdata
SHARES = "0,0.2,0.5,1"


def files(realdata, graph):
    return [realdata / graph / f"{part}.txt" for part in ("train", "valid", "test")]


def split(realdata, graph, folder, relation, *options):
    types = realdata / "codex-s" / "codex_entity2types.json"
    line = ["split", "scenarios", "--graph", *files(realdata, graph), "--types", types, "--relation", relation]
    status = main([str(word) for word in [*line, *options, "--output", folder]])
    return status, Folder(folder, files(realdata, graph), json.loads(types.read_text())) if status == 0 else None


@pytest.mark.parametrize(
    ("graph", "relation", "words"),
    [
        ("codex-m", "P27", []),
        pytest.param("codex-m", "P106", [], marks=pytest.mark.slow),
        pytest.param("codex-m", "P26", [], marks=pytest.mark.slow),
        pytest.param("codex-m", "P40", ["--ratio", "0.2"], marks=pytest.mark.slow),
        ("codex-s", "P463", ["--size", "100"]),
        ("codex-s", "P737", ["--size", "60", "--popularity", "popular,non-popular,random"]),
    ],
)
def test_a_matrix_has_the_promised_properties(realdata, tmp_path, graph, relation, words):
    shares = ["--transparency", SHARES, "--homogeneity", SHARES, "--seed", "3"]
    status, folder_checked = split(realdata, graph, tmp_path / "made", relation, *shares, *words)
    assert status == 0
    assert folder_checked.check() == (48 if "--popularity" in words else 16)


def test_the_closed_world(realdata, tmp_path):
    words = ["--size", "60", "--transparency", "0,0.35", "--plausible", "closed-world"]
    status, folder_checked = split(realdata, "codex-m", tmp_path / "made", "P57", *words)
    assert status == 0
    assert folder_checked.check() == 2


def test_a_relation_without_plausible_false_claims_is_refused(realdata, tmp_path, capsys):
    status, _ = split(realdata, "codex-m", tmp_path / "made", "P37", "--transparency", "0.5")
    assert status == 64
    assert "0 plausible false claims found, from all 403 facts" in capsys.readouterr().err


def test_clusters_with_given_embeddings(realdata, tmp_path):
    """The pool's clusters, by SciPy on explicitly computed distances."""
    triples = [line.split("\t") for path in files(realdata, "codex-s") for line in path.read_text().splitlines()]
    relation = "P3373"
    facts = sorted((s, o) for s, p, o in triples if p == relation)
    rng = np.random.default_rng(0)
    vectors = {entity: rng.standard_normal(6) for entity in sorted({end for s, _, o in triples for end in (s, o)})}
    path = tmp_path / "vectors.tsv"
    path.write_text("".join("\t".join([name, *map(repr, map(float, v))]) + "\n" for name, v in vectors.items()))
    words = ["--embeddings", path, "--size", 40, "--homogeneity", "0,0.5,1", "--transparency", "1"]
    status, folder_checked = split(realdata, "codex-s", tmp_path / "made", relation, *words)
    assert status == 0
    folder_checked.check()

    def distance(i, j):
        (s, o), (t, q) = facts[i], facts[j]
        ends = ((s, t), (o, q), (s, q), (o, t))
        return sum(float(np.sqrt(((vectors[a] - vectors[b]) ** 2).sum())) for a, b in ends) / 4

    n = len(facts)
    matrix = np.array([[0.0 if i == j else distance(i, j) for j in range(n)] for i in range(n)])
    merges = linkage(squareform(matrix, checks=False), "average")
    thresholds = np.linspace(0, merges[-1, 2], 100)
    counts = [n - sum(height <= threshold for height in merges[:, 2]) for threshold in thresholds]
    threshold_at_elbow = thresholds[int(np.argmin(np.gradient(counts)))]
    expected = fcluster(merges, threshold_at_elbow, "distance")
    labels = [folder_checked.clusters["random"][fact] for fact in facts]
    assert len(set(zip(labels, expected.tolist(), strict=True))) == len(set(labels)) == len(set(expected.tolist()))
    assert Counter(labels)[0] == max(Counter(labels).values())
