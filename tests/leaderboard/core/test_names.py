"""Names on boards: nobody can take or imitate another's name, or the name shown for anonymous systems."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

from leaderboard.accounts.actions import teams
from leaderboard.core.names import confusables, names
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import System, Team
from tests.support.api_calls import SUBMIT, client_of, person
from tests.support.rows.tiny_world import World, build, prediction_lines
from tests.support.simultaneous_calls import together

pytestmark = pytest.mark.django_db
UNSEEN = [*range(0x200B, 0x2010), 0x2060, 0xFEFF, 0x00AD, 0x061C, 0x180E, 0x202E, 0x2066, 0x3164]


def full_width(text: str) -> str:
    """The text in full-width letters and digits."""
    return "".join(chr(ord(sign) + 0xFEE0) for sign in text)


@pytest.fixture
def world() -> World:
    return build()


def refusal_code(name: str, *, of: str, world: World) -> Code:
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
        full_width("Anonymous3"),
        full_width("ANONYMOUS") + " 3",
        "anonymous #3",
        "Anonymous-3",
    ],
)
def test_the_name_of_anonymous_systems_is_reserved(world: World, name: str, of: str) -> None:
    assert refusal_code(name, of=of, world=world) is Code.INVALID_NAME


@pytest.mark.parametrize("of", ["team", "system"])
@pytest.mark.parametrize("sign", UNSEEN, ids=hex)
def test_a_name_has_no_invisible_characters(world: World, sign: int, of: str) -> None:
    assert refusal_code(f"Anony{chr(sign)}mous 12", of=of, world=world) is Code.INVALID_NAME


@pytest.mark.parametrize(
    "name",
    ["Anonymous Bosch", "anonymously", "Synonymous 3", "Łódź ضاد 👍", "\u06cc\u200c\u062e", "👩\u200d🔬 🏳️\u200d🌈"],
)
def test_ordinary_names_are_accepted(world: World, name: str) -> None:
    assert teams.create(name=name, by=world.researcher).name == name
    assert teams.system(team=world.system.team, name=name, by=world.researcher).name == name


@pytest.mark.parametrize(
    "twin",
    ["STRASSE CAFÉ", "straße cafe\u0301", full_width("strasse") + "\u3000café", "Strasse  Café", "Straße Café\ufe0f"],
)
def test_look_alike_team_names_are_refused(world: World, twin: str) -> None:
    Team.objects.filter(pk=world.system.team.pk).update(name="Straße Café")
    assert refusal_code(twin, of="team", world=world) is Code.NAME_TAKEN


def test_a_system_may_keep_its_own_name(world: World) -> None:
    old = System.objects.create(team=world.system.team, name="One\u200cword")
    assert teams.system(team=old.team, name=old.name, by=world.researcher) == old


def test_a_person_called_anonymous_can_have_a_team(world: World) -> None:
    nobody = person("Anonymous")
    assert teams.of(nobody).name == f"Anonymous ({nobody.pk})"


LOOK_ALIKES = [
    ("Compilers", "\u0421ompilers"),  # Cyrillic Es
    ("Compilers", "Compi|ers"),
    ("Compilers", "C0mpilers"),
    ("Ada\u2019s group", "Ada's group"),
    ("Team-1", "Team\u2013l"),
    ("SCOPE", "\u0405\u0421\u041e\u0420\u0415"),
    ("scope", "\u0455\u0441\u043e\u0440\u0435"),
    ("HOPE", "\u0397\u039f\u03a1\u0395"),
    ("TEAL", "\ua4d4\ua4f0\ua4ee\ua4e1"),
    ("Compilers", "Cornpilers"),
    ("Modern", "Modem"),
    ("Compilers", "C\u043ernpi1ers"),  # Cyrillic o
    ("Decoders", "Decoclers"),
    ("Web of words", "VVeb of vvords"),
    ("Anecdote", "anecclote"),
    ("Led", "\u029fed"),  # a small capital
    ("GPT-3", "GPT-\u0417"),  # Cyrillic Ze
    ("OpenAI", "\u2c9epenai"),  # Coptic O
]


@pytest.mark.parametrize(("first", "second"), LOOK_ALIKES)
def test_look_alikes_are_refused(world: World, first: str, second: str) -> None:
    teams.create(name=first, by=world.researcher)
    with pytest.raises(Refused) as refusal:
        teams.create(name=second, by=world.researcher)
    assert refusal.value.code is Code.NAME_TAKEN and first in refusal.value.message
    teams.system(team=world.system.team, name=first, by=world.researcher)
    with pytest.raises(Refused) as refusal:
        teams.system(team=world.system.team, name=second, by=world.researcher)
    assert refusal.value.code is Code.NAME_TAKEN and first in refusal.value.message
    assert (Team.objects.count(), System.objects.count()) == (2, 2)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Ada", "\u0410\u043d\u044f"),
        ("Team 2", "Team Z"),
        ("Jose", "José"),
        ("\u0412\u0435\u0440\u0430", "Bepa 2"),
        ("Nile", "Nice"),
        ("CERN", "Cem"),
        ("CEM", "Cern"),
        ("CLIP", "DIP"),
        ("Clara", "Dara"),
        ("Learn", "Lean"),
        ("Wave", "Vave"),
    ],
)
def test_names_that_look_different_are_accepted(world: World, first: str, second: str) -> None:
    for name in (first, second):
        assert teams.create(name=name, by=world.researcher).name == name


@pytest.mark.parametrize("of", ["team", "system"])
@pytest.mark.parametrize(
    "name", ["\u0410nonym\u043eus 12", "An0nymous", "Anonymous l2", "Anonymous I", "Anonyrnous 3", "An0nyrnous"]
)
def test_look_alikes_of_the_anonymous_name_are_refused(world: World, name: str, of: str) -> None:
    assert refusal_code(name, of=of, world=world) is Code.INVALID_NAME


def test_a_name_that_only_begins_like_the_anonymous_one_is_accepted(world: World) -> None:
    assert teams.create(name="Anonymous Lol", by=world.researcher).name == "Anonymous Lol"


@pytest.mark.parametrize(
    "name",
    [
        *("Reported", "reported in papers", "The Organisers", "BASEL\u0406NES", "Reportecl"),
        *("Rep0rted", "0rganisers", "The 0rgan1zers", "Organ|sers", "Base1ines", "BaseIlnes", "REP0RTED 1N PAPER"),
        *("Rep\u03bfrtec1", "BASELINES", "basellnes"),
        *("R eported", "Re-ported", "The_Organ.isers", "Reported (in papers)", "Organiser\u2019s", "Human performance"),
    ],
)
def test_board_labels_for_other_systems_are_reserved(world: World, name: str) -> None:
    assert refusal_code(name, of="team", world=world) is Code.INVALID_NAME
    world.benchmark.organisers.add(world.researcher)
    assert teams.create(name=name, by=world.researcher).name == name


@pytest.mark.parametrize(
    "name", ["Reporters", "Rep0rt", "Organ1sation", "Basel", "Bas3lines", "R0ported", "Human", "Baselines offline"]
)
def test_names_that_read_differently_are_accepted(world: World, name: str) -> None:
    assert teams.create(name=name, by=world.researcher).name == name


@pytest.mark.parametrize("of", ["team", "system"])
def test_an_unreadable_name_is_refused(world: World, of: str) -> None:
    assert refusal_code("Caf\ufffd", of=of, world=world) is Code.INVALID_NAME


def test_a_name_in_another_encoding_creates_no_system(world: World) -> None:
    kind = "application/x-ndjson"
    answer = client_of(world.researcher).post(f"{SUBMIT}?system=%FF", prediction_lines(), content_type=kind)
    assert answer.status_code == 422 and "U+FFFD" in answer.json()["message"]
    assert not System.objects.filter(name__contains="\ufffd").exists()


@pytest.mark.parametrize(
    "name",
    [
        "Baselines of tiny",
        "baseline of  tiny",
        "The Baselines of another",
        "Base1ines 0f tiny",
        "Basel|nes of tiny",
        "B\u0430selines of tiny",
    ],
)
def test_names_of_baseline_teams_are_reserved(world: World, name: str) -> None:
    assert refusal_code(name, of="team", world=world) is Code.INVALID_NAME
    world.benchmark.organisers.add(world.researcher)
    assert refusal_code(name, of="team", world=world) is Code.INVALID_NAME


def test_a_team_that_looks_like_an_organiser_is_refused(world: World) -> None:
    assert refusal_code("Curat\u043er", of="team", world=world) is Code.NAME_TAKEN
    grace = person("grace")
    assert teams.create(name="ada", by=grace).name == "ada"
    world.benchmark.organisers.add(world.researcher)
    with pytest.raises(Refused):
        teams.create(name="ad\u0430", by=grace)
    assert teams.create(name="Curator", by=world.curator).name == "Curator"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("of", ["team", "system"])
def test_of_two_simultaneous_requests_one_gets_the_name(of: str) -> None:
    world = build()

    def call(name: str) -> Callable[[], object]:
        if of == "team":
            return lambda: teams.create(name=name, by=world.researcher)
        return lambda: teams.system(team=world.system.team, name=name, by=world.researcher)

    names = ["Scope", "Sc\u043epe", "SCOPE", "Sc0pe"]
    answers = together([call(name) for name in names])
    assert sorted(str(answer) in names for answer in answers) == [False, False, False, True]
    assert answers.count(Code.NAME_TAKEN) == 3


def test_a_capital_l_is_not_confused_with_a_digit() -> None:
    """The demonstration has both names, as papers do."""
    assert names.first_confusable("ROUGE-1", ["ROUGE-2", "ROUGE-L"]) is None
    assert names.first_confusable("ROUGE-1", ["ROUGE-l"]) == "ROUGE-l"


def test_a_set_of_names_finds_what_the_comparison_of_two_finds() -> None:
    taken = ["ROUGE-l", "Compilers", "CERN", "\N{CYRILLIC SMALL LETTER A}da", "Anonymous"]
    looks = names.Looks(taken)
    for name in (
        "ROUGE-1",
        "ROUGE-2",
        "Cornpilers",
        "compi1ers",
        "Cern",
        "Cem",
        "ada",
        "Ada",
        "other",
        full_width("Ada"),
    ):
        assert looks.like(name) == names.first_confusable(name, taken), name


ORDINARY = """
Modern Times, Modernists, Learners, Learning Machines, Machine Learning, Earners, Northern Lights, Corner Case, Cornell,
Camell, CMU, RNN, LSTM, Turing, Tuning, Claims Lab, Clause, Clarity, Daisy, Declarers, Dear Claims, Cloud, Crowd, Cord,
Card, Charm, Chamber, Darwin, Wavelets, Vowels, Views, Weaver, Vivid, Word, Ward, Worm, Warm, Internal, Intermal, Wit,
Vint, DKRL, CKRL, Baseline D, Baseline C, Baseline M, BERT, Bart, Albert, Alarm, Alarn, Return, Retune, Vienna, Wien
"""


def test_every_pair_of_unicodes_table_is_recognized() -> None:
    content = confusables.DATA.read_bytes()
    assert hashlib.sha256(content).hexdigest() == confusables.SHA256
    pairs = confusables.pairs()
    assert f"# total: {len(pairs)}\n" in content.decode()
    missed = [
        f"U+{ord(source):04X}"
        for source, text in pairs.items()
        if names.first_confusable(f"Team {source}x", [f"Team {text}x"]) is None
    ]
    assert missed == []


def test_a_name_from_before_unicodes_table_is_valid_and_found(world: World) -> None:
    """Team and system were created when only some pairs were known."""
    Team.objects.filter(pk=world.system.team.pk).update(name="GPT-\u0417")
    old = System.objects.create(team=world.system.team, name="\u2c9epenai")
    System.objects.create(team=world.system.team, name="Openai")
    assert teams.system(team=world.system.team, name=old.name, by=world.researcher) == old
    team = Team.objects.get(name="GPT-\u0417")
    assert teams.find_system(team=team, name=old.name) == old


def test_a_system_that_a_simultaneous_request_creates_is_found(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    team, checked = world.system.team, names.checked

    def created_meanwhile(name: str, **kwargs: Any) -> str:
        System.objects.create(team=team, name="Rival system")
        return checked(name, **kwargs)

    monkeypatch.setattr(names, "checked", created_meanwhile)
    found = teams.find_system(team=team, name="Rival  system")
    assert found == System.objects.get(name="Rival system")


def test_ordinary_names_do_not_collide() -> None:
    ordinary = [" ".join(name.split()) for name in ORDINARY.split(",")]
    for index, name in enumerate(ordinary):
        assert names.first_confusable(name, ordinary[:index]) is None
