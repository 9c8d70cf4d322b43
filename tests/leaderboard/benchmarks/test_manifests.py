"""Benchmarks from manifests: created once, resumed after an interruption, never taken over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from leaderboard.accounts.actions import teams
from leaderboard.archives.actions import manifest_of
from leaderboard.benchmarks.manifest import ManifestError, convert
from leaderboard.core.refusal import Code
from leaderboard.datasets.actions import datasets
from leaderboard.evaluation import sandbox_client
from leaderboard.hosting import host
from leaderboard.models import AuditEntry, Benchmark, Dataset, Download, GoldVersion, Phase, Split, Submission, User
from leaderboard.models.benchmark import LADDER_LEAST_GROUPS
from tests.support.rows.gold_uploads import files_of, refusal
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import LABELS, TASK, World, build, gold_lines

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


world, _django_db_helper = shared_states(world=build)


SYSTEM = {"name": "A system", "team": "A team", "phase": "test"}
PAGES = {"name": "pages", "file": "pages.txt", "title": "The pages"}


def manifest(**changes: Any) -> dict[str, Any]:
    content = {
        "slug": "small",
        "title": "Small",
        "task": TASK,
        "summary": "Four claims.",
        "description": ["One paragraph.", "Another."],
        "splits": [
            {"name": "dev", "kind": "dev", "gold": "dev.jsonl", "gold_public": True},
            {"name": "test", "kind": "test", "gold": "test.jsonl"},
        ],
        "phases": [{"slug": "test", "title": "Test", "split": "test", "quota_per_day": 7}],
        "reported": [
            {
                "system": "Someone",
                "paper": "A paper",
                "split": "elsewhere",
                "values": [{"measure": "accuracy", "value": 0.5, "shown": "50.0"}],
            }
        ],
    }
    return {**content, **changes}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "test.jsonl").write_bytes(gold_lines())
    (tmp_path / "dev.jsonl").write_bytes(gold_lines().replace(b"claim", b"CLAIM", 8).replace(b'"CLAIM":', b'"claim":'))
    return tmp_path


@pytest.fixture
def curator(sandbox: str) -> User:
    return User.objects.create_user("curator", "curator@holdout.example", "correct horse", is_curator=True)


def halved(**subset: str) -> dict[str, Any]:
    """A manifest with one phase on a subset of its gold's groups."""
    splits = [{"name": "test", "kind": "test", "gold": "test.jsonl", "public_share": "0.5"}]
    return manifest(splits=splits, phases=[{"slug": "test", "title": "Test", "split": "test", **subset}])


DESCRIBED = {
    "contact": "help@holdout.example",
    "questions_url": "https://forum.example/tiny",
    "paper_url": "https://papers.example/1",
    "organisers": ["Ada King, Analytical Society, https://ada.example", "The Society"],
    "access": "approval",
    "asks_agreement": True,
    "teams_may_hide": False,
    "main_phase": "test",
    "facts": [{"name": "parameters", "title": "Parameters", "kind": "number"}],
    "rules": "No cheating.",
    "licence": "CC-BY-4.0",
}


class TestDescribedBenchmark:
    """What organisers set on pages of their own is in the manifest too."""

    def test_it_is_hosted_and_written_again(self, folder: Path, curator: User) -> None:
        phase = {"slug": "test", "title": "Test", "split": "test", "time_zone": "Europe/Berlin"}
        document = manifest(**DESCRIBED, phases=[phase])
        benchmark = Benchmark.objects.get(pk=host.host(manifest=document, folder=folder, by=curator).benchmark.pk)
        assert benchmark.organisers_with_links[0] == ("Ada King, Analytical Society", "https://ada.example")
        written = msgspec.to_builtins(manifest_of.manifest_of(benchmark))
        assert {name: written[name] for name in DESCRIBED} == DESCRIBED
        assert written["phases"][0]["time_zone"] == "Europe/Berlin"
        assert convert(written) == manifest_of.manifest_of(benchmark)

    def test_it_is_hosted_as_a_private_benchmark(self, folder: Path, curator: User) -> None:
        hosted = host.host(manifest=manifest(access="invited"), folder=folder, by=curator)
        benchmark = Benchmark.objects.get(pk=hosted.benchmark.pk)
        assert benchmark.state == Benchmark.State.PRIVATE
        written = manifest_of.manifest_of(benchmark)
        assert (written.access, written.public) == ("invited", True)

    def test_an_older_manifest_gets_the_keys_later(self, folder: Path, curator: User) -> None:
        host.host(manifest=manifest(), folder=folder, by=curator)
        later = manifest(**DESCRIBED, **{"$schema": "https://holdout.example/schemas/benchmark.json"})
        assert not host.host(manifest=later, folder=folder, by=curator).changed
        assert Benchmark.objects.get().contact == "", "organisers may have edited it since"

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"main_phase": "other"}, "main_phase is 'other'; expected a phase of this manifest: test"),
            ({"asks_agreement": True}, "there are no rules to agree to"),
            ({"facts": DESCRIBED["facts"] * 2}, "fact parameters is listed twice"),  # type: ignore[operator]
            ({"access": "all"}, "Invalid enum value 'all'"),
        ],
    )
    def test_invalid_keys(self, changes: dict[str, Any], message: str) -> None:
        with pytest.raises(ManifestError, match=message):
            convert(manifest(**changes))

    def test_an_address_that_a_page_would_refuse(self, folder: Path, curator: User) -> None:
        document = manifest(paper_url="javascript:alert(1)")
        refused = refusal(host.host, manifest=document, folder=folder, by=curator)
        assert (refused.code, "paper url" in str(refused)) == (Code.INVALID_VALUE, True)
        assert not Benchmark.objects.exists()


SHOWN = {"exact_scores": True, "least_groups": 3, "detailed_answers": None, "afterwards": "improvements"}


def shown(phase: Phase) -> tuple[Any, ...]:
    return phase.disclosure, phase.scope, phase.least_groups, phase.quota_per_day, phase.quota_total


class TestDefaults:
    """What a phase is without the keys that say it."""

    def phases(self, folder: Path, curator: User, **keys: Any) -> dict[str, Phase]:
        parts = [{"slug": name, "title": name, "split": name, **keys} for name in ("dev", "test")]
        hosted = host.host(manifest=manifest(phases=parts), folder=folder, by=curator)
        return {phase.slug: phase for phase in hosted.benchmark.phases.all()}

    def test_a_phase_on_hidden_gold_is_a_ladder(self, folder: Path, curator: User) -> None:
        phases = self.phases(folder, curator)
        usual = Phase()
        quotas = (usual.quota_per_day, usual.quota_total)
        assert shown(phases["test"]) == ("ladder", "task", LADDER_LEAST_GROUPS, *quotas)
        assert shown(phases["dev"]) == ("full", usual.scope, usual.least_groups, *quotas)
        assert not phases["test"].exact_scores and phases["test"].detailed_answers == 0

    def test_what_a_manifest_says_is_kept(self, folder: Path, curator: User) -> None:
        phases = self.phases(folder, curator, disclosure="ladder", scope="team", quota_everybody=9, **SHOWN)
        for phase in phases.values():
            assert (phase.disclosure, phase.scope) == ("ladder", "team")
            assert {name: getattr(phase, name) for name in SHOWN} == SHOWN

    def test_all_of_it_is_written(self, folder: Path, curator: User) -> None:
        self.phases(folder, curator)
        written = msgspec.to_builtins(manifest_of.manifest_of(Benchmark.objects.get()))["phases"][1]
        names = ("disclosure", "scope", "quota_per_day", "quota_total", *SHOWN)
        phase = Phase.objects.get(slug="test")
        assert {name: written[name] for name in names} == {name: getattr(phase, name) for name in names}

    @pytest.mark.parametrize(
        "wrong",
        [{"disclosure": ""}, {"least_groups": 0}, {"detailed_answers": -1}, {"afterwards": "x"}, {"quota_total": None}],
    )
    def test_values_that_no_phase_has(self, wrong: dict[str, Any]) -> None:
        (phase,) = manifest()["phases"]
        with pytest.raises(ManifestError, match=f"phases.*{next(iter(wrong))}"):
            convert(manifest(phases=[{**phase, **wrong}]))

    def test_a_phase_that_has_another_policy_by_now_is_reported(self, folder: Path, curator: User) -> None:
        host.host(manifest=manifest(), folder=folder, by=curator)
        Phase.objects.update(disclosure="full")
        messages: list[str] = []
        assert not host.host(manifest=manifest(), folder=folder, by=curator, say=messages.append).changed
        assert "test has the disclosure policy full; it was not changed to ladder" in messages[0]
        assert Phase.objects.get().disclosure == "full"


class TestHosting:
    def test_everything_in_a_manifest_is_created(self, folder: Path, curator: User) -> None:
        hosted = host.host(manifest=manifest(), folder=folder, by=curator)
        benchmark = hosted.benchmark
        assert hosted.changed
        assert benchmark.state == Benchmark.State.PUBLIC
        assert benchmark.description == "One paragraph.\n\nAnother."
        assert [(p.slug, p.quota_per_day, p.split.name) for p in benchmark.phases.all()] == [("test", 7, "test")]
        assert {s.name: s.gold_public for s in benchmark.dataset.splits.all()} == {"dev": True, "test": False}
        assert all(s.current_gold.n_units == 4 for s in benchmark.dataset.splits.all())
        assert [row.values for row in benchmark.reported_results.all()] == [
            [{"measure": "accuracy", "value": 0.5, "shown": "50.0", "slice": {}}]
        ]

    def test_hosting_the_same_manifest_again_changes_nothing(self, folder: Path, curator: User) -> None:
        host.host(manifest=manifest(), folder=folder, by=curator)
        entries, files, messages = AuditEntry.objects.count(), files_of("gold"), []
        rehosted = host.host(manifest=manifest(), folder=folder, by=curator, say=messages.append)
        assert not rehosted.changed
        assert "nothing was changed" in messages[-1]
        assert (AuditEntry.objects.count(), files_of("gold")) == (entries, files)

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"title": "Other"}, "title"),
            ({"phases": [{"slug": "test", "title": "Test", "split": "dev"}]}, "phases"),
            ({"reported": []}, "reported"),
        ],
    )
    def test_changed_content_is_refused_by_name(
        self, changes: dict[str, Any], message: str, folder: Path, curator: User
    ) -> None:
        host.host(manifest=manifest(), folder=folder, by=curator)
        refused = refusal(host.host, manifest=manifest(**changes), folder=folder, by=curator)
        assert refused.code is Code.NAME_TAKEN
        assert f"other content: {message}." in str(refused)

    def test_reworded_texts_and_answers_are_the_same_content(self, folder: Path, curator: User) -> None:
        """Organisers edit the texts on pages; those of a later release do not replace them."""
        host.host(manifest=manifest(), folder=folder, by=curator)
        reworded = manifest(summary="Other", description="Other", rules="Other", audit_answers={"one-label": "Known."})
        hosted = host.host(manifest=reworded, folder=folder, by=curator)
        assert not hosted.changed and hosted.benchmark.description == "One paragraph.\n\nAnother."

    def test_changed_gold_is_refused(self, folder: Path, curator: User) -> None:
        host.host(manifest=manifest(), folder=folder, by=curator)
        (folder / "test.jsonl").write_bytes(gold_lines(dict(reversed(LABELS.items()))))
        refused = refusal(host.host, manifest=manifest(), folder=folder, by=curator)
        assert "file test.jsonl" in str(refused)

    def test_a_persons_dataset_is_not_taken_over(self, folder: Path, curator: User) -> None:
        datasets.create(slug="small", title="Small", task=TASK, by=curator)
        assert "was not hosted from a manifest" in str(
            refusal(host.host, manifest=manifest(), folder=folder, by=curator)
        )

    def test_an_interrupted_import_is_resumed(
        self, folder: Path, curator: User, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prepare_gold = sandbox_client.prepare_gold
        calls: list[str] = []

        def away_the_second_time(files: Any, **arguments: Any) -> Any:
            calls.append(arguments["gold_name"])
            if len(calls) == 2:
                raise sandbox_client.SandboxError("gone")
            return prepare_gold(files, **arguments)

        monkeypatch.setattr(sandbox_client, "prepare_gold", away_the_second_time)
        assert refusal(host.host, manifest=manifest(), folder=folder, by=curator).code is Code.SANDBOX_UNAVAILABLE
        assert not Benchmark.objects.exists()
        host.host(manifest=manifest(), folder=folder, by=curator)
        assert calls == ["dev.jsonl", "test.jsonl", "test.jsonl"]
        assert Benchmark.objects.get().state == Benchmark.State.PUBLIC
        assert (Dataset.objects.count(), Split.objects.count(), GoldVersion.objects.count()) == (1, 2, 2)

    def test_an_error_can_be_corrected_under_the_same_slug(
        self, folder: Path, curator: User, django_capture_on_commit_callbacks: Any
    ) -> None:
        before = files_of("gold"), files_of("inputs")
        content = (folder / "test.jsonl").read_bytes()
        (folder / "test.jsonl").write_bytes(content.replace(b'"label": "REFUTES"', b'"label": "MAYBE"', 1))
        refused = refusal(host.host, manifest=manifest(), folder=folder, by=curator)
        assert (refused.code, refused.problems[0]["line"]) == (Code.INVALID_GOLD, 2)
        (folder / "test.jsonl").write_bytes(content)
        with django_capture_on_commit_callbacks(execute=True):
            assert host.host(manifest=manifest(), folder=folder, by=curator).changed
        assert (Dataset.objects.count(), Split.objects.count(), GoldVersion.objects.count()) == (1, 2, 2)
        assert [len(files_of(name) - old) for name, old in zip(("gold", "inputs"), before, strict=True)] == [2, 2]

    def test_an_existing_benchmark_of_that_name_is_not_taken_over(self, folder: Path, world: World) -> None:
        content = manifest(slug="elsewhere")
        Benchmark.objects.filter(pk=world.benchmark.pk).update(slug="elsewhere")
        refused = refusal(host.host, manifest=content, folder=folder, by=world.curator)
        assert "on another dataset" in str(refused)
        assert Dataset.objects.count() == 1

    def test_a_phase_may_start_to_accept_images(self, folder: Path, curator: User) -> None:
        host.host(manifest=manifest(), folder=folder, by=curator)
        (phase,) = manifest()["phases"]
        changed = manifest(phases=[{**phase, "takes_images": True, "limits": {"wall_seconds": 60}}])
        messages: list[str] = []
        hosted = host.host(manifest=changed, folder=folder, by=curator, say=messages.append)
        hosted_phase = hosted.benchmark.phases.get()
        assert (hosted.changed, hosted_phase.takes_images, hosted_phase.limits) == (True, True, {"wall_seconds": 60})
        assert "1 phases now accept images" in messages[-1]
        assert not host.host(manifest=changed, folder=folder, by=curator).changed

        other = manifest(phases=[{**phase, "takes_images": True, "limits": {"wall_seconds": 90}}])
        assert not host.host(manifest=other, folder=folder, by=curator, say=messages.append).changed
        assert "test has other container limits; they were not changed" in messages[-2]
        hosted_phase.refresh_from_db()
        assert hosted_phase.limits == {"wall_seconds": 60}

    def test_a_phase_may_get_tracks_until_something_is_submitted(self, folder: Path, curator: User) -> None:
        host.host(manifest=manifest(), folder=folder, by=curator)
        (phase,) = manifest()["phases"]

        def with_tracks(*names: str) -> dict[str, Any]:
            return manifest(phases=[{**phase, "tracks": [{"name": name, "title": name.upper()} for name in names]}])

        assert host.host(manifest=with_tracks("a", "b"), folder=folder, by=curator).changed
        assert not host.host(manifest=with_tracks("a", "b"), folder=folder, by=curator).changed
        hosted_phase = Phase.objects.get()
        assert [track["name"] for track in hosted_phase.tracks] == ["a", "b"]
        system = teams.system(team=teams.create(name="Team", by=curator), name="System", by=curator)
        Submission.objects.create(
            phase=hosted_phase, system=system, track="a", submitted_by=curator, received_at=hosted_phase.created_at
        )
        messages: list[str] = []
        assert not host.host(manifest=with_tracks("b"), folder=folder, by=curator, say=messages.append).changed
        assert "the tracks of the phase test were not changed" in messages[0]

    @pytest.mark.parametrize("part", ["systems", "reported"])
    def test_an_unknown_track_is_refused(self, folder: Path, curator: User, part: str) -> None:
        tracks = {
            "systems": {"name": "S", "team": "T", "phase": "test", "predictions": "x.jsonl", "track": "a"},
            "reported": {**manifest()["reported"][0], "track": "a"},
        }[part]
        with pytest.raises(ManifestError, match="track is 'a'; expected"):
            host.host(manifest=manifest(**{part: [tracks]}), folder=folder, by=curator)

    def test_a_draft_stays_a_draft(self, folder: Path, curator: User) -> None:
        hosted = host.host(manifest=manifest(public=False), folder=folder, by=curator)
        assert hosted.benchmark.state == Benchmark.State.DRAFT
        splits = hosted.benchmark.dataset.splits
        assert {*splits.values_list("state", flat=True)} == {"draft"}

    def test_a_public_manifest_is_published_without_an_audit(self, folder: Path, curator: User) -> None:
        hosted = host.host(manifest=manifest(), folder=folder, by=curator)
        assert {*hosted.benchmark.dataset.splits.values_list("state", flat=True)} == {"published"}
        acts = AuditEntry.objects.filter(action="split.published")
        assert [entry.detail["unaudited"] for entry in acts] == [True] * hosted.benchmark.dataset.splits.count()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            ({"colour": "blue"}, "colour"),
            ({"slug": "No Slug"}, "slug"),
            ({"phases": []}, "phases"),
            (
                {"phases": [{"slug": "test", "title": "Test", "split": "nowhere"}]},
                "'nowhere'; expected a split with gold: dev, test",
            ),
            ({"splits": [{"name": "test", "kind": "test"}]}, "neither of the keys gold and inputs"),
            ({"splits": [{"name": "test", "kind": "test", "gold": "absent.jsonl"}]}, "absent.jsonl cannot be read"),
            ({"splits": [{"name": "test", "kind": "test", "gold": "../../etc/passwd"}]}, "outside"),
            ({"splits": [{"name": "test", "kind": "test", "gold": "test.jsonl"}] * 2}, "is listed twice"),
            ({"systems": [SYSTEM]}, "system A system has neither of the keys predictions and image"),
            ({"systems": [{**SYSTEM, "predictions": "a.jsonl", "image": "../a"}]}, "has both of the keys"),
            (
                {"systems": [{**SYSTEM, "image": "../a"}]},
                "is an image: phase is 'test'; expected a phase that accepts images, but the manifest has none",
            ),
            ({"downloads": [PAGES, PAGES]}, "download pages is listed twice"),
            ({"downloads": [{**PAGES, "file": "absent.txt"}]}, "absent.txt cannot be read"),
            ({"downloads": [{**PAGES, "file": "../pages.txt"}]}, "outside"),
            ({"downloads": [{**PAGES, "file": "test.jsonl"}]}, "is hidden gold"),
        ],
    )
    def test_an_invalid_manifest_is_refused_with_a_reason(
        self, changes: dict[str, Any], message: str, folder: Path, curator: User
    ) -> None:
        with pytest.raises(ManifestError) as fault:
            host.host(manifest=manifest(**changes), folder=folder, by=curator)
        assert message in str(fault.value)
        assert not Dataset.objects.exists()
        assert not Submission.objects.exists()


class TestDownloads:
    @pytest.fixture(autouse=True)
    def pages(self, folder: Path) -> Path:
        path = folder / "pages.txt"
        path.write_bytes(b"a page")
        return path

    def names(self) -> list[str]:
        return [f"{file.name}{file.suffix}" for file in Download.objects.all()]

    def test_files_are_added_with_the_benchmark(self, folder: Path, curator: User) -> None:
        host.host(manifest=manifest(downloads=[PAGES]), folder=folder, by=curator)
        assert self.names() == ["pages.txt"]
        assert not host.host(manifest=manifest(downloads=[PAGES]), folder=folder, by=curator).changed

    def test_files_may_be_added_to_a_hosted_benchmark(self, folder: Path, curator: User) -> None:
        host.host(manifest=manifest(), folder=folder, by=curator)
        (folder / "more.tsv").write_bytes(b"more")
        downloads = [PAGES, {"name": "more", "file": "more.tsv", "title": "More"}]
        messages: list[str] = []
        assert host.host(manifest=manifest(downloads=downloads), folder=folder, by=curator, say=messages.append).changed
        assert "2 new downloads" in messages[-1]
        assert self.names() == ["pages.txt", "more.tsv"]
        assert not host.host(manifest=manifest(), folder=folder, by=curator).changed
        assert self.names() == ["pages.txt", "more.tsv"]

    def test_a_file_on_offer_is_not_removed(self, folder: Path, pages: Path, curator: User) -> None:
        host.host(manifest=manifest(downloads=[PAGES]), folder=folder, by=curator)
        pages.write_bytes(b"another page")
        refused = refusal(host.host, manifest=manifest(downloads=[PAGES]), folder=folder, by=curator)
        assert (refused.code, "small/pages.txt" in str(refused)) == (Code.NAME_TAKEN, True)

    def test_an_error_can_be_corrected_together_with_its_file(
        self, folder: Path, pages: Path, curator: User, django_capture_on_commit_callbacks: Any
    ) -> None:
        before = files_of("inputs")
        twice = manifest()["reported"] * 2
        content = manifest(downloads=[PAGES], reported=twice)
        assert refusal(host.host, manifest=content, folder=folder, by=curator).code is Code.NAME_TAKEN
        pages.write_bytes(b"another page")
        with django_capture_on_commit_callbacks(execute=True):
            host.host(manifest=manifest(downloads=[PAGES]), folder=folder, by=curator)
        assert Download.objects.get().bytes == len(b"another page")
        assert len(files_of("inputs") - before) == 3
