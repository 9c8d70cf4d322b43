"""Corrected gold against the earlier gold: each edit is classified correctly, and unreported edits change no score."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.main import main
from evaluator.curation.gold_diff import KINDS, Difference, GoldFile
from evaluator.curation.gold_diff.diff import compare
from evaluator.errors import GoldError
from evaluator.jobs import JOBS
from evaluator.tasks.registry import find_task

FIXTURES = Path(__file__).resolve().parents[4] / "fixtures"
Line = dict[str, Any]
BENCHMARKS = {
    "knowledge-base-population": ("atlas-facts", "perceptron"),
    "fact-verification": ("sourced-claims", None),
    "fact-checking": ("graph-claims", "transe"),
    "link-prediction": ("open-facts", None),
    "fact-extraction": ("life-facts", "classifier"),
    "metric-correlation": ("rated-summaries", None),
}
"""Task -> (fixture, a file of predictions or None for the first file)."""
TASKS = sorted(BENCHMARKS)


def lines_of(task: str) -> list[Line]:
    folder = FIXTURES / BENCHMARKS[task][0]
    return [json.loads(line) for line in (folder / "splits" / "test.jsonl").read_text().splitlines()]


def encoded(lines: list[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def difference_of(task: str, before: list[Line], after: list[Line]) -> Difference:
    files = (GoldFile(io.BytesIO(encoded(lines)), "gold.jsonl") for lines in (before, after))
    return compare(find_task(task), *files, find_task(task).parse_options({}))


def kinds_by_id(task: str, before: list[Line], after: list[Line]) -> dict[Any, set[str]]:
    return {item.id: set(item.kinds) for item in difference_of(task, before, after).items}


def key(task: str) -> str:
    return "documentId" if task == "knowledge-base-population" else "id"


# --- edits of one line, each with its kind; None if the line cannot be edited this way


def answer(task: str, line: Line) -> Line | None:
    match task:
        case "knowledge-base-population":
            facts = [fact for passage in line["passages"] for fact in passage["facts"]]
            if not facts:
                return None
            facts[0]["objectUri"] = "http://example.org/another"
        case "fact-verification":
            line["label"] = {"SUPPORTS": "REFUTES"}.get(line["label"], "SUPPORTS")
        case "fact-checking":
            line["label"] = not line["label"]
        case "link-prediction":
            line["filtered"].append("a mention of another")
        case "fact-extraction":
            line["facts"].append(["a", "b", "c"])
        case "metric-correlation":
            line["human"] += 0.25
    return line


def question(task: str, line: Line) -> Line | None:
    match task:
        case "knowledge-base-population":
            line["documentText"] += " More."
        case "fact-verification":
            line["claim"] += " indeed"
        case "fact-checking":
            line["subject"] += " II"
        case "link-prediction":
            line["question"][1] += " often"
        case _:
            name = "text" if task == "fact-extraction" else "generated"
            line[name] = line.get(name, "") + " more"
    return line


def slices(_: str, line: Line) -> Line:
    line["slices"] = {**line.get("slices", {}), "batch": True}
    return line


def group(_: str, line: Line) -> Line:
    line["group"] = "one more group"
    return line


def other(_: str, line: Line) -> Line:
    line["remark"] = "seen twice"
    return line


def equivalent(task: str, line: Line) -> Line:
    """Equivalent content: sets in another order, duplicates that count once, an explicit default."""
    match task:
        case "knowledge-base-population":
            for passage in line["passages"]:
                passage["facts"].reverse()
                passage["exhaustivelyAnnotatedProperties"].reverse()
        case "fact-verification":
            if "evidence" in line:
                line["evidence"] = [
                    [[None, 7, *rest[2:]] for rest in evidence_set[::-1]] for evidence_set in line["evidence"][::-1]
                ]
        case "link-prediction":
            line["answers"] = line["answers"][::-1] + line["answers"][:1]
        case "fact-extraction":
            line["facts"] = line["facts"][::-1] + line["facts"][:1]
    line.setdefault("group", line[key(task)])
    return dict(reversed(line.items()))


EDITS: dict[str, Callable[[str, Line], Line | None]] = {
    "answer": answer,
    "question": question,
    "slices": slices,
    "group": group,
    "other": other,
    "": equivalent,
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(8))
def test_every_edit_is_classified_correctly(task: str, seed: int) -> None:
    draw = random.Random(f"{task} {seed}")
    before = lines_of(task)
    after, expected = [], {}
    for old in before:
        line = copy.deepcopy(old)
        name = line[key(task)]
        if draw.random() < 0.1:
            expected[name] = {"removed"}
            continue
        kinds = set()
        for kind in draw.sample(list(EDITS), k=draw.choice((0, 0, 1, 2))):
            edited = EDITS[kind](task, copy.deepcopy(line))
            if edited is not None:
                line, kinds = edited, kinds | {kind}
        # An item with another kind of change is not also reported as rewritten.
        if reported := (kinds - {"", "other"} or kinds & {"other"}):
            expected[name] = reported
        after.append(line)
    for number in range(draw.randrange(4)):
        line = copy.deepcopy(draw.choice(before))
        line[key(task)] = type(line[key(task)])(10**9 + number)
        expected[line[key(task)]] = {"added"}
        after.insert(draw.randrange(len(after)), line)
    is_shuffled = draw.random() < 0.5
    if is_shuffled:
        draw.shuffle(after)
    difference = difference_of(task, before, after)
    kinds_of = {item.id: set(item.kinds) for item in difference.items}
    rewritten = {name for name, kinds in kinds_of.items() if kinds == {"other"} and name not in expected}
    assert {name: kinds for name, kinds in kinds_of.items() if name not in rewritten} == expected
    assert (difference.n_before, difference.n_after, difference.reordered) == (len(before), len(after), is_shuffled)
    counts = {kind: sum(kind in kinds for kinds in kinds_of.values()) for kind in KINDS}
    assert difference.counts()["by_kind"] == counts and difference.counts()["n_changed"] == len(kinds_of)


@pytest.mark.parametrize("task", TASKS)
def test_unreported_edits_change_no_score(task: str) -> None:
    """Where no answer, group or slice changed, each of a real system's scores is unchanged."""
    folder, name = BENCHMARKS[task]
    predictions = sorted((FIXTURES / folder / "predictions" / "test").glob(f"{name or ''}*"))[0]
    before = lines_of(task)
    after = [equivalent(task, copy.deepcopy(line)) for line in before]
    random.Random(1).shuffle(after)
    assert all(kinds == {"other"} for kinds in kinds_by_id(task, before, after).values())
    scored = []
    for lines in (before, after):
        arguments = {"task": task, "gold_name": "gold.jsonl", "predictions_name": predictions.name, "resamples": 0}
        with predictions.open("rb") as answers:
            report = JOBS["score"]({"gold": io.BytesIO(encoded(lines)), "predictions": answers}, arguments)[0]
        scored.append({json.dumps([row["measure"], row["slice"]]): row["value"] for row in report["result"]["scores"]})
    assert scored[0] == pytest.approx(scored[1], abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("task", TASKS)
def test_a_file_compared_with_itself_has_no_changes(task: str) -> None:
    lines = lines_of(task)
    assert difference_of(task, lines, lines).counts()["n_changed"] == 0
    packed = GoldFile(io.BytesIO(gzip.compress(encoded(lines))), "gold.jsonl.gz")
    plain = GoldFile(io.BytesIO(encoded(lines).replace(b"\n", b"\r\n")), "gold.jsonl")
    assert compare(find_task(task), packed, plain, find_task(task).parse_options({})).items == []


def claim(**more: Any) -> Line:
    return {"id": "a", "claim": "c", "label": "SUPPORTS", **more}


def test_a_change_shows_both_sides() -> None:
    evidence = {"evidence": [[[1, 1, "P", 0]], [[1, 2, "Q", 3], [1, 3, "P", 1]]]}
    corrected = {"evidence": [[[9, 9, "P", 0]], [[1, 2, "Q", 4]]], "label": "REFUTES", "slices": {"year": 1}}
    (item,) = difference_of("fact-verification", [claim(**evidence)], [claim() | corrected]).items
    changes = {
        change["field"]: (change["kind"], change["before"], change["after"]) for change in item.as_dict()["changes"]
    }
    assert changes == {
        "label": ("answer", "SUPPORTS", "REFUTES"),
        "evidence": ("answer", [[["P", 1], ["Q", 3]]], [[["Q", 4]]]),
        "year": ("slices", None, 1),
    }


def test_values_of_different_types_differ() -> None:
    before, after = claim(slices={"year": 1, "old": True}), claim(slices={"year": "1", "old": 1})
    (item,) = difference_of("fact-verification", [before], [after]).items
    assert [change.field for change in item.changes] == ["year", "old"]
    assert kinds_by_id("fact-verification", [claim(id="1")], [claim(id=1)]) == {1: {"added"}, "1": {"removed"}}


def test_missing_and_empty_evidence_differ() -> None:
    assert kinds_by_id("fact-verification", [claim()], [claim(evidence=[])]) == {"a": {"answer"}}


def test_a_duplicate_fact_counts_where_each_must_be_found() -> None:
    lines = lines_of("knowledge-base-population")
    facts = next(passage["facts"] for line in lines for passage in line["passages"] if passage["facts"])
    before = copy.deepcopy(lines)
    facts.append(facts[0])
    ((_, kinds),) = kinds_by_id("knowledge-base-population", before, lines).items()
    assert kinds == {"answer"}


def test_long_texts_are_truncated_in_the_report() -> None:
    (item,) = difference_of("fact-verification", [claim()], [claim(claim="x" * 5000)]).items
    assert len(item.as_dict()["changes"][0]["after"]) == 600


def test_an_invalid_file_is_reported_with_its_line() -> None:
    files = [GoldFile(io.BytesIO(encoded([claim()])), name) for name in ("before.jsonl", "after.jsonl")]
    files[1] = GoldFile(io.BytesIO(encoded([claim(), claim(id="b", label="MAYBE")])), "after.jsonl")
    with pytest.raises(GoldError, match=r"after.jsonl:2"):
        compare(find_task("fact-verification"), *files, {"max_evidence": 5})


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, lines in (("old", [claim(), claim(id="b")]), ("new", [claim(label="REFUTES")])):
        (tmp_path / f"{name}.jsonl").write_bytes(encoded(lines))
    arguments = ["audit", "diff-gold", "fact-verification", str(tmp_path / "old.jsonl"), str(tmp_path / "new.jsonl")]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert '"a", line 1: answer\n  label: "SUPPORTS" -> "REFUTES"' in printed
    assert '"b", line 2: removed\n  claim: "c"\n  label: "SUPPORTS"' in printed
    assert main([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["by_kind"]["answer"] == report["by_kind"]["removed"] == 1 and report["n_after"] == 1
