"""Changing what a benchmark says of itself and who organises it, by those who manage it."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.benchmarks.actions import edit
from leaderboard.core.refusal import Refused
from leaderboard.models import AuditEntry, Benchmark, Dataset, Phase, User
from leaderboard.rehearsals import actions
from tests.leaderboard.benchmarks.test_manage_pages import client_of
from tests.leaderboard.submissions.test_people_pages import text
from tests.support import tiny_world
from tests.support.tiny_world import World

pytestmark = pytest.mark.django_db
EDIT = "/manage/benchmarks/tiny/edit/"


@pytest.fixture
def here(sandbox: str) -> World:
    return tiny_world.build()


@pytest.fixture
def olga(here: World) -> User:
    """An organiser of Tiny beside the curator."""
    user = User.objects.create_user("olga", "olga@holdout.example", "correct horse")
    here.benchmark.organisers.set([here.curator, user])
    return user


def filled(benchmark: Benchmark, **changes: str) -> dict[str, str]:
    """What a browser sends that opened the page at this moment."""
    now = edit.state_of(Benchmark.objects.get(pk=benchmark.pk))
    return {**now, "seen": json.dumps(edit.marks(now)), **changes}


def test_texts_are_changed_and_told_by_name(here: World, olga: User) -> None:
    Benchmark.objects.update(rules="One account.")
    client = client_of(olga)
    changes = {"title": "Small claims", "rules": "One account a person.\r\nNo scraping.", "licence": "CC0-1.0"}
    saved = client.post(EDIT, filled(here.benchmark, **changes))
    assert saved["Location"] == "/manage/benchmarks/tiny/"
    stored = Benchmark.objects.get(slug="tiny")
    assert (stored.title, stored.rules) == ("Small claims", "One account a person.\nNo scraping.")
    assert (stored.dataset.licence, stored.task) == ("CC0-1.0", tiny_world.TASK)
    act = AuditEntry.objects.get(action="benchmark.edited")
    assert act.actor == olga
    assert act.detail == {"changed": ["title", "rules"], "rules_before": "One account."}
    assert AuditEntry.objects.get(action="dataset.edited").detail == {"changed": ["licence"]}
    last = stored.history.first()
    assert (last.history_user, last.title) == (olga, "Small claims")
    trail = text(client.get("/manage/benchmarks/tiny/audit-trail/"))
    assert "edited the benchmark" in trail and "One account." in trail
    assert "Small claims" in text(Client().get("/benchmarks/tiny/"))


def test_saving_what_stands_changes_nothing(here: World, olga: User) -> None:
    Benchmark.objects.update(description="First.\nSecond.\n")
    sent = {name: value.replace("\n", "\r\n") for name, value in filled(here.benchmark).items()}
    states = Benchmark.history.count()
    assert client_of(olga).post(EDIT, sent).status_code == 302
    assert not AuditEntry.objects.filter(action__endswith=".edited").exists()
    assert Benchmark.history.count() == states


def test_what_somebody_else_changed_meanwhile_is_not_overwritten_unseen(here: World, olga: User) -> None:
    opened = filled(here.benchmark, rules="Mine.")
    editing_by_the_curator = filled(here.benchmark, rules="Theirs.", summary="Their summary.")
    assert client_of(here.curator).post(EDIT, editing_by_the_curator).status_code == 302
    refused = client_of(olga).post(EDIT, opened)
    assert refused.status_code == 409
    page = text(refused)
    assert "Someone else has changed these fields since you opened this page: summary, rules." in page
    assert '<dt>Rules</dt><dd dir="auto">Theirs.</dd>' in page and "Mine.</textarea>" in page
    assert Benchmark.objects.get().rules == "Theirs."
    # What the refused page holds can be saved: mine where I typed, and theirs where I did not.
    form = refused.context["form"]
    again = {name: form[name].value() or "" for name in form.fields if name != "leaves"}
    assert client_of(olga).post(EDIT, again).status_code == 302
    stored = Benchmark.objects.get()
    assert (stored.rules, stored.summary) == ("Mine.", "Their summary.")


TOO_LONG = json.dumps(dict.fromkeys(edit.EVERYTHING, "7" * 600))


@pytest.mark.parametrize("seen", ["", "{", "[]", '{"rules": 1}', "7" * 10_000, TOO_LONG])
def test_a_form_that_saw_nothing_changes_nothing(here: World, olga: User, seen: str) -> None:
    refused = client_of(olga).post(EDIT, filled(here.benchmark, rules="Mine.", seen=seen))
    assert refused.status_code == 409
    assert "The form came without the texts that the page was opened with." in text(refused)
    assert "Someone else" not in text(refused)
    assert Benchmark.objects.get().rules == ""


@pytest.mark.parametrize(
    "changes", [{"contact": "javascript:alert(1)"}, {"rules": "a\u202eb"}, {"source_url": "ftp:"}, {"title": ""}]
)
def test_texts_that_cannot_stand_are_refused(here: World, olga: User, changes: dict[str, str]) -> None:
    before = edit.state_of(here.benchmark)
    assert client_of(olga).post(EDIT, filled(here.benchmark, summary="Other.", **changes)).status_code == 422
    assert edit.state_of(Benchmark.objects.get()) == before


def test_organisers_come_and_go(here: World, olga: User) -> None:
    assert client_of(olga).post(EDIT, filled(here.benchmark, organisers="olga\nada\n")).status_code == 302
    assert set(here.benchmark.organisers.values_list("username", flat=True)) == {"olga", "ada"}
    told = AuditEntry.objects.get(action="benchmark.edited").detail
    assert told == {"changed": ["organisers"], "organisers_added": ["ada"], "organisers_removed": ["curator"]}
    assert client_of(here.researcher).get(EDIT).status_code == 200
    kept = Benchmark.history.first().organisers.values_list("user__username", flat=True)
    assert set(kept) == {"olga", "ada"}


def test_nobody_leaves_unawares_and_somebody_stays(here: World, olga: User) -> None:
    client = client_of(olga)
    unawares = client.post(EDIT, filled(here.benchmark, organisers="curator"))
    assert unawares.status_code == 409 and "tick the box to confirm" in text(unawares)
    for names in ("", "gone"):
        User.objects.get_or_create(username="gone", is_active=False)
        here.benchmark.organisers.add(User.objects.get(username="gone"))
        nobody = client.post(EDIT, filled(here.benchmark, organisers=names, leaves="on"))
        assert nobody.status_code == 409 and "A benchmark needs at least one active organiser." in text(nobody)
    left = client.post(EDIT, filled(here.benchmark, organisers="curator", leaves="on"))
    assert left["Location"] == "/benchmarks/tiny/"
    assert client.get(EDIT).status_code == 404
    # A curator manages every benchmark, and may step down without a word.
    here.benchmark.organisers.add(olga)
    assert client_of(here.curator).post(EDIT, filled(here.benchmark, organisers="olga")).status_code == 302


@pytest.mark.parametrize("name", ["nobody-of-that-name", "gone"])
def test_only_accounts_in_use_are_named(here: World, olga: User, name: str) -> None:
    User.objects.create(username="gone", is_active=False)
    refused = client_of(olga).post(EDIT, filled(here.benchmark, organisers=f"curator\nolga\n{name}"))
    assert refused.status_code == 422 and f"Unknown accounts: {name}." in text(refused)


def test_a_dataset_of_other_benchmarks_is_changed_by_who_manages_them_all(here: World, olga: User) -> None:
    dataset = Dataset.objects.get()
    Benchmark.objects.create(slug="beside", title="Beside", task=tiny_world.TASK, dataset=dataset)
    client = client_of(olga)
    page = client.get(EDIT)
    assert "licence" not in page.context["form"].fields and "Beside" not in text(page)
    assert client.post(EDIT, filled(here.benchmark, licence="Mine", rules="New.")).status_code == 302
    assert (Dataset.objects.get().licence, Benchmark.objects.get(slug="tiny").rules) == (dataset.licence, "New.")
    asked = {"licence": "Mine"}
    seen = edit.marks(edit.state_of(Benchmark.objects.get(slug="tiny")))
    with pytest.raises(Refused, match="Other benchmarks use this dataset too"):
        edit.edit(benchmark=here.benchmark, values=asked, seen=seen, by=olga)
    curator = client_of(here.curator)
    assert "Beside" in text(curator.get(EDIT))
    assert curator.post(EDIT, filled(here.benchmark, licence="CC0-1.0")).status_code == 302
    assert Dataset.objects.get().licence == "CC0-1.0"


def test_copies_that_were_rehearsed_have_the_same_organisers_and_are_not_edited(here: World, olga: User) -> None:
    Phase.objects.update(opens_at=timezone.now() + timedelta(hours=1))
    begun = actions.begin(phase=Phase.objects.get(), testers=[], ends_at=None, by=here.curator)
    assert client_of(here.curator).post(EDIT, filled(here.benchmark, organisers="curator\nada")).status_code == 302
    assert set(begun.benchmark.organisers.values_list("username", flat=True)) == {"curator", "ada"}
    where = f"/manage/benchmarks/{begun.benchmark.slug}/"
    copied = client_of(here.curator).post(f"{where}edit/", filled(begun.benchmark, rules="New."))
    assert copied.status_code == 409 and "A rehearsal is a copy" in text(copied)
    assert f'href="{where}edit/"' not in text(client_of(here.curator).get(where))
    assert f'href="{EDIT}"' in text(client_of(here.curator).get("/manage/benchmarks/tiny/"))
