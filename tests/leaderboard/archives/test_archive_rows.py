"""Rows of an archive written by hand: every key leads into the archive, and every value passes what forms check."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.db.models import Model
from django.utils import timezone

from leaderboard.archives.actions import preparing, row_checks
from leaderboard.archives.actions import rows as archived
from leaderboard.archives.actions.errors import ArchiveError
from leaderboard.models import (
    Announcement,
    AuditEntry,
    Benchmark,
    Correction,
    Dataset,
    Download,
    Generation,
    GoldVersion,
    Image,
    Leaderboard,
    Membership,
    Phase,
    Prediction,
    Release,
    ReleaseSlice,
    ReportedResult,
    Run,
    Score,
    Scorer,
    Standing,
    State,
    Submission,
    System,
    Team,
    User,
)
from tests.support.rows.archive_files import KEY, MODELS, closed_part, fields_of, key_of, row
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
RELATIONS = [(model, field) for model in MODELS for field in fields_of(model) if field.is_relation]
Rows = dict[type[Model], list[dict[str, Any]]]


def with_a_run() -> World:
    world = build()
    world.insert_run()
    return world


world, _django_db_helper = shared_states(world=with_a_run)


def whole(**changes: Any) -> Rows:
    """One row of each model. changes: of the audit entry."""
    rows = {model: [row(model)] for model in MODELS}
    entry = {"subject": f"benchmark:{KEY}", "detail": {}, "actor": KEY, **changes}
    rows[AuditEntry] = [row(AuditEntry, **entry)]
    rows[ReportedResult][0]["fields"]["values"] = [{"measure": "accuracy", "value": 0.5, "shown": "50"}]
    rows[Image][0]["fields"].update(reference="registry.example/x@sha256:" + "0" * 64, archive_sha256="")
    return rows


def changed(model: type[Model], **changes: Any) -> Rows:
    rows = whole()
    rows[model][0]["fields"].update(changes)
    return rows


def problem(rows: Rows, files: Mapping[str, bytes] | None = None) -> str:
    """Why an archive with these rows is refused; empty if it is not."""
    said: list[str] = []
    with zipfile.ZipFile(io.BytesIO(closed_part(rows, files))) as closed:
        try:
            with preparing.prepared(closed, slug="x", say=said.append):
                return ""
        except ArchiveError as error:
            return "; ".join(error.lines)


def of_this_server(model: type[Model]) -> Any:
    """The key of a row that is here and not in the archive; of a model without rows, a key that is not in it."""
    pk = model._base_manager.order_by("pk").values_list("pk", flat=True).first()
    return key_of(model, 5) if pk is None else pk if isinstance(pk, int) else str(pk)


def test_an_archive_of_one_row_of_each_model_is_not_refused(world: World) -> None:
    assert problem(whole()) == ""


def test_every_key_of_every_row_leads_to_a_row_of_the_archive(world: World) -> None:
    assert len(RELATIONS) > 80
    passed = []
    for model, field in RELATIONS:
        key = of_this_server(field.related_model)
        assert key != key_of(field.related_model)
        text = problem(changed(model, **{field.name: [key] if field.many_to_many else key}))
        expected = (
            f"tables/{model._meta.model_name}.jsonl, line 1: {field.name} is {json.dumps(key)}, but the archive's"
        )
        if not text.startswith(expected):
            passed.append((model.__name__, field.name, text))
    assert passed == []


def test_a_row_does_not_refer_to_itself_or_to_a_later_row(world: World) -> None:
    rows = whole()
    rows[Membership] = [row(Membership, team=KEY + 1)]
    assert "team is 701, but the archive's table team has no such row" in problem(rows)


@pytest.mark.parametrize("value", [True, 1.0, "1", [], {}, 0, -1, 1 << 63, 10**30])
def test_a_key_has_the_type_of_a_key(value: Any) -> None:
    place = row_checks.Place("x", 1)
    for model in MODELS:
        line = row(model) | {"pk": value}
        with pytest.raises(ArchiveError, match=r"the key .* is not valid"):
            row_checks.parse(model, json.dumps(line).encode(), place)
    for model, field in RELATIONS:
        if field.many_to_many and value == []:
            continue
        line = row(model, **{field.name: value})
        with pytest.raises(ArchiveError, match=f"{field.name} is .*; expected"):
            row_checks.parse(model, json.dumps(line).encode(), place)


def test_a_value_has_the_type_of_its_field() -> None:
    place, passed = row_checks.Place("x", 1), []
    for model in MODELS:
        for field in fields_of(model):
            for value in (None, True, 1, 1.5, "1", "\ud800", [], {}):
                kind = field.get_internal_type()
                as_json = field.default if field.default in (dict, list) else object
                fits = {"BooleanField": bool, "FloatField": float, "JSONField": as_json}.get(
                    kind, int if "Integer" in kind else str
                )
                right = field.null if value is None else type(value) is fits or fits is object or field.is_relation
                if right:
                    continue
                try:
                    row_checks.parse(model, json.dumps(row(model, **{field.name: value})).encode(), place)
                    passed.append((model.__name__, field.name, value))
                except ArchiveError:
                    continue
    assert passed == []


@pytest.mark.parametrize("key", [f"urn:uuid:{key_of(Submission)}", key_of(Submission).replace("-", ""), "x"])
def test_a_random_key_is_written_as_a_uuid(key: str) -> None:
    with pytest.raises(ArchiveError, match=r"the key .* is not valid; expected a UUID"):
        row_checks.parse(Submission, json.dumps(row(Submission) | {"pk": key}).encode(), row_checks.Place("x", 1))


@pytest.mark.parametrize("fields", ["missing", "unknown"])
def test_a_row_has_all_fields_and_no_others(fields: str) -> None:
    line = row(Team)
    if fields == "missing":
        del line["fields"]["created_at"]
    else:
        line["fields"]["members"] = [1]
    with pytest.raises(ArchiveError, match="created_at" if fields == "missing" else "members"):
        row_checks.parse(Team, json.dumps(line).encode(), row_checks.Place("team", 1))


def test_too_many_rows_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archived, "most_rows", lambda model=None: 0 if model is Standing else 40)
    standings = problem({Standing: [row(Standing)]})
    assert standings == "tables/standing.jsonl, line 1: the table has more than 0 rows"
    assert "line 1: the archive has more than 40 rows" in problem(whole() | {Standing: []})


def test_user_names_are_not_collected_without_a_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    monkeypatch.setattr(archived, "most_rows", lambda model=None: 2)
    parse = row_checks.parse
    monkeypatch.setattr(row_checks, "parse", lambda model, line, place: read.append(line) or parse(model, line, place))
    rows = {User: [row(User, n, username=f"u{n}", email=f"u{n}@holdout.example") for n in range(1, 9)]}
    assert "tables/user.jsonl, line 3: the archive has more than 2 rows" in problem(rows) and len(read) == 2


def test_each_key_occurs_once(world: World) -> None:
    passed = []
    for model in MODELS:
        rows = whole()
        rows[model] *= 2
        if f"{model._meta.model_name}.jsonl, line 2: the key is not above that of the row before" not in problem(rows):
            passed.append(model)
    assert passed == []


def test_audit_entries_are_about_rows_of_the_archive(world: World) -> None:
    submission = Submission.objects.get()
    for change in (
        {"subject": f"benchmark:{world.benchmark.pk}"},
        {"subject": f"user:{world.curator.pk}"},
        {"subject": f"user:{KEY}"},
        {"subject": "team"},
        {"subject": f"system:{KEY}:1"},
        {"detail": {"phase": world.phase.pk}},
        {"detail": {"phase": str(world.phase.pk), "submission": key_of(Submission)}},
        {"detail": {"submission": str(submission.pk), "phase": KEY}},
        {"detail": {"phase": True}},
        {"detail": {"phase": [KEY]}},
    ):
        text = problem(whole(action="system.disqualified", **change))
        assert text.startswith("tables/auditentry.jsonl, line 1: ") and "no such row" in text, change
    assert problem(whole(subject=f"system:{KEY}", detail={"phase": str(KEY), "submission": key_of(Submission)})) == ""


def test_a_random_key_that_is_taken_here_is_not_taken_over(world: World) -> None:
    taken = str(Submission.objects.get().pk)
    rows = whole()
    rows[Submission][0]["pk"] = taken
    for model, field in RELATIONS:
        if field.related_model is Submission:
            rows[model][0]["fields"][field.name] = taken
    assert problem(rows) == f"the submission {taken} already exists on this server"


def test_an_account_with_an_unverified_address_is_not_the_person(world: World, settings: Any) -> None:
    settings.SENDS_MAIL = True
    rows = changed(User, username=world.researcher.username, email=world.researcher.email)
    assert problem(rows) == ""
    address = EmailAddress.objects.create(user=world.researcher, email=world.researcher.email, primary=True)
    assert "one that has not verified it" in problem(rows)
    EmailAddress.objects.filter(pk=address.pk).update(verified=True)
    assert problem(rows) == ""


def test_a_team_that_is_here_is_not_given_to_organisers(world: World) -> None:
    """Organisers who submit a baseline join the benchmark's team of baselines."""
    team = world.system.team
    created = team.created_at.isoformat().replace("+00:00", "Z")
    rows = changed(Team, name=team.name, created_at=created)
    assert "the baselines' team of the benchmark already exists on this server" in problem(rows)
    rows[Benchmark][0]["fields"]["baselines_team"] = None
    assert problem(rows) == ""


def test_a_team_that_looks_like_another_one_is_refused(world: World) -> None:
    name = world.system.team.name.replace("a", "\N{CYRILLIC SMALL LETTER A}")
    assert name != world.system.team.name
    assert "another team on this server has this name" in problem(changed(Team, name=name))


def test_an_image_that_is_here_is_not_claimed_by_its_digest(world: World) -> None:
    Image.objects.create(archive="archives/x.tar", archive_sha256=hashlib.sha256(b"x").hexdigest(), archive_bytes=1)
    fields = {"archive": "a.tar", "archive_sha256": hashlib.sha256(b"x").hexdigest(), "archive_bytes": 1}
    rows = changed(Image, reference="", **fields)
    assert "files/image/archive/a.tar is not in the archive" in problem(rows)
    assert "archive_sha256 is not that of the file" in problem(rows, {"files/image/archive/a.tar": b"y"})
    assert problem(rows, {"files/image/archive/a.tar": b"x"}) == ""


def test_the_engine_is_asked_which_image_an_imported_one_is(world: World) -> None:
    rows = changed(Image, digest="sha256:" + "1" * 64, unpacked_bytes=5)
    with (
        zipfile.ZipFile(io.BytesIO(closed_part(rows))) as closed,
        preparing.prepared(closed, slug="x", say=len) as ready,
    ):
        content = ready.spool.read()
    assert b"sha256:" + b"1" * 64 not in content


@pytest.mark.parametrize("name", ["../../../etc/passwd", "/etc/passwd", "gold/x.jsonl", "..", "a\\b"])
def test_a_file_is_stored_under_a_new_name_and_its_digest_is_checked(world: World, name: str) -> None:
    storage = GoldVersion._meta.get_field("file").storage  # type: ignore[union-attr]
    before = sorted(storage.listdir("goldversion")[1])
    sha256 = hashlib.sha256(b"gold").hexdigest()
    path = f"files/goldversion/file/{name}"
    rows = changed(GoldVersion, file=name, sha256=sha256, bytes=4)
    with zipfile.ZipFile(io.BytesIO(closed_part(rows, {path: b"gold"}))) as closed:
        with preparing.prepared(closed, slug="x", say=len) as ready:
            (stored,) = ready.files
            assert str(stored.name).startswith("goldversion/") and str(stored.name).endswith(".jsonl")
            assert storage.open(str(stored.name)).read() == b"gold"
        storage.delete(str(stored.name))
    assert "sha256 is not that of the file" in problem(rows, {path: b"lead"})
    assert "bytes is 5, but the file" in problem(
        changed(GoldVersion, file=name, sha256=sha256, bytes=5), {path: b"gold"}
    )
    assert sorted(storage.listdir("goldversion")[1]) == before


def test_every_archived_file_has_a_digest() -> None:
    for model in MODELS:
        names = {field.name for field in model._meta.concrete_fields}
        for field in archived.file_fields(model):
            assert archived.digest_field(field) in names, f"{model.__name__}.{field.name} has no digest to check"


def test_a_file_that_no_row_names_is_refused(world: World) -> None:
    assert "files/x is in the encrypted part, but no row names it" in problem(whole(), {"files/x": b""})


def test_an_archive_has_the_benchmark_that_was_shown_and_one_dataset(world: World) -> None:
    expected = "the archive must have one benchmark, x, and one dataset"
    assert problem(changed(Benchmark, slug="y")) == expected
    assert problem(whole() | {Dataset: [row(Dataset), row(Dataset, KEY + 1, slug="y")]}) == expected


LONG = "x" * 5_000
OVERRIDE = "\N{RIGHT-TO-LEFT OVERRIDE}"


@pytest.mark.parametrize(
    ("model", "field", "value"),
    [
        (User, "username", LONG),
        (User, "username", f"eve{OVERRIDE}nimda"),
        (User, "username", ""),
        (User, "first_name", OVERRIDE),
        (User, "email", "no address"),
        (Team, "name", LONG),
        (Team, "name", "Anonymous 3"),
        (Team, "name", "two  spaces"),
        (Team, "former_names", [{"name": OVERRIDE, "until": "2026-01-01"}]),
        (Team, "former_names", ["x"]),
        (Team, "former_names", [{"name": "Old", "until": "2026-01-01", "by": "eve"}]),
        (Team, "former_names", [{"name": "Old", "until": "2026-01-01T00:00:00"}]),
        (System, "name", "\N{ZERO WIDTH SPACE}"),
        (System, "former_names", [{"name": OVERRIDE, "until": "2026-01-01"}]),
        (System, "paper_url", "javascript:alert(1)"),
        (System, "code_url", "data:text/html,x"),
        (System, "facts", {"size": [1]}),
        (Dataset, "source_url", "javascript:alert(1)"),
        (Benchmark, "paper_url", "javascript:alert(1)"),
        (Benchmark, "questions_url", "//evil"),
        (Benchmark, "title", OVERRIDE),
        (Benchmark, "task", "no-task"),
        (Benchmark, "state", "unheard-of"),
        (Benchmark, "facts", [{"name": "x"}]),
        (Phase, "tracks", [1]),
        (Phase, "limits", {"memory_bytes": True}),
        (Phase, "time_zone", "Moon/Base"),
        (Phase, "quota_per_day", -1),
        (Phase, "least_groups", 0),
        (Phase, "detailed_answers", -1),
        (Phase, "afterwards", "nothing"),
        (Phase, "exact_scores", None),
        (Download, "suffix", ".exe/../x"),
        (Announcement, "text", f"{OVERRIDE}"),
        (Announcement, "created_at", "2099-01-01T00:00:00Z"),
        (Phase, "closes_at", "2999-01-01T00:00:00Z"),
        (Submission, "received_at", "2026-01-01T00:00:00"),
        (Submission, "received_at", "yesterday"),
        (Submission, "note", "x\0"),
        (Run, "state", "flying"),
        (User, "email", "\u0131@holdout.example"),
        (GoldVersion, "dimensions", {"origin": 1}),
        (GoldVersion, "measures", [[]]),
        (GoldVersion, "warnings", [1]),
        (Correction, "counts", {"changed": "1"}),
        (Generation, "problems", [1]),
        (Prediction, "problems", [{"a": None}]),
        (Prediction, "warnings", [1]),
        (Prediction, "cost", {"wall_seconds": "x"}),
        (Run, "problems", [1]),
        (Run, "warnings", [1]),
        (Score, "slice", {"relation": []}),
        (Release, "values", [{}]),
        (Release, "warnings", [1]),
        (Release, "cost", {"wall_seconds": "x"}),
        (ReleaseSlice, "scores", {"accuracy": 1}),
        (Leaderboard, "slice_groups", {"": 1}),
        (Scorer, "measures", [{"name": "x"}]),
        (ReportedResult, "values", [{"measure": "f1", "value": "1"}]),
    ],
)
def test_a_value_that_no_form_accepts_is_refused(model: type[Model], field: str, value: Any) -> None:
    line = json.dumps(row(model, **{field: value})).encode()
    with pytest.raises(ArchiveError, match=r"^tables/x\.jsonl, line 3: "):
        row_checks.parse(model, line, row_checks.Place("x", 3))


def test_a_time_to_come_is_in_a_field_for_it() -> None:
    later = (timezone.now() + timedelta(days=3)).isoformat()
    _, values = row_checks.parse(Phase, json.dumps(row(Phase, closes_at=later)).encode(), row_checks.Place("phase", 1))
    assert values["closes_at"].isoformat() == later


def test_a_lease_of_the_other_server_is_given_up(world: World) -> None:
    fields: dict[str, Any] = {"state": State.RUNNING, "attempt": 3, "lease_until": timezone.now() + timedelta(days=999)}
    preparing._give_up_lease(fields)
    assert fields == {"state": State.QUEUED, "attempt": 0, "lease_until": None}
