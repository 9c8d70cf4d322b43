"""The container sandbox's contract, and its parts that need no engine."""

from __future__ import annotations

import io
import json
import re
import time
from typing import Any

import pytest

from evaluator.sandbox.containers import container_spec, create_settings, log_tail, output, reaper, seccomp_profile, tar
from evaluator.sandbox.containers.container_spec import OutputFile
from evaluator.sandbox.containers.engine import EngineError
from evaluator.sandbox.containers.health import read_probe
from evaluator.sandbox.containers.image_errors import RegistryReferenceError
from evaluator.sandbox.containers.image_reader import read_image
from evaluator.sandbox.containers.image_reference import parse_reference
from evaluator.sandbox.containers.resource_usage import Meter
from evaluator.sandbox.containers.system_contract import PublicClass, SystemExecution, SystemLimits, SystemResult
from evaluator.sandbox.containers.volume_holder_image import UNAME_FIELD, volume_holder_image
from evaluator.sandbox.contract import Verdict
from tests.evaluator.sandbox.containers.archives import member, stored, tarred

IMAGE = "sha256:" + "a" * 64


def execution(**more: Any) -> SystemExecution:
    return SystemExecution(**{"execution_id": "e1", "image": IMAGE, "inputs": 0, "task": "t", **more})


@pytest.mark.parametrize("image", ["python:3.11", "sha256:" + "A" * 64, "sha256:" + "a" * 63, IMAGE + "\n", ""])
def test_an_image_is_named_by_its_id_only(image: str) -> None:
    with pytest.raises(ValueError, match="image is"):
        execution(image=image)


@pytest.mark.parametrize("name", ["", "-a", "a" * 65, "a b", "a\n", "a/b"])
def test_an_invalid_execution_id_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="execution_id is"):
        execution(execution_id=name)


@pytest.mark.parametrize("limit", [{"cpus": 0}, {"wall_seconds": -1}, {"processes": 1.5}, {"memory_bytes": 1000}])
def test_invalid_limits_are_refused(limit: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"limit {next(iter(limit))} is"):
        SystemLimits(**limit)


def test_three_public_classes() -> None:
    classes = {verdict: SystemResult(verdict=verdict, explanation="").public_class for verdict in Verdict}
    assert classes == {
        Verdict.DONE: PublicClass.COMPLETED,
        Verdict.EXIT: PublicClass.ERROR,
        Verdict.OUTPUT: PublicClass.ERROR,
        Verdict.TIME: PublicClass.LIMIT,
        Verdict.MEMORY: PublicClass.LIMIT,
    }


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0, 10), (9.99, 10), (10.01, 30), (61, 120), (3600, 3600), (3600.5, 7200), (10801, 14400)]
)
def test_durations_are_rounded_to_coarse_steps(seconds: float, shown: int) -> None:
    assert SystemResult(verdict=Verdict.DONE, explanation="", wall_seconds=seconds).public_seconds == shown


def container_config(**more: Any) -> dict[str, Any]:
    arguments = {"output": "out", "runtime": "runsc", "architecture": "amd64", "labels": {"a": "b"}}
    job = container_spec.of_system(execution(), io.BytesIO())
    return create_settings.work(job, folders={"/input": "in"}, image_labels=more.pop("image_labels", ()), **arguments)


def test_a_systems_container_is_confined() -> None:
    config = container_config(image_labels=["traefik.enable", "a"])
    host = config["HostConfig"]
    assert config["User"] == "65534:65534"
    assert config["Healthcheck"] == {"Test": ["NONE"]}
    assert config["Labels"] == {"traefik.enable": "", "a": "b"}
    assert (host["NetworkMode"], host["ReadonlyRootfs"], host["CapDrop"]) == ("none", True, ["ALL"])
    assert (host["IpcMode"], host["CgroupnsMode"], host["PidMode"], host["UTSMode"]) == ("private", "private", "", "")
    assert host["Runtime"] == "runsc"
    assert host["Memory"] == host["MemorySwap"] == SystemLimits().memory_bytes
    assert host["PidsLimit"] == SystemLimits().processes
    assert "no-new-privileges:true" in host["SecurityOpt"]
    assert all(mount["VolumeOptions"]["NoCopy"] and mount["Type"] == "volume" for mount in host["Mounts"])
    assert [mount["ReadOnly"] for mount in host["Mounts"]] == [True, False]
    assert host["LogConfig"]["Config"]["max-file"] == "2"
    assert {limit["Name"]: limit["Hard"] for limit in host["Ulimits"]}["core"] == 0
    assert not {"Privileged", "Devices", "DeviceRequests", "CapAdd", "Binds"} & set(host)


@pytest.mark.parametrize(
    "name", ["unshare", "mount", "keyctl", "bpf", "io_uring_setup", "ptrace", "userfaultfd", "setns"]
)
def test_dangerous_system_calls_are_not_allowed(name: str) -> None:
    profile = json.loads(seccomp_profile.profile("amd64"))
    allowed = [rule for rule in profile["syscalls"] if rule["action"] == "SCMP_ACT_ALLOW"]
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO"
    assert not [rule for rule in allowed if name in rule["names"]]
    assert [rule for rule in allowed if "read" in rule["names"]]
    assert len(set(seccomp_profile.NAMES)) == len(seccomp_profile.NAMES)


def test_a_system_receives_its_task_options_and_limits() -> None:
    request = execution(task="fact-verification", options={"cross": "a,b"})
    task = json.loads(container_spec.system_task(request))
    assert (task["task"], task["options"], task["format_version"]) == ("fact-verification", {"cross": "a,b"}, 1)
    assert task["limits"]["memory_bytes"] == int(container_spec.system_environment(request)["HOLDOUT_MEMORY_BYTES"])


def test_the_volume_holders_image_passes_our_checks(tmp_path: Any) -> None:
    image = volume_holder_image("amd64")
    with stored(tmp_path, image.archive).open("rb") as file:
        assert read_image(file.fileno(), architecture="amd64").id == image.id
    assert volume_holder_image("amd64") == image != volume_holder_image("arm64")


def test_the_output_of_a_probe_is_parsed() -> None:
    uname = b"".join(part.ljust(UNAME_FIELD, b"\0") for part in (b"Linux", b"h", b"6.1.0", b"v", b"x86_64", b""))
    assert read_probe(uname + b"Uid:\t1\t2\nSeccomp:\t2\n") == ("6.1.0", {"Uid": "1\t2", "Seccomp": "2"})


def test_the_volume_holder_may_start_enough_threads_for_its_runtime() -> None:
    """With a limit of one process, runc sometimes died before the volume holder started."""
    host = create_settings.volume_holder(
        "sha256:k", folders={"/input": "i"}, output="o", architecture="amd64", labels={}
    )["HostConfig"]
    assert host["PidsLimit"] >= 16
    assert host["Memory"] == host["MemorySwap"] >= 32 << 20


def test_a_terabyte_is_refused_by_its_header() -> None:
    """Before any content is read, and without its size in the error: a size could reveal hidden inputs."""
    requests = []

    def pieces() -> Any:
        yield tar.header("predictions.jsonl", 1 << 40)
        requests.append("content")
        yield b"\0" * 512

    with pytest.raises(output.OutputError, match=r"is too large, expected at most 100 bytes$") as error:
        output.copy(pieces(), "predictions.jsonl", 100, io.BytesIO())
    assert requests == []
    assert str(1 << 40) not in str(error.value)


def test_the_stream_of_refused_output_is_closed_at_once() -> None:
    """A handled error keeps its frames alive, and an engine holds the volume holder until its stream is closed."""
    is_open = []

    class Engine:
        def get(self, container: str, path: str) -> Any:
            is_open.append(path)
            try:
                yield tar.header("predictions.jsonl", 1 << 30)
            finally:
                is_open.clear()

    target = OutputFile(("/output/predictions.jsonl",), io.BytesIO(), 100)
    try:
        output.fetch(Engine(), "volume-holder", target)  # type: ignore[arg-type]
    except output.OutputError:
        assert is_open == []
    else:
        raise AssertionError("the output was not refused")


def test_truncated_output_is_refused() -> None:
    archive = tarred([member("predictions.jsonl", b"x" * 1000)])[:900]
    with pytest.raises(output.OutputError, match="could not be read"):
        output.copy([archive], "predictions.jsonl", 2000, io.BytesIO())


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (b"plain\ttext\n", "plain\ttext\n"),
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\x1b]0;title\x07after", "after"),
        (b"\x1b]8;;http://evil\x1b\\link", "link"),
        (b"\x1bPq data\x1b\\x", "x"),
        (b"\x1b]never ended", ""),
        ("\x9b31mc1".encode(), "c1"),
        (b"bell\x07 back\x08 nul\0", "bell back nul"),
        ("\u202etfel \u200b".encode(), "tfel "),
        (b"old line\rnew line\r\nend", "old line\nnew line\nend"),
        (b"bad \xff utf-8", "bad \ufffd utf-8"),
        (b"\x1b(Bcharset \x1b=mode", "charset mode"),
    ],
)
def test_logs_are_cleaned(printed: bytes, shown: str) -> None:
    assert log_tail.cleaned(printed) == shown


def test_only_the_end_of_a_long_log_is_kept() -> None:
    text, is_cut = log_tail.tail((b"%07d\n" % number for number in range(100_000)), 800)
    assert is_cut and text.splitlines()[-1] == "0099999" and len(text) == 800
    assert log_tail.tail([b"short"], 800) == ("short", False)


DIGEST = "sha256:" + "0123456789abcdef" * 4


def test_allowed_registry_references() -> None:
    reference = parse_reference(
        f"registry.example.org:5000/team/my-system_v1.2@{DIGEST}", ["registry.example.org:5000"]
    )
    assert reference.repository == "registry.example.org:5000/team/my-system_v1.2"
    assert str(reference).endswith(DIGEST)


@pytest.mark.parametrize(
    "text",
    [
        "registry.example.org/name",
        "registry.example.org/name:latest",
        f"registry.example.org/name:latest@{DIGEST}",
        f"registry.example.org/name@{DIGEST.upper()}",
        f"registry.example.org/name@{DIGEST}\n",
        f"registry.example.org/Name@{DIGEST}",
        f"registry.example.org/../name@{DIGEST}",
        f"registry.example.org//name@{DIGEST}",
        f"registry.example.org/name@{DIGEST[:-1]}",
        f"registry.example.org/name@sha512:{'0' * 128}",
        f"https://registry.example.org/name@{DIGEST}",
        f"user:word@registry.example.org/name@{DIGEST}",
        f"registry.example.org.evil.org/name@{DIGEST}",
        f"evil.org/registry.example.org/name@{DIGEST}",
        f"registry.example.org:80/name@{DIGEST}",
        f"name@{DIGEST}",
        f"docker.io/library/name@{DIGEST}",
        f"registry.example.org/{'n' * 500}@{DIGEST}",
        f"registry.example.org/n\u0430me@{DIGEST}",
        "",
    ],
)
def test_other_registry_references_are_refused(text: str) -> None:
    with pytest.raises(RegistryReferenceError):
        parse_reference(text, ["registry.example.org"])


def test_a_meter_reports_the_maximum() -> None:
    meter = Meter()
    meter.look(
        {"memory_stats": {"usage": 5, "max_usage": 9}, "cpu_stats": {"cpu_usage": {"total_usage": 2_000_000_000}}}
    )
    meter.look(
        {"memory_stats": {"usage": 1, "max_usage": 9}, "cpu_stats": {"cpu_usage": {"total_usage": 3_000_000_000}}}
    )
    meter.look({"memory_stats": {}, "cpu_stats": {"cpu_usage": {"total_usage": 0}}})
    usage = meter.usage()
    assert (usage.cpu_seconds, usage.peak_memory_bytes, usage.peak_is_sampled, usage.samples) == (3.0, 9, False, 2)


def test_a_meter_without_the_kernels_maximum_reports_sampling() -> None:
    meter = Meter()
    for used in (7, 12, 3):
        meter.look({"memory_stats": {"usage": used}, "cpu_stats": {"cpu_usage": {"total_usage": 1}}})
    assert (meter.usage().peak_memory_bytes, meter.usage().peak_is_sampled) == (12, True)
    assert Meter().usage().cpu_seconds is None


class FakeEngine:
    """An engine with the given containers, which fails to remove the one named "stuck"."""

    def __init__(self, *containers: dict[str, Any]) -> None:
        self.listed = containers
        self.removed: list[str] = []

    def containers(self, label: str) -> list[dict[str, Any]]:
        return list(self.listed)

    def volumes(self, label: str) -> list[dict[str, Any]]:
        return []

    def remove(self, container: str) -> None:
        if container == "stuck":
            raise EngineError("it is stuck")
        self.removed.append(container)


def test_the_reaper_continues_after_a_container_that_cannot_be_removed() -> None:
    labels = reaper.labels("i", "e", "system", 1000)
    old = time.time() - 500
    engine: Any = FakeEngine(*({"Id": name, "Labels": labels, "Created": old} for name in ("stuck", "free")))
    assert reaper.reap(engine, "i", frozenset(), 60) == ["system container of e"]
    assert engine.removed == ["free"]


def test_the_reaper_reads_active_executions_after_listing_containers() -> None:
    """Otherwise an execution that starts between the two requests would be taken for an orphan."""
    requests: list[str] = []
    active: set[str] = set()

    class Starting(FakeEngine):
        def containers(self, label: str) -> list[dict[str, Any]]:
            requests.append("engine")
            active.add("e")  # its row is committed, then its container is created, then we list it
            return super().containers(label)

    def keep() -> frozenset[str]:
        requests.append("caller")
        return frozenset(active)

    engine: Any = Starting({"Id": "young", "Labels": reaper.labels("i", "e", "system", 1000), "Created": time.time()})
    assert reaper.reap(engine, "i", keep, 0) == []
    assert requests[:2] == ["engine", "caller"]


def test_the_reaper_leaves_a_probe_until_its_deadline() -> None:
    """Another worker's health check is not among the active executions."""
    labels = {name: reaper.labels("i", reaper.PROBE, "probe", seconds) for name, seconds in (("on", 30), ("over", -1))}
    engine: Any = FakeEngine(*({"Id": name, "Labels": labels[name], "Created": 0} for name in labels))
    reaper.reap(engine, "i", frozenset(), 0)
    assert engine.removed == ["over"]


def test_the_reaper_does_not_rely_on_the_engines_filter() -> None:
    """Whatever the engine lists, only containers with our labels are removed."""
    strange: list[dict[str, Any] | None] = [
        None,
        {},
        reaper.labels("other", "e", "system", -10),
        {reaper.INSTANCE: "i"},
    ]
    engine: Any = FakeEngine(*({"Id": str(i), "Labels": labels, "Created": 0} for i, labels in enumerate(strange)))
    assert reaper.reap(engine, "i", frozenset(), 0) == []
    assert engine.removed == []


def test_only_one_module_imports_the_engines_client() -> None:
    """The commands for researchers work without the client."""
    from evaluator.sandbox.process.launch import ROOT

    modules = [
        path
        for path in (ROOT / "evaluator").rglob("*.py")
        if re.search(r"^\s*(import|from) docker", path.read_text(), re.M)
    ]
    assert [path.name for path in modules] == ["engine.py"]
