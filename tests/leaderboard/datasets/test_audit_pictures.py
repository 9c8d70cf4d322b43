"""Bars of an audit: stacked labels, interval widths on one scale, and overlap levels side by side."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.curation.audit.checks import CHECKS
from evaluator.jobs.audit import NAMES
from leaderboard.datasets.web import audit_finding_texts, audit_status_texts
from leaderboard.datasets.web.charts import audit
from leaderboard.models import Reason, SplitAudit, State


def size(half: float | None, together: float | None, **slice_: Any) -> dict[str, Any]:
    ends = {"half_width": half, "half_width_if_groups_err_together": together}
    return {"slice": slice_, "n": 4, "groups": 2, "largest_group": 2, "at": 0.5, **ends}


class TestBalance:
    def test_pieces_are_stacked_and_fill_the_bar(self) -> None:
        chart = audit.balance([{"slice": {}, "labels": {"REFUTES": 1, "SUPPORTS": 3}, "majority": 0.75}])
        assert chart is not None
        (bar,) = chart.bars
        assert (bar.name, bar.total) == ("all", 4)
        assert [(piece.name, piece.x, piece.width) for piece in bar.pieces] == [
            ("REFUTES", "0.00%", "25.00%"),
            ("SUPPORTS", "25.00%", "75.00%"),
        ]

    def test_a_label_has_one_colour_in_every_bar(self) -> None:
        rows = [
            {"slice": {}, "labels": {"a": 1, "b": 1, "c": 1}, "majority": 1 / 3},
            {"slice": {"origin": "x"}, "labels": {"c": 2}, "majority": 1},
        ]
        chart = audit.balance(rows)
        assert chart is not None
        kinds = {name: kind for kind, name in chart.labels}
        assert all(piece.kind == kinds[piece.name] for bar in chart.bars for piece in bar.pieces)
        assert chart.bars[1].name == "origin=x" and len({*kinds.values()}) == 3
        assert [[piece.name for piece in bar.pieces] for bar in chart.bars] == [[name for _, name in chart.labels]] * 2

    def test_the_number_of_colours_is_limited(self) -> None:
        chart = audit.balance([{"slice": {}, "labels": {f"l{n}": 1 for n in range(8)}, "majority": 1 / 8}])
        assert chart is not None
        assert max(kind for kind, _ in chart.labels) == audit.KINDS

    def test_answers_without_classes_have_no_chart(self) -> None:
        assert audit.balance([]) is None


class TestWidths:
    def test_all_slices_share_a_scale_that_begins_at_zero(self) -> None:
        rows = audit.widths([size(0.1, 0.2), size(0.05, 0.4, origin="x")])
        assert [(row.bar, row.end) for row in rows] == [("25.00%", "50.00%"), ("12.50%", "100.00%")]

    def test_a_slice_of_one_group_has_no_bar(self) -> None:
        rows = audit.widths([size(0.1, 0.1), size(None, None, origin="x")])
        assert rows[1].half_width is None and rows[1].bar == "0.00%"
        assert audit.widths([size(None, None)]) == []


class TestOverlaps:
    @pytest.mark.parametrize(("counted", "of"), [("lines of the split", 20), ("training lines", 40)])
    def test_levels_that_the_report_counts_are_side_by_side(self, counted: str, of: int) -> None:
        row = {"train": "t", "lines": 20, "training_lines": 40, "counted": counted}
        (bar,) = audit.overlaps([row | {"simple": 2, "basic": 2, "thorough": 10}])
        assert [piece.count for piece in bar.pieces] == [2, 0, 8]
        assert bar.total == of
        assert bar.pieces[2].x == f"{2 / of:.2%}" and bar.pieces[2].width == f"{8 / of:.2%}"


class TestTexts:
    def test_every_part_has_a_name(self) -> None:
        assert {*audit_status_texts.PARTS} == {*CHECKS} == {*NAMES}

    def test_progress_names_the_current_part(self) -> None:
        running = audit_status_texts.audit_progress(SplitAudit(state=State.RUNNING, parts=[{}, {}]))
        assert (running.done, running.of, running.doing) == (2, len(NAMES), audit_status_texts.PARTS[NAMES[2]])
        assert running.ask_again is not None
        failed = audit_status_texts.audit_progress(SplitAudit(state=State.FAILED, reason=Reason.MEMORY))
        assert failed.ask_again is None and "memory" in failed.why

    @pytest.mark.parametrize("code", ["order-tells-label", "ids-tell-label", "column-tells-origin"])
    def test_the_text_of_a_finding_does_not_name_the_revealed_field(self, code: str) -> None:
        text = audit_finding_texts.describe(code)
        assert text and "label" not in text and "origin" not in text

    def test_an_unknown_code_has_no_text(self) -> None:
        assert audit_finding_texts.describe("made-up") == ""
