"""`split corrupt`: the scorer's accuracy equals the reported one."""

import json

import pytest

from evaluator.cli.main import main
from tests.conftest import ROOT
from tests.support.scoring_runs import jsonl, run_score

GOLD = ROOT / "fixtures" / "life-facts" / "splits" / "test.jsonl"
WORDS = {
    "dates": [],
    "places": ["--objects-of", "place of birth", "place of death"],
    "people": ["--objects-of", "spouse", "child of"],
}


def split(folder, kind, *words, gold=GOLD):
    return main(["split", "corrupt", str(gold), "--kind", kind, *map(str, words), "--output", str(folder)])


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_scores_equal_the_reported_expectation(tmp_path, capsys, kind, seed):
    assert split(tmp_path / "made", kind, *WORDS[kind], "--seed", seed, "--json") == 0
    report = json.loads(capsys.readouterr().out)
    result = run_score("fact-extraction", GOLD.read_bytes(), (tmp_path / "made" / "predictions.jsonl").read_bytes())
    scores = {score["measure"]: score["value"] for score in result["result"]["scores"] if score["slice"] == {}}
    assert scores["precision"] == pytest.approx(report["expected_accuracy"], abs=1e-12)
    assert scores["fact_acc"] == pytest.approx(report["expected_fact_acc"], abs=1e-12)
    assert report["right"] < report["facts"] == report["gold_facts"]
    assert report["mentions_moved"] > 0


@pytest.mark.parametrize("kind", WORDS)
def test_corrupted_facts_occur_in_their_texts(tmp_path, kind):
    """A corrupted text states its corrupted facts where the original text states the gold facts."""
    assert split(tmp_path / "made", kind, *WORDS[kind]) == 0
    gold, corrupted = lines(GOLD), lines(tmp_path / "made" / "predictions.jsonl")
    texts = lines(tmp_path / "made" / "inputs.jsonl")
    assert [line["id"] for line in gold] == [line["id"] for line in corrupted] == [line["id"] for line in texts]
    for before, after, text in zip(gold, corrupted, texts, strict=True):
        for old, new in zip(before["facts"], after["facts"], strict=True):
            if old[2] in before["text"]:
                assert new[2] in text["text"]


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    for name, seed in (("one", 3), ("two", 3), ("other", 4)):
        assert split(tmp_path / name, "dates", "--seed", seed) == 0
    files = ["predictions.jsonl", "inputs.jsonl", "recipe.json"]
    assert all((tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes() for file in files)
    assert (tmp_path / "one" / files[0]).read_bytes() != (tmp_path / "other" / files[0]).read_bytes()


def test_a_texts_corruption_does_not_depend_on_other_texts(tmp_path):
    """The result does not depend on other texts or their order."""
    content = GOLD.read_bytes().splitlines(keepends=True)
    few = tmp_path / "few.jsonl"
    few.write_bytes(b"".join(reversed(content[:40])))
    assert split(tmp_path / "all", "dates") == 0
    assert split(tmp_path / "few", "dates", gold=few) == 0
    all_lines = {line["id"]: line for line in lines(tmp_path / "all" / "predictions.jsonl")}
    assert all(all_lines[line["id"]] == line for line in lines(tmp_path / "few" / "predictions.jsonl"))


def test_keep_subject_keeps_the_subject(tmp_path):
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes(
        jsonl(
            {
                "id": n,
                "text": "Ann, Bob and Cy",
                "subject": "Ann",
                "facts": [["Ann", "knows", "Bob"], ["Ann", "knows", "Cy"]],
            }
            for n in range(30)
        )
    )
    words = ["--objects-of", "knows", "--subjects-of", "knows"]
    assert split(tmp_path / "all", "people", *words, gold=gold) == 0
    assert split(tmp_path / "kept", "people", *words, "--keep-subject", gold=gold) == 0
    assert {line["subject"] for line in lines(tmp_path / "all" / "inputs.jsonl")} == {"Ann", "Bob", "Cy"}
    assert {line["subject"] for line in lines(tmp_path / "kept" / "inputs.jsonl")} == {"Ann"}
    assert {line["text"] for line in lines(tmp_path / "kept" / "inputs.jsonl")} == {
        "Ann, Bob and Cy",
        "Ann, Cy and Bob",
    }


def test_mentions_from_a_file(tmp_path, capsys):
    gold, mentions = tmp_path / "gold.jsonl", tmp_path / "mentions.jsonl"
    gold.write_bytes(jsonl({"id": n, "facts": [["a", "in", "Ulm"], ["a", "near", "Bonn"]]} for n in range(20)))
    mentions.write_bytes(jsonl({"id": n, "mentions": ["Ulm", "Bonn", "Rome"]} for n in range(10)))
    assert split(tmp_path / "made", "places", "--mentions", mentions, "--json", gold=gold) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["mentions"] == 20  # Rome occurs in no fact
    corrupted = lines(tmp_path / "made" / "predictions.jsonl")
    assert all(line["facts"] == [["a", "in", "Ulm"], ["a", "near", "Bonn"]] for line in corrupted[10:])
    moved = sum(line["facts"] == [["a", "in", "Bonn"], ["a", "near", "Ulm"]] for line in corrupted[:10])
    assert report["texts_changed"] == moved > 0
    assert report["right"] == 40 - 2 * moved
    assert not (tmp_path / "made" / "inputs.jsonl").exists()


@pytest.mark.parametrize(
    ("kind", "words", "status", "message"),
    [
        ("places", [], 64, "--kind places needs a list of names"),
        ("dates", ["--objects-of", "x"], 64, "expected no --mentions"),
        ("places", ["--objects-of", "born"], 64, 'no fact has the relation "born"'),
        ("places", ["--mentions", "MENTIONS"], 3, 'mentions.jsonl:2: unknown id, found "nobody"'),
        ("moods", [], 64, "invalid choice"),
    ],
)
def test_invalid_arguments_are_refused(tmp_path, capsys, kind, words, status, message):
    mentions = tmp_path / "mentions.jsonl"
    mentions.write_bytes(jsonl([{"id": lines(GOLD)[0]["id"], "mentions": []}, {"id": "nobody", "mentions": []}]))
    assert split(tmp_path / "made", kind, *(mentions if word == "MENTIONS" else word for word in words)) == status
    assert message in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


def test_invalid_gold_is_reported_with_its_line(tmp_path, capsys):
    gold = tmp_path / "gold.jsonl"
    gold.write_text('{"id": "a", "facts": []}\n{"id": "a", "facts": []}\n{"id": "b", "facts": [["x", "y"]]}\n')
    assert split(tmp_path / "made", "dates", gold=gold) == 3
    message = capsys.readouterr().err
    assert f"{gold}:2: duplicate id" in message
    assert f"{gold}:3: " in message
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"id": "a", "facts": []}\n')
    assert split(tmp_path / "none", "dates", "--json", gold=empty) == 0
    assert json.loads(capsys.readouterr().out)["expected_accuracy"] is None


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("kind", "words"), [("places", ["--objects-of", "3", "10"]), ("people", ["--subjects-of", "10"])]
)
def test_facts_of_a_published_set(realdata, tmp_path, capsys, kind, words):
    gold = realdata / "fact-extraction" / "gold.jsonl"
    assert split(tmp_path / "made", kind, *words, "--json", gold=gold) == 0
    report = json.loads(capsys.readouterr().out)
    result = run_score("fact-extraction", gold.read_bytes(), (tmp_path / "made" / "predictions.jsonl").read_bytes())
    scores = {score["measure"]: score["value"] for score in result["result"]["scores"] if score["slice"] == {}}
    assert scores["precision"] == pytest.approx(report["expected_accuracy"], abs=1e-12)
    assert scores["fact_acc"] == pytest.approx(report["expected_fact_acc"], abs=1e-12)
