"""Corrected gold beside what it corrects: every edit is found as what it is, and what is not told changes no score."""

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
"""Task -> (fixture, a file of predictions; None: the first there is)."""
TASKS = sorted(BENCHMARKS)


def lines_of(task: str) -> list[Line]:
    folder = FIXTURES / BENCHMARKS[task][0]
    return [json.loads(line) for line in (folder / "splits" / "test.jsonl").read_text().splitlines()]


def written(lines: list[Line]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def compared(task: str, before: list[Line], after: list[Line]) -> Difference:
    files = (GoldFile(io.BytesIO(written(lines)), "gold.jsonl") for lines in (before, after))
    return compare(find_task(task), *files, find_task(task).parse_options({}))


def found(task: str, before: list[Line], after: list[Line]) -> dict[Any, set[str]]:
    return {item.id: set(item.kinds) for item in compared(task, before, after).items}


def key(task: str) -> str:
    return "documentId" if task == "knowledge-base-population" else "id"


# --- edits of one line, each with what it is; None: this line cannot be edited so


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


def nothing(task: str, line: Line) -> Line:
    """The same in other words: sets in another order, twice what counts once, an explicit default."""
    match task:
        case "knowledge-base-population":
            for passage in line["passages"]:
                passage["facts"].reverse()
                passage["exhaustivelyAnnotatedProperties"].reverse()
        case "fact-verification":
            if "evidence" in line:
                line["evidence"] = [[[None, 7, *rest[2:]] for rest in one[::-1]] for one in line["evidence"][::-1]]
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
    "": nothing,
}


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("seed", range(8))
def test_every_edit_is_found_as_what_it_is(task: str, seed: int) -> None:
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
        # An item that something happened to says no more that it is written otherwise.
        if told := (kinds - {"", "other"} or kinds & {"other"}):
            expected[name] = told
        after.append(line)
    for number in range(draw.randrange(4)):
        line = copy.deepcopy(draw.choice(before))
        line[key(task)] = type(line[key(task)])(10**9 + number)
        expected[line[key(task)]] = {"added"}
        after.insert(draw.randrange(len(after)), line)
    is_shuffled = draw.random() < 0.5
    if is_shuffled:
        draw.shuffle(after)
    difference = compared(task, before, after)
    told = {item.id: set(item.kinds) for item in difference.items}
    quiet = {name for name, kinds in told.items() if kinds == {"other"} and name not in expected}
    assert {name: kinds for name, kinds in told.items() if name not in quiet} == expected
    assert (difference.n_before, difference.n_after, difference.reordered) == (len(before), len(after), is_shuffled)
    counted = {kind: sum(kind in kinds for kinds in told.values()) for kind in KINDS}
    assert difference.counts()["by_kind"] == counted and difference.counts()["n_changed"] == len(told)


@pytest.mark.parametrize("task", TASKS)
def test_what_is_not_told_changes_no_score(task: str) -> None:
    """The scorer is the oracle: where no answer, group or slice changed, each of a real system's scores is the same."""
    folder, name = BENCHMARKS[task]
    predictions = sorted((FIXTURES / folder / "predictions" / "test").glob(f"{name or ''}*"))[0]
    before = lines_of(task)
    after = [nothing(task, copy.deepcopy(line)) for line in before]
    random.Random(1).shuffle(after)
    assert all(kinds == {"other"} for kinds in found(task, before, after).values())
    scored = []
    for lines in (before, after):
        arguments = {"task": task, "gold_name": "gold.jsonl", "predictions_name": predictions.name, "resamples": 0}
        with predictions.open("rb") as answers:
            report = JOBS["score"]({"gold": io.BytesIO(written(lines)), "predictions": answers}, arguments)[0]
        scored.append({json.dumps([one["measure"], one["slice"]]): one["value"] for one in report["result"]["scores"]})
    assert scored[0] == pytest.approx(scored[1], abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("task", TASKS)
def test_a_file_beside_itself(task: str) -> None:
    lines = lines_of(task)
    assert compared(task, lines, lines).counts()["n_changed"] == 0
    packed = GoldFile(io.BytesIO(gzip.compress(written(lines))), "gold.jsonl.gz")
    plain = GoldFile(io.BytesIO(written(lines).replace(b"\n", b"\r\n")), "gold.jsonl")
    assert compare(find_task(task), packed, plain, find_task(task).parse_options({})).items == []


def claim(**more: Any) -> Line:
    return {"id": "a", "claim": "c", "label": "SUPPORTS", **more}


def test_a_change_tells_both_sides() -> None:
    evidence = {"evidence": [[[1, 1, "P", 0]], [[1, 2, "Q", 3], [1, 3, "P", 1]]]}
    corrected = {"evidence": [[[9, 9, "P", 0]], [[1, 2, "Q", 4]]], "label": "REFUTES", "slices": {"year": 1}}
    (item,) = compared("fact-verification", [claim(**evidence)], [claim() | corrected]).items
    told = {one["field"]: (one["kind"], one["before"], one["after"]) for one in item.as_dict()["changes"]}
    assert told == {
        "label": ("answer", "SUPPORTS", "REFUTES"),
        "evidence": ("answer", [[["P", 1], ["Q", 3]]], [[["Q", 4]]]),
        "year": ("slices", None, 1),
    }


def test_values_of_other_types_are_other_values() -> None:
    before, after = claim(slices={"year": 1, "old": True}), claim(slices={"year": "1", "old": 1})
    (item,) = compared("fact-verification", [before], [after]).items
    assert [change.field for change in item.changes] == ["year", "old"]
    assert found("fact-verification", [claim(id="1")], [claim(id=1)]) == {1: {"added"}, "1": {"removed"}}


def test_no_evidence_and_empty_evidence_are_two_answers() -> None:
    assert found("fact-verification", [claim()], [claim(evidence=[])]) == {"a": {"answer"}}


def test_of_two_equal_facts_each_counts_where_each_is_to_be_found() -> None:
    lines = lines_of("knowledge-base-population")
    facts = next(passage["facts"] for line in lines for passage in line["passages"] if passage["facts"])
    before = copy.deepcopy(lines)
    facts.append(facts[0])
    ((_, kinds),) = found("knowledge-base-population", before, lines).items()
    assert kinds == {"answer"}


def test_long_texts_are_cut_where_they_are_told() -> None:
    (item,) = compared("fact-verification", [claim()], [claim(claim="x" * 5000)]).items
    assert len(item.as_dict()["changes"][0]["after"]) == 600


def test_a_bad_file_is_named_with_its_line() -> None:
    files = [GoldFile(io.BytesIO(written([claim()])), name) for name in ("before.jsonl", "after.jsonl")]
    files[1] = GoldFile(io.BytesIO(written([claim(), claim(id="b", label="MAYBE")])), "after.jsonl")
    with pytest.raises(GoldError, match=r"after.jsonl:2"):
        compare(find_task("fact-verification"), *files, {"max_evidence": 5})


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, lines in (("old", [claim(), claim(id="b")]), ("new", [claim(label="REFUTES")])):
        (tmp_path / f"{name}.jsonl").write_bytes(written(lines))
    asked = ["audit", "diff-gold", "fact-verification", str(tmp_path / "old.jsonl"), str(tmp_path / "new.jsonl")]
    assert main(asked) == 0
    told = capsys.readouterr().out
    assert '"a", line 1: answer\n  label: "SUPPORTS" -> "REFUTES"' in told
    assert '"b", line 2: removed\n  claim: "c"\n  label: "SUPPORTS"' in told
    assert main([*asked, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["by_kind"]["answer"] == report["by_kind"]["removed"] == 1 and report["n_after"] == 1
