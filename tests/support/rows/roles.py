"""Users of all roles, and objects that belong to them."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any

from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams, tokens
from leaderboard.models import Benchmark, ImageUpload, Phase, Split, Submission, User
from tests.support.api_calls import person
from tests.support.rows.tiny_world import World, build

ROLES = ("anonymous", "A", "B", "X", "Y", "curator", "staff", "T")
"""A and B compete, in two teams; X organises the public benchmark, Y the draft, in which T is a tester;
staff has only admin permissions."""


@dataclass
class Cast:
    """The roles, and A's objects: a submission in X's benchmark, a token, an upload."""

    world: World
    people: dict[str, User]
    submission: Submission
    token: str
    upload: ImageUpload
    cookies: dict[str, SimpleCookie]
    """One session per role."""

    def client(self, role: str, **more: Any) -> Client:
        client = Client(raise_request_exception=False, **more)
        client.cookies = deepcopy(self.cookies[role])
        return client


def cast() -> Cast:
    world = build()
    people = {
        "A": world.researcher,
        "B": person("bob"),
        "X": person("xena"),
        "Y": person("yuri"),
        "curator": world.curator,
        "staff": person("stan", is_staff=True, is_superuser=True),
        "T": person("tess"),
    }
    teams.create(name="Others", by=people["B"])
    world.benchmark.organisers.add(people["X"])
    trial = draft(world)
    trial.organisers.add(people["Y"])
    trial.testers.add(people["T"])
    teams.create(name="Testers", by=people["T"])
    submission = world.insert_run(at=timezone.now()).prediction.submission
    token, _ = tokens.issue(by=people["A"])
    upload = ImageUpload.objects.create(phase=world.phase, by=people["A"], name="image.tar", bytes=5)
    cookies = {"anonymous": SimpleCookie(), **{role: session_of(user) for role, user in people.items()}}
    return Cast(world, people, submission, token.token_key, upload, cookies)


def session_of(user: User) -> SimpleCookie:
    client = Client()
    client.force_login(user)
    return client.cookies


def draft(world: World) -> Benchmark:
    """Create a draft benchmark with the same data under another name."""
    benchmark = Benchmark.objects.create(
        slug="draft", title="Draft", summary="Soon.", task=world.benchmark.task, dataset=world.split.dataset
    )
    Phase.objects.create(benchmark=benchmark, slug="test", title="Test", split=world.split)
    Split.objects.filter(pk=world.split.pk).update(kind="test")
    return benchmark
