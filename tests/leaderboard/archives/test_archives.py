"""A whole benchmark out and in again: the boards say the same bytes, nothing is lost, gold leaves only encrypted."""

from __future__ import annotations

import hashlib
import json
import shutil
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import msgspec
import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.archives.actions import encryption, manifest_of, tables, writing
from leaderboard.benchmarks import manifest
from leaderboard.boards.actions import tracks
from leaderboard.hosting import host
from leaderboard.models import (
    Announcement,
    AuditEntry,
    Benchmark,
    Dataset,
    Extension,
    GoldVersion,
    Leaderboard,
    Membership,
    Run,
    Score,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.scoring.verification.rebuild_board import differences
from leaderboard.submissions.actions import submit
from leaderboard.submissions.actions.hide import hide
from leaderboard.systems.actions import systems
from tests.conftest import ROOT
from tests.support import generator_previews
from tests.support.api_calls import person
from tests.support.many_groups import a_phase, a_split, answers, correct, gold_of, labels_of, score_all, send
from tests.support.tiny_world import World, build, prediction_lines, uploaded
from tests.support.track_phases import TRACKS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(40)
CANARY = "tungsten-canary"
STORES = ("gold", "inputs", "predictions", "outcomes")


def hidden(labels: dict[str, str]) -> bytes:
    """Gold whose groups, which nobody is told, have names to look for."""
    return gold_of(labels).replace(b'"group": "g', f'"group": "{CANARY}-'.encode())


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key.txt"
    if not path.exists():
        call_command("archive_key", path, stdout=StringIO())
    return path


def populate() -> World:
    """Teams, ties, a ladder, a corrected gold, choices of teams and organisers, in three phases."""
    world = build()
    world.benchmark.state = Benchmark.State.PUBLIC
    world.benchmark.save()
    world.benchmark.organisers.add(person("olive"))
    split = a_split(world, LABELS)
    correct(split, world, hidden(LABELS))
    full = a_phase(world, split, disclosure="full")
    ladder = a_phase(world, split, slug="ladder", disclosure="ladder", scope="task")
    grace = person("grace")
    other = teams.system(team=teams.create(name="Compilers", by=grace), name="A-0", by=grace)
    for phase in (full, ladder):
        for wrong in (20, 8, 8):
            send(world, phase, answers(LABELS, wrong))
            world.submit(answers(LABELS, wrong - 3), phase=phase, system=other, by=grace)
    tracks.change(phase=world.phase, new_tracks=TRACKS, by=world.curator)
    world.submit(track="thorough")
    score_all()
    correct(split, world, hidden(answers(LABELS, 4)))
    score_all()
    # Frozen boards stay as they were: what is chosen from here on concerns the others.
    systems.represent(submission=Submission.objects.filter(phase=full, system=other).earliest("received_at"), by=grace)
    systems.disqualify(phase=full, system=world.system, reason="it was trained on the test", by=world.curator)
    hide(
        submission=Submission.objects.filter(phase=ladder, system=other).latest("received_at"),
        reason="it quotes the gold",
        by=world.curator,
    )
    at = timezone.now()
    Announcement.objects.create(benchmark=world.benchmark, title="Gold mended", created_by=world.curator, created_at=at)
    late = teams.create(name="Late", by=person("late"))
    more = {"before": at, "closes_at": at + timedelta(days=1), "created_by": world.curator, "created_at": at}
    Extension.objects.create(phase=full, team=late, reason="a fire", **more)
    generator_previews.done(world).parts.update(split=world.split)
    return world


@pytest.fixture
def world() -> World:
    return populate()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an archive that several tests read."""
    return tmp_path_factory.mktemp("written")


@pytest.fixture
def archive(written: Path, tmp_path: Path, transactional_db: None, sandbox: str) -> Path:
    """A copy of the world's archive, with the key beside it; nothing else is left of that world."""
    if not (written / "tiny.zip").exists():
        populate()
        call_command("archive_key", written / "key.txt", stdout=StringIO())
        export(written / "made.zip", written / "key.txt").rename(written / "tiny.zip")
    wipe()
    shutil.copy(written / "key.txt", tmp_path / "key.txt")
    return Path(shutil.copy(written / "tiny.zip", tmp_path / "tiny.zip"))


def export(to: Path, key: Path | None = None) -> Path:
    more = ["--to", key.read_text().splitlines()[0].removeprefix("# public key: ")] if key else []
    call_command("export_benchmark", Benchmark.objects.get().slug, to, *more, stdout=StringIO())
    return to


def wipe() -> None:
    """Every row and every file."""
    call_command("flush", interactive=False, verbosity=0)
    for name in STORES:
        shutil.rmtree(settings.DATA / name, ignore_errors=True)


def take_in(archive: Path, key: Path, said: StringIO | None = None) -> None:
    call_command("import_archive", archive, "--key", key, stdout=said or StringIO())


def shown() -> dict[str, bytes]:
    """Every board and table of the benchmark as the public gets it."""
    client, found = Client(), {}
    for phase in Benchmark.objects.get(slug="tiny").phases.all():
        base = f"/api/v1/benchmarks/tiny/phases/{phase.slug}/leaderboard"
        for address in (f"{base}/", f"{base}.csv", f"{base}.tex", f"{base}.md"):
            answer = client.get(address)
            if answer.status_code == 200:
                found[address] = answer.content if not answer.streaming else b"".join(answer.streaming_content)
    return found


def test_every_model_is_in_an_archive_or_left_out_for_a_reason() -> None:
    known = {*tables.TABLES, *tables.LEFT_OUT, User, AuditEntry}
    missing = [model.__name__ for model in apps.get_app_config("leaderboard").get_models() if model not in known]
    assert missing == [], "say in archives/tables.py whose rows these are, or why they stay behind"


def test_export_wipe_import_gives_the_same_boards(world: World, key: Path, tmp_path: Path) -> None:
    archive = export(tmp_path / "tiny.zip", key)
    before, boards = shown(), dict(writing.boards_of(world.benchmark))
    counted = {model: model._base_manager.count() for model in tables.TABLES}
    moments = list(Submission.objects.order_by("pk").values_list("pk", "received_at", "track"))
    scores = numbers()
    assert len(before) >= 6 and len(boards) == 5, "two current boards, two frozen ones, and the tiny one"
    wipe()
    take_in(archive, key)
    assert shown() == before
    assert dict(writing.boards_of(Benchmark.objects.get())) == boards
    assert {model: model._base_manager.count() for model in tables.TABLES} == counted
    assert list(Submission.objects.order_by("pk").values_list("pk", "received_at", "track")) == moments
    assert numbers() == scores
    assert checked() == {}


def checked() -> dict[str, list[str]]:
    """The boards whose rows are not what their runs make of them."""
    return {str(board): found for board in Leaderboard.objects.all() if (found := differences(board))}


def numbers() -> list[tuple[Any, ...]]:
    """Every score, to the last digit."""
    return list(Score.objects.order_by("run", "measure", "slice_key").values_list("value", "low", "high", "n"))


def test_what_came_in_goes_on(archive: Path, key: Path) -> None:
    """New submissions are scored, and the gold that came along scores the old ones as before."""
    take_in(archive, key)
    ada, system = User.objects.get(username="ada"), System.objects.get(name="Bernoulli")
    phase = Benchmark.objects.get().phases.get(slug="test")
    file = uploaded(prediction_lines())
    made = submit.submit(phase=phase, system=system, file=file, by=ada, track="thorough")
    score_all()
    assert Run.objects.get(prediction__submission=made).state == "done"
    fresh = Dataset.objects.create(slug="other", title="Other", task="fact-verification")
    assert fresh.pk > Dataset.objects.get(slug="tiny").pk


def test_beside_other_rows_keys_are_given_anew(world: World, key: Path, tmp_path: Path) -> None:
    archive = export(tmp_path / "tiny.zip", key)
    boards, today = dict(writing.boards_of(world.benchmark)), as_of_today()
    wipe()
    other = build()
    other.submit()
    score_all()
    Benchmark.objects.update(slug="other")
    Dataset.objects.update(slug="other")
    Team.objects.update(name="Others")
    User.objects.filter(username="ada").update(username="bob", email="bob@holdout.example")
    mine = shown_of("other")
    take_in(archive, key)
    assert dict(writing.boards_of(Benchmark.objects.get(slug="tiny"))) == boards
    assert shown_of("other") == mine
    assert as_of_today() == today and any(row[-1] for row in today)
    assert {one.system.team.name for one in Submission.objects.filter(phase__benchmark__slug="other")} == {"Others"}
    assert checked() == {}
    acts = AuditEntry.objects.filter(action="submission.accepted").values_list("subject", flat=True)
    assert set(acts) == {f"submission:{pk}" for pk in Submission.objects.values_list("pk", flat=True)}


def as_of_today() -> list[tuple[Any, ...]]:
    """Each phase's rows as they are made from releases and the audit trail."""
    day = timezone.now().date().isoformat()
    return [
        (phase.slug, row["system"], row["rank"], row["disqualified"])
        for phase in Benchmark.objects.get(slug="tiny").phases.all()
        for row in Client().get(board_address(phase.slug), {"as_of": day}).json()["rows"]
    ]


def board_address(phase: str) -> str:
    return f"/api/v1/benchmarks/tiny/phases/{phase}/leaderboard/"


def shown_of(slug: str) -> bytes:
    return Client().get(f"/api/v1/benchmarks/{slug}/phases/test/leaderboard/").content


def test_gold_is_not_to_be_read_without_the_key(world: World, key: Path, tmp_path: Path) -> None:
    for archive in (export(tmp_path / "closed.zip", key), export(tmp_path / "open.zip")):
        with ZipFile(archive) as opened:
            members = {name: opened.read(name) for name in opened.namelist()}
        assert not any(CANARY.encode() in content for content in members.values())
        gold = {stored.file.read() for stored in GoldVersion.objects.all()}
        assert not gold & set(members.values())
        assert not any(name.startswith("gold/") for name in members)
        hidden = [b"ada@holdout.example", b'Compilers","fields', b"outcomes"]
        assert not any(one in content for one in hidden for content in members.values())
    assert json.loads(members["archive.json"])["closed"] is None
    assert AuditEntry.objects.filter(action="benchmark.exported").count() == 2


def test_without_the_closed_part_nothing_is_taken_in(world: World, key: Path, tmp_path: Path) -> None:
    archive = export(tmp_path / "open.zip")
    with pytest.raises(CommandError, match="exported without a key"):
        take_in(archive, key)


def altered(archive: Path, at: float) -> None:
    with archive.open("r+b") as file:
        file.seek(int(archive.stat().st_size * at))
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ 1]))


@pytest.mark.parametrize("fault", ["another key", "altered", "cut off", "no archive", "another layout"])
def test_a_bad_archive_changes_nothing(archive: Path, key: Path, tmp_path: Path, fault: str) -> None:
    if fault == "another key":
        key = tmp_path / "other.txt"
        key.write_text(encryption.generate_key()[0])
    elif fault == "altered":
        altered(archive, 0.5)
    elif fault == "cut off":
        archive.write_bytes(archive.read_bytes()[:-2000])
    elif fault == "no archive":
        archive.write_bytes(b"no archive at all")
    else:
        rewritten(archive, lambda head: head | {"layout": "0001_initial"})
    with pytest.raises(CommandError) as error:
        take_in(archive, key)
    assert "AGE-SECRET" not in str(error.value) and str(error.value).endswith("nothing was changed")
    assert nothing_is_here()


def rewritten(archive: Path, change: Any, others: dict[str, bytes] | None = None) -> None:
    with ZipFile(archive) as old:
        members = {name: old.read(name) for name in old.namelist()} | (others or {})
    members["archive.json"] = json.dumps(change(json.loads(members["archive.json"]))).encode()
    with ZipFile(archive, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)


def nothing_is_here() -> bool:
    """No row, and no file."""
    stored = [path for name in STORES for path in (settings.DATA / name).rglob("*") if path.is_file()]
    return not Benchmark.objects.exists() and not User.objects.exists() and not stored


def test_a_board_that_would_be_another_one_is_not_taken_in(archive: Path, key: Path) -> None:
    another = b'{"rows": []}'
    digest = hashlib.sha256(another).hexdigest()
    board = members(archive, "boards/")[0]
    rewritten(archive, lambda head: head | {"readable": head["readable"] | {board: digest}}, {board: another})
    with pytest.raises(CommandError, match="would differ from the archived board"):
        take_in(archive, key)
    assert nothing_is_here()


def members(archive: Path, folder: str) -> list[str]:
    with ZipFile(archive) as opened:
        return [name for name in opened.namelist() if name.startswith(folder)]


@pytest.mark.parametrize("kind", ["boards/", "inputs/", "benchmark.json", "byte", "missing", "added"])
def test_a_spoiled_open_part_is_noticed_before_anything_is_kept(archive: Path, key: Path, kind: str) -> None:
    if kind == "byte":
        inputs = members(archive, "inputs/")[0]
        with ZipFile(archive) as opened:
            info = opened.getinfo(inputs)
        altered(archive, (info.header_offset + 60 + info.compress_size / 2) / archive.stat().st_size)
        said = f"{inputs} was altered after the export"
    elif kind == "missing":
        rewritten(archive, lambda head: head | {"readable": head["readable"] | {"inputs/other.jsonl": "0" * 64}})
        said = "inputs/other.jsonl is not in the archive"
    elif kind == "added":
        rewritten(archive, lambda head: head, {"inputs/other.jsonl": b"{}"})
        said = "inputs/other.jsonl is in the archive, but the export did not write it"
    else:
        name = members(archive, kind)[0]
        with ZipFile(archive) as opened:
            content = opened.read(name)
        rewritten(archive, lambda head: head, {name: content[:-2] + b" " + content[-1:]})
        said = f"{name} was altered after the export"
    with pytest.raises(CommandError) as refused:
        take_in(archive, key)
    assert said in str(refused.value) and str(refused.value).endswith("nothing was changed")
    assert nothing_is_here()


@pytest.mark.parametrize("taken", ["benchmark", "team", "person"])
def test_what_stands_in_the_way_is_named(archive: Path, key: Path, taken: str) -> None:
    if taken == "benchmark":
        take_in(archive, key)
    else:
        address = "m@holdout.example" if taken == "team" else "Grace@holdout.example"
        mallory = User.objects.create_user("mallory", address, "x")
        if taken == "team":
            teams.create(name="compilers", by=mallory)
    before = {model: model._base_manager.count() for model in (*tables.TABLES, User)}
    words = {"benchmark": "the dataset tiny", "team": "the team Compilers", "person": "the account grace"}[taken]
    with pytest.raises(CommandError, match=words):
        take_in(archive, key)
    assert {model: model._base_manager.count() for model in (*tables.TABLES, User)} == before


def test_people_whose_name_somebody_else_has_get_a_free_one(archive: Path, key: Path) -> None:
    mallory = User.objects.create_user("grace", "m@holdout.example", "x")
    User.objects.create_user("Grace-2", "n@holdout.example", "x")
    take_in(archive, key, said := StringIO())
    assert "the account grace was renamed to grace-3" in said.getvalue()
    grace = User.objects.get(email="grace@holdout.example")
    assert grace.username == "grace-3" and not grace.has_usable_password()
    assert list(Team.objects.get(name="Compilers").members.all()) == [grace]
    mallory.refresh_from_db()
    assert mallory.username == "grace" and not mallory.teams.exists()
    # Another archive of hers finds her under that name.
    drop_benchmark()
    take_in(archive, key, said := StringIO())
    assert "grace" not in said.getvalue()
    assert User.objects.filter(username__istartswith="grace").count() == 3


def test_rights_and_passwords_stay_behind(world: World, key: Path, tmp_path: Path) -> None:
    User.objects.filter(username="curator").update(is_staff=True, is_superuser=True)
    archive = export(tmp_path / "tiny.zip", key)
    wipe()
    take_in(archive, key)
    curator = User.objects.get(username="curator")
    assert not (curator.is_curator or curator.is_staff or curator.is_superuser or curator.has_usable_password())
    assert [one.username for one in Benchmark.objects.get().organisers.all()] == ["olive"]


def test_who_left_a_team_does_not_come_back(world: World, key: Path, tmp_path: Path) -> None:
    archive = export(tmp_path / "tiny.zip", key)
    unused = Team.objects.get(name="Compilers")
    people = list(User.objects.all())
    drop_benchmark()
    Membership.objects.filter(team=unused).delete()
    take_in(archive, key)
    assert Team.objects.get(name="Compilers") == unused and not Membership.objects.filter(team=unused).exists()
    assert list(User.objects.all()) == people


def drop_benchmark() -> None:
    """What belongs to the benchmark goes; people and teams stay."""
    stay = (Team, Membership, System)
    with transaction.atomic():
        Benchmark.objects.get().organisers.clear()
        for model in reversed(tables.TABLES):
            if model not in stay:
                model._base_manager.all().delete()


@pytest.mark.parametrize("name", ["mirror-claims", "graph-claims"])
def test_the_manifest_hosts_the_same_benchmark(tmp_path: Path, name: str) -> None:
    """What an archive says in its readable part is what the benchmark was hosted from."""
    folder = ROOT / "fixtures" / name
    given = manifest.read(folder / "benchmark.json")
    curator = User.objects.create_user("curator", "curator@holdout.example", "x", is_curator=True)
    hosted = host.host(manifest=given, folder=folder, by=curator)
    written = manifest_of.manifest_of(hosted.benchmark)
    for part in ("slug", "title", "task", "summary", "licence", "citation", "source", "source_url", "reported"):
        assert getattr(written, part) == getattr(given, part), part
    assert (written.description, written.rules) == (manifest.text(given.description), manifest.text(given.rules))
    files = ("gold", "inputs", "file")
    for mine, theirs in ((written.splits, given.splits), (written.downloads, given.downloads)):
        assert [without(one, files) for one in mine] == [without(one, files) for one in theirs]
    assert [without(one, ("shows_logs",)) for one in written.phases] == [
        without(one, ("shows_logs",)) for one in given.phases
    ]
    archive = export(tmp_path / "it.zip")
    with ZipFile(archive) as opened:
        opened.extractall(tmp_path / "out")
    assert manifest.read(tmp_path / "out" / "benchmark.json") == written
    public = [split for split in written.splits if split.gold_public]
    for split in public:
        assert (tmp_path / "out" / split.gold).read_bytes() == (
            folder / next(one.gold for one in given.splits if one.name == split.name)
        ).read_bytes()


def without(part: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(part).items() if name not in names}
