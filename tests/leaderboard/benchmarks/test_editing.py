"""Changes of a benchmark's texts and organisers, by the people who manage it."""

from __future__ import annotations

import json

import pytest
from django.test import Client

from leaderboard.benchmarks.actions import edit
from leaderboard.core.refusal import Refused
from leaderboard.models import AuditEntry, Benchmark, Dataset, User
from tests.leaderboard.benchmarks.test_manage_pages import client_of
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.rows import tiny_world
from tests.support.rows.tiny_world import World

pytestmark = pytest.mark.django_db
EDIT = "/manage/benchmarks/tiny/edit/"
ORGANISERS = "/manage/benchmarks/tiny/organisers/"


@pytest.fixture
def setup(sandbox: str) -> World:
    return tiny_world.build()


@pytest.fixture
def olga(setup: World) -> User:
    """An organiser of Tiny, in addition to the curator."""
    user = User.objects.create_user("olga", "olga@holdout.example", "correct horse")
    setup.benchmark.organisers.set([setup.curator, user])
    return user


def form_data(benchmark: Benchmark, **changes: str) -> dict[str, str]:
    """What a browser sends that opened the page at this moment."""
    state = edit.state_of(Benchmark.objects.get(pk=benchmark.pk))
    return {**state, "seen": json.dumps(edit.marks(state)), **changes}


def test_texts_are_changed_and_the_trail_names_the_fields(setup: World, olga: User) -> None:
    Benchmark.objects.update(rules="One account.")
    client = client_of(olga)
    changes = {"title": "Small claims", "rules": "One account a person.\r\nNo scraping.", "licence": "CC0-1.0"}
    saved = client.post(EDIT, form_data(setup.benchmark, **changes))
    assert saved["Location"] == "/manage/benchmarks/tiny/"
    stored = Benchmark.objects.get(slug="tiny")
    assert (stored.title, stored.rules) == ("Small claims", "One account a person.\nNo scraping.")
    assert (stored.dataset.licence, stored.task) == ("CC0-1.0", tiny_world.TASK)
    act = AuditEntry.objects.get(action="benchmark.edited")
    assert act.actor == olga
    assert act.detail == {
        "title": {"before": "Tiny claims", "after": "Small claims"},
        "rules": {"before": "One account.", "after": "One account a person.\nNo scraping."},
    }
    assert AuditEntry.objects.get(action="dataset.edited").detail == {"licence": {"before": "", "after": "CC0-1.0"}}
    trail = text(client.get("/manage/benchmarks/tiny/audit-trail/"))
    assert "edited the benchmark" in trail and "One account." in trail
    assert "Small claims" in text(Client().get("/benchmarks/tiny/"))


@pytest.mark.parametrize(
    ("stored", "sent", "status", "expected"),
    [
        ("CC BY 4.0 (texts)", "CC BY 4.0 (texts)", 302, "CC BY 4.0 (texts)"),
        ("CC BY 4.0 (texts)", "CC BY 4.0", 422, "CC BY 4.0 (texts)"),
        ("", "mit or cc-by-4.0", 302, "MIT OR CC-BY-4.0"),
        ("MIT", "", 302, ""),
    ],
)
def test_a_new_licence_is_an_spdx_expression(
    setup: World, olga: User, stored: str, sent: str, status: int, expected: str
) -> None:
    Dataset.objects.update(licence=stored)
    data = form_data(setup.benchmark, licence=sent, title="Renamed")
    answer = client_of(olga).post(EDIT, data)
    assert (answer.status_code, Dataset.objects.get().licence) == (status, expected)
    if status == 422:
        assert "is not an SPDX licence expression" in text(answer)


def test_saving_unchanged_texts_changes_nothing(setup: World, olga: User) -> None:
    Benchmark.objects.update(description="First.\nSecond.\n")
    data = {name: value.replace("\n", "\r\n") for name, value in form_data(setup.benchmark).items()}
    n_entries = Benchmark.objects.get().n_entries
    assert client_of(olga).post(EDIT, data).status_code == 302
    assert not AuditEntry.objects.filter(action__endswith=".edited").exists()
    assert Benchmark.objects.get().n_entries == n_entries


def test_a_concurrent_change_is_not_overwritten(setup: World, olga: User) -> None:
    opened = form_data(setup.benchmark, rules="Mine.")
    editing_by_the_curator = form_data(setup.benchmark, rules="Theirs.", summary="Their summary.")
    assert client_of(setup.curator).post(EDIT, editing_by_the_curator).status_code == 302
    refused = client_of(olga).post(EDIT, opened)
    assert refused.status_code == 409
    page = text(refused)
    assert "Someone else has changed these fields since you opened this page: summary, rules." in page
    assert '<dt>Rules</dt><dd dir="auto">Theirs.</dd>' in page and "Mine.</textarea>" in page
    assert Benchmark.objects.get().rules == "Theirs."
    # The refused page can be saved: it has the typed values of changed fields and the current values of the others.
    form = refused.context["form"]
    resubmitted = {name: form[name].value() or "" for name in form.fields}
    assert client_of(olga).post(EDIT, resubmitted).status_code == 302
    stored = Benchmark.objects.get()
    assert (stored.rules, stored.summary) == ("Mine.", "Their summary.")


TOO_LONG = json.dumps(dict.fromkeys(edit.EVERYTHING, "7" * 700))


@pytest.mark.parametrize("seen_state", ["", "{", "[]", '{"rules": 1}', "7" * 10_000, TOO_LONG])
def test_a_form_without_a_valid_seen_state_changes_nothing(setup: World, olga: User, seen_state: str) -> None:
    refused = client_of(olga).post(EDIT, form_data(setup.benchmark, rules="Mine.", seen=seen_state))
    assert refused.status_code == 409
    assert "The form did not say which texts it was opened with" in text(refused)
    assert "Someone else" not in text(refused)
    assert Benchmark.objects.get().rules == ""


@pytest.mark.parametrize(
    "changes", [{"contact": "javascript:alert(1)"}, {"rules": "a\u202eb"}, {"source_url": "ftp:"}, {"title": ""}]
)
def test_invalid_texts_are_refused(setup: World, olga: User, changes: dict[str, str]) -> None:
    before = edit.state_of(setup.benchmark)
    assert client_of(olga).post(EDIT, form_data(setup.benchmark, summary="Other.", **changes)).status_code == 422
    assert edit.state_of(Benchmark.objects.get()) == before


def test_organisers_are_added_and_removed(setup: World, olga: User) -> None:
    client = client_of(olga)
    assert client.post(ORGANISERS, {"username": "ada"}).status_code == 302
    assert client_of(setup.researcher).get(EDIT).status_code == 200
    assert client.post(f"{ORGANISERS}{setup.curator.pk}/remove/").status_code == 302
    assert set(setup.benchmark.organisers.values_list("username", flat=True)) == {"olga", "ada"}
    entries = AuditEntry.objects.filter(action__startswith="organiser.").order_by("pk")
    assert [(entry.action, entry.detail) for entry in entries] == [
        ("organiser.added", {"user": "ada"}),
        ("organiser.removed", {"user": "curator"}),
    ]


def test_organisers_may_leave_but_an_active_one_stays(setup: World, olga: User) -> None:
    client = client_of(olga)
    gone = User.objects.create(username="gone", is_active=False)
    setup.benchmark.organisers.set([olga, gone])
    refused = client.post(f"{ORGANISERS}{olga.pk}/remove/")
    assert refused.status_code == 409 and "A benchmark needs at least one active organiser." in text(refused)
    assert client.post(f"{ORGANISERS}{gone.pk}/remove/").status_code == 302
    setup.benchmark.organisers.add(setup.curator)
    assert "You will no longer manage this benchmark." in text(client.get(ORGANISERS))
    assert client.post(f"{ORGANISERS}{olga.pk}/remove/")["Location"] == "/"
    assert client.get(ORGANISERS).status_code == 404


@pytest.mark.parametrize("name", ["nobody-of-that-name", "gone"])
def test_only_active_accounts_are_accepted(setup: World, olga: User, name: str) -> None:
    User.objects.create(username="gone", is_active=False)
    refused = client_of(olga).post(ORGANISERS, {"username": name})
    assert refused.status_code == 422
    assert f"No active account is called {name}; expected a username." in str(refused.context["form"].errors)
    assert setup.benchmark.organisers.count() == 2


def test_a_dataset_of_several_benchmarks_is_changed_by_managers_of_all(setup: World, olga: User) -> None:
    dataset = Dataset.objects.get()
    Benchmark.objects.create(slug="beside", title="Beside", task=tiny_world.TASK, dataset=dataset)
    client = client_of(olga)
    page = client.get(EDIT)
    assert "licence" not in page.context["form"].fields and "Beside" not in text(page)
    assert client.post(EDIT, form_data(setup.benchmark, licence="Mine", rules="New.")).status_code == 302
    assert (Dataset.objects.get().licence, Benchmark.objects.get(slug="tiny").rules) == (dataset.licence, "New.")
    changes = {"licence": "Mine"}
    marks = edit.marks(edit.state_of(Benchmark.objects.get(slug="tiny")))
    with pytest.raises(Refused, match="Other benchmarks use this dataset too"):
        edit.edit(benchmark=setup.benchmark, values=changes, seen=marks, by=olga)
    curator = client_of(setup.curator)
    assert "Beside" in text(curator.get(EDIT))
    assert curator.post(EDIT, form_data(setup.benchmark, licence="CC0-1.0")).status_code == 302
    assert Dataset.objects.get().licence == "CC0-1.0"
