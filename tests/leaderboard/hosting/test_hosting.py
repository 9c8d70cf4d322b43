"""Actions on gold, splits and benchmarks, checked in the real sandbox."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from leaderboard.benchmarks.actions import benchmarks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import opened
from leaderboard.datasets.actions import datasets, lifecycle, splits
from leaderboard.models import AuditEntry, Benchmark, GoldVersion, Phase, QuotaCharge, Split, Submission
from leaderboard.submissions.actions import validation
from tests.support.rows.gold_uploads import close_all, edited, files_of, refusal, uploaded
from tests.support.rows.tiny_world import DRAFT, TASK, World, build, gold_lines, published

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(sandbox: str) -> World:
    return build()


def lines_of(gold: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(item).encode() + b"\n" for item in gold)


@pytest.fixture
def blank(world: World) -> Split:
    """A split without data, in the world's dataset."""
    return splits.create_split(
        dataset=world.split.dataset, name="other", kind="test", gold_public=False, options={}, by=world.curator
    )


@pytest.fixture(autouse=True)
def _close_files() -> Iterator[None]:
    yield
    close_all()


class TestGold:
    def test_the_first_version_writes_the_public_inputs(self, blank: Split, world: World) -> None:
        gold = splits.add_gold(split=blank, file=uploaded(gold_lines(), "gold.jsonl"), reason="first", by=world.curator)
        assert (gold.number, gold.n_units, gold.n_groups, gold.primary) == (1, 4, 1, "accuracy")
        assert gold.dimensions["origin"] == ["generated", "original"]
        with opened(blank.inputs) as inputs, opened(gold.file) as stored_gold:
            content = inputs.read()
            assert stored_gold.read() == gold_lines()
        assert {key for line in content.splitlines() for key in json.loads(line)} == {"id", "claim", "evidence_text"}
        assert (blank.inputs_sha256, blank.inputs_bytes) == (hashlib.sha256(content).hexdigest(), len(content))
        entry = AuditEntry.objects.get(action="gold.added")
        assert entry.actor == world.curator
        assert entry.detail["sha256"] == gold.sha256

    @pytest.mark.parametrize(
        ("content", "line"),
        [
            (b"", None),
            (gold_lines() + b"{}\n", 5),
            (gold_lines().replace(b'"label": "REFUTES"', b'"label": "MAYBE"', 1), 2),
            (gold_lines() + gold_lines(), 5),
            (b"\xef\xbb\xbf" + gold_lines(), 1),
        ],
    )
    def test_bad_gold_is_refused_with_its_line_and_stores_nothing(
        self, content: bytes, line: int | None, blank: Split, world: World
    ) -> None:
        stored = AuditEntry.objects.exclude(action="gold.refused")
        before = files_of("gold"), files_of("inputs"), stored.count()
        file = uploaded(content, "gold.jsonl")
        refused = refusal(splits.add_gold, split=blank, file=file, reason="first", by=world.curator)
        assert refused.code is Code.INVALID_GOLD
        assert [problem["line"] for problem in refused.problems][:1] == [line]
        assert refused.problems[0]["file"] == "gold.jsonl"
        assert (files_of("gold"), files_of("inputs"), stored.count()) == before
        blank.refresh_from_db()
        assert not blank.inputs

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda rows: rows.pop(), "3 members"),
            (lambda rows: rows[3].update(label="REFUTES"), "labels of members 1 and 4"),
            (lambda rows: rows[3].update(claim="another"), "claims of members 3 and 4"),
            (lambda rows: rows[1]["slices"].update(origin="original"), "2 members with origin original"),
        ],
    )
    def test_a_symmetric_split_is_checked_for_symmetry(
        self, change: Any, message: str, blank: Split, world: World
    ) -> None:
        file = uploaded(edited(change), "gold.jsonl")
        refused = refusal(splits.add_gold, split=blank, file=file, reason="first", by=world.curator)
        assert refused.code is Code.INVALID_GOLD
        assert message in refused.problems[0]["text"]

    def test_a_training_split_need_not_be_symmetric(self, world: World) -> None:
        train = splits.create_split(
            dataset=world.split.dataset, name="train", kind="train", gold_public=True, options={}, by=world.curator
        )
        file = uploaded(edited(lambda rows: rows.pop()), "gold.jsonl")
        assert splits.add_gold(split=train, file=file, reason="first", by=world.curator).n_units == 3

    @pytest.mark.parametrize("line", [{"kind": "x" * 201}, {"y" * 201: "a"}], ids=["value", "name"])
    def test_slice_names_must_fit_in_the_database(self, line: dict[str, str], blank: Split, world: World) -> None:
        """Otherwise the gold would be accepted, and every scoring on it would fail."""
        gold = [json.loads(text) for text in gold_lines().splitlines()]
        own = gold[1]["slices"]
        gold[1]["slices"] = own | line
        fields = {"split": blank, "reason": "first", "by": world.curator}
        refused = refusal(splits.add_gold, file=uploaded(lines_of(gold)), **fields)
        assert refused.code is Code.INVALID_GOLD and "201 characters" in refused.problems[0]["found"]
        gold[1]["slices"] = own | {name[:200]: value[:200] for name, value in line.items()}
        assert splits.add_gold(file=uploaded(lines_of(gold)), **fields).number == 1

    def test_the_same_file_makes_no_new_version(self, world: World) -> None:
        file = uploaded(gold_lines(), "gold.jsonl")
        refused = refusal(splits.add_gold, split=world.split, file=file, reason="again", by=world.curator)
        assert refused.code is Code.GOLD_UNCHANGED

    def test_inputs_with_submissions_are_fixed_and_answers_may_be_corrected(self, blank: Split, world: World) -> None:
        splits.add_gold(split=blank, file=uploaded(gold_lines(), "gold.jsonl"), reason="first", by=world.curator)
        lifecycle.publish_unaudited(split=blank, by=world.curator)
        world.submit(phase=benchmarks.add_phase(phase=phase(world, split=blank), by=world.curator))
        inputs, files = (blank.inputs_sha256, blank.inputs.name), (files_of("gold"), files_of("inputs"))
        other = edited(lambda rows: [row.update(claim=f"{row['claim']}!") for row in rows])
        file = uploaded(other, "gold.jsonl")
        refused = refusal(splits.add_gold, split=blank, file=file, reason="new claims", by=world.curator)
        assert refused.code is Code.INPUTS_CHANGED
        assert (files_of("gold"), files_of("inputs")) == files

        swapped = {"a1": "REFUTES", "a2": "SUPPORTS", "a3": "SUPPORTS", "a4": "REFUTES"}
        corrected = uploaded(gold_lines(swapped), "gold.jsonl")
        gold = splits.add_gold(split=blank, file=corrected, reason="labels were swapped", by=world.curator)
        assert gold.number == 2
        assert blank.current_gold == gold
        assert (blank.inputs_sha256, blank.inputs.name) == inputs
        assert GoldVersion.objects.get(split=blank, number=1).sha256 != gold.sha256

    def test_inputs_without_submissions_follow_the_gold_of_a_draft(
        self, world: World, django_capture_on_commit_callbacks: Any
    ) -> None:
        old = world.split.inputs.name
        Split.objects.update(**DRAFT)
        other = edited(lambda rows: [row.update(claim=f"{row['claim']}!") for row in rows])
        with django_capture_on_commit_callbacks(execute=True):
            splits.add_gold(
                split=world.split, file=uploaded(other, "gold.jsonl"), reason="new claims", by=world.curator
            )
        with opened(world.split.inputs) as inputs:
            assert b"claim 0!" in inputs.read()
        assert not world.split.inputs.storage.exists(old)

    def test_options_that_the_gold_does_not_support_are_named(self, world: World) -> None:
        options = {"cross": "origin,colour"}
        split = splits.create_split(
            dataset=world.split.dataset, name="x", kind="test", gold_public=False, options=options, by=world.curator
        )
        file = uploaded(gold_lines(), "gold.jsonl")
        refused = refusal(splits.add_gold, split=split, file=file, reason="first", by=world.curator)
        assert refused.code is Code.INVALID_GOLD
        assert "colour" in refused.message

    def test_an_organiser_uploads_gold_and_a_stranger_does_not(self, blank: Split, world: World) -> None:
        file = uploaded(gold_lines(), "gold.jsonl")
        refused = refusal(splits.add_gold, split=blank, file=file, reason="mine", by=world.researcher)
        assert refused.code is Code.NOT_AN_ORGANISER
        world.benchmark.organisers.add(world.researcher)
        assert splits.add_gold(split=blank, file=file, reason="mine", by=world.researcher).number == 1

    def test_a_dataset_in_use_is_not_discarded(self, world: World) -> None:
        refused = refusal(datasets.discard, dataset=world.split.dataset, by=world.curator)
        assert refused.code is Code.IN_USE
        assert GoldVersion.objects.count() == 1

    def test_an_unavailable_sandbox_is_a_server_error(
        self, blank: Split, world: World, settings: Any, tmp_path: Path
    ) -> None:
        settings.SANDBOX_SOCKET = str(tmp_path / "nobody.sock")
        file = uploaded(gold_lines(), "gold.jsonl")
        refused = refusal(splits.add_gold, split=blank, file=file, reason="first", by=world.curator)
        assert refused.code is Code.SANDBOX_UNAVAILABLE
        assert not blank.gold_versions.exists()


class TestInputsWithoutGold:
    def test_they_can_be_downloaded_and_have_no_phase(self, blank: Split, world: World) -> None:
        content = b'{"id": "q1", "claim": "c"}\n'
        splits.add_inputs(split=blank, file=uploaded(content), by=world.curator)
        assert blank.inputs_bytes == len(content)
        benchmarks.add_phase(phase=phase(world, split=blank), by=world.curator)
        refused = refusal(benchmarks.publish, benchmark=world.benchmark, by=world.curator)
        assert refused.code is Code.NOT_READY

    @pytest.mark.parametrize("content", [b"", b"{\n", b'{"id": "q1"}\n', b'{"claim": "c", "id": "q"}\n' * 2])
    def test_inputs_that_the_sandbox_cannot_read_are_refused(self, content: bytes, blank: Split, world: World) -> None:
        before = files_of("inputs")
        refused = refusal(splits.add_inputs, split=blank, file=uploaded(content), by=world.curator)
        assert refused.code is Code.INVALID_GOLD
        assert files_of("inputs") == before


def phase(world: World, **changes: Any) -> Phase:
    fields = {"slug": "later", "title": "Later", "split": world.split, "quota_per_day": 5, "quota_total": 50}
    return Phase(benchmark=world.benchmark, **{**fields, **changes})


class TestBenchmarks:
    def test_only_curators_create_benchmarks(self, world: World) -> None:
        fields = {"slug": "x", "title": "X", "task": TASK, "by": world.researcher}
        assert refusal(datasets.create, **fields).code is Code.NOT_AN_ORGANISER
        more = {"dataset": world.split.dataset, "summary": "s", "description": "", "rules": ""}
        assert refusal(benchmarks.create, **fields, **more).code is Code.NOT_AN_ORGANISER

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"slug": "tiny"}, Code.NAME_TAKEN),
            ({"slug": "no slug"}, Code.INVALID_VALUE),
            ({"title": ""}, Code.INVALID_VALUE),
            ({"task": "alchemy"}, Code.INVALID_VALUE),
            ({"task": "knowledge-base-population"}, Code.INVALID_VALUE),
        ],
    )
    def test_names_are_checked(self, changes: dict[str, str], code: Code, world: World) -> None:
        fields = {"slug": "fresh", "title": "Fresh", "task": TASK, "summary": "s", "description": "", "rules": ""}
        arguments = {**fields, "dataset": world.split.dataset, "by": world.curator, **changes}
        assert refusal(benchmarks.create, **arguments).code is code
        assert Benchmark.objects.count() == 1

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("a\u202eb", "contains a control character, U+202E"),
            ("a\x1b[31mb", "contains a control character, U+001B"),
            ("x" * 50_001, "has 50,001 characters; expected at most 50,000"),
        ],
    )
    @pytest.mark.parametrize("name", ["rules", "description", "licence", "citation"])
    def test_texts_are_checked_on_creation_as_on_change(self, name: str, text: str, message: str, world: World) -> None:
        fields = {"slug": "fresh", "title": "Fresh", "task": TASK, "by": world.curator}
        if name in ("licence", "citation"):
            refused = refusal(datasets.create, **fields, **{name: text})
        else:
            texts = {"summary": "s", "description": "", "rules": "", name: text}
            refused = refusal(benchmarks.create, **fields, **texts, dataset=world.split.dataset)
        assert refused.code is Code.INVALID_VALUE
        assert str(refused).startswith(f"The {name} {message}")
        assert Benchmark.objects.count() == 1

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"options": {"max_evidence": "many"}}, "max_evidence"),
            ({"options": {"speed": "1"}}, "unknown option"),
            ({"quota_per_day": 0}, "quota per day"),
            ({"opens_at": timezone.now(), "closes_at": timezone.now() - timedelta(days=1)}, "expected a later end"),
            ({"slug": "test"}, "A phase with the short name test already exists; expected another short name."),
        ],
    )
    def test_an_invalid_phase_is_refused(self, changes: dict[str, Any], message: str, world: World) -> None:
        assert message in str(refusal(benchmarks.add_phase, phase=phase(world, **changes), by=world.curator))
        assert Phase.objects.count() == 1

    def test_a_phase_needs_a_split_of_its_dataset(self, world: World) -> None:
        dataset = datasets.create(slug="far", title="Far", task=TASK, by=world.curator)
        far = splits.create_split(dataset=dataset, name="test", kind="test", gold_public=False, by=world.curator)
        refused = refusal(benchmarks.add_phase, phase=phase(world, split=far), by=world.curator)
        assert refused.code is Code.INVALID_VALUE


def test_predictions_for_inputs_replaced_meanwhile_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sender must download the inputs again. If the file were stored, it would be charged and then lack ids."""
    checked = validation.validate_now

    def check(**arguments: Any) -> Any:
        answer = checked(**arguments)
        second = gold_lines({"b1": "SUPPORTS", "b2": "REFUTES", "b3": "REFUTES", "b4": "SUPPORTS"})
        more = gold_lines() + second.replace(b'"g1"', b'"g2"').replace(b"claim ", b"another claim ")
        # Publication prevents this; the later check must work as well.
        Split.objects.update(**DRAFT)
        split = Split.objects.get(pk=world.split.pk)
        splits.add_gold(split=split, file=uploaded(more), reason="another group", by=world.curator)
        Split.objects.update(**published())
        return answer

    monkeypatch.setattr(validation, "validate_now", check)
    with pytest.raises(Refused, match="Download the new inputs"):
        world.submit()
    assert not Submission.objects.exists()
    assert not QuotaCharge.objects.exists()
