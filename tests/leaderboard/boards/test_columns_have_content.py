"""A column that is empty in every row is left out: a ladder shows no intervals, so no table has a column for them."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

import pytest
from django.test import Client

from leaderboard.models import Phase, Submission
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.rows.two_way_phase import ADDRESS, cross, crossed_scores

pytestmark = pytest.mark.django_db
BOARD = "/benchmarks/tiny/test/"
NOTHING = {"", "\N{EN DASH}"}
PAGES = [
    "/benchmarks/tiny/",
    BOARD,
    f"{BOARD}by/origin/?measure=accuracy",
    f"{BOARD}by/origin/?measure=all",
    f"{ADDRESS}?view=matrices",
    f"{ADDRESS}?view=table",
    f"{BOARD}symmetric/",
    f"{BOARD}progress/",
    f"{BOARD}head-to-head/",
    f"{BOARD}embed/",
]


@dataclass
class Table:
    """headings: of the head's last row; columns: the texts of each column of the body."""

    headings: list[str] = field(default_factory=list)
    lines: list[list[str]] = field(default_factory=list)

    @property
    def empty(self) -> list[str]:
        """Headings of columns whose cells are all empty; tables with cells that span several are ignored."""
        if not self.lines or any(len(line) != len(self.headings) for line in self.lines):
            return []
        columns = zip(self.headings, *self.lines, strict=True)
        return [heading for heading, *cells in columns if heading and NOTHING.issuperset(cells)]


class Tables(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tables: list[Table] = []
        self.cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append(Table())
        elif tag == "thead":
            self.into = "head"
        elif tag in ("tbody", "tfoot"):
            self.into = tag
        elif tag == "tr" and self.into == "head":
            self.tables[-1].headings = []
        elif tag == "tr" and self.into == "tbody":
            self.tables[-1].lines.append([])
        elif tag in ("td", "th"):
            self.cell = []
        elif tag in ("svg", "form") and self.cell is not None:
            self.cell.append(tag)

    def handle_data(self, data: str) -> None:
        if self.cell is not None:
            self.cell.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("td", "th") or self.cell is None:
            return
        text = " ".join("".join(self.cell).split())
        if self.into == "head":
            self.tables[-1].headings.append(text)
        elif self.into == "tbody":
            self.tables[-1].lines[-1].append(text)
        self.cell = None


def tables(markup: str) -> list[Table]:
    reader = Tables()
    reader.feed(markup)
    return reader.tables


world, _django_db_helper = shared_states(world=build)


def populate(world: World, *, with_intervals: bool) -> None:
    """Three systems; with intervals under full disclosure, otherwise without, as on a ladder."""
    cross(world)
    cells = {(a, b): 0.5 for a in ("generated", "original") for b in ("REFUTES", "SUPPORTS")}
    for name, value in (("First", 0.9), ("Second", 0.8), ("Third", 0.8)):
        sliced = [symmetric_score for symmetric_score in symmetric_scores(value) if symmetric_score["slice"]]
        scores = [
            *sliced,
            *(
                symmetric_score
                for symmetric_score in crossed_scores(cells, whole=value)
                if len(symmetric_score["slice"]) != 1
            ),
        ]
        stand(
            world,
            name,
            scores
            if with_intervals
            else [{**symmetric_score, "low": None, "high": None} for symmetric_score in scores],
        )
    if not with_intervals:
        Phase.objects.update(disclosure=Phase.Disclosure.LADDER)


def pages(world: World) -> list[str]:
    submission = Submission.objects.filter(system__name="First").latest("received_at")
    return [*PAGES, f"/systems/{submission.system_id}/", submission.get_absolute_url(), "/me/submissions/"]


@pytest.mark.parametrize("with_intervals", [True, False], ids=["full", "ladder"])
def test_no_column_is_empty(world: World, with_intervals: bool) -> None:
    populate(world, with_intervals=with_intervals)
    client = Client()
    client.force_login(world.researcher)
    for address in pages(world):
        answer = client.get(address)
        assert answer.status_code == 200, address
        tables_found = tables(answer.content.decode())
        assert [table.empty for table in tables_found if table.empty] == [], address
        assert tables_found or address == "/benchmarks/tiny/", address


@pytest.mark.parametrize("address", PAGES[1:-1])
def test_intervals_are_mentioned_only_where_they_are_shown(world: World, address: str) -> None:
    """Without intervals the site gives the reason in a text; it has neither headings nor numbers of them."""
    populate(world, with_intervals=False)
    body = Client().get(address).content.decode().split("<main", 1)[1].split("</main")[0]
    for words in ("95 % interval", "with intervals", "with its interval", "Interval</th>", "interval 0."):
        assert words not in body, words


def test_an_empty_column_would_be_detected() -> None:
    head = "<thead><tr><th>System</th><th>Interval</th></tr></thead>"
    for row_cells, empty in ((("\N{EN DASH}", ""), ["Interval"]), (("", "[0, 1]"), []), (("<svg></svg>", ""), [])):
        body = "".join(f"<tr><th>a</th><td>{cell}</td></tr>" for cell in row_cells)
        assert tables(f"<table>{head}<tbody>{body}</tbody></table>")[0].empty == empty
