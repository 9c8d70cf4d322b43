"""Names that stand on boards: nobody takes another's, or that of those who show none."""

from __future__ import annotations

import pytest

from leaderboard.actions import teams
from leaderboard.actions.refusal import Code, Refused
from leaderboard.models import System, Team
from tests.integration.calling import person
from tests.world import World, build

pytestmark = pytest.mark.django_db
UNSEEN = [*range(0x200B, 0x2010), 0x2060, 0xFEFF, 0x00AD, 0x061C, 0x180E, 0x202E, 0x2066, 0x3164]


def wide(text: str) -> str:
    """In the full-width forms of its letters and digits."""
    return "".join(chr(ord(sign) + 0xFEE0) for sign in text)


@pytest.fixture
def world() -> World:
    return build()


def refused(name: str, *, of: str, world: World) -> Code:
    with pytest.raises(Refused) as refusal:
        if of == "team":
            teams.create(name=name, by=world.researcher)
        else:
            teams.system(team=world.system.team, name=name, by=world.researcher)
    assert Team.objects.count() == 1 and System.objects.count() == 1
    return refusal.value.code


@pytest.mark.parametrize("of", ["team", "system"])
@pytest.mark.parametrize(
    "name",
    [
        "anonymous",
        "Anonymous 12",
        "ANONYMOUS  3",
        wide("Anonymous3"),
        wide("ANONYMOUS") + " 3",
        "anonymous #3",
        "Anonymous-3",
    ],
)
def test_the_name_of_nobody_is_nobodys(world: World, name: str, of: str) -> None:
    assert refused(name, of=of, world=world) is Code.INVALID_NAME


@pytest.mark.parametrize("of", ["team", "system"])
@pytest.mark.parametrize("sign", UNSEEN, ids=hex)
def test_a_name_holds_nothing_that_cannot_be_seen(world: World, sign: int, of: str) -> None:
    assert refused(f"Anony{chr(sign)}mous 12", of=of, world=world) is Code.INVALID_NAME


@pytest.mark.parametrize(
    "name",
    ["Anonymous Bosch", "anonymously", "Synonymous 3", "Łódź ضاد 👍", "\u06cc\u200c\u062e", "👩\u200d🔬 🏳️\u200d🌈"],
)
def test_other_names_are_taken(world: World, name: str) -> None:
    assert teams.create(name=name, by=world.researcher).name == name
    assert teams.system(team=world.system.team, name=name, by=world.researcher).name == name


@pytest.mark.parametrize(
    "twin", ["STRASSE CAFÉ", "straße cafe\u0301", wide("strasse") + "\u3000café", "Strasse  Café", "Straße Café\ufe0f"]
)
def test_two_teams_do_not_look_alike(world: World, twin: str) -> None:
    Team.objects.filter(pk=world.system.team.pk).update(name="Straße Café")
    assert refused(twin, of="team", world=world) is Code.NAME_TAKEN


def test_a_system_keeps_the_name_that_it_has(world: World) -> None:
    old = System.objects.create(team=world.system.team, name="One\u200cword")
    assert teams.system(team=old.team, name=old.name, by=world.researcher) == old


def test_a_person_called_anonymous_has_a_team_all_the_same(world: World) -> None:
    nobody = person("Anonymous")
    assert teams.of(nobody).name == f"Anonymous ({nobody.pk})"
