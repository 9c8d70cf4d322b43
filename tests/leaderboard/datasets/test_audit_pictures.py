"""The pictures of an audit: bars that add up, places on one scale, levels side by side."""

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
    def test_pieces_stand_end_to_end_and_fill_the_bar(self) -> None:
        drawn = audit.balance([{"slice": {}, "labels": {"REFUTES": 1, "SUPPORTS": 3}, "majority": 0.75}])
        assert drawn is not None
        (bar,) = drawn.bars
        assert (bar.name, bar.total) == ("all", 4)
        assert [(one.name, one.x, one.width) for one in bar.pieces] == [
            ("REFUTES", "0.00%", "25.00%"),
            ("SUPPORTS", "25.00%", "75.00%"),
        ]

    def test_a_label_has_one_colour_in_every_bar(self) -> None:
        rows = [
            {"slice": {}, "labels": {"a": 1, "b": 1, "c": 1}, "majority": 1 / 3},
            {"slice": {"origin": "x"}, "labels": {"c": 2}, "majority": 1},
        ]
        drawn = audit.balance(rows)
        assert drawn is not None
        kinds = {name: kind for kind, name in drawn.labels}
        assert all(piece.kind == kinds[piece.name] for bar in drawn.bars for piece in bar.pieces)
        assert drawn.bars[1].name == "origin=x" and len({*kinds.values()}) == 3

    def test_colours_end(self) -> None:
        drawn = audit.balance([{"slice": {}, "labels": {f"l{n}": 1 for n in range(8)}, "majority": 1 / 8}])
        assert drawn is not None
        assert max(kind for kind, _ in drawn.labels) == audit.KINDS

    def test_answers_that_are_no_classes_have_none(self) -> None:
        assert audit.balance([]) is None


class TestWidths:
    def test_all_slices_share_a_scale_that_begins_at_nothing(self) -> None:
        drawn = audit.widths([size(0.1, 0.2), size(0.05, 0.4, origin="x")])
        assert drawn is not None
        assert (drawn.scale.low, drawn.scale.high) == (0.0, 0.4)
        assert [(row.bar, row.end) for row in drawn.rows] == [("25.00%", "50.00%"), ("12.50%", "100.00%")]

    def test_a_slice_of_one_group_has_no_bar(self) -> None:
        drawn = audit.widths([size(0.1, 0.1), size(None, None, origin="x")])
        assert drawn is not None
        assert drawn.rows[1].half_width is None and drawn.rows[1].bar == "0.00%"
        assert audit.widths([size(None, None)]) is None


class TestOverlaps:
    @pytest.mark.parametrize(("counted", "of"), [("lines of the split", 20), ("training lines", 40)])
    def test_levels_that_the_report_counts_in_are_drawn_side_by_side(self, counted: str, of: int) -> None:
        row = {"train": "t", "lines": 20, "training_lines": 40, "counted": counted}
        (bar,) = audit.overlaps([row | {"simple": 2, "basic": 2, "thorough": 10}])
        assert [one.count for one in bar.pieces] == [2, 0, 8]
        assert (bar.shown_count, bar.total) == (10, of)
        assert bar.pieces[2].x == f"{2 / of:.2%}" and bar.pieces[2].width == f"{8 / of:.2%}"


class TestWords:
    def test_every_part_has_a_name(self) -> None:
        assert {*audit_status_texts.PARTS} == {*CHECKS} == {*NAMES}

    def test_how_far_it_is(self) -> None:
        told = audit_status_texts.audit_progress(SplitAudit(state=State.RUNNING, parts=[{}, {}]))
        assert (told.done, told.of, told.doing) == (2, len(NAMES), audit_status_texts.PARTS[NAMES[2]])
        assert told.ask_again is not None
        over = audit_status_texts.audit_progress(SplitAudit(state=State.FAILED, reason=Reason.MEMORY))
        assert over.ask_again is None and "memory" in over.why

    @pytest.mark.parametrize("code", ["order-tells-label", "ids-tell-label", "column-tells-origin"])
    def test_what_tells_is_named_and_not_what_it_tells(self, code: str) -> None:
        said = audit_finding_texts.describe(code)
        assert said and "label" not in said and "origin" not in said

    def test_an_unknown_code_has_no_words(self) -> None:
        assert audit_finding_texts.describe("made-up") == ""
