"""Adding a phase by its kind, and editing one: fields, defaults, errors at their fields, what is fixed, the trail."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.benchmarks.actions import edit_phase
from leaderboard.benchmarks.web.forms.phase import KINDS, OF_HIDDEN_GOLD, EditPhaseForm
from leaderboard.boards.actions import tracks
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Final, Phase, Split, Submission
from leaderboard.models.benchmark import DETAILED_ANSWERS, LADDER_LEAST_GROUPS, LEAST_GROUPS
from leaderboard.submissions.actions import submit
from tests.support.api_calls import person
from tests.support.rows.module_rows import shared
from tests.support.rows.tiny_world import World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
MANAGE = "/manage/benchmarks/tiny/"
CREATE = f"{MANAGE}phases/create/"
EDIT = f"{MANAGE}phases/test/edit/"
REASON = {"reason": "A mistake in the announcement."}

world, _django_db_helper = shared(build)


@pytest.fixture
def curator(world: World) -> Client:
    client = Client()
    client.force_login(world.curator)
    return client


def filled(client: Client, address: str, **changes: Any) -> dict[str, Any]:
    """Return what a browser sends of the form at an address, with changes."""
    form = client.get(address).context["form"]
    values = {field.html_name: field.value() for field in form if not field.field.disabled}
    for name, value in values.items():
        if isinstance(value, datetime):
            values[name] = f"{value:%Y-%m-%dT%H:%M}"
    sent = {name: value for name, value in values.items() if value is not None and value is not False}
    return {**{name: "on" if value is True else value for name, value in sent.items()}, **changes}


def now(world: World) -> Phase:
    return Phase.objects.get(pk=world.phase.pk)


def test_the_kind_is_asked_first(curator: Client) -> None:
    page = curator.get(f"{CREATE}?split=test").content.decode()
    for kind in KINDS:
        assert f'href="?kind={kind}&amp;split=test"' in page
    assert read(page).faults == []
    assert "<form" not in page.split("<main")[1].split("</main>")[0]


@pytest.mark.parametrize(
    ("kind", "own", "others"),
    [
        ("full", {"afterwards"}, {"scope", "sealed_until", "finals_per_team"}),
        ("ladder", {"scope"}, {"afterwards", "sealed_until", "finals_per_team"}),
        ("sealed", {"sealed_until", "finals_per_team"}, {"scope", "afterwards"}),
    ],
)
def test_a_kind_has_its_own_fields(curator: Client, kind: str, own: set[str], others: set[str]) -> None:
    response = curator.get(f"{CREATE}?kind={kind}")
    fields = response.context["form"].fields.keys()
    assert own <= fields and not others & fields
    assert read(response.content.decode()).faults == []
    shown = {field.name for section in response.context["form"].sections() for field in section.fields}
    assert shown | {"disclosure"} == set(fields)


@pytest.mark.parametrize(
    ("kind", "least_groups", "detailed"),
    [("full", LEAST_GROUPS, DETAILED_ANSWERS), ("ladder", LADDER_LEAST_GROUPS, 0)],
)
def test_the_defaults_work(curator: Client, world: World, kind: str, least_groups: int, detailed: int) -> None:
    sent = filled(curator, f"{CREATE}?kind={kind}", title="Open Test", split=world.split.pk)
    assert curator.post(f"{CREATE}?kind={kind}", sent).status_code == 302
    phase = Phase.objects.get(slug="open-test")
    assert (phase.disclosure, phase.split, phase.takes_predictions) == (kind, world.split, True)
    expected = {name: getattr(Phase(), name) for name in ("quota_per_day", "quota_total", "exact_scores", "afterwards")}
    expected |= {"least_groups": least_groups, "detailed_answers": detailed}
    assert {name: getattr(phase, name) for name in expected} == expected


def test_an_organiser_chooses_what_is_shown(curator: Client, world: World) -> None:
    chosen = {"least_groups": "7", "detailed_answers": "", "afterwards": "improvements", "exact_scores": "on"}
    sent = filled(curator, f"{CREATE}?kind=full", title="Next", split=world.split.pk) | chosen
    assert curator.post(CREATE, sent).status_code == 302
    phase = Phase.objects.get(slug="next")
    shown = (phase.least_groups, phase.detailed_answers, phase.afterwards, phase.exact_scores)
    assert shown == (7, None, "improvements", True)
    edited = filled(curator, f"{MANAGE}phases/next/edit/", detailed_answers="3", **REASON)
    assert edited["exact_scores"] == "on" and "detailed_answers" in edited
    del edited["exact_scores"]
    assert curator.post(f"{MANAGE}phases/next/edit/", edited).status_code == 302
    assert AuditEntry.objects.get(action="phase.edited").detail == {
        **REASON,
        "detailed_answers": {"before": None, "after": 3},
        "exact_scores": {"before": True, "after": False},
    }
    page = curator.get(f"{MANAGE}audit-trail/").content.decode()
    assert "detailed answers" in page and "exact scores" in page


@pytest.mark.parametrize("kind", KINDS)
def test_public_gold_has_nothing_to_hide(curator: Client, world: World, kind: str) -> None:
    address = f"{CREATE}?kind={kind}"
    assert curator.get(address).context["form"].fields.keys() >= {"least_groups", "detailed_answers", "exact_scores"}
    Split.objects.update(gold_public=True)
    for page in (curator.get(address), curator.get(EDIT)):
        assert not {*OF_HIDDEN_GOLD} & page.context["form"].fields.keys()
        assert read(page.content.decode()).faults == []


def test_the_recommended_kind_is_offered_first(curator: Client) -> None:
    assert [name for name, kind in KINDS.items() if kind.tag] == ["ladder"] == list(KINDS)[:1]
    assert KINDS[Phase.Disclosure.LADDER].tag in curator.get(CREATE).content.decode()


def test_a_phase_that_becomes_a_ladder_is_one_as_proposed(curator: Client, world: World) -> None:
    change(world, least_groups=30)
    address = f"{EDIT}?kind=ladder"
    assert curator.post(address, filled(curator, address, **REASON)).status_code == 302
    assert (now(world).disclosure, now(world).scope) == ("ladder", "task")
    assert (now(world).least_groups, now(world).detailed_answers) == (LADDER_LEAST_GROUPS, 0)


@pytest.mark.parametrize(
    ("kind", "changes", "field"),
    [
        ("ladder", {"scope": "team"}, "quota_everybody"),
        ("sealed", {}, "sealed_until"),
        ("full", {"subset": "public"}, "subset"),
        ("full", {"options": "no_such=1"}, "options"),
        ("full", {"takes_predictions": ""}, "takes_predictions"),
        ("full", {"least_groups": "0"}, "least_groups"),
        ("full", {"least_groups": ""}, "least_groups"),
        ("full", {"detailed_answers": "-1"}, "detailed_answers"),
        ("full", {"afterwards": "nothing"}, "afterwards"),
        ("full", {"slug": "test"}, "slug"),
        ("full", {"title": "测试"}, "slug"),
        ("full", {"opens_at": "2031-01-01T00:00", "closes_at": "2030-01-01T00:00"}, "closes_at"),
    ],
)
def test_an_error_is_at_its_field_in_an_open_section(
    curator: Client, world: World, kind: str, changes: dict[str, Any], field: str
) -> None:
    sent = filled(curator, f"{CREATE}?kind={kind}", title="Next", split=world.split.pk) | changes
    response = curator.post(CREATE, sent)
    assert response.status_code in (409, 422)
    form = response.context["form"]
    assert list(form.errors) == [field] and response.context["refusal"] is None
    (section,) = (section for section in form.sections() if field in {one.name for one in section.fields})
    assert not section.is_folded
    assert Phase.objects.count() == 1


def test_an_edit_is_in_the_trail_with_its_reason(curator: Client, world: World) -> None:
    sent = filled(curator, EDIT, quota_per_day=7, title="Test set", **REASON)
    assert curator.post(EDIT, sent).status_code == 302
    assert (now(world).quota_per_day, now(world).title) == (7, "Test set")
    detail = AuditEntry.objects.get(action="phase.edited").detail
    assert detail == {
        **REASON,
        "title": {"before": "Test", "after": "Test set"},
        "quota_per_day": {"before": world.phase.quota_per_day, "after": 7},
    }
    page = curator.get("/manage/benchmarks/tiny/audit-trail/").content.decode()
    assert "edited a phase" in page and REASON["reason"] in page


def test_a_form_sent_back_unchanged_changes_nothing(curator: Client, world: World) -> None:
    at = datetime(2030, 1, 1, 12, 34, 56, tzinfo=UTC)
    fields = {"closes_at": at, "time_zone": "AoE", "limits": {"wall_seconds": 9, "processes": 3}, "takes_images": True}
    Phase.objects.filter(pk=world.phase.pk).update(shows_logs=False, **fields)
    before = Phase.objects.filter(pk=world.phase.pk).values().get()
    assert curator.post(EDIT, filled(curator, EDIT, **REASON)).status_code == 302
    assert Phase.objects.filter(pk=world.phase.pk).values().get() == before
    assert not AuditEntry.objects.filter(action="phase.edited").exists()
    curator.post(EDIT, filled(curator, EDIT, seconds=20, **REASON))
    assert now(world).limits == {"wall_seconds": 20, "processes": 3}


def test_what_scores_depend_on_is_fixed_by_a_submission(curator: Client, world: World) -> None:
    assert "disclosure" not in edit_phase.fixed_fields(now(world))
    world.insert_run()
    page = curator.get(EDIT)
    assert "Fixed: the phase has submissions" in page.content.decode() and not page.context["kinds"]
    shown = ("least_groups", "detailed_answers", "afterwards", "exact_scores")
    assert all(page.context["form"].fields[name].disabled for name in ("split", "options", "subset", *shown))
    # A kind in the address, or a value sent by hand, changes nothing.
    sent = filled(curator, EDIT, disclosure="sealed", options="max_evidence=1", **REASON)
    curator.post(f"{EDIT}?kind=ladder", sent)
    assert (now(world).disclosure, now(world).options) == ("full", world.phase.options)
    others = {"disclosure": "ladder", "options": {"max_evidence": "1"}, "subset": "public"}
    coarser = {"exact_scores": False, "least_groups": 9, "detailed_answers": 9, "afterwards": "improvements"}
    for name, value in {**others, **coarser}.items():
        with pytest.raises(Refused) as refused:
            change(world, **{name: value})
        assert (refused.value.code, refused.value.field_name) == (Code.NOT_POSSIBLE, name)


def change(world: World, **changes: Any) -> list[str]:
    phase = now(world)
    return edit_phase.edit(
        phase=phase, changes=changes, reason="x", seen=edit_phase.version_of(phase), by=world.curator
    )


def test_the_kind_changes_before_the_first_submission(curator: Client, world: World) -> None:
    address = f"{EDIT}?kind=sealed"
    assert curator.post(address, filled(curator, address, sealed_until="2031-01-01T00:00", **REASON)).status_code == 302
    assert (now(world).disclosure, now(world).closes_at) == ("sealed", datetime(2031, 1, 1, tzinfo=UTC))


def test_a_deadline_of_a_published_benchmark_moves_on_its_own_page(curator: Client, world: World) -> None:
    first = datetime(2031, 1, 1, tzinfo=UTC)
    assert curator.post(EDIT, filled(curator, EDIT, closes_at="2031-01-01T00:00", **REASON)).status_code == 302
    assert now(world).closes_at == first
    curator.post(EDIT, filled(curator, EDIT, closes_at="2030-01-01T00:00", **REASON))
    assert now(world).closes_at == first


def test_a_concurrent_change_is_not_overwritten(curator: Client, world: World) -> None:
    sent = filled(curator, EDIT, quota_per_day=9, **REASON)
    assert curator.post(EDIT, {**sent, "quota_per_day": 8}).status_code == 302
    response = curator.post(EDIT, sent)
    assert response.status_code == 409 and "Someone else has changed this phase" in response.content.decode()
    assert now(world).quota_per_day == 8
    again = response.context["form"]
    assert again["quota_per_day"].value() == "9"
    assert curator.post(EDIT, {**sent, "seen": again["seen"].value()}).status_code == 302
    assert now(world).quota_per_day == 9


def test_a_submission_checked_against_other_options_is_refused(world: World) -> None:
    stale = now(world)
    change(world, options={"max_evidence": "1"})
    with pytest.raises(Refused, match="changed the phase while your submission was checked"):
        submit.create_and_charge(phase=stale, entry=world.entry(), at=timezone.now())
    assert not Submission.objects.exists()


def test_finals_do_not_fall_below_those_chosen(world: World) -> None:
    change(world, disclosure="sealed", sealed_until=datetime(2031, 1, 1, tzinfo=UTC), finals_per_team=2)
    for _ in range(2):
        submission = world.insert_run().prediction.submission
        chosen = {"phase": world.phase, "team": world.system.team, "chosen_at": timezone.now()}
        Final.objects.create(submission=submission, chosen_by=world.researcher, **chosen)
    with pytest.raises(Refused, match="already chosen 2 finals"):
        change(world, finals_per_team=1)
    assert change(world, finals_per_team=3) == ["finals_per_team"]


def test_only_organisers_edit(world: World) -> None:
    with pytest.raises(Refused) as refused:
        edit_phase.edit(phase=world.phase, changes={"title": "x"}, reason="x", seen="0", by=person("eve"))
    assert refused.value.code is Code.NOT_AN_ORGANISER


def test_every_column_is_edited_or_has_another_page() -> None:
    columns = {field.name for field in Phase._meta.concrete_fields}
    elsewhere = {"tracks": tracks.change, "scorer": "scorer images", "is_main": "manage_edit"}
    never = {"id", "benchmark", "slug", "position", "created_at", "unsealed_at", "ranked_sequence", "n_entries"}
    assert columns == edit_phase.EDITABLE | elsewhere.keys() | never
    assert not {"slug", "tracks"} & EditPhaseForm.base_fields.keys()
