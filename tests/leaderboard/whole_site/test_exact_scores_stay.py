"""Exact scores on hidden gold appear on pages of the organisers alone: in no other response, export, mail or feed.

A hidden phase with the default settings is scored; every role reads everything that it can reach. Nothing that it reads
has the digits of a stored score, difference or p-value that a rounded number does not have.
"""

from __future__ import annotations

import json
import random
import re
import zipfile
from collections.abc import Iterable
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from evaluator.disclosure import rounding
from leaderboard.accounts.actions import teams
from leaderboard.archives.actions import exports
from leaderboard.comparisons.actions import head_to_head, rank_ranges
from leaderboard.models import (
    ArchiveExport,
    Comparison,
    HeadToHead,
    Leaderboard,
    Notice,
    Phase,
    Release,
    ReleaseSlice,
    Run,
    Score,
    Standing,
    State,
    User,
)
from leaderboard.notifications.actions import deliver
from leaderboard.scoring.actions import runs
from leaderboard.scoring.verification import rebuild_board
from tests.leaderboard.whole_site.test_canary import BLANK, QUERIES, filled
from tests.support.api_calls import ROOT, person
from tests.support.crawler import crawl, patterns
from tests.support.rows.tiny_world import World, build
from tests.support.workers import sweeps

pytestmark = pytest.mark.django_db(transaction=True)
N, N_SMALL = 211, 12
"""Gold units, each a group of its own, and those of the small slice. 211 is prime: no share of it is a round number."""
DETAILED = 3


def gold() -> tuple[bytes, dict[str, str]]:
    draw = random.Random(3)
    labels = {f"c{index}": draw.choice(("SUPPORTS", "REFUTES")) for index in range(N)}
    kinds = ["rare"] * N_SMALL + ["usual"] * (N - N_SMALL)
    lines = [
        {"id": id_, "claim": f"claim {id_}", "label": label, "slices": {"kind": kind}}
        for (id_, label), kind in zip(labels.items(), kinds, strict=True)
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines), labels


def answers(labels: dict[str, str], n_wrong: int, seed: int) -> dict[str, str]:
    wrong = random.Random(seed).sample(sorted(labels), n_wrong)
    return {
        id_: ("REFUTES" if label == "SUPPORTS" else "SUPPORTS") if id_ in wrong else label
        for id_, label in labels.items()
    }


@pytest.fixture
def world(transactional_db: None, sandbox: str, settings: Any) -> World:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    content, labels = gold()
    world = build(gold_content=content, quota_per_day=50)
    Phase.objects.update(exact_scores=False, least_groups=25, detailed_answers=DETAILED)
    User.objects.update(mailed_since=timezone.now())
    world.phase.refresh_from_db()
    world.benchmark.organisers.add(person("olive"))
    bob = person("bob")
    second = teams.system(team=world.system.team, name="Second", by=world.researcher)
    third = teams.system(team=teams.create(name="Others", by=bob), name="Third", by=bob)
    systems = [world.system, second, world.system, world.system]
    for seed, (system, n_wrong) in enumerate(zip(systems, (70, 85, 65, 40), strict=True)):
        world.submit(answers(labels, n_wrong, seed), system=system)
    for seed, n_wrong in enumerate((120, 103)):
        world.submit(answers(labels, n_wrong, 10 + seed), system=third, by=bob)
    for run in Run.objects.order_by("queued_at"):
        runs.WORK.run(run.pk)
    assert set(Run.objects.values_list("state", flat=True)) == {State.DONE}
    sweeps.sweep()
    (board,) = Leaderboard.objects.all()
    rank_ranges.WORK.run(board.pk)
    for pair in ((world.system, second), (second, third), (world.system, third)):
        Client().get(f"/benchmarks/tiny/test/head-to-head/?a={pair[0].pk}&b={pair[1].pk}")
    for row in HeadToHead.objects.all():
        head_to_head.WORK.run(row.pk)
    for notice in Notice.objects.all():
        deliver.deliver(notice_id=notice.pk)
    return world


def digits(numbers: Iterable[float | None]) -> list[str]:
    """Return the texts by which numbers are found: their first digits, cut off and rounded, and as percentages.

    Numbers that are (nearly) multiples of .001 are left out: a rounded number may be equal.
    """
    texts = set()
    for number in numbers:
        if number is None or abs(number * 1000 - round(number * 1000)) < 1e-3:
            continue
        size = abs(number)
        texts |= {f"{size:.4f}"[1:], f"{size:.6f}"[1:6], f"{100 * size:.3f}"[:-1]}
    return sorted(text for text in texts if len(text.strip("0.")) >= 4)


def pattern_of(texts: Iterable[str]) -> str:
    """Return a regular expression for numbers that begin with one of the texts, with or without a zero before them.

    Seconds of a time of day, which follow a colon without a space, are no such numbers.
    """
    return "|".join(
        rf"(?<![1-9]){re.escape(text)}" if text[0] == "." else rf"(?<![\d:]){re.escape(text)}" for text in texts
    )


def secrets() -> list[str]:
    scores = [number for row in Score.objects.values_list("value", "low", "high") for number in row]
    compared = [number for row in Comparison.objects.values_list("difference", "low", "high") for number in row]
    for report in HeadToHead.objects.values_list("report", flat=True):
        compared += [row[name] for row in report["comparisons"] for name in ("difference", "low", "high")]
    return digits([*scores, *compared])


def starts() -> list[str]:
    addresses = [
        "/",
        "/me/submissions/",
        f"{ROOT}/submissions/",
        f"{ROOT}/benchmarks/tiny/",
        "/manage/benchmarks/tiny/",
    ]
    for route, name in patterns():
        if route.startswith(("admin/", "accounts/")):
            continue
        parameters = filled(route, "tiny") | {"dimension": "kind", "pair": "kind/label", "plot": "intervals"}
        address = reverse(name, kwargs={blank: parameters.get(blank, 1) for blank in BLANK.findall(route)})
        queries = QUERIES.get(name.removeprefix("frozen_"), [""])
        addresses += [address + query for query in dict.fromkeys(["", *queries])]
    addresses += [
        f"/submissions/{pk}/{end}"
        for pk in Run.objects.values_list("prediction__submission", flat=True)
        for end in ("", "state/", "receipt.json")
    ]
    systems = list(Standing.objects.values_list("system", flat=True))
    addresses += [f"/benchmarks/tiny/test/head-to-head/?a={a}&b={b}" for a in systems for b in systems if a < b]
    return [*dict.fromkeys(addresses)]


def is_of_organisers(address: str) -> bool:
    return "exact-scores.csv" in address or address.startswith("/submissions/")


def found(client: Client, texts: list[str]) -> dict[str, list[str]]:
    """Return the texts that each response has, by address, of everything that the client reaches."""
    pattern = re.compile(pattern_of(texts).encode())
    read = {answer.address: answer for answer in crawl(client, starts())}
    assert len(read) > 100 and all(answer.status < 500 for answer in read.values())
    hits = {address: sorted({hit.decode() for hit in pattern.findall(answer.text)}) for address, answer in read.items()}
    return {address: hit for address, hit in hits.items() if hit}


@pytest.mark.slow
def test_nobody_but_the_organisers_reads_an_exact_score(world: World) -> None:
    texts = secrets()
    assert len(texts) > 50
    people = {"anonymous": None, "participant": person("pia"), "other team": User.objects.get(username="bob")}
    people["owner"] = world.researcher
    for role, user in people.items():
        client = Client()
        if user is not None:
            client.force_login(user)
        assert found(client, texts) == {}, role
    olive = Client()
    olive.force_login(User.objects.get(username="olive"))
    hits = found(olive, texts)
    assert [address for address in hits if not is_of_organisers(address)] == []
    assert any("exact-scores.csv" in address for address in hits) and any(
        "/submissions/" in address for address in hits
    )


def test_what_is_stored_for_readers_is_rounded_and_its_first_answers_are_detailed(world: World) -> None:
    """The expectation is computed from the exact scores, by the rule of the policy and not by its code."""
    releases = list(Release.objects.order_by("run__prediction__sequence"))
    mails = "".join(message.message().as_string() for message in mail.outbox)
    stored = json.dumps([row.values for row in releases], default=str) + mails
    stored += json.dumps(list(ReleaseSlice.objects.values_list("scores", flat=True)))
    assert re.findall(pattern_of(secrets()), stored) == []
    counts: dict[int, int] = {}
    for release in releases:
        team = release.submission.system.team_id
        is_detailed = counts.get(team, 0) < DETAILED
        counts[team] = counts.get(team, 0) + 1
        exact = {(row.measure, row.slice_key): row for row in release.run.scores.all()}
        shown = {(row["measure"], json.dumps(row["slice"]) if row["slice"] else ""): row for row in release.values}
        if not is_detailed:
            (row,) = release.values
            assert (row["measure"], row["slice"], row["low"]) == (release.primary, {}, None)
        else:
            assert not any("rare" in slice_ for _, slice_ in shown) and any("usual" in slice_ for _, slice_ in shown)
        whole = shown[release.primary, ""]
        score = exact[release.primary, ""]
        # A quarter of 1 / (2 sqrt(211)) is .0086.
        assert whole["value"] == pytest.approx(round(score.value / 0.005) * 0.005) and rounding.decimals(0.005) == 3
        if is_detailed:
            assert score.low - 0.005 < whole["low"] <= score.low and score.high <= whole["high"] < score.high + 0.005
    assert sorted(counts.values()) == [2, 4]
    assert Standing.objects.filter(value__in=[row.value for row in Score.objects.all()]).count() == 0
    assert rebuild_board.differences(Leaderboard.objects.get()) == []


def test_the_readable_part_of_an_archive_has_no_exact_score(world: World) -> None:
    archive = ArchiveExport.objects.create(
        benchmark=world.benchmark, requested_by=world.curator, queued_at=timezone.now(), enqueued_at=timezone.now()
    )
    exports.WORK.run(archive.pk)
    archive.refresh_from_db()
    assert archive.state == State.DONE
    with zipfile.ZipFile(archive.file.open("rb")) as file:
        texts = {name: file.read(name).decode("utf-8", "replace") for name in file.namelist()}
    pattern = pattern_of(secrets())
    assert {name: re.findall(pattern, text)[:3] for name, text in texts.items() if re.search(pattern, text)} == {}
