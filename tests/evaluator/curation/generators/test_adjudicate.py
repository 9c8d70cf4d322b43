"""`split adjudicate` on the command line, and as a job of the site."""

import io
import json
from pathlib import Path

import msgspec
import pytest

from evaluator.cli.main import main
from evaluator.errors import GoldError
from evaluator.jobs.generate import GenerateReport, GenerateRequest, generate

Line = dict[str, object]
VOTES = {
    # claim: annotator -> label
    1: {"ann": "SUPPORTS", "bob": "SUPPORTS"},
    2: {"ann": "SUPPORTS", "bob": "REFUTES"},
    3: {"ann": "REFUTES", "bob": "SUPPORTS", "cem": "REFUTES"},
    4: {"ann": "REFUTES"},
}
ITEMS: list[Line] = [{"id": n, "claim": f"claim {n}", "evidence_text": "e"} for n in range(1, 6)]


def judgements(*annotators: str) -> list[Line]:
    return [
        {"id": n, "annotator": name, "label": votes[name]}
        for name in annotators
        for n, votes in VOTES.items()
        if name in votes
    ]


def encoded(lines: list[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def write(path: Path, lines: list[Line]) -> str:
    path.write_bytes(encoded(lines))
    return str(path)


def read(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    two, third = tmp_path / "two.jsonl", tmp_path / "third.jsonl"
    return [write(two, judgements("ann", "bob")), write(third, judgements("cem"))]


def test_gold_what_is_left_and_the_agreement(tmp_path, files, capsys) -> None:
    # A label that an item has is neither taken for a judgement nor shown to the next annotator.
    items = write(tmp_path / "items.jsonl", [{**item, "label": "NOT ENOUGH INFO"} for item in ITEMS])
    made = tmp_path / "made"
    assert main(["split", "adjudicate", *files, "--items", items, "--output", str(made)]) == 0
    assert read(made / "gold.jsonl") == [{**ITEMS[0], "label": "SUPPORTS"}, {**ITEMS[2], "label": "REFUTES"}]
    assert read(made / "left.jsonl") == [
        {**ITEMS[1], "judged_by": ["ann", "bob"]},
        {**ITEMS[3], "judged_by": ["ann"]},
        {**ITEMS[4], "judged_by": []},
    ]
    assert read(made / "again.jsonl") == []
    report = json.loads((made / "recipe.json").read_text())["report"]
    assert (report["decided"], report["left"]) == (2, 3)
    # Of five pairs of judgements on one claim, that of claim 1 and one of claim 3 are equal.
    assert report["agreement"]["percent"] == 2 / 5
    assert [pair["n"] for pair in report["agreement"]["pairs"]] == [3, 1, 1]
    text = capsys.readouterr().out
    assert "2 items decided, 3 left to judge: 2, 4, 5" in text and '"ann" and "bob": 3 items, equal 0.333' in text


def test_what_is_left_can_be_judged_and_added(tmp_path, files) -> None:
    items, made = write(tmp_path / "items.jsonl", ITEMS), tmp_path / "made"
    rest = [{"id": n, "annotator": name, "label": "REFUTES"} for n in (2, 4, 5) for name in ("dan", "eve")]
    more = write(tmp_path / "more.jsonl", rest)
    assert main(["split", "adjudicate", *files, more, "--items", items, "--output", str(made)]) == 0
    labels = [line["label"] for line in read(made / "gold.jsonl")]
    assert labels == ["SUPPORTS", *["REFUTES"] * 4]
    assert (made / "left.jsonl").read_bytes() == b""


def test_the_report_names_up_to_a_thousand_items_that_are_left(tmp_path, capsys) -> None:
    once = write(tmp_path / "once.jsonl", [{"id": n, "annotator": "ann", "label": "a"} for n in range(1002)])
    assert main(["split", "adjudicate", once, "--output", str(tmp_path / "made")]) == 0
    assert ", 998, 999 and 2 more\n" in capsys.readouterr().out


def test_a_seeded_share_is_judged_again_without_labels(tmp_path) -> None:
    votes = [{"id": n, "annotator": name, "label": "SUPPORTS"} for n in range(30) for name in ("ann", "bob")]
    chosen = {}
    for seed, lines in (("1", votes), ("1 again", votes[::-1]), ("2", votes)):
        file, made = write(tmp_path / "votes.jsonl", lines), tmp_path / seed
        words = ["--again", "25", "--seed", seed[0], "--output", str(made)]
        assert main(["split", "adjudicate", file, *words]) == 0
        assert all(line.keys() == {"id"} for line in read(made / "again.jsonl"))
        chosen[seed] = {line["id"] for line in read(made / "again.jsonl")}
    assert len(chosen["1"]) == 8  # 7.5, rounded up
    assert chosen["1"] == chosen["1 again"] != chosen["2"]


def test_scores_are_averaged_under_the_given_key(tmp_path) -> None:
    scores = [{"id": "a", "annotator": n, "score": n} for n in (1, 2, 4, 5)]
    file, made = write(tmp_path / "scores.jsonl", scores), tmp_path / "made"
    assert main(["split", "adjudicate", file, "--key", "human", "--output", str(made)]) == 0
    assert read(made / "gold.jsonl") == [{"id": "a", "human": 3.0}]


@pytest.mark.parametrize("key", ["id", "group", "slices", "judged_by"])
def test_the_key_of_the_answer_is_not_one_with_another_meaning(tmp_path, files, capsys, key) -> None:
    assert main(["split", "adjudicate", *files, "--key", key, "--output", str(tmp_path / "made")]) == 64
    assert f'--key is "{key}", expected a key other than group, id, judged_by, slices' in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


def test_an_answer_does_not_replace_what_is_judged(tmp_path, files, capsys) -> None:
    items = write(tmp_path / "items.jsonl", ITEMS)
    words = ["--items", items, "--key", "claim", "--output", str(tmp_path / "made")]
    assert main(["split", "adjudicate", *files, *words]) == 3
    assert (
        "items.jsonl:1: the item already has the key claim, expected a key that no item has" in capsys.readouterr().err
    )
    assert not (tmp_path / "made").exists()


def test_mentions_of_all_annotators_are_united(tmp_path, files, capsys) -> None:
    marks: list[Line] = [
        {"id": "t", "annotator": "ann", "mentions": [[4, 7], [0, 3]]},
        {"id": "t", "annotator": "bob", "mentions": [[0, 3]]},
    ]
    made = tmp_path / "made"
    mentions = write(tmp_path / "mentions.jsonl", marks)
    assert main(["split", "adjudicate", *files, "--mentions", mentions, "--output", str(made)]) == 0
    assert read(made / "mentions.jsonl") == [{"id": "t", "mentions": [[0, 3], [4, 7]]}]
    assert "1 text with 2 mentions; F1 of two annotators 0.667" in capsys.readouterr().out
    for wrong in ([[3, 3]], [[0]], [[-1, 2]], "0-3"):
        mentions = write(tmp_path / "mentions.jsonl", [marks[0], {**marks[1], "mentions": wrong}])
        assert main(["split", "adjudicate", *files, "--mentions", mentions, "--output", str(tmp_path / "x")]) == 3
        assert "mentions.jsonl:2: mentions is not valid" in capsys.readouterr().err
    mentions = write(tmp_path / "mentions.jsonl", [marks[0], marks[0]])
    assert main(["split", "adjudicate", *files, "--mentions", mentions, "--output", str(tmp_path / "x")]) == 3
    assert "mentions.jsonl:2: an annotator marks a text twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "items", "message"),
    [
        (judgements("cem"), ITEMS, 'item 3 by "cem", also in'),
        ([{"id": 1, "annotator": "x", "score": 1}], ITEMS, "the judgements are of another kind, found scores"),
        ([{"id": "1", "annotator": "x", "label": "y"}], ITEMS, "ids have another type"),
        ([{"id": 1, "annotator": "x"}], ITEMS, "more.jsonl:1: label is not valid"),
        ([{"id": 2, "annotator": "x", "label": "y"}], [*ITEMS, ITEMS[0]], "items.jsonl:6: duplicate id"),
        ([{"id": 2, "annotator": "x", "label": "y"}], ITEMS[1:], "judged items are missing, found 1"),
    ],
)
def test_files_that_do_not_fit_are_refused(tmp_path, files, capsys, more, items, message) -> None:
    paths = [*files, write(tmp_path / "more.jsonl", more), "--items", write(tmp_path / "items.jsonl", items)]
    assert main(["split", "adjudicate", *paths, "--output", str(tmp_path / "made")]) == 3
    assert message in capsys.readouterr().err
    assert not (tmp_path / "made").exists()


def on_site(*sources: tuple[str, list[Line]], **parameters: str) -> tuple[GenerateReport, bytes]:
    request = GenerateRequest(
        task="fact-verification",
        generator="adjudicate",
        parameters=parameters,
        sources=[(role, f"{role}.jsonl") for role, _ in sources],
    )
    return generate({str(n): io.BytesIO(encoded(lines)) for n, (_, lines) in enumerate(sources)}, request)


def test_the_site_gets_gold_alone() -> None:
    both = [("annotations", judgements("ann", "bob")), ("annotations", judgements("cem"))]
    report, body = on_site(*both, ("items", ITEMS), key="label", again="50")
    assert [part.name for part in report.parts] == ["test"]
    assert [msgspec.json.decode(line)["id"] for line in body.splitlines()] == [1, 3]
    assert report.result["again"] == 1


def test_the_site_refuses_judgements_that_decide_nothing() -> None:
    with pytest.raises(GoldError, match="no gold was made, found 0 items decided, 4 left to judge: 1, 2, 3, 4"):
        on_site(("annotations", judgements("ann")))
