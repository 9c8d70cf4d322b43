"""An archive contains who did what, including people who only read gold; no local account takes their place."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from leaderboard.archives.actions import encryption, imports
from leaderboard.models import AuditEntry, Benchmark, Membership, State, Team, User
from tests.leaderboard.archives.test_archive_pages import as_, forged, imported, written
from tests.leaderboard.archives.test_archives import wipe
from tests.support.api_calls import person
from tests.support.rows.gold_uploads import close_all, uploaded
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
KEYS = encryption.generate_key()


@pytest.fixture
def archive() -> bytes:
    """Archive of a benchmark whose gold was read by a curator who did nothing else."""
    world = build()
    world.insert_run(state=State.CANCELLED, finished_at=timezone.now())
    Benchmark.objects.update(baselines_team=Team.objects.create(name="Baselines of tiny"))
    cora = person("cora", is_curator=True)
    assert as_(cora).get(f"/manage/benchmarks/tiny/splits/{world.split.name}/gold/1/").status_code == 200
    assert AuditEntry.objects.filter(actor=cora, action="gold.read").count() == 1
    content = _bytes_of(world)
    wipe()
    return content


def _bytes_of(world: World) -> bytes:
    with written(world, KEYS[1]).file.open() as file:
        content = bytes(file.read())
    close_all()
    return content


def import_content(content: bytes, by: User) -> str:
    row = imported(imports.receive(file=uploaded(content, "tiny.zip"), by=by), KEYS[0], by)
    close_all()
    return "; ".join(row.problems)


def edited(content: bytes, table: str, change: str) -> bytes:
    """The archive without cora among its people ("forget"), or with a team member who is not among its people."""

    def lines(name: str, body: bytes) -> bytes:
        if name != f"tables/{table}.jsonl":
            return body
        rows = [json.loads(line) for line in body.splitlines()]
        if change == "forget":
            rows = [row for row in rows if row["fields"]["username"] != "cora"]
        else:
            rows[0]["fields"]["user"] = 9
        return b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    return forged(content, KEYS[0], lines)


def with_other_accounts() -> User:
    """A site where every key of the archive's people belongs to another account, with its curator."""
    for number in range(10):
        person(f"other-{number}")
    return person("here", is_curator=True)


def test_people_who_only_read_gold_are_exported(archive: bytes) -> None:
    import_content(archive, by=person("here", is_curator=True))
    cora = AuditEntry.objects.get(action="gold.read").actor
    assert cora is not None and (cora.username, cora.is_curator) == ("cora", False)


def test_they_are_imported_next_to_other_accounts(archive: bytes) -> None:
    import_content(archive, by=with_other_accounts())
    cora = AuditEntry.objects.get(action="gold.read").actor
    assert cora is not None and cora.username == "cora"
    assert str(Benchmark.objects.get().baselines_team) == "Baselines of tiny"
    assert not AuditEntry.objects.filter(actor__username__startswith="other-").exists()


def test_an_archive_without_the_actor_of_an_entry_is_refused(archive: bytes) -> None:
    problem = import_content(edited(archive, "user", "forget"), by=with_other_accounts())
    assert "tables/auditentry.jsonl" in problem and "the archive's table user has no such row" in problem
    assert not Benchmark.objects.exists() and not AuditEntry.objects.filter(action="gold.read").exists()


def test_no_local_account_gets_into_a_team_of_an_archive(archive: bytes) -> None:
    curator = with_other_accounts()
    assert User.objects.filter(pk=9).exists()
    problem = import_content(edited(archive, "membership", "stranger"), by=curator)
    assert problem == "tables/membership.jsonl, line 1: user is 9, but the archive's table user has no such row"
    assert not Membership.objects.exists() and not Benchmark.objects.exists()
