"""Exports of boards: LaTeX, Markdown, BibTeX, and the bytes that a citation's digest is computed from."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from leaderboard.boards.api.latex import PIECE, _breakable
from leaderboard.core.text.latex_text import escaped
from leaderboard.models import Benchmark, Leaderboard, Phase, System
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
AT = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
MARKED = "\\ & % $ # _ { } ~ ^ | < > ` * [x](y) !"
RIGHT_TO_LEFT = "نظام"
TURNING = "\u202egnp.exe\u2066"


world, _django_db_helper = shared_states(world=build)


def exported(suffix: str, client: Client | None = None, **query: str) -> str:
    answer = (client or Client()).get(f"{API}.{suffix}", query)
    assert answer.status_code == 200, answer.content
    assert "attachment" in answer["Content-Disposition"] and answer["X-Content-Type-Options"] == "nosniff"
    assert answer["ETag"]
    return answer.content.decode()


def latex_rows(text: str) -> list[list[str]]:
    """Cells of a table's body, split as TeX would split them."""
    body = text.split("\\midrule\n")[1].split("\n\\bottomrule", maxsplit=1)[0]
    return [re.split(r"(?<!\\) & ", line.removesuffix(r" \\")) for line in body.split("\n")]


def markdown_rows(text: str) -> list[list[str]]:
    table = text.split("\n\n", maxsplit=1)[0].split("\n")[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]


def test_a_csv_has_no_number_of_units_without_a_score(world: World) -> None:
    stand(world, "First", symmetric_scores(0.75), at=AT)
    stand(world, "Overall only", symmetric_scores(0.5)[:1], at=AT)
    lines = csv.DictReader(io.StringIO(exported("csv", slices="origin")))
    name = next(name for name in lines.fieldnames or () if name.startswith("accuracy[") and name.endswith(":n"))
    assert [row[name] for row in lines] == ["3", ""]


def test_a_latex_table_has_values_with_their_intervals(world: World) -> None:
    stand(world, "First", symmetric_scores(0.75), at=AT)
    stand(world, "Floor", symmetric_scores(None), kind="baseline", at=AT)
    text = exported("tex", measure="accuracy,symmetric_gap", slices="origin")
    assert r"\begin{tabular}{lllrrrr}" in text
    first, floor = latex_rows(text)
    assert first[:3] == ["1", "First", "Analytical Engines"]
    assert first[3] == r"$0.750$ {\scriptsize $[0.650, 0.850]$}"
    assert floor[:2] == ["--", r"Floor \textit{(baseline)}"] and floor[3] == "--"
    assert r"accuracy[origin=generated], n 3" in text and r"symmetric\_gap, n 4" in text
    assert "gold version 1, task version 1; results of 2026-03-04; 95 \\% intervals" in text


def test_markup_in_names_is_escaped_in_latex(world: World) -> None:
    stand(world, MARKED, team="A\nB", at=AT)
    ((_, system, team, *_),) = latex_rows(exported("tex", measure="accuracy"))
    assert system == (
        r"\textbackslash{} \& \% \$ \# \_ \textbraceleft{} \textbraceright{} \textasciitilde{} \textasciicircum{} "
        r"\textbar{} \textless{} \textgreater{} ` * [x](y) !"
    )
    assert team == "A B"


def test_markup_in_names_is_escaped_in_markdown(world: World) -> None:
    stand(world, MARKED, team="A\nB", at=AT)
    ((_, system, team, accuracy),) = markdown_rows(exported("md", measure="accuracy"))
    assert system == r"\\ &amp; % \$ \# \_ { } \~ ^ \| &lt; &gt; \` \* \[x\](y) \!"
    assert (team, accuracy) == ("A B", "0.750 [0.650, 0.850]")


@pytest.mark.parametrize("suffix", ["tex", "md"])
def test_direction_characters_and_long_names_stay_in_their_cells(world: World, suffix: str) -> None:
    stand(world, RIGHT_TO_LEFT, at=AT)
    stand(world, "turns", at=AT)
    System.objects.filter(name="turns").update(name=TURNING)  # no team can enter it; a curator can, in the admin
    stand(world, "long " * 40, at=AT)
    text = exported(suffix, measure="accuracy")
    assert RIGHT_TO_LEFT in text and not set(text) & set("\u202e\u2066")
    rows = latex_rows(text) if suffix == "tex" else markdown_rows(text)
    assert {len(row) for row in rows} == {4}
    isolated = f"\u2068{RIGHT_TO_LEFT}\u2069"
    assert (isolated in text) is (suffix == "md")
    assert ("p{0.32\\linewidth}" in text) is (suffix == "tex")


def brace_depths(text: str) -> list[int]:
    """Brace depth at each position, as BibTeX counts it: a preceding backslash changes nothing."""
    depth, depths = 0, []
    for sign in text:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        depths.append(depth)
    return depths


def test_a_long_word_may_be_broken_in_latex_without_loss() -> None:
    for name in ("A" * 60, "e\u0301" * 40, "under_" * 8):
        latex = _breakable(name)
        assert latex.replace(r"\allowbreak{}", "") == escaped(name)
        assert max(len(fragment) for fragment in latex.split(r"\allowbreak{}")) <= 2 * PIECE
    assert _breakable("A name of many words that are short") == "A name of many words that are short"


def test_bibtex_names_what_is_permanent(world: World) -> None:
    Benchmark.objects.update(title="100 % }of{ #claims_}")
    stand(world, "First", at=AT)
    entry = exported("bib")
    assert entry.startswith("@misc{holdout-tiny-test-gold-1-task-1,\n")
    assert min(brace_depths(entry)) >= 0 and brace_depths(entry.strip())[-1] == 0
    assert [depth for depth, sign in zip(brace_depths(entry), entry, strict=True) if sign == "\n"] == [1] * 7 + [0]
    assert "year = {2026},\n  month = mar," in entry
    assert rf"howpublished = {{\url{{{settings.BASE_URL}/benchmarks/tiny/test/gold-1/task-1/}}}}" in entry
    digest = hashlib.sha256(Client().get(f"{API}.json").content).hexdigest()
    assert f"Gold version 1, task version 1, results of 2026-03-04, SHA-256 {digest}" in entry


def test_the_cited_address_shows_that_board(world: World) -> None:
    stand(world, "First", at=AT)
    address = re.search(r"\\url\{([^}]+)\}", exported("bib"))
    assert address
    assert "First" in Client().get(address[1].removeprefix(settings.BASE_URL)).content.decode()


def canonical() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(exported("json"))
    return content


def test_the_digest_changes_only_with_results(world: World) -> None:
    stand(world, "First", at=AT)
    before = exported("json")
    Benchmark.objects.update(title="Another", summary="Another", description="Another")
    Phase.objects.update(title="Another")
    assert exported("json") == before
    stand(world, "Second", symmetric_scores(0.5), at=AT)
    assert exported("json") != before
    assert [row["system"] for row in canonical()["rows"]] == ["First", "Second"]


def test_canonical_json_has_every_revealed_score_in_full(world: World) -> None:
    stand(world, "First", symmetric_scores(1 / 3), at=AT)
    (row,) = canonical()["rows"]
    assert len(row["scores"]) == len(symmetric_scores())
    assert {"measure": "accuracy", "slice": {}, "value": 1 / 3, "low": 1 / 3 - 0.1, "high": 1 / 3 + 0.1, "n": 4} in row[
        "scores"
    ]


def test_there_is_no_citation_before_the_first_result(world: World) -> None:
    answer = Client().get(f"{API}.bib")
    assert (answer.status_code, answer.json()["code"]) == (409, "not_ready")


@pytest.mark.parametrize("suffix", ["tex", "md", "bib", "json"])
def test_a_preparing_board_is_a_404(world: World, suffix: str) -> None:
    stand(world, "First", at=AT)
    Leaderboard.objects.update(state=Leaderboard.State.PREPARING)
    answer = Client().get(f"{API}.{suffix}", {"gold_version": "1", "task_version": "1"})
    assert answer.status_code == 404
    assert b"First" not in Client().get(f"{API}.{suffix}").content
