"""Receipts of submissions: their contents, and that others reproduce the scores from them and the public gold."""

from __future__ import annotations

import hashlib
import json
import platform
import random
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.test import Client

from evaluator import code_digest
from leaderboard.datasets.actions import lifecycle, splits
from leaderboard.evaluation import provenance, sandbox_client
from leaderboard.models import Phase, Run, Submission, User
from tests.support.rows.corrected_gold import score_all
from tests.support.rows.tiny_world import World, build, prediction_lines, uploaded

pytestmark = pytest.mark.django_db(transaction=True)
GROUPS = 12


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    return build()


def client_of(user: Any) -> Client:
    client = Client()
    client.force_login(user)
    return client


def gold_and_predictions() -> tuple[bytes, dict[str, str]]:
    """Gold of a few groups, with predictions of which some are wrong."""
    draw = random.Random(5)
    lines, answers = [], {}
    for number in range(5 * GROUPS):
        label, answer = (draw.choice(("SUPPORTS", "REFUTES")) for _ in range(2))
        answers[f"c{number}"] = label if draw.random() < 0.6 else answer
        lines.append(
            {"id": f"c{number}", "claim": f"claim {number}", "label": label, "group": f"g{number % GROUPS}"}
            | {"slices": {"kind": number % 2, "origin_of_text": draw.choice("ab")}}
        )
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines), answers


def seed_of_hidden(sha256: str) -> int:
    return int(hashlib.sha256(b"seed of hidden gold " + sha256.encode()).hexdigest()[:16], 16) // 2


def open_phase(world: World) -> tuple[Phase, dict[str, str]]:
    """A phase on a split with public gold, with options that change the scores."""
    gold, answers = gold_and_predictions()
    dev = splits.create_split(
        dataset=world.split.dataset, name="dev", kind="dev", gold_public=True, by=world.curator,
        options={"cross": "kind,origin_of_text"},
    )  # fmt: skip
    file = uploaded(gold)
    splits.add_gold(split=dev, file=file, reason="first", by=world.curator)
    file.close()
    lifecycle.publish(split=dev, by=world.curator)
    phase = world.benchmark.phases.create(slug="dev", title="Dev", split=dev, options={"max_evidence": "3"})
    return phase, answers


def test_page_and_api_have_the_complete_receipt(world: World) -> None:
    submission = world.submit()
    score_all()
    run = Run.objects.get()
    expected = {
        "task": "fact-verification",
        "task_version": 1,
        "options": {},
        "code_sha256": code_digest.SHA256,
        "gold_version": 1,
        "gold_sha256": hashlib.sha256(Path(world.gold.file.path).read_bytes()).hexdigest(),
        "inputs_sha256": hashlib.sha256(Path(world.split.inputs.path).read_bytes()).hexdigest(),
        "predictions_sha256": hashlib.sha256(prediction_lines()).hexdigest(),
        "seed": seed_of_hidden(world.gold.sha256),
        "resamples": site.RESAMPLES,
        "packages": {
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "msgspec": version("msgspec"),
        },
        "sandbox": dict(sandbox_client.ProcessSandbox(site.SANDBOX_SOCKET).layers()),
    }
    ada = client_of(world.researcher)
    api_receipt = client_of(world.curator).get(f"/api/v1/submissions/{submission.pk}/").json()["receipt"]
    assert {name: value for name, value in api_receipt.items() if not name.endswith("seconds")} == expected
    assert set(api_receipt) - set(expected) == {"seconds", "sandbox_start_seconds"}
    ada_receipt = ada.get(f"/api/v1/submissions/{submission.pk}/").json()["receipt"]
    hidden = ("gold_sha256", "seed")
    assert ada_receipt == {name: value for name, value in api_receipt.items() if name not in hidden}
    assert ada.get(f"/submissions/{submission.pk}/receipt.json").json()["receipt"] == ada_receipt
    page = client_of(world.curator).get(submission.get_absolute_url()).content.decode()
    section = page[page.index('id="receipt-title"') :]
    for name in ("code_sha256", "gold_sha256", "inputs_sha256", "predictions_sha256"):
        assert api_receipt[name] in section, name
    for words in (
        ">Fact verification</a>, version 1",
        f"1,000 resamples, seed {expected['seed']}",
        *expected["packages"],
        "seccomp",
    ):
        assert words in section, words
    assert run.outcomes_sha256 not in json.dumps(api_receipt) + page, "guesses about the gold could be tested with it"


def test_the_digest_of_hidden_gold_is_for_organisers_alone(world: World) -> None:
    """Whoever has it, or the seed that follows from it, can test guesses about the gold offline."""
    submission = world.submit()
    score_all()
    olive = User.objects.create_user("olive", "olive@holdout.example", "correct horse")
    world.benchmark.organisers.add(olive)
    addresses = [
        submission.get_absolute_url(),
        f"/submissions/{submission.pk}/state/",
        f"/submissions/{submission.pk}/receipt.json",
        f"/submissions/{submission.pk}/receipt.json?gold_version=1&task_version=1",
        f"/api/v1/submissions/{submission.pk}/",
        f"/api/v1/submissions/{submission.pk}/scores/",
        "/api/v1/submissions/",
        f"/systems/{world.system.pk}/",
        "/api/v1/benchmarks/tiny/phases/test/leaderboard/",
    ]

    seed = str(provenance.seed_of(world.gold))

    def readable(reader: User) -> list[bool]:
        answers = [client_of(reader).get(address) for address in addresses]
        assert {answer.status_code for answer in answers} == {200}, [answer.status_code for answer in answers]
        contents = [answer.content.decode() for answer in answers]
        shown = [world.gold.sha256 in content for content in contents]
        assert [seed in content for content in contents] == shown
        return shown

    assert not any(readable(world.researcher))
    organiser_sees = [True] * 5 + [False] * 4
    assert readable(olive) == readable(world.curator) == organiser_sees
    world.split.gold_public = True
    world.split.save()
    assert readable(world.researcher) == organiser_sees, "everybody can download public gold"


def test_there_is_no_receipt_before_scoring_nor_for_strangers(world: World) -> None:
    submission = world.submit()
    url = f"/submissions/{submission.pk}/receipt.json"
    ada = client_of(world.researcher)
    assert ada.get(url).status_code == 404
    score_all()
    answer = ada.get(url)
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == 'attachment; filename="receipt.json"'
    assert "no-store" in answer["Cache-Control"]
    assert Client().get(url).status_code == 302


def test_others_reproduce_the_scores_from_the_public_gold(world: World, tmp_path: Path) -> None:
    phase, answers = open_phase(world)
    submission = world.submit(answers, phase=phase)
    score_all()
    ada, anonymous = client_of(world.researcher), Client()
    receipt = json.loads(ada.get(f"/submissions/{submission.pk}/receipt.json").content)
    files = {
        "GOLD": b"".join(anonymous.get("/benchmarks/tiny/splits/dev/gold.jsonl").streaming_content),
        "PREDICTIONS": b"".join(ada.get(f"/submissions/{submission.pk}/predictions/").streaming_content),
    }
    assert hashlib.sha256(files["GOLD"]).hexdigest() == receipt["receipt"]["gold_sha256"]
    assert hashlib.sha256(files["PREDICTIONS"]).hexdigest() == receipt["receipt"]["predictions_sha256"]
    words = shlex.split(receipt["command"])
    assert words[:4] == ["python", "-m", "evaluator", "score"]
    assert "max_evidence=3" in words and "cross=kind,origin_of_text" in words
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        words[words.index(name)] = str(tmp_path / name)
    process = subprocess.run([sys.executable, *words[1:]], cwd=site.ROOT, capture_output=True, check=True)
    scores = json.loads(process.stdout)
    assert scores["scores"] == receipt["scores"]
    assert scores["task_version"] == receipt["receipt"]["task_version"]
    primary = next(row for row in scores["scores"] if row["measure"] == receipt["primary"] and not row["slice"])
    n_correct = sum(answers[line["id"]] == line["label"] for line in map(json.loads, files["GOLD"].splitlines()))
    assert primary["value"] == n_correct / len(answers)
    assert primary["low"] < primary["value"] < primary["high"]
    assert any(len(row["slice"]) == 2 for row in scores["scores"]), "the option's two-way slices are there"


def test_organisers_reproduce_the_interval_on_hidden_gold_from_its_secret_seed(sandbox: str, tmp_path: Path) -> None:
    gold, answers = gold_and_predictions()
    world = build(gold_content=gold)
    submission = world.submit(answers)
    score_all()
    words = shlex.split(client_of(world.curator).get(f"/submissions/{submission.pk}/receipt.json").json()["command"])
    for name, content in (("GOLD", gold), ("PREDICTIONS", prediction_lines(answers))):
        (tmp_path / name).write_bytes(content)
        words[words.index(name)] = str(tmp_path / name)
    process = subprocess.run([sys.executable, *words[1:]], cwd=site.ROOT, capture_output=True, check=True)
    assert json.loads(process.stdout)["scores"] == list(
        Run.objects.get().scores.order_by("pk").values("measure", "slice", "value", "low", "high", "n")
    )
    words[words.index("--seed") + 1] = "0"
    process = subprocess.run([sys.executable, *words[1:]], cwd=site.ROOT, capture_output=True, check=True)
    assert json.loads(process.stdout)["scores"][0]["low"] != Run.objects.get().scores.order_by("pk")[0].low
    ada = client_of(world.researcher)
    assert shlex.split(ada.get(f"/submissions/{submission.pk}/receipt.json").json()["command"])[-2:] == [
        "SEED",
        "--json",
    ]


def test_an_older_receipt_has_no_command(world: World) -> None:
    submission = world.submit()
    score_all()
    old = {"task_version": 1, "seed": 0, "resamples": 1000}
    Run.objects.update(provenance=old)
    answer = client_of(world.curator).get(f"/submissions/{submission.pk}/receipt.json").json()
    assert (answer["receipt"], answer["command"]) == (old, "")
    page = client_of(world.researcher).get(Submission.objects.get().get_absolute_url())
    assert page.status_code == 200
