"""Fills a site with a history, or writes every number that it publishes to a file. Runs on the code of any commit.

    python site_history.py fill FIXTURES      the demonstrations, a ladder, two sealed phases and corrected gold
    python site_history.py dump FILE          {name of a document: its text} as JSON

The working directory is that of the commit, and HOLDOUT_DATA that of the site. `fill` needs the sandbox, a worker and
beat. The script uses only models, URLs and management commands, because modules move between commits.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import django

sys.path.insert(0, str(Path.cwd()))
os.environ["DJANGO_SETTINGS_MODULE"] = "leaderboard.settings"
django.setup()

from django.apps import apps  # noqa: E402  (models need django.setup first)
from django.core.files.uploadedfile import SimpleUploadedFile  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db.models import F  # noqa: E402
from django.test import Client  # noqa: E402
from django.utils import timezone  # noqa: E402

from leaderboard.models import Correction, Leaderboard, Phase, Ranking, Run, Score, State, Submission, User  # noqa: E402

PATIENCE = 900.0
HISTORY = "history"
"""A benchmark with Mirror Claims under each disclosure policy; its gold is corrected after submissions."""
WHOLE = (".bib", ".json", "/comparisons/", "/drawings/")
"""Exports without parameters for slices or a day."""
LATER = "2099-01-01T00:00:00Z"


def with_history(fixtures: Path) -> None:
    """Add the benchmark HISTORY to a folder of demonstrations."""
    mirror = fixtures / "mirror-claims"
    plan: dict[str, Any] = json.loads((mirror / "benchmark.json").read_text())
    test = next(split for split in plan["splits"] if split["name"] == "test")
    quotas = {"split": "test", "quota_per_day": 50, "quota_total": 1000}
    phases = [
        {"slug": "full", "disclosure": "full", "options": {"cross": "contrast,origin"}},
        {"slug": "ladder", "disclosure": "ladder", "gold_subset": "public", "scope": "task"},
        {"slug": "sealed", "disclosure": "sealed", "gold_subset": "private", "sealed_until": LATER},
        {"slug": "still-sealed", "disclosure": "sealed", "gold_subset": "private", "sealed_until": LATER},
    ]
    systems = [system for system in plan["systems"] if system["phase"] == "test" and "predictions" in system]
    plan |= {
        "slug": HISTORY,
        "title": "History",
        "splits": [test | {"public_share": "0.5"}],
        "phases": [{"title": phase["slug"], **quotas, **phase} for phase in phases],
        "systems": [system | {"phase": phase["slug"]} for phase in phases for system in systems],
        "reported": [],
    }
    folder = fixtures / HISTORY
    shutil.copytree(mirror, folder, dirs_exist_ok=True)
    (folder / "benchmark.json").write_text(json.dumps(plan))


def fill(fixtures: Path) -> None:
    with_history(fixtures)
    # The halves of a split are random; this gives each site the same ones.
    secrets.randbits = lambda bits: bits  # type: ignore[assignment]
    call_command("seed", fixtures=fixtures, no_images=True, wait_seconds=0)
    settle()
    # A phase that has just closed is not unsealed before the last file has been validated.
    past = timezone.now() - timedelta(hours=1)
    sealed = Phase.objects.filter(benchmark__slug=HISTORY, slug="sealed")
    sealed.update(closes_at=past, sealed_until=past)
    wait(lambda: sealed.filter(unsealed_at=None).exists())
    settle()
    correct((fixtures / HISTORY / "splits" / "test.jsonl").read_text())
    settle()


def correct(gold: str) -> None:
    """Swap the labels of one group: everything is scored again, and the earlier boards are frozen."""
    items = [json.loads(line) for line in gold.splitlines()]
    for item in items:
        if item["group"] == items[0]["group"]:
            item["label"] = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}[item["label"]]
    client = Client(headers={"host": "localhost"})
    client.force_login(User.objects.get(username="curator"))
    base = f"/manage/benchmarks/{HISTORY}/splits/test"
    corrected = SimpleUploadedFile("gold.jsonl", "".join(f"{json.dumps(item)}\n" for item in items).encode())
    answer = client.post(f"{base}/gold/", {"file": corrected})
    assert answer.status_code == 302, answer.content.decode()
    settle()
    confirm = f"{base}/corrections/{Correction.objects.get().pk}/confirm/"
    answer = client.post(confirm, {"reason": "A label was wrong.", "tells_count": "on", "publishes_count": "on"})
    assert answer.status_code == 302, answer.content.decode()
    settle()
    states = set(Leaderboard.objects.filter(phase__benchmark__slug=HISTORY).values_list("phase__slug", "state"))
    assert {(phase, state) for phase in ("full", "ladder", "sealed") for state in ("current", "frozen")} == states


def settle() -> None:
    """Wait until no background work is left."""
    wait(is_busy)
    assert not Run.objects.exclude(state=State.DONE).exists(), list(Run.objects.exclude(state=State.DONE).values())


def is_busy() -> bool:
    leased = (
        model
        for model in apps.get_app_config("leaderboard").get_models()
        if {"state", "lease_until"} <= {field.name for field in model._meta.fields}
    )
    open_states = (State.QUEUED, State.RUNNING)
    return (
        any(model._base_manager.filter(state__in=open_states).exists() for model in leased)
        or Ranking.objects.exclude(covered=F("changes")).exists()
        or Leaderboard.objects.filter(state="preparing").exists()
    )


def wait(busy: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while busy():
        assert time.monotonic() < deadline, "the background work does not end"
        time.sleep(0.5)


def dump() -> dict[str, str]:
    return dict([*boards(), *submissions(), *scores()])


def boards() -> Iterator[tuple[str, str]]:
    client = Client(headers={"host": "localhost"})
    yield from fetched(client, "/api/v1/benchmarks/", "/api/v1/tasks/")
    for phase in Phase.objects.select_related("benchmark").order_by("benchmark__slug", "slug"):
        base = f"/api/v1/benchmarks/{phase.benchmark.slug}/phases/{phase.slug}/leaderboard"
        yield from fetched(client, f"/api/v1/benchmarks/{phase.benchmark.slug}/")
        made_of = phase.leaderboards.filter(state__in=("current", "frozen")).order_by("pk")
        numbers = made_of.values_list("gold_version__number", "task_version")
        versions = [{}, *({"gold_version": gold, "task_version": task} for gold, task in numbers)]
        today = timezone.now().date()
        dates = [{"as_of": day.isoformat()} for day in (today, today - timedelta(days=1))]
        head = client.get(f"{base}/").json()
        for version in [*versions, *dates]:
            paths = (
                [f"/?{urlencode(version | query)}" for query in queries(head)]
                if version != dates[1]
                else [f"/?{urlencode(version)}"]
            )
            shown = [urlencode(version | slices) for slices in ({}, {"slices": "all"})]
            paths += [f"{form}?{query}" for form in (".csv", ".tex", ".md") for query in shown]
            yield from fetched(client, *(base + query for query in paths))
        whole = [f"{form}?{urlencode(version)}" for form in WHOLE for version in versions]
        yield from fetched(client, *(base + query for query in whole))


def queries(head: dict[str, Any]) -> list[dict[str, Any]]:
    """Return all parameters of a board: slices, crossed slices, tracks, kinds, orders and pages."""
    dimensions = head["dimensions"]
    return [
        {},
        {"slices": "all"},
        {"page_size": 2, "page": 2},
        *({"slices": name} for name in dimensions),
        *({"slices": ",".join(pair)} for pair in combinations(dimensions, 2)),
        *({"slice": f"{name}:{value}"} for name, values in dimensions.items() for value in values),
        *({"track": name} for name in head["tracks"]),
        *({"kind": name} for name in ("participant", "baseline", "organiser")),
        *({"sort": sign + name} for name in head["measures"] for sign in ("", "-")),
    ]


def fetched(client: Client, *addresses: str) -> Iterator[tuple[str, str]]:
    for address in addresses:
        answer = client.get(address)
        media = answer.headers["Content-Type"]
        # A page without a receipt has a new CSRF token each time.
        body = "" if media.startswith("text/html") else answer.content.decode()
        yield address, f"{answer.status_code} {media}\n{body}"


def submissions() -> Iterator[tuple[str, str]]:
    """Yield the data that submitters see of each submission, in order of receipt."""
    client = Client(headers={"host": "localhost"})
    for number, submission in enumerate(Submission.objects.order_by("received_at"), 1):
        client.force_login(submission.submitted_by)
        versions = submission.predictions.values_list("runs__gold_version__number", "runs__task_version").order_by()
        named = [f"?gold_version={gold}&task_version={task}" for gold, task in sorted(set(versions)) if gold]
        api, page = f"/api/v1/submissions/{submission.pk}/", f"/submissions/{submission.pk}/receipt.json"
        for address, text in fetched(client, api, f"{api}scores/", *(page + query for query in ["", *named])):
            yield f"submission {number} {address.replace(str(submission.pk), submission.system.name)}", text


def scores() -> Iterator[tuple[str, str]]:
    """Yield all scores of each phase, shown or not, and the digests of the outcomes."""
    names = ("measure", "slice", "value", "low", "high", "n")
    for phase in Phase.objects.select_related("benchmark"):
        runs = Run.objects.filter(prediction__submission__phase=phase)
        lines = []
        for run in runs.order_by("prediction__submission__received_at", "gold_version__number"):
            made_of = [run.prediction.submission.system.name, run.gold_version.number, run.task_version]
            lines.append([*made_of, run.outcomes_sha256])
            rows = Score.objects.filter(run=run).values_list(*names)
            lines += sorted(([*made_of, *row] for row in rows), key=lambda line: json.dumps(line[3:5]))
        yield f"scores {phase.benchmark.slug} {phase.slug}", "".join(f"{json.dumps(line)}\n" for line in lines)


if __name__ == "__main__":
    action, path = sys.argv[1:]
    if action == "fill":
        fill(Path(path))
    else:
        Path(path).write_text(json.dumps(dump(), indent=0))
