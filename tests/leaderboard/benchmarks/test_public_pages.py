"""The public pages."""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.exceptions import PermissionDenied, RequestDataTooBig, SuspiciousOperation
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from evaluator.tasks.registry import TASKS
from leaderboard.core.web import error_pages
from leaderboard.models import Benchmark, GoldVersion, ReportedResult, Split
from tests.support.api_calls import error_of
from tests.support.rows.board_rows import score, stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build, gold_lines
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
BENCHMARK = "/benchmarks/tiny/"
BOARD = "/benchmarks/tiny/test/"
BY_ORIGIN = f"{BOARD}by/origin/"
BY_LABEL = f"{BOARD}by/label/"
SYMMETRIC = f"{BOARD}symmetric/"
BOARDS = [BENCHMARK, BOARD, BY_ORIGIN, BY_LABEL, SYMMETRIC]
TABS = [f"{BENCHMARK}about/{tab}/" for tab in ("data", "rules", "submit")]
PAGES = ["/", "/?search=tiny&task=fact-verification", "/tasks/", "/tasks/fact-verification/", *BOARDS, *TABS]
HOSTILE = "<script>alert(1)</script>"
RIGHT_TO_LEFT = "نظام"
LONG = "A system whose name is as long as names may be " * 4


def populate(world: World) -> World:
    """Ties, a baseline, a warning, and hostile names."""
    stand(world, "First", symmetric_scores(0.9, generated=0.9), at=timezone.now() - timedelta(days=3))
    stand(world, HOSTILE, symmetric_scores(0.5, generated=0.3), team="<b>bold</b>", warnings=("<i>look</i>",))
    stand(world, RIGHT_TO_LEFT, symmetric_scores(0.5, generated=0.7))
    stand(world, LONG[:200], symmetric_scores(0.2, generated=0.2))
    stand(world, "Majority", symmetric_scores(0.6, generated=0.6), kind="baseline")
    stand(world, "Nothing", symmetric_scores(None))
    ReportedResult.objects.create(
        benchmark=world.benchmark,
        system="BERT",
        paper="Schuster et al. 2019",
        table="Table 4",
        split="FEVER dev",
        values=[{"measure": "accuracy", "slice": {}, "value": 0.862, "shown": "86.2"}],
    )
    return world


world, populated, _django_db_helper = shared_states(world=build, populated=populate)


def get(address: str, client: Client | None = None, **headers: str) -> Any:
    return (client or Client()).get(address, headers=headers)


def text(address: str, client: Client | None = None) -> str:
    response = get(address, client)
    assert response.status_code == 200, address
    return response.content.decode()


def order_of(markup: str, *names: str) -> list[str]:
    """Names in the order of the page's table."""
    body = markup[markup.index("<tbody>") :]
    return sorted(names, key=body.index)


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("reader", ["anonymous", "researcher", "curator"])
def test_pages_are_well_formed_accessible_and_within_the_csp(populated, address, reader):
    client = Client()
    if reader != "anonymous":
        client.force_login(getattr(populated, reader))
    response = get(address, client)
    assert response.status_code == 200
    assert read(response.content.decode()).faults == []
    assert "default-src 'self'" in response["Content-Security-Policy"]
    assert "unsafe" not in response["Content-Security-Policy"]


@pytest.mark.parametrize("address", PAGES)
def test_empty_pages_are_well_formed_too(world, address):
    assert read(text(address)).faults == []


@pytest.mark.parametrize("address", [BENCHMARK, BOARD, BY_ORIGIN, SYMMETRIC])
def test_an_empty_board_says_so(world, address):
    assert "No system has been scored in this phase yet." in text(address)


@pytest.mark.parametrize("address", BOARDS)
def test_markup_in_names_is_escaped(populated, address):
    markup = text(address)
    assert HOSTILE not in markup
    assert "<b>bold</b>" not in markup
    assert "<i>look</i>" not in markup
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in markup
    assert f'dir="auto">{RIGHT_TO_LEFT}<' in markup


def test_pages_take_a_constant_number_of_queries(world):
    for address in PAGES:
        text(address)  # examples of a file are cached
    counts: list[dict[str, int]] = []
    for count in (2, 9):
        for index in range(count):
            stand(world, f"system {count} {index}")
            ReportedResult.objects.create(
                benchmark=world.benchmark, system=f"r {count} {index}", paper="p", split="s", values=[]
            )
        counts.append({})
        for address in PAGES:
            with CaptureQueriesContext(connection) as captured:
                text(address)
            counts[-1][address] = len(captured)
    assert counts[0] == counts[1]
    assert max(counts[0].values()) <= 12


# --- home


def test_home_searches_by_words_and_task(world):
    other = Benchmark.objects.create(
        slug="other", title="Facts from text", task="knowledge-base-population", dataset=world.benchmark.dataset,
        state="public",
    )  # fmt: skip
    assert "Tiny claims" in text("/?search=claims+TINY")
    assert other.title not in text("/?search=claims+TINY")
    assert "Tiny claims" not in text("/?task=knowledge-base-population")
    assert "Tiny claims" in text("/?task=no-such-task")
    assert "No benchmark matches" in text("/?search=zebra")
    assert text("/?search=%00&page=zebra")


# --- visibility


@pytest.mark.parametrize(
    "address",
    [f"{BOARD}by/nothing/", "/benchmarks/tiny/final/", "/benchmarks/nothing/", "/tasks/nothing/", "/nothing/"],
)
def test_a_missing_page_is_answered_with_the_404_page(world, address):
    response = get(address)
    assert response.status_code == 404
    assert read(response.content.decode()).faults == []


def test_a_gold_without_pairs_has_no_symmetric_board(world):
    Split.objects.create(dataset=world.benchmark.dataset, name="plain", kind="test")
    world.phase.split = Split.objects.get(name="plain")
    world.phase.save()
    assert get(SYMMETRIC).status_code == 404
    assert "symmetric" not in text(BOARD).lower()


def test_api_errors_are_json(world):
    response = get("/api/nothing")
    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


def test_a_server_error_page_needs_no_database(world, monkeypatch):
    def broken(*_: object) -> None:
        raise RuntimeError("gold: SUPPORTS")

    monkeypatch.setattr("leaderboard.boards.web.pages.leaderboard.head_or_404", broken)
    response = Client(raise_request_exception=False).get(BOARD)
    assert response.status_code == 500
    assert read(response.content.decode()).faults == []
    assert "SUPPORTS" not in response.content.decode()


def test_a_form_without_a_csrf_token_gets_an_explanation(world):
    response = Client(enforce_csrf_checks=True).post("/accounts/login/", {"login": "ada", "password": "x"})
    assert response.status_code == 403
    assert read(response.content.decode()).faults == []
    assert "reload the page" in response.content.decode()


@pytest.mark.parametrize(
    ("view", "error", "status"),
    [
        (error_pages.bad_request, SuspiciousOperation(), 400),
        (error_pages.forbidden, PermissionDenied(), 403),
        (error_pages.bad_request, RequestDataTooBig(), 413),
    ],
)
def test_every_error_has_a_page_and_a_json_answer(world, rf, view, error, status):
    page = view(rf.get("/benchmarks/"), error)
    assert page.status_code == status
    assert read(page.content.decode()).faults == []
    answer = view(rf.get("/api/v1/benchmarks/"), error)
    assert answer.status_code == status
    assert set(error_of(answer)) == {"code", "message"}


def test_a_form_that_is_too_large_gets_an_explanation(world, settings):
    body = {"login": "x" * (settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1), "password": "x"}
    response = Client().post("/accounts/login/", body)
    assert response.status_code == 413
    urlencoded = urlencode(body)
    response = Client().post("/accounts/login/", urlencoded, content_type="application/x-www-form-urlencoded")
    assert response.status_code == 413
    assert "The request is too large" in response.content.decode()


# --- the leaderboard


def test_the_leaderboard_shows_ranks_marks_and_warnings(populated):
    markup = text(BOARD)
    names = ["First", "&lt;script&gt;", RIGHT_TO_LEFT, "Nothing", "Majority"]
    assert order_of(markup, *names) == names, "baselines are last"
    assert markup.count('class="tie" title="shared') == 2
    assert "baseline</span>" in markup
    assert "1 warning<" in markup
    assert "0.900</span>" in markup
    assert "[0.800, 1.000]" in markup
    assert "n 4" in markup
    assert 'href="/api/v1/benchmarks/tiny/phases/test/leaderboard.csv"' in markup
    assert 'href="/tasks/fact-verification/#group_accuracy"' in markup


def test_a_system_without_a_value_shows_a_dash_not_zero(populated):
    body = text(BOARD)
    row = body[body.index("Nothing</span>") :]
    assert '<span class="value">–</span>' in row[: row.index("</tr>")]  # noqa: RUF001


def test_every_column_sorts_and_is_marked_as_sorted(populated):
    markup = text(f"{BOARD}?sort=symmetric_gap&order=desc")
    assert read(markup).sorted_by == ["descending"]
    names = ["&lt;script&gt;", RIGHT_TO_LEFT, "First", "Majority"]
    assert order_of(markup, *names) == names
    assert order_of(text(f"{BOARD}?sort=system"), "First", "Nothing", "Majority") == ["First", "Nothing", "Majority"]
    first_by_date = text(f"{BOARD}?sort=received_at&order=asc")
    assert order_of(first_by_date, "First", "Majority")[0] == "First"


@pytest.mark.parametrize("query", ["sort=nothing", "order=up", "sort=accuracy&sort=%00", "sort=" + 900 * "a"])
def test_an_unknown_sort_order_falls_back_to_the_default(populated, query):
    assert order_of(text(f"{BOARD}?{query}"), "First", "Majority") == ["First", "Majority"]


def test_reported_rows_are_separate_and_printed_unchanged(populated):
    for address in (BENCHMARK, BOARD):
        markup = text(address)
        assert markup.index("Reported in papers") > markup.index("First")
        reported = markup[markup.index("Reported in papers") :]
        assert "86.2" in reported
        assert "Schuster et al. 2019, Table 4" in reported
        assert "FEVER dev" in reported
        assert "another split" in reported


# --- by slice


def test_the_board_by_slice_shows_each_value_with_n_and_interval(populated):
    markup = text(BY_ORIGIN)
    assert ">generated<" in markup
    assert ">original<" in markup
    assert (
        'title="interval 0.800 to 1.000"' in markup
        and '<span class="n"><span class="visually-hidden">n </span>3' in markup
    )
    assert "heat-9 best" in markup
    assert "[0.800, 1.000]" in markup[markup.index("with intervals") :]


def test_the_board_by_slice_sorts_by_every_column(populated):
    link = next(link for link in read(text(BY_ORIGIN)).links if "generated" in link)
    markup = text(BY_ORIGIN + link)
    names = ["First", RIGHT_TO_LEFT, "Majority", "&lt;script&gt;"]
    assert order_of(markup, *names) == names
    ascending_link = next(link for link in read(markup).links if link == "?sort=is+generated&order=asc")
    table = text(BY_ORIGIN + ascending_link).partition("<tbody")[2]
    assert order_of(table, *names)[0] == "&lt;script&gt;"


def test_an_empty_slice_shows_a_dash_and_no_shade(populated):
    markup = text(BY_LABEL)
    assert '<td class="num" title="no value">–</td>' in markup  # noqa: RUF001


def test_the_best_of_a_column_is_a_competing_system(world):
    stand(world, "Oracle", symmetric_scores(1.0, generated=1.0), kind="organiser")
    stand(world, "Ours", symmetric_scores(0.5, generated=0.4))
    markup = text(BY_ORIGIN)
    our_row = markup[markup.index("Ours") :]
    oracle = markup[markup.index("Oracle") : markup.index("Ours")]
    assert "best" in our_row[: our_row.index("</tr>")]
    assert "best" not in oracle[: oracle.index("</tr>")]


def test_the_measure_is_chosen_by_a_link(world):
    scores = [*symmetric_scores(), score("group_accuracy", 0.125, 1, label="SUPPORTS")]
    stand(world, "Engine", scores)
    link = next(link for link in read(text(BY_LABEL)).links if "measure=group_accuracy" in link)
    markup = text(BY_LABEL + link)
    assert ".125" in markup
    assert TASKS["fact-verification"].measure("group_accuracy").doc.split("'")[0] in markup
    assert text(f"{BY_LABEL}?measure=nothing")


# --- the symmetric board


def test_the_symmetric_board_shows_both_halves_the_gap_and_the_floor(populated):
    markup = text(SYMMETRIC)
    for heading in (
        "Accuracy, original",
        "Accuracy, generated",
        "Gap",
        "Group accuracy",
        "Claim consistency",
        "Claim-only floor",
    ):
        assert heading in markup
    assert order_of(markup, "First", RIGHT_TO_LEFT, "Majority") == ["First", RIGHT_TO_LEFT, "Majority"]
    assert read(text(f"{SYMMETRIC}?sort=gap")).sorted_by == ["descending"]


# --- the benchmark


def test_the_benchmark_page_lists_its_content(populated):
    data, _, submit = (text(address) for address in TABS)
    assert populated.split.inputs_sha256 in data
    assert populated.gold.sha256 not in data
    assert "held out, " in data
    assert "5 per day, 100 in total" in submit
    assert reverse("submit", args=["tiny", "test"]) in submit


def test_the_quota_is_shown_to_members_of_a_team(populated):
    assert "submissions left today" not in text(BENCHMARK)
    client = Client()
    client.force_login(populated.researcher)
    assert "of 100 in total" in " ".join(text(BENCHMARK, client).split())
    client.force_login(populated.curator)
    teams = populated.curator.teams.count()
    assert "5</strong> of 5" in text(BENCHMARK, client)
    assert populated.curator.teams.count() == teams, "reading a page creates no team"


def test_a_closed_phase_takes_no_submissions(populated):
    populated.phase.closes_at = timezone.now() - timedelta(days=1)
    populated.phase.save()
    markup = text(TABS[2])
    assert "Submit predictions" not in markup
    assert ">closed<" in markup


# --- downloads


def body_of(response: Any) -> bytes:
    return b"".join(response.streaming_content)


@pytest.mark.parametrize(
    ("opens", "closes", "state", "text_shown"),
    [(1, 2, "not open yet", ["opens", "closes"]), (-2, -1, "closed", ["closed"]), (-1, 1, "open", ["open until"])],
)
def test_the_state_of_a_phase_follows_from_its_dates(world, opens, closes, state, text_shown):
    at = timezone.now()
    world.phase.opens_at, world.phase.closes_at = at + timedelta(days=opens), at + timedelta(days=closes)
    world.phase.save()
    assert f'">{state}</span></td>' in text(TABS[2])
    facts = board_facts()
    assert [word for word in ("opens", "closes", "closed", "open until") if f"{word} <time" in facts] == text_shown


def board_facts() -> str:
    markup = text(BOARD)
    begin = markup.index('class="board-facts')
    return markup[begin : markup.index("</p>", begin)]


def test_the_reason_of_a_correction_is_shown_next_to_its_version(world):
    GoldVersion.objects.create(
        **{
            **GoldVersion.objects.values(*_OF_GOLD).get(),
            "split": world.split,
            "number": 2,
            "sha256": "2" * 64,
            "reason": "labels were <swapped>",
        }
    )
    assert "gold version 2 (<bdi>labels were &lt;swapped&gt;</bdi>)" in board_facts()


_OF_GOLD = ("file", "bytes", "n_lines", "n_units", "n_groups", "dimensions", "measures", "primary", "expects")


def test_inputs_are_sent_as_an_attachment_with_their_digest(world):
    response = get(f"{BENCHMARK}splits/test/inputs.jsonl")
    content = body_of(response)
    assert hashlib.sha256(content).hexdigest() == world.split.inputs_sha256
    assert response["Content-Length"] == str(len(content))
    assert response["Content-Disposition"] == 'attachment; filename="tiny-test-inputs.jsonl"'
    assert response["Content-Type"] == "application/x-ndjson"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert "label" not in json.loads(content.splitlines()[0])
    revalidated = get(f"{BENCHMARK}splits/test/inputs.jsonl", **{"If-None-Match": response["ETag"]})
    assert (revalidated.status_code, revalidated.content) == (304, b"")


def test_hidden_gold_is_answered_with_404(world):
    hidden = get(f"{BENCHMARK}splits/test/gold.jsonl")
    absent = get(f"{BENCHMARK}splits/nine/gold.jsonl")
    assert hidden.status_code == absent.status_code == 404
    assert hidden.content.replace(b"test/gold", b"nine/gold") == absent.content
    client = Client()
    client.force_login(world.curator)
    assert get(f"{BENCHMARK}splits/test/gold.jsonl", client).status_code == 404


def test_public_gold_is_the_newest_version_as_uploaded(world):
    Split.objects.update(gold_public=True)
    assert body_of(get(f"{BENCHMARK}splits/test/gold.jsonl")) == gold_lines()
    packed = gzip.compress(gold_lines())
    newer = GoldVersion.objects.get()
    newer.pk, newer.number, newer.sha256 = None, 2, hashlib.sha256(packed).hexdigest()
    newer.file.save("gold.jsonl.gz", ContentFile(packed), save=False)
    newer.save(force_insert=True)
    response = get(f"{BENCHMARK}splits/test/gold.jsonl")
    assert body_of(response) == packed
    assert response["Content-Type"] == "application/gzip"
    assert 'filename="tiny-test-gold.jsonl.gz"' in response["Content-Disposition"]
    assert "gold</a>" in text(TABS[0])


# --- conditional requests


def test_an_unchanged_page_is_not_sent_again(populated):
    known = {address: {"If-None-Match": get(address)["ETag"]} for address in PAGES}
    assert [address for address in PAGES if get(address, **known[address]).status_code != 304] == []
    stand(populated, "Another", symmetric_scores(0.95, generated=0.95))
    for address in PAGES:
        changed = get(address, **known[address])
        assert changed.status_code == (304 if address.startswith("/tasks/") or address in TABS else 200), address


# --- tasks


@pytest.mark.parametrize("task", list(TASKS))
def test_a_task_page_shows_each_measure_format_and_command(world, task):
    markup = text(reverse("measures", args=[task]))
    page = read(markup)
    for measure in TASKS[task].measures:
        assert page.ids[measure.name] == 1
    assert f"holdout-eval score {task}" in markup
    assert "Predictions" in markup
