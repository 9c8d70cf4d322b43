"""Time of a matrix of 16 scenarios, from files to files, including embeddings: printed, not asserted.

Run with `pytest tests/benchmark -m benchmark -s`. It uses a generated graph of CoDEx-M's size, and CoDEx-M itself if it
is available; each runs in a separate process with one BLAS thread.
"""

import json

import numpy as np
import pytest

from tests.benchmark.support.measuring import timed

pytestmark = pytest.mark.benchmark
ENTITIES, TRIPLES, PREDICATES = 17_050, 206_205, 51  # CoDEx-M
SHARES = "0,0.2,0.5,1"


def generated(folder):
    """Write a graph with hubs, like CoDEx's occupations, countries and languages, and the entities' types."""
    rng = np.random.default_rng(1)
    hubs = ENTITIES - np.minimum(rng.zipf(1.3, TRIPLES), ENTITIES // 4)
    subjects = rng.integers(0, ENTITIES * 3 // 4, TRIPLES)
    predicates = np.minimum(rng.zipf(1.6, TRIPLES), PREDICATES)
    objects = ENTITIES - 1 - (ENTITIES - hubs) * 7 % (ENTITIES // 4)
    rows = sorted(set(zip(subjects.tolist(), predicates.tolist(), objects.tolist(), strict=True)))
    (folder / "graph.tsv").write_text("".join(f"Q{s}\tP{p}\tQ{o}\n" for s, p, o in rows))
    (folder / "types.json").write_text(json.dumps({f"Q{entity}": [f"T{entity % 7}"] for entity in range(ENTITIES)}))
    return [folder / "graph.tsv"], folder / "types.json", "P2"


def run(graph, types, relation, folder):
    from evaluator.cli.main import main

    words = ["--transparency", SHARES, "--homogeneity", SHARES, "--relation", relation, "--output", str(folder)]
    line = ["split", "scenarios", "--graph", *map(str, graph), "--types", str(types), *words]
    status = []
    timer = timed(lambda: status.append(main(line)))
    assert status == [0]
    return str(timer)


def test_a_generated_graph(in_new_process, tmp_path):
    print(f"\n16 scenarios over a generated graph: {in_new_process(run, *generated(tmp_path), tmp_path / 'made')}")


@pytest.mark.realdata
@pytest.mark.parametrize("relation", ["P27", "P106", "P26"])
def test_codex_m(in_new_process, realdata, tmp_path, relation):
    graph = [realdata / "codex-m" / f"{part}.txt" for part in ("train", "valid", "test")]
    types = realdata / "codex-s" / "codex_entity2types.json"
    print(f"\n16 scenarios over CoDEx-M, {relation}: {in_new_process(run, graph, types, relation, tmp_path / 'made')}")
