"""The digest covers all code that a sandbox job can run, so a server with other code is never taken for current."""

import shutil
from pathlib import Path

import grimp
import pytest

from evaluator import code_digest
from evaluator.tasks.registry import GROUP

ENTRY = ["evaluator.jobs", "evaluator.sandbox.process", "evaluator.sandbox.__main__"]
"""The modules that the sandbox server starts from."""


def module_of(path: Path) -> str:
    name = ".".join(["evaluator", *path.relative_to(code_digest.ROOT).with_suffix("").parts])
    return name.removesuffix(".__init__")


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    return grimp.build_graph("evaluator", cache_dir=None)


@pytest.mark.parametrize("start", ENTRY)
def test_every_module_that_the_sandbox_reaches_is_covered(imports: grimp.ImportGraph, start: str) -> None:
    reached = imports.find_upstream_modules(start, as_package=True) | imports.find_descendants(start) | {start}
    outside = reached - {module_of(path) for path in code_digest.covered_files()}
    assert len(reached) > 5
    assert not outside, f"add these modules, which jobs reach, to evaluator/code_digest.py: {sorted(outside)}"


def test_every_job_is_reached(imports: grimp.ImportGraph) -> None:
    reached = imports.find_upstream_modules("evaluator.jobs", as_package=True)
    assert {"evaluator.curation.audit.checks", "evaluator.curation.generators.scenarios"} <= reached


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    root = tmp_path / "evaluator"
    shutil.copytree(code_digest.ROOT, root, ignore=shutil.ignore_patterns("__pycache__"))
    return root


def test_a_copy_elsewhere_has_the_same_digest(copy: Path) -> None:
    assert code_digest.digest(copy) == code_digest.digest()


@pytest.mark.parametrize("file", ["curation/audit/checks.py", "jobs/score.py", "sandbox/process/child.py"])
def test_changing_moving_or_removing_a_file_changes_the_digest(copy: Path, file: str) -> None:
    digests = {code_digest.digest(copy)}
    (copy / file).write_bytes((copy / file).read_bytes() + b"\n")
    digests.add(code_digest.digest(copy))
    (copy / file).rename((copy / file).with_name("other.py"))
    digests.add(code_digest.digest(copy))
    (copy / file).with_name("other.py").unlink()
    assert len(digests | {code_digest.digest(copy)}) == 4


@pytest.mark.parametrize("file", ["cli/main.py", "sandbox/containers/docker.py"])
def test_a_file_that_no_job_reaches_does_not_change_the_digest(copy: Path, file: str) -> None:
    (copy / file).write_text("")
    assert code_digest.digest(copy) == code_digest.digest()


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the import path with a package, a package in a namespace and a single module that declare tasks."""
    folder = tmp_path / "installed"
    for name in ("riddles/__init__.py", "riddles/deep/rules.py", "space/puzzles/__init__.py", "single.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("raise AssertionError('not to be imported')\n")
    (folder / "riddles" / "words.txt").write_text("a\n")
    meta = folder / "riddles-1.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: riddles\nVersion: 1\n")
    declared = {"r": "riddles.deep.rules", "s": "riddles", "p": "space.puzzles", "m": "single", "gone": "no_such_one"}
    lines = "".join(f"{name} = {module}:TASK\n" for name, module in declared.items())
    (meta / "entry_points.txt").write_text(f"[holdout.tasks]\nown = evaluator.tasks.fact_checking:TASK\n{lines}")
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_the_digest_and_the_registry_use_one_entry_point_group() -> None:
    assert code_digest.TASKS == GROUP


def test_packages_of_installed_tasks_are_listed_once_and_not_imported(installed: Path) -> None:
    expected = [installed / "riddles", installed / "single.py", installed / "space" / "puzzles"]
    assert [path for path in code_digest.task_packages() if installed in path.parents] == expected


@pytest.mark.parametrize(
    "file", ["riddles/deep/rules.py", "riddles/words.txt", "space/puzzles/__init__.py", "single.py"]
)
def test_a_change_in_an_installed_task_changes_the_digest(installed: Path, file: str) -> None:
    packages = code_digest.task_packages()
    before = code_digest.digest(task_packages=packages)
    assert before == code_digest.digest(task_packages=reversed(packages)) != code_digest.digest()
    (installed / file).write_text("other\n")
    assert code_digest.digest(task_packages=packages) != before


def test_compiled_files_and_the_folder_do_not_change_the_digest(installed: Path, tmp_path: Path) -> None:
    before = code_digest.digest(task_packages=[installed / "riddles"])
    (installed / "riddles" / "__pycache__").mkdir()
    (installed / "riddles" / "__pycache__" / "x.pyc").write_text("")
    moved = shutil.move(installed / "riddles", tmp_path / "riddles")
    assert code_digest.digest(task_packages=[Path(moved)]) == before
