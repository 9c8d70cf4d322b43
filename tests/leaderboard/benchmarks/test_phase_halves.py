"""A ladder on a public half of the groups: the half is drawn with the phase or not at all, and the other is kept."""

from __future__ import annotations

from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.test import Client

from leaderboard.datasets.actions import partition_gold
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, Phase, PublicPrivatePartition, Split
from tests.leaderboard.benchmarks.test_phase_forms import CREATE, filled
from tests.support.rows.gold_uploads import files_of
from tests.support.rows.many_groups import a_split, labels_of
from tests.support.rows.tiny_world import World, build
from tests.support.strict_html import read

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LADDER = f"{CREATE}?kind=ladder&split=many"
MANAGE = "/manage/benchmarks/tiny/"


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def split(world: World) -> Split:
    return a_split(world, labels_of(20))


@pytest.fixture
def curator(world: World, split: Split) -> Client:
    client = Client()
    client.force_login(world.curator)
    return client


def sent(client: Client, **changes: Any) -> dict[str, Any]:
    return filled(client, LADDER, title="Ladder", **changes)


def test_by_default_a_ladder_scores_a_public_half(curator: Client, split: Split) -> None:
    assert read(curator.get(LADDER).content.decode()).faults == []
    form = sent(curator)
    assert form["keeps_private"] == "on"
    assert curator.post(LADDER, form).status_code == 302
    phase, partition = Phase.objects.get(slug="ladder"), PublicPrivatePartition.objects.get()
    assert (phase.split, phase.subset, phase.disclosure, phase.scope) == (split, "public", "ladder", "task")
    assert (partition.gold, partition.n_public, partition.n_private) == (split.current_gold, 10, 10)


def test_the_page_leads_to_a_sealed_phase_on_the_private_half(curator: Client, split: Split) -> None:
    curator.post(LADDER, sent(curator))
    page = curator.get(MANAGE).content.decode()
    assert read(page).faults == []
    (link,) = (href for href in unescape(page).split('"') if "subset=private" in href)
    assert parse_qs(urlsplit(link).query) == {"kind": ["sealed"], "split": ["many"], "subset": ["private"]}
    form = filled(curator, link, title="Final", sealed_until="2031-01-01T00:00")
    assert curator.post(link, form).status_code == 302
    phase = Phase.objects.get(slug="final")
    assert (phase.disclosure, phase.split, phase.subset) == ("sealed", split, "private")
    assert "subset=private" not in curator.get(MANAGE).content.decode()


def test_phases_that_tell_about_the_private_half_are_named(curator: Client, world: World, split: Split) -> None:
    curator.post(LADDER, sent(curator))
    assert "all groups" not in curator.get(MANAGE).content.decode()
    Phase.objects.filter(pk=world.phase.pk).update(split=split)
    assert "But <bdi>Test</bdi> scores all groups" in curator.get(MANAGE).content.decode()


def test_groups_that_are_divided_stay_so(curator: Client, world: World, split: Split) -> None:
    partition = partition_gold.partition(split=split, seed=7, by=world.curator)
    assert curator.post(LADDER, sent(curator)).status_code == 302
    assert PublicPrivatePartition.objects.get() == partition
    assert Phase.objects.get(slug="ladder").subset == "public"


def test_without_the_tick_all_groups_are_scored(curator: Client) -> None:
    form = sent(curator)
    del form["keeps_private"]
    assert curator.post(LADDER, form).status_code == 302
    assert Phase.objects.get(slug="ladder").subset == "" and not PublicPrivatePartition.objects.exists()


def stored(action: str) -> tuple[int, int, int, int]:
    """Return the numbers of phases, divisions, their files, and entries of the audit trail with an action."""
    counts = [model.objects.count() for model in (Phase, PublicPrivatePartition)]
    return counts[0], counts[1], len(files_of("gold")), AuditEntry.objects.filter(action=action).count()


@pytest.mark.parametrize(
    ("changes", "field", "status"),
    [
        ({"slug": "test"}, "slug", 409),
        ({"options": "no_such=1"}, "options", 422),
        ({"scope": "team"}, "quota_everybody", 422),
        ({"subset": "private"}, "subset", 422),
        ({"least_groups": "0"}, "least_groups", 422),
    ],
)
def test_a_phase_that_is_refused_divides_nothing(
    curator: Client, changes: dict[str, str], field: str, status: int
) -> None:
    before = stored("gold.divided")
    response = curator.post(LADDER, sent(curator, **changes))
    assert response.status_code == status and list(response.context["form"].errors) == [field]
    assert stored("gold.divided") == before


def test_a_failure_in_between_leaves_nothing(
    curator: Client, world: World, split: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, record, divided = stored("gold.divided"), AuditEntry.record, []

    def failing(action: str, *args: Any, **kwargs: Any) -> Any:
        if action == "phase.created":
            divided.append(PublicPrivatePartition.objects.count())
            raise ZeroDivisionError
        return record(action, *args, **kwargs)

    form = sent(curator)
    with monkeypatch.context() as patched:
        patched.setattr(AuditEntry, "record", failing)
        with pytest.raises(ZeroDivisionError):
            curator.post(LADDER, form)
    assert divided == [1]
    assert stored("gold.divided") == before
    assert curator.post(LADDER, form).status_code == 302


def test_without_the_sandbox_nothing_is_added(curator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> Any:
        raise sandbox_client.SandboxError("gone")

    before, form = stored("gold.divided"), sent(curator)
    monkeypatch.setattr(sandbox_client, "partition", away)
    response = curator.post(LADDER, form)
    assert response.status_code == 503 and response.context["refusal"] is not None
    assert stored("gold.divided") == before


def test_it_is_offered_only_where_something_can_be_kept(curator: Client, world: World, split: Split) -> None:
    other = curator.post(LADDER, sent(curator, split=world.split.pk))
    assert other.status_code == 422 and "only one group" in other.context["form"].errors["keeps_private"][0]
    assert curator.get(f"{CREATE}?kind=ladder&split=test").context["form"]["keeps_private"].value() is False
    for kind in ("full", "sealed"):
        assert "keeps_private" not in curator.get(f"{CREATE}?kind={kind}").context["form"].fields
    Split.objects.filter(pk=split.pk).update(gold_public=True)
    assert "keeps_private" not in curator.get(LADDER).context["form"].fields
