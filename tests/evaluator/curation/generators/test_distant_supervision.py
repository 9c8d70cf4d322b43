"""`split label-distantly`: triples become facts of the texts that mention their subject and object."""

import json
import random
from pathlib import Path

import pytest

from evaluator.cli.main import main
from evaluator.curation.generators.distant_supervision import facts_of
from evaluator.exit_codes import BAD_GOLD

TEXTS = [
    {"id": 1, "text": "Ada Berg (born 3 May 1901) left Ulm for Rom.", "subject": "Ada Berg"},
    {"id": 2, "text": "Rom and Ulm."},
    {"id": 3, "text": "The lady of Ulm.", "subject": "Ada Berg"},
]
MENTIONS = [
    {"id": 1, "mentions": [{"name": "Ada Berg", "entity": "Q1"}, "Ulm", {"name": "Rom", "entity": "Q3"}, "Bonn"]},
    {"id": 2, "mentions": ["Ulm", {"name": "Rom", "entity": "Q3"}]},
    {"id": 3, "mentions": [{"name": "Ada Berg", "entity": "Q1"}, {"name": "The lady", "entity": "Q1"}, "Ulm"]},
]
GRAPH = """\
Q1\tborn in\tUlm
Q1\tborn in\tBonn
Q1\tborn on\t1901-05-03
Q1\tknows\tQ1
Q3\ttwin of\tUlm
Q3\tnear\tUlm
Q3\tnear\tUlm
"""
NAMES = ("texts", "mentions", "graph")


def split(folder: Path, **changed: str) -> int:
    contents = {
        "texts": "".join(json.dumps(line) + "\n" for line in TEXTS),
        "mentions": "".join(json.dumps(line) + "\n" for line in MENTIONS),
        "graph": GRAPH,
        **changed,
    }
    texts, mentions, graph = (folder / name for name in NAMES)
    for name, content in contents.items():
        (folder / name).write_text(content)
    words = [texts, "--mentions", mentions, "--graph", graph, "--output", folder / "made"]
    return main(["split", "label-distantly", *map(str, words), "--json"])


def test_facts_are_the_triples_between_mentions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert split(tmp_path) == 0
    lines = [json.loads(line) for line in (tmp_path / "made" / "gold.jsonl").read_text().splitlines()]
    both = [["Rom", "near", "Ulm"], ["Rom", "twin of", "Ulm"]]
    born = ["Ada Berg", "born in", "Ulm"]
    facts = [[born, ["Ada Berg", "born on", "1901-05-03"], *both], both, [born]]
    assert lines == [{**line, "facts": found} for line, found in zip(TEXTS, facts, strict=True)]
    report = json.loads(capsys.readouterr().out)
    assert (report["texts"], report["texts_with_facts"], report["facts"]) == (3, 3, 7)
    assert report["mentions_not_in_text"] == 1  # Bonn
    assert report["relations"] == {"born in": 2, "born on": 1, "near": 2, "twin of": 2}


@pytest.mark.parametrize("seed", range(3))
def test_facts_equal_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    listed = {(rng.choice("abcd"), rng.choice("rq"), rng.choice("abcd")) for _ in range(20)}
    triples: dict[str, dict[str, list[str]]] = {}
    for subject, relation, object_ in listed:
        triples.setdefault(subject, {}).setdefault(object_, []).append(relation)
    names = {"a": "Ada", "b": "Bob", "d": "Bob"}
    expected = {(names[s], r, names[o]) for s, r, o in listed if s != o and {s, o} <= set(names)}
    assert facts_of(names, triples) == sorted(expected)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"graph": GRAPH + "Q1\tborn in\n"}, "graph:8: not a triple"),
        ({"mentions": '{"id": 9, "mentions": []}\n'}, "mentions:1: unknown id"),
        ({"texts": '{"id": 1}\n'}, "texts:1: text is missing"),
    ],
)
def test_wrong_files_are_refused_with_the_line(tmp_path, capsys, changed, message) -> None:
    assert split(tmp_path, **changed) == BAD_GOLD
    output = capsys.readouterr()
    assert message in output.out + output.err
    assert not (tmp_path / "made").exists()
