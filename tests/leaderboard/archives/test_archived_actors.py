"""Who did what goes along in an archive: somebody who merely looked at gold, too, and never a stranger in his place."""

from __future__ import annotations

import json

import pytest
from django.utils import timezone

from leaderboard.archives.actions import encryption, imports
from leaderboard.core.refusal import Code
from leaderboard.models import AuditEntry, Benchmark, Membership, State, Team, User
from tests.leaderboard.archives.test_archives import wipe
from tests.leaderboard.archives.test_archives_at_the_desk import as_, forged, written
from tests.support.api_calls import person
from tests.support.gold_uploads import close_all, refusal, uploaded
from tests.support.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
KEYS = encryption.generate_key()


@pytest.fixture
def archive() -> bytes:
    """Of a benchmark whose gold a curator has read who did nothing else."""
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


def take(content: bytes, by: User) -> None:
    imports.import_upload(archive_import=imports.receive(file=uploaded(content, "tiny.zip"), by=by), key=KEYS[0], by=by)
    close_all()


def edited(content: bytes, table: str, change: str) -> bytes:
    """The archive without cora among its people ("forget"), or with a member of a team whom it does not have."""

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


def several() -> User:
    """A site with other accounts, under every key that the archive's people had, and its curator."""
    for number in range(10):
        person(f"other-{number}")
    return person("here", is_curator=True)


def test_who_only_looked_comes_along(archive: bytes) -> None:
    take(archive, by=person("here", is_curator=True))
    cora = AuditEntry.objects.get(action="gold.read").actor
    assert cora is not None and (cora.username, cora.is_curator) == ("cora", False)


def test_beside_other_accounts_too(archive: bytes) -> None:
    take(archive, by=several())
    cora = AuditEntry.objects.get(action="gold.read").actor
    assert cora is not None and cora.username == "cora"
    assert str(Benchmark.objects.get().baselines_team) == "Baselines of tiny"
    assert not AuditEntry.objects.filter(actor__username__startswith="other-").exists()


@pytest.mark.parametrize("others", [False, True])
def test_an_archive_that_was_written_without_them_tells_nobody(archive: bytes, others: bool) -> None:
    take(edited(archive, "user", "forget"), by=several() if others else person("here", is_curator=True))
    assert AuditEntry.objects.get(action="gold.read").actor is None
    assert Benchmark.objects.get().slug == "tiny" and not User.objects.filter(username="cora").exists()


def test_nobody_of_this_site_gets_into_a_team_of_an_archive(archive: bytes) -> None:
    curator = several()
    assert User.objects.filter(pk=9).exists()
    refused = refusal(take, content=edited(archive, "membership", "stranger"), by=curator)
    assert refused.code is Code.INVALID_NAME and "Nothing was changed" in refused.message
    assert not Membership.objects.exists() and not Benchmark.objects.exists()
