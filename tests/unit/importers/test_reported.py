"""Each number that the papers print stands on a row, with its source; typed here a second time."""

from __future__ import annotations

import pytest

from leaderboard.actions.manifest import ReportedPart
from leaderboard.importers import fever_reported
from leaderboard.importers.knowledgenet_reported import ROWS

TEXT_AND_LINK = """
KnowledgeNet Baseline 1 .44 .64 .52|.31 .26 .28
KnowledgeNet Baseline 2 .49 .64 .55|.37 .32 .34
KnowledgeNet Baseline 3 .47 .66 .55|.35 .37 .36
KnowledgeNet Baseline 4 .60 .65 .62|.51 .48 .49
KnowledgeNet Baseline 5 .68 .70 .69|.53 .48 .50
Human .88 .88 .88|.81 .84 .82
"""
LINK_AND_TEXT_F1 = """
Diffbot Joint Model .726/.810
DYGIE++ -/.754
Diffbot NER, coref, linker + Matching the Blanks .695/.737
Diffbot Open Relation Extraction .546/.560
"""
MAXIMUM_RECALL = "1 .80|.33, 2 .80|.37, 3 .80|.37, 4 .90|.59, 5 .90|.59"
DEV_AND_GENERATED = """
NSMN 81.8 58.7
ESIM 80.8 55.9
ESIM, re-weighted 76.0 59.3
BERT 86.2 58.3
BERT, re-weighted 84.6 61.6
BERT, five runs 85.85±.5 57.46±1.6
BERT, five runs, re-weighted 85.95±.5 61.62±1.2
"""
THREE_LABELS = {"33.3", "52.1", "69.7", "54.1", "57.3", "61.7"}


def shown(row: ReportedPart) -> dict[str, str]:
    return {value.measure: value.shown for value in row.values}


def rows_of(system: str, rows: list[ReportedPart]) -> list[ReportedPart]:
    return [row for row in rows if row.system == system]


@pytest.mark.parametrize("line", TEXT_AND_LINK.strip().splitlines())
def test_knowledgenet_paper(line: str) -> None:
    system, *numbers = line.replace("|", " ").rsplit(" ", 6)
    (row,) = rows_of(system, ROWS)
    names = [f"{mode}_{letter}" for mode in ("text", "link") for letter in ("precision", "recall", "f1")]
    assert shown(row) == {name: f"0{number}" for name, number in zip(names, numbers, strict=True)}


@pytest.mark.parametrize("line", LINK_AND_TEXT_F1.strip().splitlines())
def test_knowledgenet_board(line: str) -> None:
    system, numbers = line.rsplit(" ", 1)
    (row,) = rows_of(system, ROWS)
    pairs = zip(("link_f1", "text_f1"), numbers.split("/"), strict=True)
    assert shown(row) == {name: f"0{number}" for name, number in pairs if number != "-"}


@pytest.mark.parametrize("text", MAXIMUM_RECALL.split(", "))
def test_knowledgenet_maximum_recall(text: str) -> None:
    number, recalls = text.split(" ")
    (row,) = rows_of(f"KnowledgeNet Baseline {number}, maximum recall", ROWS)
    assert shown(row) == dict(zip(("text_recall", "link_recall"), (f"0{r}" for r in recalls.split("|")), strict=True))


def test_no_knowledgenet_row_was_measured_on_the_fold_that_is_shown() -> None:
    assert len(ROWS) == 15
    assert all("fold 5" in row.split and not row.same_split and row.paper for row in ROWS)


@pytest.mark.parametrize("line", DEV_AND_GENERATED.strip().splitlines())
def test_symmetric(line: str) -> None:
    system, dev, generated = line.rsplit(" ", 2)
    rows = rows_of(system, fever_reported.symmetric(hosts_v01=True))
    (on_generated,) = (row for row in rows if row.same_split)
    (on_dev,) = (row for row in rows if not row.same_split)
    assert shown(on_generated) == {"accuracy": generated}
    assert shown(on_dev) == {"accuracy": dev}
    assert on_generated.values[0].slice == {"origin": "generated"}
    assert on_dev.values[0].slice == {}
    assert on_dev.split.startswith("FEVER dev")


def test_without_version_01_no_row_is_comparable() -> None:
    assert not any(row.same_split for row in fever_reported.symmetric(hosts_v01=False))


def test_three_labels() -> None:
    assert {value.shown for row in fever_reported.THREE_LABELS for value in row.values} == THREE_LABELS


def test_a_value_is_what_is_shown() -> None:
    for row in [*ROWS, *fever_reported.THREE_LABELS, *fever_reported.symmetric(hosts_v01=True)]:
        for value in row.values:
            number = float(value.shown.partition("±")[0])
            assert value.value == pytest.approx(number / 100 if number > 1 else number, abs=1e-12)
            assert 0 <= value.value <= 1
