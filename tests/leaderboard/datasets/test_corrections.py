"""Corrected gold in two steps: stored and compared with the current version, then confirmed or dropped."""

from __future__ import annotations

import gzip
import re
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from leaderboard.core import db_clock
from leaderboard.core.refusal import Code, Refused
from leaderboard.datasets.actions import (
    corrections,
    gold_diffs,
    lifecycle,
    partition_gold,
    splits,
)
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    ChangedItem,
    Correction,
    GoldVersion,
    Phase,
    PublicPrivatePartition,
    State,
    User,
)
from leaderboard.work_queue import enqueue
from tests.support.rows.corrected_gold import AFTER, BEFORE, CORRECTED, score_all, shown, states, two_systems
from tests.support.rows.tiny_world import DRAFT, World, build, gold_lines, uploaded

pytestmark = pytest.mark.django_db(transaction=True)
MANAGE_URL = "/manage/benchmarks/tiny/splits/test/"
OTHER_BYTES = gold_lines().replace(b"\n", b"\r\n")
REASON = "labels of <b>batch 3</b> were swapped"


@pytest.fixture
def world(transactional_db: None, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)
    return build()


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def propose(world: World, content: bytes | None = None) -> Correction:
    file = uploaded(content or gold_lines(CORRECTED), "fixed.jsonl")
    try:
        return corrections.propose(split=world.split, file=file, by=world.curator)
    finally:
        file.close()


def compared_correction(world: World, content: bytes | None = None) -> Correction:
    correction = propose(world, content)
    gold_diffs.WORK.run(correction.pk)
    correction.refresh_from_db()
    assert correction.state == State.DONE
    return correction


def confirm(world: World, correction: Correction, **more: Any) -> GoldVersion:
    return corrections.confirm(
        correction=correction, by=world.curator, **{"reason": REASON, "publishes_count": False, **more}
    )


def gold_files() -> set[str]:
    return {str(path.relative_to(settings.DATA)) for path in (Path(settings.DATA) / "files" / "gold").rglob("*.jsonl*")}


def page_text(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status
    return re.sub(r"\s+", " ", response.content.decode())


# --- actions


def test_a_correction_has_no_effect_before_it_is_confirmed(world: World) -> None:
    correction = compared_correction(world)
    assert list(world.split.gold_versions.values_list("number", flat=True)) == [1]
    assert correction.counts["n_changed"] == 4 and correction.counts["by_kind"]["answer"] == 4
    changes = {row.item: row.changes for row in correction.items.all()}
    assert changes['"a1"'] == [{"kind": "answer", "field": "label", "before": "SUPPORTS", "after": "REFUTES"}]
    gold = confirm(world, correction)
    assert (gold.number, gold.reason, gold.sha256) == (2, REASON, correction.sha256)
    correction.refresh_from_db()
    assert (correction.decision, correction.gold, str(correction.file)) == ("confirmed", gold, "")
    assert correction.items.count() == 4, "its changed items are retained"


def test_a_confirmed_correction_is_rescored(sandbox: str, transactional_db: None) -> None:
    world = two_systems()
    correction = compared_correction(world)
    assert shown(world) == BEFORE and states(world) == [(1, 1, "current")]
    confirm(world, correction)
    assert states(world) == [(1, 1, "current"), (2, 1, "preparing")]
    score_all()
    assert shown(world) == AFTER


def test_gold_with_other_items_is_compared_and_cannot_be_confirmed(world: World) -> None:
    lines = gold_lines().splitlines(keepends=True)
    correction = compared_correction(world, b"".join([*lines[:3], lines[3].replace(b'"a4"', b'"b4"')]))
    assert {name: n for name, n in correction.counts["by_kind"].items() if n} == {"added": 1, "removed": 1}
    with pytest.raises(Refused) as refused:
        confirm(world, correction)
    assert refused.value.code is Code.INPUTS_CHANGED and "would change its inputs" in refused.value.message
    assert GoldVersion.objects.count() == 1


@pytest.mark.parametrize("reason", ["", "  ", "x" * 1001])
def test_a_reason_is_required(world: World, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        confirm(world, compared_correction(world), reason=reason)
    assert refused.value.code is Code.INVALID_REASON and GoldVersion.objects.count() == 1


def test_a_correction_that_is_not_compared_cannot_be_confirmed(world: World) -> None:
    correction = propose(world)
    with pytest.raises(Refused, match="is not complete yet"):
        confirm(world, correction)
    Correction.objects.update(state=State.FAILED, reason="internal", finished_at=timezone.now())
    correction.refresh_from_db()
    with pytest.raises(Refused, match="has failed; upload the file again"):
        confirm(world, correction)


def test_a_correction_of_superseded_gold_cannot_be_confirmed(world: World) -> None:
    correction = compared_correction(world)
    file = uploaded(OTHER_BYTES)
    splits.add_gold(split=world.split, file=file, reason="another", by=world.curator)
    file.close()
    with pytest.raises(Refused, match="corrected after"):
        confirm(world, correction)
    assert world.split.current_gold is not None and world.split.current_gold.number == 2


def test_a_correction_is_confirmed_only_once(world: World) -> None:
    correction = compared_correction(world)
    stale = Correction.objects.get(pk=correction.pk)
    confirm(world, correction)
    for again in (stale, Correction.objects.get(pk=correction.pk)):
        with pytest.raises(Refused):
            confirm(world, again)
    assert GoldVersion.objects.count() == 2


def test_a_later_upload_replaces_a_pending_correction(world: World) -> None:
    first = compared_correction(world)
    before = gold_files()
    second = propose(world, OTHER_BYTES)
    first.refresh_from_db()
    assert (first.decision, second.decision) == ("dropped", "pending")
    assert len(gold_files()) == len(before) and not first.items.exists()


def test_a_dropped_correction_leaves_no_file_and_no_item(world: World) -> None:
    before = gold_files()
    correction = compared_correction(world)
    assert len(gold_files()) == len(before) + 1
    corrections.drop(correction=correction, by=world.curator)
    assert gold_files() == before and not ChangedItem.objects.exists()
    with pytest.raises(Refused, match="can no longer be dropped"):
        corrections.drop(correction=correction, by=world.curator)
    assert AuditEntry.objects.filter(action="correction.dropped", actor=world.curator).count() == 1


def test_an_unconfirmed_correction_expires(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = gold_files()
    correction = compared_correction(world)
    assert corrections.sweep() == 0
    Correction.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    with monkeypatch.context() as patch:
        patch.setattr(db_clock, "read", lambda: timezone.now() - timedelta(hours=1))
        assert corrections.sweep() == 0, "this host's clock is ahead, and the correction's file would be lost"
    assert corrections.sweep() == 1
    correction.refresh_from_db()
    assert correction.decision == "expired" and gold_files() == before and not correction.items.exists()
    with pytest.raises(Refused, match="can no longer be confirmed"):
        confirm(world, correction)


def test_a_worker_writes_nothing_to_a_correction_dropped_meanwhile(world: World, monkeypatch: Any) -> None:
    correction = propose(world)
    gold_difference = gold_diffs.sandbox_client.gold_difference

    def slow(files: Any, **arguments: Any) -> Any:
        answer = gold_difference(files, **arguments)
        corrections.drop(correction=correction, by=world.curator)
        return answer

    monkeypatch.setattr(gold_diffs.sandbox_client, "gold_difference", slow)
    gold_diffs.WORK.run(correction.pk)
    correction.refresh_from_db()
    assert (correction.state, correction.decision, correction.counts) == (State.CANCELLED, "dropped", {})
    assert not ChangedItem.objects.exists()


def test_another_worker_takes_over_an_expired_lease(world: World) -> None:
    correction = propose(world)
    at = timezone.now()
    Correction.objects.update(state=State.RUNNING, attempt=1, lease_until=at - timedelta(seconds=1))
    assert gold_diffs.WORK.sweep() == 1
    gold_diffs.WORK.run(correction.pk)
    correction.refresh_from_db()
    assert (correction.state, correction.attempt, correction.items.count()) == (State.DONE, 2, 4)


def test_an_inconsistent_report_is_rejected(world: World, monkeypatch: Any) -> None:
    correction = propose(world)
    gold_difference = gold_diffs.sandbox_client.gold_difference

    def inconsistent(files: Any, **arguments: Any) -> Any:
        answer = gold_difference(files, **arguments)
        answer.report["counts"]["n_changed"] += 1
        return answer

    monkeypatch.setattr(gold_diffs.sandbox_client, "gold_difference", inconsistent)
    gold_diffs.WORK.run(correction.pk)
    correction.refresh_from_db()
    assert (correction.state, correction.reason) == (State.FAILED, "bad_report")


def test_a_correction_preserves_gzip_and_the_partition(world: World) -> None:
    lines = [line.replace(b'"g1"', b'"g%d"' % index) for index, line in enumerate(gold_lines().splitlines(True))]
    first = uploaded(b"".join(lines).replace(b'"origin"', b'"part"'))
    splits.add_gold(split=world.split, file=first, reason="groups", by=world.curator)
    first.close()
    partition_gold.partition(split=world.split, share=Decimal("0.5"), seed=1, by=world.curator)
    corrected = b"".join(lines).replace(b'"origin"', b'"part"').replace(b"REFUTES", b"SUPPORTS", 1)
    file = uploaded(gzip.compress(corrected, mtime=0), "fixed.jsonl.gz")
    correction = corrections.propose(split=world.split, file=file, by=world.curator)
    file.close()
    gold_diffs.WORK.run(correction.pk)
    correction.refresh_from_db()
    gold = confirm(world, correction)
    assert (gold.number, correction.counts["n_changed"]) == (3, 1)
    before, after = PublicPrivatePartition.objects.order_by("gold__number")
    assert after.gold == gold and before.file.read() == after.file.read()


# --- pages


def post_gold(client: Client, content: bytes) -> Any:
    return client.post(f"{MANAGE_URL}gold/", {"file": SimpleUploadedFile("fixed.jsonl", content)})


def test_the_pages_from_upload_to_the_next_version(world: World) -> None:
    curator = client_of(world.curator)
    url = post_gold(curator, gold_lines(CORRECTED))["Location"]
    correction = Correction.objects.get()
    assert url == f"{MANAGE_URL}corrections/{correction.pk}/"
    page = page_text(curator, url)
    assert "Waiting for a worker to compare it with gold version 1" in page and "Refresh" in page
    assert "Confirm gold version" not in page and "A correction waits for confirmation" in page_text(
        curator, f"{MANAGE_URL}gold/"
    )
    gold_diffs.WORK.run(correction.pk)
    assert curator.get(f"{url}state/")["HX-Refresh"] == "true"
    page = page_text(curator, url)
    assert '<strong class="num">4</strong> of 4 items' in page and 'changed answer</a></th><td class="num">4' in page
    assert "SUPPORTS" not in page, "the counts reveal no answer"
    missing = curator.post(f"{url}confirm/", {})
    assert missing.status_code == 422 and GoldVersion.objects.count() == 1
    answer = curator.post(f"{url}confirm/", {"reason": REASON, "publishes_count": "on"})
    assert answer.status_code == 302
    gold = GoldVersion.objects.get(number=2)
    assert gold.reason == REASON and gold.correction.publishes_count
    page = page_text(curator, f"{MANAGE_URL}gold/")
    assert "labels of &lt;b&gt;batch 3&lt;/b&gt; were swapped" in page and ">Changes</a>" in page
    assert "as <a" in page_text(curator, url)
    assert post_gold(curator, gold_lines(CORRECTED)).status_code == 409


def test_affected_phases_are_listed_before_confirmation(world: World) -> None:
    """Includes phases of other benchmarks on the split, without the names of those that the reader may not see."""
    organiser = User.objects.create_user("olga", "olga@holdout.example", "correct horse")
    world.benchmark.organisers.add(organiser)
    others = {}
    for slug, state in (("seen", "public"), ("hidden", "draft")):
        fields = {"slug": slug, "title": f"The {slug} one", "task": world.benchmark.task, "state": state}
        benchmark = Benchmark.objects.create(dataset=world.split.dataset, **fields)
        fields = {"title": "Theirs", "quota_per_day": 5, "quota_total": 50}
        others[slug] = Phase.objects.create(benchmark=benchmark, slug="test", split=world.split, **fields)
    for phase in (world.phase, *others.values(), others["hidden"]):
        replace(world, phase=phase).insert_run()
    page = f"{MANAGE_URL}corrections/{compared_correction(world).pk}/"
    ours = "1 prediction in <bdi>Test</bdi>"
    theirs = "1 prediction in <bdi>Theirs</bdi> of <bdi>The seen one</bdi>"
    starts = f"Rescoring starts: {ours},"
    assert f"{starts} {theirs}, 2 predictions in other benchmarks." in page_text(client_of(organiser), page)
    hidden = "2 predictions in <bdi>Theirs</bdi> of <bdi>The hidden one</bdi>"
    assert f"{starts} {hidden}, {theirs}." in page_text(client_of(world.curator), page)


def test_the_audit_trail_describes_the_changes(world: World) -> None:
    confirm(world, compared_correction(world))
    trail = page_text(client_of(world.curator), "/manage/benchmarks/tiny/audit-trail/")
    assert '<span class="soft">by kind</span> <bdi>4 changed answer</bdi>' in trail


def test_each_view_of_the_items_is_recorded(world: World) -> None:
    correction = compared_correction(
        world, gold_lines(CORRECTED).replace(b'"generated"', b'"generated", "batch": 3', 1)
    )
    world.benchmark.organisers.add(world.researcher)
    page = page_text(client_of(world.researcher), f"{MANAGE_URL}corrections/{correction.pk}/items/?kind=slices")
    assert page.count("<section") == 1 and "&quot;a2&quot;" in page and "SUPPORTS" in page
    assert "changed answer, changed slices" in page and ">batch<" in page
    (entry,) = AuditEntry.objects.filter(action="gold.read")
    assert entry.actor == world.researcher and entry.detail["correction"] == correction.pk
    assert "viewed gold" in page_text(client_of(world.curator), "/manage/benchmarks/tiny/audit-trail/?only=gold")


def test_items_are_paged(world: World, monkeypatch: Any) -> None:
    monkeypatch.setattr("leaderboard.datasets.web.manage_corrections.A_PAGE", 3)
    correction = compared_correction(world)
    url = f"{MANAGE_URL}corrections/{correction.pk}/items/"
    curator = client_of(world.curator)
    first, second = (
        re.findall(r"<code dir=\"auto\">&quot;(a\d)", page_text(curator, f"{url}?page={n}")) for n in (1, 2)
    )
    assert (first, second) == (["a1", "a2", "a3"], ["a4"])
    assert "Page 2 of 2, 4 items" in page_text(curator, f"{url}?page=2")


def test_an_unconfirmable_correction_has_a_reason_and_no_button(world: World) -> None:
    correction = compared_correction(world, gold_lines().replace(b"claim 0", b"claim 7"))
    page = page_text(client_of(world.curator), f"{MANAGE_URL}corrections/{correction.pk}/")
    assert (
        "The correction cannot be confirmed. The split test is published, and this gold would change its inputs."
        in page
    )
    assert "Confirm gold version" not in page and "changed question" in page and "Drop the correction" in page


def test_gold_of_a_draft_is_replaced_immediately(world: World) -> None:
    type(world.split).objects.update(**DRAFT)
    form = {"file": SimpleUploadedFile("g.jsonl", gold_lines(CORRECTED)), "reason": "still at it"}
    assert client_of(world.curator).post(f"{MANAGE_URL}gold/", form)["Location"] == f"{MANAGE_URL}gold/"
    assert GoldVersion.objects.count() == 2 and not Correction.objects.exists()
    lifecycle.publish_unaudited(split=type(world.split).objects.get(), by=world.curator)
    assert "Preview changes" in page_text(client_of(world.curator), f"{MANAGE_URL}gold/")


def test_an_organiser_reads_gold_by_a_correction_and_the_audit_trail_says_how_much(world: World) -> None:
    """Organisers are trusted with their benchmark's gold, and the page that makes one says so."""
    organiser = User.objects.create_user("olga", "olga@holdout.example")
    world.benchmark.organisers.add(organiser)
    client, correction = client_of(organiser), compared_correction(world)
    split = "/manage/benchmarks/tiny/splits/test"
    assert client.get(f"{split}/gold/1/").status_code == 404  # a whole version is for curators
    page_text(client, f"{split}/corrections/{correction.pk}/items/")
    entry = AuditEntry.objects.get(action="gold.read")
    assert (entry.actor, entry.subject) == (organiser, f"goldversion:{correction.base_id}")
    assert (entry.detail["items"], entry.detail["correction"]) == (4, correction.pk)
    assert "They can read its hidden gold" in page_text(client, "/manage/benchmarks/tiny/organisers/")
