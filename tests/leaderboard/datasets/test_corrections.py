"""Corrected gold in two steps: kept and laid beside the version in force, then confirmed with a reason or dropped."""

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
from tests.support.corrected_gold import AFTER, BEFORE, CORRECTED, score_all, shown, states, two_systems
from tests.support.tiny_world import DRAFT, World, build, gold_lines, uploaded

pytestmark = pytest.mark.django_db(transaction=True)
DESK = "/manage/benchmarks/tiny/splits/test/"
OTHER_BYTES = gold_lines().replace(b"\n", b"\r\n")
WHY = "labels of <b>batch 3</b> were swapped"


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


def laid(world: World, content: bytes | None = None) -> Correction:
    found = propose(world, content)
    gold_diffs.WORK.run(found.pk)
    found.refresh_from_db()
    assert found.state == State.DONE
    return found


def confirm(world: World, found: Correction, **more: Any) -> GoldVersion:
    return corrections.confirm(correction=found, by=world.curator, **{"reason": WHY, "publishes_count": False, **more})


def gold_files() -> set[str]:
    return {str(path.relative_to(settings.DATA)) for path in (Path(settings.DATA) / "files" / "gold").rglob("*.jsonl*")}


def words(client: Client, where: str, status: int = 200) -> str:
    response = client.get(where)
    assert response.status_code == status
    return re.sub(r"\s+", " ", response.content.decode())


# --- the action


def test_nothing_counts_before_it_is_confirmed(world: World) -> None:
    found = laid(world)
    assert list(world.split.gold_versions.values_list("number", flat=True)) == [1]
    assert found.counts["n_changed"] == 4 and found.counts["by_kind"]["answer"] == 4
    told = {row.item: row.changes for row in found.items.all()}
    assert told['"a1"'] == [{"kind": "answer", "field": "label", "before": "SUPPORTS", "after": "REFUTES"}]
    gold = confirm(world, found)
    assert (gold.number, gold.reason, gold.sha256) == (2, WHY, found.sha256)
    found.refresh_from_db()
    assert (found.decision, found.gold, str(found.file)) == ("confirmed", gold, "")
    assert found.items.count() == 4, "what it changed stays to be read"


def test_a_confirmed_correction_is_scored_again(sandbox: str, transactional_db: None) -> None:
    world = two_systems()
    found = laid(world)
    assert shown(world) == BEFORE and states(world) == [(1, 1, "current")]
    confirm(world, found)
    assert states(world) == [(1, 1, "current"), (2, 1, "preparing")]
    score_all()
    assert shown(world) == AFTER


def test_other_items_are_shown_and_cannot_be_confirmed(world: World) -> None:
    lines = gold_lines().splitlines(keepends=True)
    found = laid(world, b"".join([*lines[:3], lines[3].replace(b'"a4"', b'"b4"')]))
    assert {name: n for name, n in found.counts["by_kind"].items() if n} == {"added": 1, "removed": 1}
    with pytest.raises(Refused) as refused:
        confirm(world, found)
    assert refused.value.code is Code.INPUTS_CHANGED and "would change its inputs" in refused.value.message
    assert GoldVersion.objects.count() == 1


@pytest.mark.parametrize("reason", ["", "  ", "x" * 1001])
def test_a_reason_is_needed(world: World, reason: str) -> None:
    with pytest.raises(Refused) as refused:
        confirm(world, laid(world), reason=reason)
    assert refused.value.code is Code.INVALID_NAME and GoldVersion.objects.count() == 1


def test_what_was_not_laid_beside_yet_cannot_be_confirmed(world: World) -> None:
    with pytest.raises(Refused, match="is not complete yet"):
        confirm(world, propose(world))


def test_gold_that_was_corrected_meanwhile_needs_another_look(world: World) -> None:
    found = laid(world)
    file = uploaded(OTHER_BYTES)
    splits.add_gold(split=world.split, file=file, reason="another", by=world.curator)
    file.close()
    with pytest.raises(Refused, match="corrected after"):
        confirm(world, found)
    assert world.split.current_gold is not None and world.split.current_gold.number == 2


def test_confirmed_once(world: World) -> None:
    found = laid(world)
    stale = Correction.objects.get(pk=found.pk)
    confirm(world, found)
    for again in (stale, Correction.objects.get(pk=found.pk)):
        with pytest.raises(Refused):
            confirm(world, again)
    assert GoldVersion.objects.count() == 2


def test_a_later_upload_takes_the_place_of_one_that_waits(world: World) -> None:
    first = laid(world)
    before = gold_files()
    second = propose(world, OTHER_BYTES)
    first.refresh_from_db()
    assert (first.decision, second.decision) == ("dropped", "pending")
    assert len(gold_files()) == len(before) and not first.items.exists()


def test_dropped_it_leaves_no_file_and_no_item(world: World) -> None:
    before = gold_files()
    found = laid(world)
    assert len(gold_files()) == len(before) + 1
    corrections.drop(correction=found, by=world.curator)
    assert gold_files() == before and not ChangedItem.objects.exists()
    with pytest.raises(Refused, match="can no longer be dropped"):
        corrections.drop(correction=found, by=world.curator)
    assert AuditEntry.objects.filter(action="correction.dropped", actor=world.curator).count() == 1


def test_what_nobody_confirms_goes_by_itself(world: World) -> None:
    before = gold_files()
    found = laid(world)
    assert corrections.sweep() == 0
    Correction.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert corrections.sweep() == 1
    found.refresh_from_db()
    assert found.decision == "expired" and gold_files() == before and not found.items.exists()
    with pytest.raises(Refused, match="can no longer be confirmed"):
        confirm(world, found)


def test_a_worker_that_comes_late_to_a_dropped_one_writes_nothing(world: World, monkeypatch: Any) -> None:
    found = propose(world)
    ask = gold_diffs.sandbox_client.gold_difference

    def slow(**asked: Any) -> Any:
        answer = ask(**asked)
        corrections.drop(correction=found, by=world.curator)
        return answer

    monkeypatch.setattr(gold_diffs.sandbox_client, "gold_difference", slow)
    gold_diffs.WORK.run(found.pk)
    found.refresh_from_db()
    assert (found.state, found.decision, found.counts) == (State.CANCELLED, "dropped", {})
    assert not ChangedItem.objects.exists()


def test_a_worker_that_dies_in_the_middle_is_followed_by_another(world: World) -> None:
    found = propose(world)
    at = timezone.now()
    Correction.objects.update(state=State.RUNNING, attempt=1, lease_until=at - timedelta(seconds=1))
    assert gold_diffs.WORK.sweep() == 1
    gold_diffs.WORK.run(found.pk)
    found.refresh_from_db()
    assert (found.state, found.attempt, found.items.count()) == (State.DONE, 2, 4)


def test_a_report_of_another_shape_is_refused(world: World, monkeypatch: Any) -> None:
    found = propose(world)
    ask = gold_diffs.sandbox_client.gold_difference

    def lying(**asked: Any) -> Any:
        answer = ask(**asked)
        answer.report["counts"]["n_changed"] += 1
        return answer

    monkeypatch.setattr(gold_diffs.sandbox_client, "gold_difference", lying)
    gold_diffs.WORK.run(found.pk)
    found.refresh_from_db()
    assert (found.state, found.reason) == (State.FAILED, "bad_report")


def test_packed_gold_and_halves_are_kept_through_a_correction(world: World) -> None:
    lines = [line.replace(b'"g1"', b'"g%d"' % place) for place, line in enumerate(gold_lines().splitlines(True))]
    first = uploaded(b"".join(lines).replace(b'"origin"', b'"part"'))
    splits.add_gold(split=world.split, file=first, reason="groups", by=world.curator)
    first.close()
    partition_gold.divide(split=world.split, share=Decimal("0.5"), seed=1, by=world.curator)
    corrected = b"".join(lines).replace(b'"origin"', b'"part"').replace(b"REFUTES", b"SUPPORTS", 1)
    file = uploaded(gzip.compress(corrected, mtime=0), "fixed.jsonl.gz")
    found = corrections.propose(split=world.split, file=file, by=world.curator)
    file.close()
    gold_diffs.WORK.run(found.pk)
    found.refresh_from_db()
    gold = confirm(world, found)
    assert (gold.number, found.counts["n_changed"]) == (3, 1)
    before, after = PublicPrivatePartition.objects.order_by("gold__number")
    assert after.gold == gold and before.file.read() == after.file.read()


# --- the pages


def post_gold(client: Client, content: bytes) -> Any:
    return client.post(f"{DESK}gold/", {"file": SimpleUploadedFile("fixed.jsonl", content)})


def test_from_the_upload_to_the_next_version(world: World) -> None:
    curator = client_of(world.curator)
    where = post_gold(curator, gold_lines(CORRECTED))["Location"]
    found = Correction.objects.get()
    assert where == f"{DESK}corrections/{found.pk}/"
    page = words(curator, where)
    assert "Waiting for a worker to compare it with gold version 1" in page and "Refresh" in page
    assert "Confirm gold version" not in page and "A correction waits for confirmation" in words(
        curator, f"{DESK}gold/"
    )
    gold_diffs.WORK.run(found.pk)
    assert curator.get(f"{where}state/")["HX-Refresh"] == "true"
    page = words(curator, where)
    assert '<strong class="num">4</strong> of 4 items' in page and 'changed answer</a></th><td class="num">4' in page
    assert "SUPPORTS" not in page, "numbers tell no answer"
    missing = curator.post(f"{where}confirm/", {})
    assert missing.status_code == 422 and GoldVersion.objects.count() == 1
    answer = curator.post(f"{where}confirm/", {"reason": WHY, "publishes_count": "on"})
    assert answer.status_code == 302
    gold = GoldVersion.objects.get(number=2)
    assert gold.reason == WHY and gold.correction.publishes_count
    page = words(curator, f"{DESK}gold/")
    assert "labels of &lt;b&gt;batch 3&lt;/b&gt; were swapped" in page and ">Changes</a>" in page
    assert "as <a" in words(curator, where)
    assert post_gold(curator, gold_lines(CORRECTED)).status_code == 409


def test_all_that_is_scored_again_is_said_before_it_is_confirmed(world: World) -> None:
    """Also in other benchmarks on the split, without the names of those that the reader may not see."""
    organiser = User.objects.create_user("olga", "olga@holdout.example", "correct horse")
    world.benchmark.organisers.add(organiser)
    others = {}
    for slug, state in (("seen", "public"), ("hidden", "draft")):
        told = {"slug": slug, "title": f"The {slug} one", "task": world.benchmark.task, "state": state}
        benchmark = Benchmark.objects.create(dataset=world.split.dataset, **told)
        fields = {"title": "Theirs", "quota_per_day": 5, "quota_total": 50}
        others[slug] = Phase.objects.create(benchmark=benchmark, slug="test", split=world.split, **fields)
    for phase in (world.phase, *others.values(), others["hidden"]):
        replace(world, phase=phase).insert_run()
    page = f"{DESK}corrections/{laid(world).pk}/"
    ours = "<bdi>Test</bdi> (1 prediction)"
    theirs = "<bdi>Theirs</bdi> of <bdi>The seen one</bdi> (1 prediction)"
    assert f"Rescored: {ours}, {theirs}, other benchmarks (2 predictions)." in words(client_of(organiser), page)
    assert f"Rescored: {ours}, <bdi>Theirs</bdi> of <bdi>The hidden one</bdi> (2 predictions), {theirs}." in words(
        client_of(world.curator), page
    )


def test_the_trail_has_words_for_what_changed(world: World) -> None:
    confirm(world, laid(world))
    trail = words(client_of(world.curator), "/manage/benchmarks/tiny/audit-trail/")
    assert '<span class="soft">by kind</span> <bdi>4 changed answer</bdi>' in trail


def test_each_look_at_the_items_is_recorded(world: World) -> None:
    found = laid(world, gold_lines(CORRECTED).replace(b'"generated"', b'"generated", "batch": 3', 1))
    world.benchmark.organisers.add(world.researcher)
    page = words(client_of(world.researcher), f"{DESK}corrections/{found.pk}/items/?kind=slices")
    assert page.count("<section") == 1 and "&quot;a2&quot;" in page and "SUPPORTS" in page
    assert "changed answer, changed slices" in page and ">batch<" in page
    (entry,) = AuditEntry.objects.filter(action="gold.read")
    assert entry.actor == world.researcher and entry.detail["correction"] == found.pk
    assert "viewed gold" in words(client_of(world.curator), "/manage/benchmarks/tiny/audit-trail/?only=gold")


def test_items_are_paged(world: World, monkeypatch: Any) -> None:
    monkeypatch.setattr("leaderboard.datasets.web.manage_corrections.A_PAGE", 3)
    found = laid(world)
    where = f"{DESK}corrections/{found.pk}/items/"
    curator = client_of(world.curator)
    first, second = (re.findall(r"<code dir=\"auto\">&quot;(a\d)", words(curator, f"{where}?page={n}")) for n in (1, 2))
    assert (first, second) == (["a1", "a2", "a3"], ["a4"])
    assert "Page 2 of 2, 4 items" in words(curator, f"{where}?page=2")


def test_what_cannot_be_confirmed_says_why_and_has_no_button(world: World) -> None:
    found = laid(world, gold_lines().replace(b"claim 0", b"claim 7"))
    page = words(client_of(world.curator), f"{DESK}corrections/{found.pk}/")
    assert (
        "The correction cannot be confirmed. The split test is published, and this gold would change its inputs."
        in page
    )
    assert "Confirm gold version" not in page and "changed question" in page and "Drop the correction" in page


def test_others_learn_nothing_of_it(world: World) -> None:
    found = laid(world)
    for act in ("", "state/", "items/"):
        assert client_of(world.researcher).get(f"{DESK}corrections/{found.pk}/{act}").status_code == 404
    for act in ("confirm/", "drop/"):
        assert client_of(world.researcher).post(f"{DESK}corrections/{found.pk}/{act}").status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world.curator)
    for act in ("confirm/", "drop/"):
        assert strict.post(f"{DESK}corrections/{found.pk}/{act}").status_code == 403
    found.refresh_from_db()
    assert found.is_pending and not AuditEntry.objects.filter(action="gold.read").exists()


def test_gold_of_a_draft_is_replaced_at_once(world: World) -> None:
    type(world.split).objects.update(**DRAFT)
    form = {"file": SimpleUploadedFile("g.jsonl", gold_lines(CORRECTED)), "reason": "still at it"}
    assert client_of(world.curator).post(f"{DESK}gold/", form)["Location"] == f"{DESK}gold/"
    assert GoldVersion.objects.count() == 2 and not Correction.objects.exists()
    lifecycle.publish_unaudited(split=type(world.split).objects.get(), by=world.curator)
    assert "Preview changes" in words(client_of(world.curator), f"{DESK}gold/")
