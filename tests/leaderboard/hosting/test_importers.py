"""Published benchmarks hosted from their files: each published prediction gets its published score, within 1e-9."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.core.management import CommandError

from leaderboard.models import Benchmark, GoldVersion, Phase, Split, System, User
from tests.support.hosted_imports import (
    RefusedFile,
    Score,
    agree,
    by_action,
    by_api,
    by_form,
    host,
    inputs_of,
    phase_of,
)

pytest_plugins = ["tests.support.hosted_imports"]
pytestmark = [pytest.mark.realdata, pytest.mark.django_db]

MODES = {"span_overlap": "text", "span_exact": "exact", "uri": "link"}
LETTERS = {"P": "precision", "R": "recall", "F1": "f1"}
REFUSED_BY_THE_REFERENCE = ("missing_field", "integer_property_id")


def knowledgenet_scores(expected: dict[str, Any]) -> dict[tuple[str, str], float]:
    """The reference's table under our names; `all` is the overall score."""
    return {
        (f"{mode}_{letter}", "" if name == "all" else msgspec.json.encode({"property": name}).decode()): values[key]
        for published, mode in MODES.items()
        for name, values in expected[published].items()
        for key, letter in LETTERS.items()
    }


# Each interface submits one complete benchmark: handling of a file does not depend on the task.
@pytest.mark.parametrize("send", [by_action], indirect=True)
def test_knowledgenet(
    realdata: Path, curator: User, score: Score, sandbox: str, system: System, subtests: pytest.Subtests
) -> None:
    folder = realdata / "knowledgenet"
    host("knowledgenet", folder)
    phase = phase_of("knowledgenet", "fold-4")
    train, hidden, blind = (phase.split.dataset.splits.get(name=name) for name in ("train", "fold-4", "fold-5"))

    assert (train.gold_public, hidden.gold_public) == (True, False)
    assert phase.split == hidden
    assert train.current_gold.n_lines == 953 + 995 + 1007
    assert hidden.current_gold.n_lines == 1022
    assert blind.current_gold is None
    assert len(inputs_of(blind)) == 1014
    keys = {key for line in inputs_of(hidden) for passage in line["passages"] for key in passage}
    assert not keys & {"facts", "exhaustivelyAnnotatedProperties"}

    expected = json.loads((folder / "expected_fold_4.json").read_text())
    for path in sorted((folder / "predictions").glob("*.jsonl")):
        with subtests.test(path.stem):
            if path.stem in REFUSED_BY_THE_REFERENCE:
                with pytest.raises(RefusedFile, match=rf"{path.name}:\d+\b"):
                    score(phase, path)
                continue
            agree(score(phase, path), knowledgenet_scores(expected[path.stem]))


FEVER_NAMES = {"label_accuracy": "accuracy"}
# The reference divides by zero if no prediction is correct; by the protocol F1 is 0 then.
WHERE_THE_REFERENCE_FAILS = {"evidence_precision": 0.0, "evidence_recall": 0.0, "evidence_f1": 0.0}


@pytest.mark.parametrize("send", [by_form], indirect=True)
def test_fever(realdata: Path, curator: User, score: Score, sandbox: str, subtests: pytest.Subtests) -> None:
    folder = realdata / "fever"
    host("fever", folder)
    five = phase_of("fever", "paper-dev")
    assert five.options == {"max_evidence": "5"}
    assert five.split.current_gold.primary == "fever_score"
    assert {key for line in inputs_of(five.split) for key in line} == {"id", "claim"}
    phases = {"max_evidence_5": five}
    for limit in ("1", "none"):
        phases[f"max_evidence_{limit}"] = Phase.objects.create(
            benchmark=five.benchmark, slug=limit, title=limit, split=five.split, options={"max_evidence": limit}
        )
    expected = json.loads((folder / "expected.json").read_text())
    for path in sorted((folder / "predictions").glob("*.jsonl")):
        for name, values in expected[path.stem].items():
            printed = WHERE_THE_REFERENCE_FAILS if "error" in values else values
            expected_scores = {(FEVER_NAMES.get(key, key), ""): value for key, value in printed.items()}
            with subtests.test(path.stem, phase=name):
                agree(score(phases[name], path), expected_scores)


@pytest.mark.parametrize("send", [by_api], indirect=True)
def test_fever_symmetric(
    realdata: Path, curator: User, score: Score, sandbox: str, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    id_map = tmp_path / "ids.json"
    host("fever-symmetric", realdata / "symmetric", id_map=id_map)
    ids = json.loads(id_map.read_text())
    assert stat.S_IMODE(id_map.stat().st_mode) == 0o600
    assert {split.name: split.current_gold.n_lines for split in Split.objects.all()} == {
        "v0-1": 956,
        "v0-2-dev": 708,
        "v0-2-test": 712,
    }
    expected = json.loads((realdata / "symmetric" / "expected_accuracy.json").read_text())
    for version, name, column in (("v0.1_full", "v0-1", "full"), ("v0.2_dev", "v0-2-dev", "dev")):
        phase = phase_of("fever-symmetric", name)
        for path in sorted((realdata / "symmetric" / version / "predictions").glob("*.jsonl")):
            with subtests.test(path.stem, phase=name):
                translated = tmp_path / path.name
                translated.write_text(
                    "".join(
                        json.dumps({**line, "id": ids[line["id"]]}) + "\n"
                        for line in map(json.loads, path.read_text().splitlines())
                    )
                )
                agree(
                    score(phase, translated),
                    {("accuracy", ""): expected[f"fever_symmetric_{column}"][path.stem]},
                )


def test_a_second_import_changes_nothing(realdata: Path, curator: User, sandbox: str) -> None:
    arguments = ("fever-symmetric", realdata / "symmetric")
    host(*arguments, salt="one")
    golds = list(GoldVersion.objects.values_list("sha256", flat=True))
    assert "nothing was changed" in host(*arguments, salt="one")
    with pytest.raises(CommandError, match="same --salt"):
        host(*arguments, salt="another")
    assert list(GoldVersion.objects.values_list("sha256", flat=True)) == golds
    assert Benchmark.objects.count() == 1


@pytest.mark.parametrize("options", [{"salt": "pepper"}, {"salt_ids": True}, {"id_map": "ids.json"}])
def test_an_unused_option_is_refused(options: dict[str, Any], realdata: Path, curator: User) -> None:
    with pytest.raises(CommandError, match="keeps its published ids"):
        host("knowledgenet", realdata / "knowledgenet", **options)
    assert not Benchmark.objects.exists()


def test_a_user_must_be_named(realdata: Path, db: None) -> None:
    with pytest.raises(CommandError, match="no curator yet"):
        host("fever", realdata / "fever")
    for name in ("one", "two"):
        User.objects.create_user(name, f"{name}@holdout.example", "correct horse", is_curator=True)
    with pytest.raises(CommandError, match="--by USERNAME"):
        host("fever", realdata / "fever")
    User.objects.create_user("ada", "ada@holdout.example", "correct horse")
    with pytest.raises(CommandError, match="--by is ada, expected the username of a curator"):
        host("fever", realdata / "fever", by="ada")


def test_a_failed_import_leaves_no_id_map(realdata: Path, curator: User, tmp_path: Path, settings: Any) -> None:
    settings.SANDBOX_SOCKET = str(tmp_path / "nobody.sock")
    with pytest.raises(CommandError, match="serve sandbox"):
        host("fever-symmetric", realdata / "symmetric", id_map=tmp_path / "ids.json")
    assert not (tmp_path / "ids.json").exists()
    (tmp_path / "ids.json").write_text("mine")
    with pytest.raises(CommandError, match="cannot be written"):
        host("fever-symmetric", realdata / "symmetric", id_map=tmp_path / "ids.json")
    assert (tmp_path / "ids.json").read_text() == "mine"


def test_a_problem_is_located_in_the_published_file(
    realdata: Path, curator: User, sandbox: str, tmp_path: Path
) -> None:
    lines = (realdata / "symmetric" / "source" / "fever_symmetric_dev.jsonl").read_text().splitlines()
    lines[6] = lines[6].replace('"label": "', '"label": "NEITHER ')
    (tmp_path / "fever_symmetric_dev.jsonl").write_text("\n".join(lines))
    with pytest.raises(CommandError, match="NEITHER"):
        host("fever-symmetric", tmp_path)
    documents = (realdata / "knowledgenet" / "gold_folds_1_to_4.jsonl").read_text().splitlines()
    number = next(n for n, line in enumerate(documents, 1) if json.loads(line)["fold"] == 4 and n > 50)
    documents[number - 1] = documents[number - 1].replace('"documentText":', '"documentTexts":')
    (tmp_path / "train.json").write_text("\n".join(documents))
    with pytest.raises(CommandError, match=f"(?m)^train.json:{number}: "):
        host("knowledgenet", tmp_path)
