"""Export and import of a whole benchmark: boards stay byte-identical, nothing is lost, gold leaves only encrypted."""

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
    Phase,
    Run,
    Score,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.scoring.actions import board_histories
from leaderboard.scoring.verification.rebuild_board import differences
from leaderboard.submissions.actions import submit
from leaderboard.submissions.actions.hide import hide
from leaderboard.systems.actions import systems
from tests.conftest import ROOT
from tests.support.api_calls import person
from tests.support.rows import generator_previews
from tests.support.rows.many_groups import a_phase, a_split, answers, correct, gold_of, labels_of, score_all, send
from tests.support.rows.teasers import teaser_of
from tests.support.rows.tiny_world import World, build, prediction_lines, uploaded
from tests.support.rows.track_phases import TRACKS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(40)
CANARY = "tungsten-canary"
PICTURE = hashlib.sha256(b"\x89PNG").hexdigest()
STORES = ("gold", "inputs", "predictions", "outcomes")


def gold_with_canary(labels: dict[str, str]) -> bytes:
    """Gold whose hidden groups have names that can be searched for."""
    return gold_of(labels).replace(b'"group": "g', f'"group": "{CANARY}-'.encode())


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key.txt"
    if not path.exists():
        call_command("archive_key", path, stdout=StringIO())
    return path


def populate() -> World:
    """Teams, ties, a ladder, a corrected gold, and choices by teams and organisers, in three phases."""
    world = build()
    world.benchmark.state = Benchmark.State.PUBLIC
    world.benchmark.save()
    world.benchmark.organisers.add(person("olive"))
    split = a_split(world, LABELS)
    correct(split, world, gold_with_canary(LABELS))
    full = a_phase(world, split, disclosure="full")
    limits = {"wall_seconds": 9, "memory_bytes": 10**9}  # archives have them in another order
    Phase.objects.filter(pk=full.pk).update(limits=limits)
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
    correct(split, world, gold_with_canary(answers(LABELS, 4)))
    score_all()
    # Frozen boards stay as they were: the choices below concern the other boards.
    systems.represent(submission=Submission.objects.filter(phase=full, system=other).earliest("received_at"), by=grace)
    systems.disqualify(phase=full, system=world.system, reason="it was trained on the test", by=world.curator)
    hide(
        submission=Submission.objects.filter(phase=ladder, system=other).latest("received_at"),
        reason="it quotes the gold",
        by=world.curator,
    )
    at = timezone.now()
    Announcement.objects.create(benchmark=world.benchmark, title="Gold mended", created_by=world.curator, created_at=at)
    teaser_of(world.benchmark, sha256=PICTURE)
    late = teams.create(name="Late", by=person("late"))
    fields = {"before": at, "closes_at": at + timedelta(days=1), "created_by": world.curator, "created_at": at}
    Extension.objects.create(phase=full, team=late, reason="a fire", **fields)
    generator_previews.done(world).parts.update(split=world.split)
    return world


@pytest.fixture
def world() -> World:
    return populate()


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of an archive that several tests read."""
    return tmp_path_factory.mktemp("written")


@pytest.fixture
def archive(written: Path, tmp_path: Path, transactional_db: None, sandbox: str) -> Path:
    """A copy of the world's archive with its key; everything else of that world is deleted."""
    if not (written / "tiny.zip").exists():
        populate()
        call_command("archive_key", written / "key.txt", stdout=StringIO())
        export(written / "made.zip", written / "key.txt").rename(written / "tiny.zip")
        export(written / "open.zip")
    wipe()
    shutil.copy(written / "key.txt", tmp_path / "key.txt")
    return Path(shutil.copy(written / "tiny.zip", tmp_path / "tiny.zip"))


def export(to: Path, key: Path | None = None) -> Path:
    arguments = ["--to", key.read_text().splitlines()[0].removeprefix("# public key: ")] if key else []
    call_command("export_benchmark", Benchmark.objects.get().slug, to, *arguments, stdout=StringIO())
    return to


def wipe() -> None:
    """Deletes every row and every file."""
    call_command("flush", interactive=False, verbosity=0)
    for name in STORES:
        shutil.rmtree(settings.DATA / name, ignore_errors=True)


def import_archive(archive: Path, key: Path, output: StringIO | None = None) -> None:
    call_command("import_archive", archive, "--key", key, stdout=output or StringIO())


def public_responses() -> dict[str, bytes]:
    """Every public board and table of the benchmark, and its picture."""
    client, responses = Client(), {}
    picture = f"/benchmarks/tiny/picture/{PICTURE}"
    responses[picture] = b"".join(client.get(picture).streaming_content)  # type: ignore[attr-defined]
    for phase in Benchmark.objects.get(slug="tiny").phases.all():
        base = f"/api/v1/benchmarks/tiny/phases/{phase.slug}/leaderboard"
        for address in (f"{base}/", f"{base}.csv", f"{base}.tex", f"{base}.md"):
            answer = client.get(address)
            if answer.status_code == 200:
                responses[address] = answer.content if not answer.streaming else b"".join(answer.streaming_content)
    return responses


def test_every_model_is_exported_or_excluded_for_a_reason() -> None:
    known = {*tables.TABLES, *tables.LEFT_OUT, User, AuditEntry}
    missing = [model.__name__ for model in apps.get_app_config("leaderboard").get_models() if model not in known]
    assert missing == [], "add these rows to archives/tables.py, or say there why they are not exported"


def test_export_wipe_import_gives_the_same_boards(world: World, key: Path, tmp_path: Path) -> None:
    archive = export(tmp_path / "tiny.zip", key)
    before, boards = public_responses(), dict(writing.boards_of(world.benchmark, timezone.now()))
    counts = {model: model._base_manager.count() for model in tables.TABLES}
    moments = list(Submission.objects.order_by("pk").values_list("pk", "received_at", "track"))
    scores = all_scores()
    assert len(before) >= 6 and len(boards) == 5, "two current boards, two frozen ones and the tiny one"
    wipe()
    import_archive(archive, key)
    assert public_responses() == before
    assert dict(writing.boards_of(Benchmark.objects.get(), timezone.now())) == boards
    assert {model: model._base_manager.count() for model in tables.TABLES} == counts
    assert list(Submission.objects.order_by("pk").values_list("pk", "received_at", "track")) == moments
    assert all_scores() == scores
    assert inconsistent_boards() == {}


def test_a_name_that_became_public_after_the_export_is_no_difference(
    archive: Path, key: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_archive(archive, key)
    at = timezone.now()
    System.objects.filter(name="A-0").update(anonymous_until=at + timedelta(days=1), anonymous_number=7)
    again = export(tmp_path / "again.zip", key)
    wipe()
    monkeypatch.setattr(timezone, "now", lambda: at + timedelta(days=2))
    import_archive(again, key)
    assert any(b"A-0" in content for content in public_responses().values())


def inconsistent_boards() -> dict[str, list[str]]:
    """Boards whose rows differ from what their runs give."""
    return {
        str(board): board_differences
        for board in Leaderboard.objects.all()
        if (board_differences := differences(board))
    }


def all_scores() -> list[tuple[Any, ...]]:
    """Every score at full precision."""
    return list(Score.objects.order_by("run", "measure", "slice_key").values_list("value", "low", "high", "n"))


def test_an_imported_benchmark_continues(archive: Path, key: Path) -> None:
    """New submissions are scored, and the imported gold scores the old ones as before."""
    import_archive(archive, key)
    ada, system = User.objects.get(username="ada"), System.objects.get(name="Bernoulli")
    phase = Benchmark.objects.get().phases.get(slug="test")
    file = uploaded(prediction_lines())
    entry = submit.Entry(system=system, by=ada, track="thorough")
    submission = submit.submit(phase=phase, entry=entry, file=file).submission
    score_all()
    assert Run.objects.get(prediction__submission=submission).state == "done"
    fresh = Dataset.objects.create(slug="other", title="Other", task="fact-verification")
    assert fresh.pk > Dataset.objects.get(slug="tiny").pk


def test_next_to_other_rows_new_keys_are_assigned(archive: Path, key: Path) -> None:
    import_archive(archive, key)
    boards, today = dict(writing.boards_of(Benchmark.objects.get(), timezone.now())), as_of_today()
    wipe()
    other = build()
    other.submit()
    score_all()
    Benchmark.objects.update(slug="other")
    Dataset.objects.update(slug="other")
    Team.objects.update(name="Others")
    User.objects.filter(username="ada").update(username="bob", email="bob@holdout.example")
    responses_of_other = responses_of("other")
    import_archive(archive, key)
    assert dict(writing.boards_of(Benchmark.objects.get(slug="tiny"), timezone.now())) == boards
    assert responses_of("other") == responses_of_other
    assert as_of_today() == today and any(row[-1] for row in today)
    assert {
        submission.system.team.name for submission in Submission.objects.filter(phase__benchmark__slug="other")
    } == {"Others"}
    assert inconsistent_boards() == {}
    acts = AuditEntry.objects.filter(action="submission.accepted").values_list("subject", flat=True)
    assert set(acts) == {f"submission:{pk}" for pk in Submission.objects.values_list("pk", flat=True)}


def as_of_today() -> list[tuple[Any, ...]]:
    """Each phase's rows as computed from releases and the audit trail."""
    board_histories.sweep()
    day = timezone.now().date().isoformat()
    return [
        (phase.slug, row["system"], row["rank"], row["disqualified"])
        for phase in Benchmark.objects.get(slug="tiny").phases.all()
        for row in Client().get(board_address(phase.slug), {"as_of": day}).json()["rows"]
    ]


def board_address(phase: str) -> str:
    return f"/api/v1/benchmarks/tiny/phases/{phase}/leaderboard/"


def responses_of(slug: str) -> bytes:
    return Client().get(f"/api/v1/benchmarks/{slug}/phases/test/leaderboard/").content


def test_gold_cannot_be_read_without_the_key(world: World, key: Path, tmp_path: Path) -> None:
    for archive in (export(tmp_path / "closed.zip", key), export(tmp_path / "open.zip")):
        with ZipFile(archive) as opened:
            members = {name: opened.read(name) for name in opened.namelist()}
        assert not any(CANARY.encode() in content for content in members.values())
        gold = {stored.file.read() for stored in GoldVersion.objects.all()}
        assert not gold & set(members.values())
        assert not any(name.startswith("gold/") for name in members)
        hidden = [b"ada@holdout.example", b'Compilers","fields', b"outcomes"]
        assert not any(text in content for text in hidden for content in members.values())
    assert json.loads(members["archive.json"])["closed"] is None
    assert AuditEntry.objects.filter(action="benchmark.exported").count() == 2


def test_without_the_closed_part_nothing_is_imported(archive: Path, written: Path, key: Path) -> None:
    with pytest.raises(CommandError, match="exported without a key"):
        import_archive(written / "open.zip", key)
    assert site_is_empty()


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
        with_changed_tables(archive, lambda head: head | {"layout": "0001_initial"})
    with pytest.raises(CommandError) as error:
        import_archive(archive, key)
    assert "AGE-SECRET" not in str(error.value) and str(error.value).endswith("nothing was changed")
    assert site_is_empty()


def with_changed_tables(archive: Path, change: Any, others: dict[str, bytes] | None = None) -> None:
    with ZipFile(archive) as old:
        members = {name: old.read(name) for name in old.namelist()} | (others or {})
    members["archive.json"] = json.dumps(change(json.loads(members["archive.json"]))).encode()
    with ZipFile(archive, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)


def site_is_empty() -> bool:
    """The site has no row and no file."""
    stored = [path for name in STORES for path in (settings.DATA / name).rglob("*") if path.is_file()]
    return not Benchmark.objects.exists() and not User.objects.exists() and not stored


def test_a_board_that_would_change_is_not_imported(archive: Path, key: Path) -> None:
    other_content = b'{"rows": []}'
    digest = hashlib.sha256(other_content).hexdigest()
    board = members(archive, "boards/")[0]
    with_changed_tables(
        archive, lambda head: head | {"readable": head["readable"] | {board: digest}}, {board: other_content}
    )
    with pytest.raises(CommandError, match=r"the imported board .* would differ from the archived one"):
        import_archive(archive, key)
    assert site_is_empty()


def members(archive: Path, folder: str) -> list[str]:
    with ZipFile(archive) as opened:
        return [name for name in opened.namelist() if name.startswith(folder)]


@pytest.mark.parametrize("kind", ["boards/", "inputs/", "benchmark.json", "byte", "missing", "added"])
def test_a_corrupted_open_part_is_noticed_before_anything_is_stored(archive: Path, key: Path, kind: str) -> None:
    if kind == "byte":
        inputs = members(archive, "inputs/")[0]
        with ZipFile(archive) as opened:
            info = opened.getinfo(inputs)
        altered(archive, (info.header_offset + 60 + info.compress_size / 2) / archive.stat().st_size)
        message = f"{inputs} was altered after the export"
    elif kind == "missing":
        with_changed_tables(
            archive, lambda head: head | {"readable": head["readable"] | {"inputs/other.jsonl": "0" * 64}}
        )
        message = "inputs/other.jsonl is not in the archive"
    elif kind == "added":
        with_changed_tables(archive, lambda head: head, {"inputs/other.jsonl": b"{}"})
        message = "inputs/other.jsonl is in the archive, but the export did not write it"
    else:
        name = members(archive, kind)[0]
        with ZipFile(archive) as opened:
            content = opened.read(name)
        with_changed_tables(archive, lambda head: head, {name: content[:-2] + b" " + content[-1:]})
        message = f"{name} was altered after the export"
    with pytest.raises(CommandError) as refused:
        import_archive(archive, key)
    assert message in str(refused.value) and str(refused.value).endswith("nothing was changed")
    assert site_is_empty()


@pytest.mark.parametrize("conflict", ["benchmark", "team", "person"])
def test_conflicts_are_named(archive: Path, key: Path, conflict: str) -> None:
    if conflict == "benchmark":
        import_archive(archive, key)
    else:
        address = "m@holdout.example" if conflict == "team" else "Grace@holdout.example"
        mallory = User.objects.create_user("mallory", address, "x")
        if conflict == "team":
            teams.create(name="compilers", by=mallory)
    before = {model: model._base_manager.count() for model in (*tables.TABLES, User)}
    words = {"benchmark": "the dataset tiny", "team": "the team Compilers", "person": "the account grace"}[conflict]
    with pytest.raises(CommandError, match=words):
        import_archive(archive, key)
    assert {model: model._base_manager.count() for model in (*tables.TABLES, User)} == before


def test_people_whose_username_is_taken_get_a_free_one(archive: Path, key: Path) -> None:
    mallory = User.objects.create_user("grace", "m@holdout.example", "x")
    User.objects.create_user("Grace-2", "n@holdout.example", "x")
    import_archive(archive, key, output := StringIO())
    assert "the account grace was renamed to grace-3" in output.getvalue()
    grace = User.objects.get(email="grace@holdout.example")
    assert grace.username == "grace-3" and not grace.has_usable_password()
    assert list(Team.objects.get(name="Compilers").members.all()) == [grace]
    mallory.refresh_from_db()
    assert mallory.username == "grace" and not mallory.teams.exists()
    # Another archive with the same person finds her under that name.
    drop_benchmark()
    import_archive(archive, key, output := StringIO())
    assert "grace" not in output.getvalue()
    assert User.objects.filter(username__istartswith="grace").count() == 3


def test_rights_and_passwords_are_not_exported(world: World, key: Path, tmp_path: Path) -> None:
    User.objects.filter(username="curator").update(is_staff=True, is_superuser=True)
    archive = export(tmp_path / "tiny.zip", key)
    wipe()
    import_archive(archive, key)
    curator = User.objects.get(username="curator")
    assert not (curator.is_curator or curator.is_staff or curator.is_superuser or curator.has_usable_password())
    assert [organiser.username for organiser in Benchmark.objects.get().organisers.all()] == ["olive"]


def test_former_members_do_not_return(archive: Path, key: Path) -> None:
    import_archive(archive, key)
    unused = Team.objects.get(name="Compilers")
    people = list(User.objects.all())
    drop_benchmark()
    Membership.objects.filter(team=unused).delete()
    import_archive(archive, key)
    assert Team.objects.get(name="Compilers") == unused and not Membership.objects.filter(team=unused).exists()
    assert list(User.objects.all()) == people


def drop_benchmark() -> None:
    """Deletes everything that belongs to the benchmark; people and teams stay."""
    stay = (Team, Membership, System)
    with transaction.atomic():
        Benchmark.objects.get().organisers.clear()
        for model in reversed(tables.TABLES):
            if model not in stay:
                model._base_manager.all().delete()


@pytest.mark.parametrize("name", ["mirror-claims", "graph-claims"])
def test_the_manifest_hosts_the_same_benchmark(tmp_path: Path, name: str) -> None:
    """The readable part of an archive equals the manifest the benchmark was hosted from."""
    folder = ROOT / "fixtures" / name
    original = manifest.read(folder / "benchmark.json")
    curator = User.objects.create_user("curator", "curator@holdout.example", "x", is_curator=True)
    hosted = host.host(manifest=original, folder=folder, by=curator)
    exported = manifest_of.manifest_of(hosted.benchmark)
    for part in ("slug", "title", "task", "summary", "licence", "citation", "source", "source_url", "reported"):
        assert getattr(exported, part) == getattr(original, part), part
    assert (exported.description, exported.rules) == (
        manifest.text(original.description),
        manifest.text(original.rules),
    )
    files = ("gold", "inputs", "file")
    for exported_part, original_part in ((exported.splits, original.splits), (exported.downloads, original.downloads)):
        assert [without(phase, files) for phase in exported_part] == [without(phase, files) for phase in original_part]
    for exported_phase, original_phase in zip(exported.phases, original.phases, strict=True):
        # What the original leaves to defaults is written, so that it stays as it was promised.
        phase = hosted.benchmark.phases.get(slug=original_phase.slug)
        defaults = {
            name: getattr(phase, name) for name, value in without(original_phase, ()).items() if value is msgspec.UNSET
        }
        assert without(exported_phase, ("shows_logs",)) == without(original_phase, ("shows_logs",)) | defaults
    archive = export(tmp_path / "it.zip")
    with ZipFile(archive) as opened:
        opened.extractall(tmp_path / "out")
    assert manifest.read(tmp_path / "out" / "benchmark.json") == exported
    public = [split for split in exported.splits if split.gold_public]
    for split in public:
        assert (tmp_path / "out" / split.gold).read_bytes() == (
            folder / next(phase.gold for phase in original.splits if phase.name == split.name)
        ).read_bytes()


def without(part: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(part).items() if name not in names}
