"""Each number that the papers print stands on a row, with its source; typed here a second time."""

from __future__ import annotations

import pytest

from leaderboard.benchmarks.manifest import ReportedPart
from leaderboard.hosting.importers.choices import reported
from leaderboard.hosting.importers.frank import AGREEMENT
from leaderboard.hosting.importers.olpbench import TRACKS

ROWS = reported("knowledgenet")
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


def test_results_are_on_fold_5_and_maximum_recalls_on_fold_4() -> None:
    assert len(ROWS) == 15
    ceilings = [row for row in ROWS if "maximum recall" in row.system]
    assert {(row.split, row.same_split, row.table) for row in ceilings} == {
        ("fold 4, the paper's development set", True, "Table 4")
    }
    assert {(row.split, row.same_split) for row in ROWS if row not in ceilings} == {
        ("fold 5, the paper's test set", False)
    }
    assert not any(row.same_split for row in reported("knowledgenet", hosted=False))


@pytest.mark.parametrize("line", DEV_AND_GENERATED.strip().splitlines())
def test_symmetric(line: str) -> None:
    system, dev, generated = line.rsplit(" ", 2)
    rows = rows_of(system, reported("fever-symmetric"))
    (on_generated,) = (row for row in rows if row.same_split)
    (on_dev,) = (row for row in rows if not row.same_split)
    assert shown(on_generated) == {"accuracy": generated}
    assert shown(on_dev) == {"accuracy": dev}
    assert on_generated.values[0].slice == {"origin": "generated"}
    assert on_dev.values[0].slice == {}
    assert on_dev.split.startswith("FEVER dev")


def test_without_version_01_no_row_is_comparable() -> None:
    assert not any(row.same_split for row in reported("fever-symmetric", hosted=False))


def test_three_labels() -> None:
    assert {value.shown for row in reported("fever") for value in row.values} == THREE_LABELS


def test_a_value_is_what_is_shown() -> None:
    for row in [*ROWS, *reported("fever"), *reported("fever-symmetric")]:
        for value in row.values:
            number = float(value.shown.partition("±")[0])
            assert value.value == pytest.approx(number / 100 if number > 1 else number, abs=1e-12)
            assert 0 <= value.value <= 1


POPULAR_NON_POPULAR_RANDOM = """
nearestCity KG-Miner .84/.58/.69, KL .87/.66/.76, SFE .72/.60/.68, TransE .49/.40/.43
foundedBy KG-Miner .80/.63/.81, KL .82/.67/.80, SFE .63/.60/.81, TransE .75/.60/.75
manufacturer KG-Miner .55/.51/.53, KL .90/.85/.92, SFE .54/.53/.55, TransE .72/.47/.60
employer KG-Miner .58/.38/.50, KL .69/.43/.66, SFE .66/.50/.62, TransE .62/.46/.43
"""
SECONDS = {"KL": "1420", "KG-Miner": "30", "SFE": "20", "TransE": "5"}


@pytest.mark.parametrize("line", POPULAR_NON_POPULAR_RANDOM.strip().splitlines())
def test_buckle(line: str) -> None:
    relation, _, methods = line.partition(" ")
    for text in methods.split(", "):
        method, numbers = text.rsplit(" ", 1)
        (row,) = (row for row in rows_of(method, reported("buckle")) if row.split.startswith(f"{relation}: popular"))
        assert [value.shown for value in row.values] == [f"0{number}" for number in numbers.split("/")]
        assert [value.slice for value in row.values] == [
            {"popularity": popularity} for popularity in ("popular", "non-popular", "random")
        ]
        assert {value.measure for value in row.values} == {"auroc"}
        assert "inferred" in row.note
        assert f" {SECONDS[method]} seconds" in row.note
        assert not row.same_split
    assert len(reported("buckle")) == 16


MRR_AND_HITS = """
SIMPLE|PREDICT-WITH-ENT|0/0/0/0
SIMPLE|PREDICT-WITH-REL|1.5/.8/2.6/5.4
SIMPLE|ComplEx-LSTM|6.5/3.8/11.6/20.7
BASIC|PREDICT-WITH-ENT|0/0/0/0
BASIC|PREDICT-WITH-REL|1.0/.5/1.6/3.6
BASIC|ComplEx-LSTM|4.8/2.6/8.9/17.6
THOROUGH|PREDICT-WITH-ENT|0/0/0/0
THOROUGH|PREDICT-WITH-REL|1.0/.6/1.5/3.3
THOROUGH, selected on LINKED|ComplEx-LSTM|3.9/2.1/7.0/14.6
THOROUGH, selected on ALL|ComplEx-LSTM|2.7/1.5/4.7/9.1
THOROUGH, selected on MENTION|ComplEx-LSTM|3.8/2.1/7.1/14.1
"""


@pytest.mark.parametrize("line", MRR_AND_HITS.strip().splitlines())
def test_olpbench(line: str) -> None:
    trained, system, numbers = line.split("|")
    rows = rows_of(system, reported("olpbench", hosted=False))
    (row,) = (row for row in rows if row.split == f"OLPBENCH test, trained on {trained}")
    assert row.track == trained.partition(",")[0].lower()
    assert row.track in {track.name for track in TRACKS}
    printed = [f"0{number}" if number.startswith(".") else number for number in numbers.split("/")]
    assert shown(row) == dict(zip(("mrr", "hits@1", "hits@10", "hits@50"), printed, strict=True))


def test_olpbench_has_no_other_row() -> None:
    assert {row.note for row in reported("olpbench")} == {"Printed in percent."}
    assert len(reported("olpbench")) == len(MRR_AND_HITS.strip().splitlines())


EXTRACTION = """
Binary classifier 59.60/75.13/66.47
Relation classifier 63.49/68.64/65.96
E2E 71.67/56.21/63.01
E2E-Reduced 72.16/61.03/66.13
"""
CORRELATION = """
ROUGE-1 .583/.384
ROUGE-2 .639/.435
ROUGE-L .634/.339
OpenIE .258/.128
fact_acc, Binary classifier .596/.200
fact_acc, Relation classifier .523/.250
fact_acc, E2E .645/.314
fact_acc, E2E-Reduced .668/.453
"""


@pytest.mark.parametrize("line", EXTRACTION.strip().splitlines())
def test_fact_extraction(line: str) -> None:
    system, numbers = line.rsplit(" ", 1)
    (row,) = rows_of(system, reported("fact-extraction"))
    assert shown(row) == dict(zip(("precision", "recall", "f1"), numbers.split("/"), strict=True))


@pytest.mark.parametrize("line", CORRELATION.strip().splitlines())
def test_metric_correlation(line: str) -> None:
    system, numbers = line.rsplit(" ", 1)
    (row,) = rows_of(system, reported("frank"))
    assert [(value.measure, value.slice, value.shown) for value in row.values] == [
        ("spearman", {"subset": subset}, f"0{number}")
        for subset, number in zip(("Actors", "random"), numbers.split("/"), strict=True)
    ]


def test_goodrich_has_no_other_row() -> None:
    assert ".6897 on Actors" in AGREEMENT and ".7530 on the random" in AGREEMENT
    assert (len(reported("fact-extraction")), len(reported("frank"))) == (4, 8)
    assert not any(row.same_split for row in [*reported("fact-extraction"), *reported("frank")])


def test_a_value_has_the_measures_unit() -> None:
    """Printed in percent by two of the tables, as a share by the others."""
    percent = [*reported("olpbench"), *reported("fact-extraction")]
    shares = [*reported("buckle"), *reported("frank")]
    for rows, unit in ((percent, 100), (shares, 1)):
        for value in (value for row in rows for value in row.values):
            assert value.value == pytest.approx(float(value.shown) / unit, abs=1e-12)
            assert 0 <= value.value < 1
