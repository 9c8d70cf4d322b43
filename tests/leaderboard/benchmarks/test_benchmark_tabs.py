"""The tabs of a benchmark's page: data, rules, how to submit, and the card of facts."""

from __future__ import annotations

import html
import io
import json
import re
import shlex
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluator.cli.main import _parser
from evaluator.cli.main import main as command
from leaderboard.accounts.actions import tokens
from leaderboard.benchmarks.actions import edit
from leaderboard.models import AuditEntry, Benchmark, Phase, Split
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import LABELS, World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
BENCHMARK = "/benchmarks/tiny/"
DATA, RULES, SUBMIT = (f"{BENCHMARK}about/{tab}/" for tab in ("data", "rules", "submit"))
SAMPLE = f"{BENCHMARK}splits/test/sample-submission.jsonl"
EDIT = "/manage/benchmarks/tiny/edit/"


world, _django_db_helper = shared_states(world=build)


def text(address: str, client: Client | None = None) -> str:
    response = (client or Client()).get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def blocks(page: str) -> dict[str, str]:
    """The blocks of code of a page by their labels."""
    found = re.findall(r'<pre[^>]*aria-label(?:ledby)?="([^"]*)"><code>(.*?)</code></pre>', page, re.S)
    return {label: html.unescape(code) for label, code in found}


def logged_in(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_the_card_says_deadline_quota_measure_licence_organisers_and_where_to_ask(world: World) -> None:
    Phase.objects.update(closes_at=timezone.now() + timedelta(days=12, hours=1))
    Benchmark.objects.update(
        contact="a@b.example",
        questions_url="https://forum.example/",
        paper_url="https://paper.example/1",
        shown_organisers="Ada L., University of X, https://ada.example\nNo Link, Lab\nBad, javascript:alert(1)\n",
    )
    for address in (BENCHMARK, DATA, RULES, SUBMIT):
        page = text(address)
        assert read(page).faults == []
        card = page[page.index("side-card") :]
        for part in (
            *(">in 12 days</time>", "5 per day, 100 in total", ">Accuracy</a>", "not stated", "mailto:a@b.example"),
            *('href="https://forum.example/"', 'href="https://paper.example/1"', "No Link, Lab"),
            'href="https://ada.example" rel="nofollow noopener">Ada L., University of X</a>',
        ):
            assert part in card, (address, part)
        assert 'href="javascript' not in page


def test_every_tab_leads_to_the_others(world: World) -> None:
    for address in (BENCHMARK, DATA, RULES, SUBMIT):
        links = read(text(address)).links
        assert {BENCHMARK, DATA, f"{BENCHMARK}test/", RULES, SUBMIT} <= set(links)


def test_texts_are_markdown(world: World) -> None:
    Benchmark.objects.update(description="# Why\n\n**Bold** <script>1</script>", rules="1. *One* account")
    overview, rules = text(BENCHMARK), text(RULES)
    assert "<h3>Why</h3>" in overview and "<strong>Bold</strong>" in overview
    assert "<script>1" not in overview
    assert "<li><em>One</em> account</li>" in rules


# --- data


def test_public_gold_is_shown_next_to_its_inputs(world: World) -> None:
    assert "the gold is hidden" in text(DATA)
    Split.objects.update(gold_public=True)
    page = blocks(text(DATA))
    for number in range(1, 5):
        inputs, gold = json.loads(page[f"Inputs, line {number}"]), json.loads(page[f"Gold of line {number}"])
        assert gold["label"] == LABELS[inputs["id"]]
        assert "label" not in inputs


def test_hidden_gold_and_hidden_inputs_are_not_quoted(world: World) -> None:
    for address in (BENCHMARK, DATA, RULES, SUBMIT):
        assert "REFUTES</code>" not in text(address) and '"label"' not in html.unescape(text(address))
    Split.objects.update(inputs_public=False)
    for public in (False, True):
        Split.objects.update(gold_public=public)
        page = html.unescape(text(DATA))
        assert "claim 0" not in page and '"a1"' not in page and "sample-submission" not in page
        assert Client().get(SAMPLE).status_code == 404


def test_a_draft_s_data_are_shown_to_its_managers_only(world: World) -> None:
    Split.objects.update(state=Split.State.DRAFT, published_at=None, gold_public=True)
    page = html.unescape(text(DATA))
    assert "claim 0" not in page and "sample-submission" not in page
    assert Client().get(SAMPLE).status_code == 404
    assert "claim 0" in text(DATA, logged_in(world.curator))


ACCEPTED = "SUPPORTS, REFUTES or NOT ENOUGH INFO, in any case"


def test_the_format_is_that_of_this_benchmark(world: World) -> None:
    page = text(DATA)
    assert f"{ACCEPTED}; no claim here is NOT ENOUGH INFO" in page and "predicted_evidence" not in page
    example = [json.loads(line) for line in blocks(page)["Example of predictions"].splitlines()]
    assert len(example) == 2 and {line["id"] for line in example} < set(LABELS)


def test_the_form_shows_the_format_to_those_who_may_see_the_split(world: World) -> None:
    form, client = f"{BENCHMARK}test/submit/", logged_in(world.researcher)
    assert ACCEPTED in text(form, client) and SAMPLE in text(form, client)
    Split.objects.update(state=Split.State.DRAFT, published_at=None)
    page = html.unescape(text(form, client))
    assert SAMPLE not in page and '"a1"' not in page and "predicted_evidence" in page


def test_the_sample_submission_answers_each_input_of_the_split(world: World, tmp_path: Path) -> None:
    response = Client().get(SAMPLE)
    assert response["Content-Disposition"] == 'attachment; filename="tiny-test-sample-submission.jsonl"'
    sample, inputs = tmp_path / "sample.jsonl", tmp_path / "inputs.jsonl"
    sample.write_bytes(b"".join(response.streaming_content))
    assert {json.loads(line)["id"] for line in sample.read_text().splitlines()} == set(LABELS)
    inputs.write_bytes(b"".join(Client().get(f"{BENCHMARK}splits/test/inputs.jsonl").streaming_content))
    assert command(["validate", world.benchmark.task, "--inputs", str(inputs), str(sample)]) == 0


def test_the_starter_code_in_python_submits(world: World, sandbox: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("token").write_text(tokens.issue(by=world.researcher)[1] + "\n")
    site = re.search(r'SITE = "(.*)"', code := blocks(text(DATA))["starter-python"])[1]  # type: ignore[index]

    def urlopen(request: Any) -> io.BytesIO:
        address = request if isinstance(request, str) else request.full_url
        path = address.removeprefix(site)
        if isinstance(request, str):
            return io.BytesIO(b"".join(Client().get(path).streaming_content))
        headers = {"authorization": request.get_header("Authorization")}
        kind = request.get_header("Content-type")
        return io.BytesIO(Client().post(path, request.data, content_type=kind, headers=headers).content)

    with mock.patch("urllib.request.urlopen", urlopen), mock.patch("builtins.print", wraps=print) as printed:
        exec(compile(code, "starter.py", "exec"), {})
    submission = world.phase.submissions.get()
    assert str(submission.pk) in printed.call_args.args[0]
    assert submission.system.name == "My system"


def test_the_commands_of_the_starter_code_exist(world: World) -> None:
    Phase.objects.update(
        takes_images=True, options={"max_evidence": "3"}, tracks=[{"name": "open", "title": "Open", "description": ""}]
    )
    page = blocks(text(DATA))
    lines = "\n".join([page["starter-shell"], page["starter-container"]]).splitlines()
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("holdout-eval ")]
    parsed = [_parser().parse_args(arguments) for arguments in commands]
    assert [arguments.command for arguments in parsed] == ["login", "validate", "submit", "run", "submit"]
    assert {arguments.track for arguments in parsed if arguments.command == "submit"} == {"open"}
    assert f"{reverse('api_submit', args=['tiny', 'test'])}?system=" in page["starter-shell"]


# --- editing


def form_data(**changes: str) -> dict[str, str]:
    state = edit.state_of(Benchmark.objects.get())
    return {**state, "seen": json.dumps(edit.marks(state)), **changes}


def test_a_preview_renders_the_texts_and_saves_nothing(world: World) -> None:
    client = logged_in(world.curator)
    previewed = client.post(EDIT, form_data(description="**Mine**", rules="", preview="1"))
    assert previewed.status_code == 200
    page = previewed.content.decode()
    assert read(page).faults == []
    assert "<strong>Mine</strong>" in page and ">**Mine**</textarea>" in page.replace("\n**Mine**", "**Mine**")
    assert Benchmark.objects.get().description == ""
    saved = client.post(EDIT, form_data(description="**Mine**"))
    assert saved.status_code == 302 and Benchmark.objects.get().description == "**Mine**"


def test_organisers_choose_the_main_phase_and_links(world: World) -> None:
    Phase.objects.create(benchmark=world.benchmark, slug="final", title="Final", split=world.split, position=1)
    client = logged_in(world.curator)
    for slug in ("test", "final", ""):
        assert client.post(EDIT, form_data(main_phase=slug, paper_url="https://p.example")).status_code == 302
        assert [phase.slug for phase in Phase.objects.filter(is_main=True)] == [slug] * bool(slug)
    entry = AuditEntry.objects.filter(action="benchmark.edited").earliest("at")
    assert list(entry.detail) == ["paper_url", "main_phase"]
    assert client.post(EDIT, form_data(main_phase="absent")).status_code == 422
    assert client.post(EDIT, form_data(paper_url="javascript:alert(1)")).status_code == 422
    with pytest.raises(edit.Refused, match="no phase absent"):
        edit.edit(
            benchmark=Benchmark.objects.get(),
            values={"main_phase": "absent"},
            seen=edit.marks(edit.state_of(Benchmark.objects.get())),
            by=world.curator,
        )


def test_the_submit_tab_links_the_files_themselves(world: World) -> None:
    downloads = [f"/benchmarks/tiny/splits/test/{name}" for name in ("inputs.jsonl", "sample-submission.jsonl")]
    page = Client().get("/benchmarks/tiny/about/submit/").content.decode()
    for address in downloads:
        assert f'href="{address}" download' in page
        assert Client().get(address).status_code == 200
    Split.objects.filter(pk=world.split.pk).update(inputs_public=False)
    page = Client().get("/benchmarks/tiny/about/submit/").content.decode()
    assert read(page).faults == [] and not any(address in page for address in downloads)
