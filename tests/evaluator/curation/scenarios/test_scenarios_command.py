"""`split scenarios` over the graph of a fixture, checked independently from its files."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from evaluator.cli.main import main
from leaderboard.hosting.importers.buckle_files import scenarios
from tests.conftest import ROOT
from tests.evaluator.curation.scenarios.remeasured import Folder
from tests.support.scoring_runs import jsonl, run_score

GRAPH = ROOT / "fixtures" / "graph-claims" / "graph"
SHARES = "0,0.2,0.5,0.8,1"
COMMAND = ["split", "scenarios", "--graph", str(GRAPH / "triples.tsv"), "--types", str(GRAPH / "types.tsv")]
RELATION = "bornIn"


def split(folder, *options, relation=RELATION):
    return main([*COMMAND, "--relation", relation, *map(str, options), "--output", str(folder)])


def types():
    types_of = {}
    for line in (GRAPH / "types.tsv").read_text().splitlines():
        entity, name = line.split("\t")
        types_of.setdefault(entity, []).append(name)
    return types_of


def checked_folder(folder):
    return Folder(folder, [GRAPH / "triples.tsv"], types())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A matrix of 75 scenarios."""
    folder = tmp_path_factory.mktemp("scenarios") / "made"
    options = ["--size", 60, "--transparency", SHARES, "--homogeneity", SHARES, "--seed", 5]
    assert split(folder, *options, "--popularity", "popular,non-popular,random") == 0
    return folder


def test_a_whole_matrix_has_the_promised_properties(whole):
    assert checked_folder(whole).check() == 75


@pytest.mark.parametrize(
    "options",
    [
        ["--ratio", "0.2", "--transparency", "0.35"],
        ["--ratio", "3", "--transparency", SHARES, "--homogeneity", "0.33,0.77"],
        ["--transparency", "0,0.7", "--popularity", "popular,random"],
    ],
)
def test_other_ratios_and_scenarios_without_clusters(tmp_path, options):
    assert split(tmp_path / "made", "--size", 47, *options) == 0
    assert checked_folder(tmp_path / "made").check()


def test_the_closed_world_as_source(tmp_path):
    options = ["--plausible", "closed-world", "--size", 20, "--transparency", "0,0.5"]
    assert split(tmp_path / "made", *options) == 0
    generated = checked_folder(tmp_path / "made")
    assert generated.check() == 2
    assert {origin["origin"] for origin in generated.origins.values()} == {"true", "closed-world", "unrelated"}


def test_popular_claims_are_the_most_popular_and_non_popular_the_least(whole, tmp_path):
    assert split(tmp_path / "made", "--size", 60, "--popularity", "popular,non-popular,random") == 0
    generated = checked_folder(tmp_path / "made")
    degree = {}
    for s, _, o in generated.triples:
        degree[s], degree[o] = degree.get(s, 0) + 1, degree.get(o, 0) + 1
    facts = [(s, o) for s, p, o in generated.triples if p == RELATION]
    ends = {end for fact in facts for end in fact}
    mean = sum(degree[end] for end in ends) / len(ends)

    def popularity(fact):
        low, high = sorted((degree[fact[0]], degree[fact[1]]))
        return low * (1 + high / mean)

    order = sorted(map(popularity, facts))
    by_preference = {
        lines[0]["slices"]["popularity"]: sorted(popularity((x["subject"], x["object"])) for x in lines if x["label"])
        for lines in generated.scenarios().values()
    }
    assert by_preference["non-popular"] == order[:30]
    assert by_preference["popular"] == order[-30:]
    assert by_preference["random"] not in (order[:30], order[-30:])


def test_a_scenario_does_not_depend_on_the_rest_of_the_matrix(whole, tmp_path):
    for t, h, popularity in (("0.5", "0.8", "popular"), ("1", "0", "random"), ("0.2", "1", "non-popular")):
        folder = tmp_path / popularity
        options = ["--size", 60, "--transparency", t, "--homogeneity", h, "--popularity", popularity, "--seed", 5]
        assert split(folder, *options) == 0
        (file,) = folder.glob("*_scenario.tsv")
        assert file.read_bytes() == (whole / file.name).read_bytes()


def test_scenarios_of_one_row_have_the_same_true_claims(whole):
    scenarios_by_name = checked_folder(whole).scenarios()
    for h, popularity in itertools.product(("0.0", "0.5"), ("random", "popular")):
        row = [scenarios_by_name[f"c{t} h{h} s60 r1.0 {popularity}"] for t in ("0.0", "0.2", "0.5", "0.8", "1.0")]
        true = [{(line["subject"], line["object"]) for line in scenario if line["label"]} for scenario in row]
        assert all(claims == true[0] for claims in true)


def test_the_same_bytes_in_another_process_with_another_hash_seed(tmp_path):
    options = ["--size", "40", "--transparency", "0.5", "--homogeneity", "0.5", "--relation", RELATION, "--seed", "9"]
    folders = [tmp_path / name for name in ("one", "two", "other seed")]
    for number, folder in enumerate(folders):
        seed = ["--seed", "10"] if number == 2 else []
        line = [sys.executable, "-m", "evaluator", *COMMAND, *options, *seed, "--output", str(folder)]
        environment = {**os.environ, "PYTHONHASHSEED": str(number + 1)}
        subprocess.run(line, check=True, cwd=ROOT, env=environment, capture_output=True)
    content = [{path.name: path.read_bytes() for path in folder.iterdir()} for folder in folders]
    assert content[0] == content[1]
    assert content[0]["gold.jsonl"] != content[2]["gold.jsonl"]


def test_ids_depend_on_the_salt_and_do_not_reveal_the_label(whole, tmp_path):
    gold = [json.loads(line) for line in (whole / "gold.jsonl").read_text().splitlines()]
    assert [line["id"] for line in gold] == sorted(line["id"] for line in gold)
    early = sum(line["label"] for line in gold[: len(gold) // 2])
    assert abs(early - len(gold) / 4) < 4 * (len(gold) / 8) ** 0.5
    options = ["--size", 60, "--transparency", 1, "--homogeneity", 0, "--seed", 5]
    ids = []
    for salt in ("one", "two"):
        assert split(tmp_path / salt, *options, "--salt", salt) == 0
        ids.append({json.loads(line)["id"] for line in (tmp_path / salt / "gold.jsonl").read_text().splitlines()})
        assert salt not in (tmp_path / salt / "recipe.json").read_text().replace("not recorded", "")
    assert not ids[0] & ids[1]


def test_a_pair_is_one_group_in_every_scenario(whole):
    groups = {}
    for line in checked_folder(whole).gold:
        assert groups.setdefault((line["subject"], line["object"]), line["group"]) == line["group"]
    assert len(set(groups.values())) == len(groups)


def test_training_scenarios_share_no_pair_with_tests(whole, tmp_path):
    options = ["--size", 60, "--transparency", "0,1", "--homogeneity", "0,1", "--kind", "train"]
    assert split(tmp_path / "train", *options, "--exclude-pairs", whole / "gold.jsonl") == 0
    generated = checked_folder(tmp_path / "train")
    assert generated.check() == 4
    tested = {(line["subject"], line["object"]) for line in checked_folder(whole).gold}
    assert not tested & {(line["subject"], line["object"]) for line in generated.gold}


def test_the_site_and_the_scorer_read_the_generated_files(whole):
    parsed = scenarios(whole)
    assert len(parsed) == 75
    assert {(scenario.relation, scenario.ratio, scenario.train, len(scenario.claims)) for scenario in parsed} == {
        (RELATION, "1.0", False, 60)
    }
    gold = (whole / "gold.jsonl").read_bytes()
    answers = [{"id": json.loads(line)["id"], "score": json.loads(line)["label"] * 1.0} for line in gold.splitlines()]
    result = run_score("fact-checking", gold, jsonl(answers), cross="transparency,homogeneity")["result"]
    assert result["warnings"] == []
    assert all(score["value"] == 1 for score in result["scores"])


def test_the_public_graph_lacks_the_true_claims(tmp_path):
    assert split(tmp_path / "made", "--size", 40, "--public-graph") == 0
    generated = checked_folder(tmp_path / "made")
    remaining = {tuple(line.split("\t")) for line in (tmp_path / "made" / "graph.tsv").read_text().splitlines()}
    true = {(line["subject"], RELATION, line["object"]) for line in generated.gold if line["label"]}
    assert remaining == generated.triples - true


@pytest.fixture
def couples(tmp_path):
    """Options for a graph of 100 couples, where `spouse` is stated in both directions."""
    ends = [(f"a{n:02}", f"b{n:02}") for n in range(100)]
    graph = tmp_path / "couples.tsv"
    graph.write_text("".join(f"{s}\tspouse\t{o}\n{o}\tspouse\t{s}\n" for s, o in ends))
    return ["split", "scenarios", "--graph", str(graph), "--relation", "spouse", "--size", "60"]


def pairs_of(folder, *, labels=(True, False)):
    lines = (json.loads(line) for line in (folder / "gold.jsonl").read_text().splitlines())
    return {(line["subject"], line["object"]) for line in lines if line["label"] in labels}


def reverse(pairs):
    return {(o, s) for s, o in pairs}


def test_the_public_graph_has_no_true_claim_in_the_other_direction(couples, tmp_path):
    assert main([*couples, "--public-graph", "--output", str(tmp_path / "made")]) == 0
    true = pairs_of(tmp_path / "made", labels=[True])
    triples = [line.split("\t") for line in (tmp_path / "made" / "graph.tsv").read_text().splitlines()]
    remaining = {(s, o) for s, _, o in triples}
    assert len(remaining) == 200 - len(true | reverse(true))
    assert not remaining & (true | reverse(true))


def test_an_excluded_pair_is_excluded_in_both_directions(couples, tmp_path):
    test, train = tmp_path / "test", tmp_path / "train"
    assert main([*couples, "--output", str(test)]) == 0
    assert main([*couples, "--exclude-pairs", str(test / "gold.jsonl"), "--seed", "1", "--output", str(train)]) == 0
    assert not pairs_of(train) & (pairs_of(test) | reverse(pairs_of(test)))


def test_the_two_directions_of_a_fact_are_one_group(couples, tmp_path):
    assert main([*couples, "--output", str(tmp_path / "made")]) == 0
    groups = {}
    for line in (tmp_path / "made" / "gold.jsonl").read_text().splitlines():
        claim = json.loads(line)
        if claim["label"]:
            groups.setdefault(frozenset((claim["subject"], claim["object"])), []).append(claim["group"])
    assert max(map(len, groups.values())) == 2
    assert all(len(set(names)) == 1 for names in groups.values())
    assert len({names[0] for names in groups.values()}) == len(groups)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--relation", "nothing"], 'the relation is "nothing", expected a predicate of the graph'),
        (["--transparency", "0.5,1.5"], 'transparency is "1.5", expected a decimal from 0 to 1'),
        (["--transparency", "0.5,0.50"], "transparency 0.50 is given twice"),
        (["--homogeneity", ""], 'homogeneity is "", expected a decimal from 0 to 1'),
        (["--popularity", "famous"], 'popularity is "famous", expected one of: popular, non-popular, random'),
        (["--ratio", "0"], "expected at least one true and one false claim"),
        (["--size", "1"], "expected at least one true and one false claim"),
        (["--size", "x"], "expected a whole number"),
        (["--size", "100000"], "expected at least 50000"),
        (["--plausible", "luck"], "invalid choice"),
        (["--dimensions", "0", "--homogeneity", "1"], "the number of dimensions is 0, expected at least 1"),
        (["--pool", "60", "--size", "100", "--homogeneity", "0"], None),
    ],
)
def test_wrong_usage(tmp_path, capsys, options, message):
    relation = [] if "--relation" in options else ["--relation", RELATION]
    status = main([*COMMAND, *relation, *options, "--output", str(tmp_path / "made")])
    if message is None:
        assert status == 0
        return
    assert status == 64
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_every_impossible_scenario_is_reported(tmp_path, capsys):
    options = ["--transparency", "0,0.5,1", "--size", 300]
    assert split(tmp_path / "made", *options, relation="worksFor") == 64
    message = capsys.readouterr().err
    assert "c0.0 s300 r1.0 random: transparency 0:" in message
    assert "c0.5 s300 r1.0 random: transparency 0.5:" in message
    assert "c1.0" not in message


def test_invalid_files_are_reported_with_their_lines(tmp_path, capsys):
    graph = tmp_path / "graph.tsv"
    graph.write_text("a\tp\tb\na\tp\n")
    options = ["split", "scenarios", "--graph", str(graph), "--relation", "p", "--output", str(tmp_path / "made")]
    assert main([*options, "--json"]) == 3
    caught = capsys.readouterr()
    assert f"{graph}:2: not a triple, found 2 columns, expected subject, predicate and object" in caught.err
    assert json.loads(caught.out)["problems"][0]["line"] == 2
    assert not (tmp_path / "made").exists()


def test_embeddings_must_have_every_entity_of_the_relation(tmp_path, capsys):
    vectors = tmp_path / "vectors.tsv"
    vectors.write_text("nobody\t1\t2\n")
    options = ["--size", 20, "--homogeneity", "0.5", "--embeddings", vectors]
    assert split(tmp_path / "made", *options) == 3
    assert f"entities of {RELATION} have no vector" in capsys.readouterr().err


def test_missing_types_give_a_warning(tmp_path, capsys):
    options = ["--relation", RELATION, "--size", "20", "--output", str(tmp_path / "made"), "--json"]
    assert main([*COMMAND[:4], *options]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["warnings"] == ["no types are given: every entity passes the type test"]
    assert report["functionality"]["subjects_per_pair"] == 1.0
    recipe = (tmp_path / "made" / "recipe.json").read_text()
    assert str(Path(tmp_path)) not in recipe
    assert str(ROOT) not in recipe


def test_degenerate_scenarios_have_a_warning(tmp_path, capsys):
    """Facts of one big city, and of many small ones: the largest cluster has a single object."""
    facts = [*((f"a{n:02}", "big") for n in range(60)), *((f"b{n:02}", f"small{n:02}") for n in range(60))]
    triples = [f"{subject}\tbornIn\t{city}\n" for subject, city in facts]
    vectors = [f"a{n:02}\t0\t0\n" for n in range(60)] + ["big\t0\t1\n"]
    vectors += [f"{name}{n:02}\t{9 + n * 5}\t{n % 7}\n" for n in range(60) for name in ("b", "small")]
    for name, lines in (("graph.tsv", triples), ("vectors.tsv", vectors)):
        (tmp_path / name).write_text("".join(lines))
    command = ["split", "scenarios", "--graph", str(tmp_path / "graph.tsv"), "--relation", "bornIn", "--json"]
    options = ["--embeddings", str(tmp_path / "vectors.tsv"), "--homogeneity", "0,1", "--size", "60"]
    assert main([*command, *options, "--output", str(tmp_path / "made")]) == 0
    report = json.loads(capsys.readouterr().out)
    claims = [json.loads(line) for line in (tmp_path / "made/gold.jsonl").read_text().splitlines()]
    for row in report["scenarios"]:
        mine = [claim for claim in claims if claim["slices"]["scenario"] == row["scenario"]]
        for name in ("subject", "object"):
            assert row[f"{name}s"] == len({claim[name] for claim in mine})
            assert row[f"{name}s_of_true"] == len({claim[name] for claim in mine if claim["label"]})
    assert [warning for warning in report["warnings"] if "only" in warning] == [
        "c1.0 h1.0 s60 r1.0 random: the 30 true claims have only 1 object; AUROC depends on these few entities, so it "
        "cannot be compared with that of other scenarios"
    ]
