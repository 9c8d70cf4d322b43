"""`holdout-eval run` before it contacts an engine: arguments that it accepts and refuses."""

from __future__ import annotations

import builtins
import gzip
import io
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path

import pytest

from evaluator.cli.local import files, run
from evaluator.cli.main import main
from evaluator.cli.sizes import read_size, size_text
from evaluator.errors import UsageError
from evaluator.sandbox.containers.system_contract import SystemLimits
from leaderboard.evaluation import container_limits

INPUTS = b'{"id": "a1", "claim": "c", "evidence_text": "e"}\n'
COMPRESSED = gzip.compress(INPUTS)
RUN = ["run", "some-image", "--task", "fact-verification", "--inputs", "inputs.jsonl"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "inputs.jsonl").write_bytes(INPUTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody-listens.sock")
    return tmp_path


def options(**changes: str | None) -> Namespace:
    return Namespace(**{"seconds": None, "memory": None, "cpus": None, "processes": None, **changes})


def test_default_limits_equal_the_servers() -> None:
    defaults, servers = vars(run._limits(options())), container_limits.defaults().as_dict()
    shared = set(defaults) & set(servers)
    assert shared == set(servers) - {"image_bytes", "gpus", "gpu_memory_gb"}
    assert {name: defaults[name] for name in shared} == {name: servers[name] for name in shared}


def test_limits_follow_the_options() -> None:
    limits = run._limits(options(seconds="2.5", memory="512MB", cpus="0.5", processes="7"))
    assert limits == SystemLimits(wall_seconds=2.5, memory_bytes=512_000_000, cpus=0.5, processes=7)


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GB", 4 * 10**9), ("4g", 4 * 10**9), ("2GiB", 2 << 30), ("1.5 MB", 1_500_000), ("77", 77), ("3kB", 3000)],
)
def test_sizes(text: str, size: int) -> None:
    assert read_size("memory", text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "4 TB", "1e9", "0x10", "٤GB", "4GB please"])
def test_an_invalid_size_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected a size"):
        read_size("memory", text)


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (169_149_640, "169 MB"), (4 * 10**9, "4 GB")],
)
def test_sizes_for_people(number: int, text: str) -> None:
    assert size_text(number) == text


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--seconds", "soon"], '--seconds is "soon", expected a number'),
        (["--processes", "1.5"], '--processes is "1.5", expected a whole number'),
        (["--seconds", "0"], "limit wall_seconds is 0.0"),
        (["--cpus", "nan"], "limit cpus is nan"),
        (["--memory", "1kB"], "limit memory_bytes is 1000"),
        (["--task", "guessing"], "guessing"),
        (["--option", "nonsense=1"], "nonsense"),
        (["--inputs", "absent.jsonl"], "absent.jsonl"),
        (["--output", "no/such/folder/p.jsonl"], "expected a file in an existing folder"),
        (["--output", "."], "expected a file in an existing folder"),
    ],
)
def test_wrong_usage(more: list[str], text: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = {**dict(zip(RUN[2::2], RUN[3::2], strict=True)), more[0]: more[1]}
    assert main([*RUN[:2], *(word for option in given.items() for word in option)]) == 64
    assert text in capsys.readouterr().err


def test_an_existing_file_is_overwritten_only_if_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "predictions.jsonl").write_text("precious")
    assert main(RUN) == 64
    assert "--output FILE" in capsys.readouterr().err
    assert (folder / "predictions.jsonl").read_text() == "precious"


def test_invalid_inputs_are_reported_before_anything_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "inputs.jsonl").write_text("no JSON\n")
    assert main(RUN) == 3
    assert "inputs.jsonl:1: " in capsys.readouterr().err


def test_a_missing_engine_error_names_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(RUN) == 4
    printed = capsys.readouterr().err
    assert "docker.io" in printed and "DOCKER_HOST" in printed
    assert "Traceback" not in printed


def test_a_missing_python_package_error_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    original = builtins.__import__

    def without_docker(name: str, *more: object) -> object:
        if name == "evaluator.sandbox.containers.engine":
            raise ModuleNotFoundError("No module named 'docker'", name="docker")
        return original(name, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without_docker)
    assert main(RUN) == 4
    assert "package docker: pip install 'holdout-eval[systems]'" in capsys.readouterr().err


def test_compressed_inputs_are_decompressed(folder: Path) -> None:
    (folder / "inputs.jsonl.gz").write_bytes(gzip.compress(INPUTS))
    with ExitStack() as stack:
        assert files.open_inputs("inputs.jsonl.gz", stack).read() == INPUTS


@pytest.mark.parametrize(
    "content", [INPUTS, COMPRESSED[:-4], COMPRESSED[:20] + b"\0" * 9], ids=["plain", "cut", "damaged"]
)
def test_damaged_inputs_are_reported(folder: Path, content: bytes) -> None:
    (folder / "inputs.jsonl.gz").write_bytes(content)
    with ExitStack() as stack, pytest.raises(UsageError, match=r"cannot read .*inputs\.jsonl\.gz"):
        files.open_inputs("inputs.jsonl.gz", stack)


@pytest.mark.parametrize(
    ("requested", "written", "stored"),
    [
        ("p.jsonl", "predictions.jsonl", "p.jsonl"),
        ("p.jsonl", "predictions.jsonl.gz", "p.jsonl.gz"),
        ("p.jsonl.gz", "predictions.jsonl", "p.jsonl"),
        ("p.jsonl.gz", "predictions.jsonl.gz", "p.jsonl.gz"),
    ],
)
def test_the_suffix_of_predictions_follows_their_content(
    folder: Path, requested: str, written: str, stored: str
) -> None:
    assert files.save_predictions(io.BytesIO(b"content"), folder / requested, written) == folder / stored
    assert (folder / stored).read_bytes() == b"content"
