"""The public/private split: assigns whole groups once, is preserved by corrections; each subset is scored alone."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.test import Client

from leaderboard.core.refusal import Code, Refused
from leaderboard.datasets.actions import partition_gold
from leaderboard.models import AuditEntry, Leaderboard, PublicPrivatePartition, Release, Split
from tests.support.rows.many_groups import (
    a_phase,
    a_split,
    answers,
    correct,
    gold_of,
    labels_of,
    primary,
    score_all,
    send,
    soon,
)
from tests.support.rows.tiny_world import DRAFT, World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(80)
"""Twenty groups of four claims each."""


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def split(world: World) -> Split:
    return a_split(world, LABELS, per_group=4)


def groups_of(division: PublicPrivatePartition) -> dict[str, set[str]]:
    with division.file.open("rb") as file:
        return {half: set(names) for half, names in json.load(file).items()}


def claims_of(groups: set[str]) -> list[str]:
    return [id_ for index, id_ in enumerate(LABELS) if f"g{index // 4}" in groups]


def labels_with_errors(wrong: set[str]) -> dict[str, str]:
    other = answers(LABELS, len(LABELS))
    return {id_: other[id_] if id_ in wrong else label for id_, label in LABELS.items()}


def test_whole_groups_are_assigned_with_the_given_share(world: World, split: Split) -> None:
    division = partition_gold.partition(split=split, share=Decimal("0.3"), seed=7, by=world.curator)
    groups = groups_of(division)
    assert (division.n_public, division.n_private) == (len(groups["public"]), len(groups["private"])) == (6, 14)
    assert not groups["public"] & groups["private"]
    assert groups["public"] | groups["private"] == {f"g{index}" for index in range(20)}
    entry = AuditEntry.objects.get(action="gold.divided")
    assert entry.detail["n_public"] == 6 and "seed" not in entry.detail


def test_the_partition_depends_on_the_seed_only(world: World, split: Split) -> None:
    further_splits = [a_split(world, LABELS, per_group=4, name=f"again-{index}") for index in range(3)]
    divisions = [
        partition_gold.partition(split=divided, seed=7, by=world.curator) for divided in (split, further_splits[0])
    ]
    divisions += [partition_gold.partition(split=divided, by=world.curator) for divided in further_splits[1:]]
    assert divisions[0].sha256 == divisions[1].sha256
    assert len({divided.sha256 for divided in divisions}) == 3


def test_each_phase_scores_its_subset_alone(world: World, split: Split) -> None:
    division = partition_gold.partition(split=split, seed=7, by=world.curator)
    groups = groups_of(division)
    public = a_phase(world, split, disclosure="full", subset="public", slug="public")
    private = a_phase(world, split, disclosure="full", subset="private", slug="private")
    # All correct in the public subset; a quarter wrong in the private subset.
    labels = labels_with_errors(set(claims_of(groups["private"])[:10]))
    submissions = {"public": send(world, public, labels), "private": send(world, private, labels)}
    score_all()
    assert {half: primary(submission) for half, submission in submissions.items()} == {"public": 1.0, "private": 0.75}
    for half, submission in submissions.items():
        units = {json.dumps(score["slice"]): score["n"] for score in Release.objects.get(submission=submission).values}
        assert units["{}"] == 40, "claims of ten groups"
        by_kind = [n for slice_, n in units.items() if "kind" in slice_]
        assert sum(by_kind) == 40 and all(n % 4 == 0 for n in by_kind), f"{half}: whole groups"


def test_a_correction_preserves_the_subset_of_remaining_groups(world: World, split: Split) -> None:
    before = groups_of(partition_gold.partition(split=split, seed=7, by=world.curator))
    phase = a_phase(world, split, disclosure="full", subset="private", slug="private")
    private = claims_of(before["private"])
    submission = send(world, phase, labels_with_errors(set(private[:10])))
    score_all()
    correct(split, world, gold_of(labels_with_errors(set(private[:10])), per_group=4))
    assert PublicPrivatePartition.objects.count() == 2
    assert groups_of(PublicPrivatePartition.objects.get(gold=split.current_gold)) == before
    score_all()
    assert Leaderboard.objects.get(state="current").gold_version.number == 2
    assert primary(submission) == 1.0


def test_new_groups_are_assigned_and_existing_ones_keep_their_subset(world: World, split: Split) -> None:
    before = groups_of(partition_gold.partition(split=split, seed=7, by=world.curator))
    more = labels_of(160)
    # Other groups change the inputs, which only a draft may do.
    Split.objects.update(**DRAFT)
    correct(split, world, gold_of(more, per_group=4))
    after = groups_of(PublicPrivatePartition.objects.get(gold=split.current_gold))
    assert before["public"] < after["public"] and before["private"] < after["private"]
    assert (len(after["public"]), len(after["private"])) == (20, 20)


def test_a_partition_is_made_once_and_never_edited(world: World, split: Split) -> None:
    partition_gold.partition(split=split, by=world.curator)
    with pytest.raises(Refused) as refused:
        partition_gold.partition(split=split, by=world.curator)
    assert refused.value.code is Code.ALREADY_EXISTS
    with pytest.raises(DatabaseError, match="immutable"), transaction.atomic():
        PublicPrivatePartition.objects.update(seed=1)


def test_a_single_group_cannot_be_partitioned(world: World) -> None:
    with pytest.raises(Refused, match="two groups"):
        partition_gold.partition(split=world.split, by=world.curator)
    with pytest.raises(Refused) as refused:
        partition_gold.partition(split=world.split, by=world.researcher)
    assert refused.value.code is Code.NOT_AN_ORGANISER
    assert not PublicPrivatePartition.objects.exists()


def test_partitioning_by_page_and_by_command(world: World, split: Split, client: Client, capsys: Any) -> None:
    client.force_login(world.curator)
    address = f"/manage/benchmarks/tiny/splits/{split.name}/public-private-split/"
    assert "Divide the groups" in client.get(address).content.decode()
    assert client.post(address, {"share": "2"}).status_code == 422
    assert client.post(address, {"share": "0.25", "seed": "3"}).status_code == 302
    page = client.get(address).content.decode()
    assert "5 groups" in page and "15 groups" in page and "Divide the groups" not in page
    assert client.post(address, {"share": "0.25"}).status_code == 409
    other = a_split(world, LABELS, name="other")
    call_command("partition_split", "tiny", "other", "--share", "0.1", "--seed", "3", "--by", "curator")
    assert "8 public groups, 72 private groups" in capsys.readouterr().out
    assert PublicPrivatePartition.objects.get(gold=other.current_gold).seed == 3


def test_neither_seed_nor_subsets_are_published(world: World, split: Split, client: Client) -> None:
    division = partition_gold.partition(split=split, seed=918273645, by=world.curator)
    phase = a_phase(world, split, disclosure="sealed", sealed_until=soon(), subset="private", slug="final")
    for address in ("/benchmarks/tiny/", f"/benchmarks/tiny/{phase.slug}/", "/api/v1/benchmarks/tiny/"):
        body = client.get(address).content.decode()
        assert "918273645" not in body and division.sha256 not in body and '"g3"' not in body
