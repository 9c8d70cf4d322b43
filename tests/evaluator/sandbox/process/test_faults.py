"""Failures of server and clients: the run ends with SandboxError, and the next one works."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import random
import select
import signal
import socket
import stat
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import SandboxError, SandboxTimeoutError
from evaluator.sandbox.contract import Execution, Limits, Verdict
from evaluator.sandbox.process import protocol
from evaluator.sandbox.process.client import ProcessSandbox
from evaluator.sandbox.process.launch import ROOT, start
from tests.evaluator.sandbox.process.conftest import Box
from tests.evaluator.sandbox.process.variants import AS_NOBODY, ENVIRONMENTS, NOBODY, interpreter, shared_folder

Make = Callable[..., Box]
LONG = Limits(wall_seconds=3000, cpu_seconds=3000)


def connect(box: Box) -> socket.socket:
    client = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    client.settimeout(30)
    client.connect(str(box.client.path))
    return client


def order(connection: socket.socket, job: str, limits: Limits, *descriptors: int, **arguments: Any) -> int:
    """Send a request and its order by hand; return the read end of the report's pipe."""
    read, write = os.pipe()
    connection.send(protocol.pack(protocol.Request(ask="run", limits=limits)))
    names = [f"file{n}" for n in range(len(descriptors))]
    packet = protocol.pack(protocol.Order(job=job, arguments=arguments, files=names))
    socket.send_fds(connection, [packet], [write, *descriptors])
    os.close(write)
    return read


def answer(connection: socket.socket) -> protocol.Reply:
    return protocol.unpack(connection.recv(protocol.PACKET_BYTES), protocol.Reply)


def ended(pid: int) -> bool:
    """Whether the process has ended, after waiting for up to 30 seconds."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    return bool(select.select([descriptor], [], [], 30)[0])


def children(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_no_server(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="no sandbox server responds at"):
        ProcessSandbox(tmp_path / "s").run(Execution(job="empty"))
    with pytest.raises(SandboxError, match="no sandbox server responds at"):
        ProcessSandbox(tmp_path / "s").layers()


@pytest.mark.parametrize(
    "packet", [b"", b"{}", b"garbage", b'{"ask": "run"}', b'{"ask": "run", "limits": 1}', b"\xff" * 4096]
)
def test_garbage_from_a_client_does_not_affect_other_clients(box: Box, packet: bytes) -> None:
    with connect(box) as client:
        client.send(packet)
        with contextlib.suppress(BrokenPipeError):  # the server may close the connection after the first packet
            client.send(packet)
    assert box.run("empty").verdict == Verdict.DONE


@pytest.mark.parametrize("packet", [b"garbage", b'{"job": "empty", "arguments": {}, "files": []}', b"\0" * 100_000])
def test_an_invalid_order_is_refused(box: Box, packet: bytes) -> None:
    """The second packet is complete, but comes without the report's pipe."""
    with connect(box) as client:
        client.send(protocol.pack(protocol.Request(ask="run", limits=Limits())))
        client.send(packet)
        assert answer(client).event == "failed"
    assert box.run("empty").verdict == Verdict.DONE


def test_noise_on_the_socket(box: Box, file: Any) -> None:
    """Packets and descriptors in any order, cut off anywhere; the server still answers a valid request afterwards."""
    noise = random.Random(5)
    gold = file(b"gold")
    request = protocol.pack(protocol.Request(ask="run", limits=Limits(wall_seconds=1)))
    whole = protocol.pack(protocol.Order(job="echo", arguments={}, files=["gold"]))
    for _ in range(150):
        with connect(box) as client, contextlib.suppress(BrokenPipeError, ConnectionResetError):
            for _ in range(noise.randrange(4)):
                packet = noise.choice([request, whole, noise.randbytes(noise.randrange(200)), request[:-5]])
                descriptors = [gold] * noise.randrange(3)
                socket.send_fds(client, [packet], descriptors)
    assert box.run("echo", {"gold": gold}).verdict == Verdict.DONE


def test_an_unknown_job_is_a_sandbox_error(box: Box) -> None:
    with pytest.raises(SandboxError, match="unknown job 'nonsense'"):
        box.run("nonsense")
    with pytest.raises(SandboxError, match="unknown job 'sandbox-self-test'"):
        box.run("sandbox-self-test")


@pytest.mark.parametrize("kind", ["writable", "folder", "pipe", "closed"])
def test_a_forbidden_kind_of_descriptor_is_refused(box: Box, kind: str, tmp_path: Path) -> None:
    """The client refuses it, and so does the server if a client does not check."""
    path = tmp_path / "f"
    path.touch()
    pipe = os.pipe()
    descriptor = {
        "writable": os.open(path, os.O_RDWR),
        "folder": os.open(tmp_path, os.O_RDONLY),
        "pipe": pipe[0],
        "closed": 900,
    }[kind]
    with pytest.raises(SandboxError, match="file 'gold'"):
        box.run("empty", {"gold": descriptor})
    if kind != "closed":
        with connect(box) as client:
            order(client, "empty", Limits(), descriptor)
            assert "file 'file0'" in answer(client).what


def test_many_clients_at_once(box: Box, file: Any) -> None:
    gold = file(b"the same descriptor for all" * 10_000)
    with concurrent.futures.ThreadPoolExecutor(24) as pool:
        runs = [pool.submit(box.run, "echo", {"gold": gold}, number=n) for n in range(60)]
        results = [run.result() for run in runs]
    for number, result in enumerate(results):
        assert result.report == {
            "arguments": {"number": number},
            "files": {"gold": "the same descriptor for all" * 10_000},
        }


def test_concurrent_jobs_do_not_share_descriptors(box: Box, file: Any) -> None:
    """While one job runs, another holds none of its descriptors."""
    with connect(box) as client:
        order(client, "sleep", LONG, file(b"gold of the first"))
        assert answer(client).event == "ready"
        result = box.run("surroundings", {"gold": file(b"gold of the second")})
        assert result.report is not None and result.report["descriptors"] == [0, 1, 2, 3, 4, 5]


def test_closing_the_connection_kills_the_job(own: Make) -> None:
    """With room for only one job, the next one can start only after the first has ended."""
    box = own(parallel=1)
    with connect(box) as client:
        order(client, "sleep", LONG)
        assert answer(client).event == "ready"
    assert box.run("empty").verdict == Verdict.DONE


def test_a_waiting_client_that_disconnects_leaves_the_queue(own: Make) -> None:
    box = own(parallel=1)
    with connect(box) as first:
        order(first, "sleep", LONG)
        assert answer(first).event == "ready"
        with connect(box) as second:
            order(second, "sleep", LONG)
        impatient = ProcessSandbox(box.client.path, patience=0.2)
        with pytest.raises(SandboxTimeoutError, match=r"did not respond in time, expected a reply within 0\.2 s"):
            impatient.run(Execution(job="empty"))
    assert box.run("empty").verdict == Verdict.DONE


def test_waiting_does_not_count_towards_the_time_limit(own: Make) -> None:
    box = own(parallel=1)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        slow = [pool.submit(box.run, "sleep", limits=Limits(wall_seconds=0.3)) for _ in range(3)]
        last = pool.submit(box.run, "empty", limits=Limits(wall_seconds=5))
        assert [type(run.exception()) for run in slow] == [SandboxTimeoutError] * 3
        assert last.result().verdict == Verdict.DONE


def test_a_silent_client_does_not_stop_the_others(box: Box) -> None:
    with connect(box), connect(box) as half:
        half.send(protocol.pack(protocol.Request(ask="run", limits=Limits(wall_seconds=0.2))))
        assert box.run("empty").verdict == Verdict.DONE


@pytest.mark.slow
def test_a_missing_order_times_out(box: Box) -> None:
    with connect(box) as half:
        half.send(protocol.pack(protocol.Request(ask="run", limits=LONG)))
        reply = answer(half)
        assert (reply.event, reply.what) == ("late", "the job's process did not become ready within 10 s")


def test_too_many_clients_get_an_error(own: Make) -> None:
    box = own()
    crowd = [connect(box) for _ in range(256)]
    with pytest.raises(SandboxError, match="too many simultaneous clients, expected at most 256"):
        box.run("empty")
    for client in crowd:
        client.close()
    assert box.run("empty").verdict == Verdict.DONE


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_dies_during_a_job(own: Make, how: signal.Signals) -> None:
    box = own()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        run = pool.submit(box.run, "sleep", limits=LONG)
        with connect(box) as client:
            order(client, "sleep", LONG)
            assert answer(client).event == "ready"
            inner = children(box.server.pid)
            inner += children(inner[0])  # the jobs
            box.server.send_signal(how)
            box.server.wait(30)
            assert len(inner) >= 2 and all(ended(pid) for pid in inner)
        with pytest.raises(SandboxError):
            run.result()
    with pytest.raises(SandboxError, match="no sandbox server responds"):
        box.run("empty")


@pytest.mark.root
def test_a_job_killed_from_outside_is_a_sandbox_error(own: Make) -> None:
    """By an operator or a machine out of memory: not the submission's error, and it may be retried."""
    box = own()
    with connect(box) as client:
        order(client, "sleep", LONG)
        assert answer(client).event == "ready"
        [inner] = children(box.server.pid)
        [job] = children(inner)
        os.kill(job, signal.SIGKILL)
        reply = answer(client)
        assert (reply.event, reply.what) == ("late", "the job was killed from outside the sandbox (SIGKILL)")


@pytest.mark.root
def test_a_host_without_memory_kills_a_job_and_not_the_server(own: Make) -> None:
    box = own()
    with connect(box) as client:
        order(client, "sleep", LONG)
        assert answer(client).event == "ready"
        [inner] = children(box.server.pid)
        [job] = children(inner)
        scores = [int(Path(f"/proc/{pid}/oom_score_adj").read_text()) for pid in (box.server.pid, inner, job)]
    assert scores == [int(Path("/proc/self/oom_score_adj").read_text())] * 2 + [1000]


def test_a_server_that_is_slow_to_start_is_waited_for(tmp_path: Path) -> None:
    """It computes for longer than the timeout, as on a busy machine; one that does nothing is given up."""
    warm_up = """
    import time

    def warm_up():
        while time.process_time() < 3:
            pass

    JOBS = {}
    """
    (tmp_path / "slow_jobs.py").write_text(textwrap.dedent(warm_up))
    folder = shared_folder()
    server = start(folder / "s", jobs="slow_jobs", paths=[tmp_path], stderr=subprocess.DEVNULL, timeout=1.5)
    server.terminate()
    server.wait(30)
    idle = ["sh", "-c", "sleep 60"]
    with pytest.raises(SandboxError, match=r"not ready, and did nothing for 0\.6 seconds"):
        start(folder / "s", jobs="slow_jobs", paths=[tmp_path], wrapper=idle, timeout=0.6)


def test_the_server_ends_when_its_inner_process_dies(own: Make) -> None:
    """The inner process serves clients; the outer one ends with it, so that a supervisor notices."""
    box = own()
    [inner] = children(box.server.pid)
    os.kill(inner, signal.SIGKILL)
    assert box.server.wait(30) != 0


def test_a_stale_socket_is_replaced_and_a_live_one_is_not(own: Make) -> None:
    box = own()
    folder = box.client.path.parent
    with pytest.raises(SandboxError, match="another sandbox server uses this socket"):
        own(folder=folder)
    assert box.run("empty").verdict == Verdict.DONE
    [inner] = children(box.server.pid)
    box.server.kill()
    box.server.wait()
    assert ended(inner)
    assert box.client.path.exists()
    restarted = own(folder=folder)
    assert restarted.run("empty").verdict == Verdict.DONE


def test_only_its_user_may_connect(own: Make) -> None:
    box = own()
    assert stat.S_IMODE(box.client.path.stat().st_mode) == 0o600
    if os.geteuid() == 0 and not box.environment.user:
        program = (
            f"import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET).connect({str(box.client.path)!r})"
        )
        refused = subprocess.run(
            [*AS_NOBODY, interpreter(True) or sys.executable, "-c", program],
            check=False,
            capture_output=True,
            text=True,
            cwd="/",
        )
        assert "PermissionError" in refused.stderr


def test_stopping_removes_the_socket(own: Make) -> None:
    box = own()
    box.server.terminate()
    assert box.server.wait(30) == 0
    assert not box.client.path.exists()


def test_a_server_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    folder = shared_folder()
    program = f"""
        import sys; sys.path.insert(0, {str(ROOT)!r})
        from evaluator.sandbox.process.launch import start
        server = start({str(folder / "s")!r}, jobs="hostile_jobs", paths=[{str(Path(__file__).parent)!r}])
        print(server.pid, flush=True)
        sys.stdin.read()
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as starter:
        assert starter.stdout is not None
        server = int(starter.stdout.readline())
        starter.kill()
    assert ended(server)


REFUSALS = {
    "no such module": ("nonsense", "", "jobs of nonsense cannot be loaded: ModuleNotFoundError"),
    "warm_up fails": ("broken_jobs", "def warm_up(): 1 / 0\nJOBS = {}", "cannot be loaded: ZeroDivisionError"),
    "a thread": (
        "threaded_jobs",
        "from threading import Event, Thread\n"
        "def warm_up(): Thread(target=Event().wait, daemon=True).start()\nJOBS = {}",
        "has started 1 thread",
    ),
    "no JOBS": ("jobless", "def warm_up(): pass", "cannot be loaded: AttributeError"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_jobs_that_do_not_load(name: str, tmp_path: Path) -> None:
    module, source, text = REFUSALS[name]
    if source:
        (tmp_path / f"{module}.py").write_text(source)
    with pytest.raises(SandboxError, match=text):
        start(shared_folder() / "s", jobs=module, paths=[tmp_path], stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("refused", ["seccomp_filter", "pidfd_open"])
@pytest.mark.parametrize("user", [False, True])
def test_a_server_without_the_required_layers_does_not_start(refused: str, user: bool) -> None:
    environment = next(environment for environment in ENVIRONMENTS if environment.user == user)
    if reason := environment.possible():
        pytest.skip(reason)
    options: dict[str, Any] = environment.start
    helper = [interpreter(user), str(options["root"] / "refuse.py"), refused]
    options["wrapper"] = [*helper, *options["wrapper"]]
    with pytest.raises(SandboxError, match="The sandbox needs no_new_privs, resource limits and seccomp filters"):
        start(shared_folder(65534) / "s", jobs="hostile_jobs", stderr=subprocess.DEVNULL, **options)


def test_resources_do_not_accumulate(own: Make, file: Any) -> None:
    """After hundreds of jobs with every kind of end, some with lost clients, the server's resources are unchanged."""
    box = own(parallel=4)
    gold = file(b"gold")

    def vanish() -> None:
        with connect(box) as client:
            os.close(order(client, "sleep", LONG, gold))
            answer(client)

    def sleep_too_long() -> None:
        with pytest.raises(SandboxTimeoutError):
            box.run("sleep", limits=Limits(wall_seconds=0.01))

    actions: list[Callable[[], object]] = [
        vanish,
        lambda: box.run("echo", {"gold": gold}),
        lambda: box.run("leave", code=3),
        lambda: box.run("die", how="segfault"),
        lambda: box.run("flood", descriptor=3, limits=Limits(output_bytes=1000)),
        sleep_too_long,
        lambda: box.run("allocate", bytes=1 << 40, how="bytes"),
    ]
    [inner] = children(box.server.pid)

    def state() -> tuple[int, int, int]:
        assert box.run("empty").verdict == Verdict.DONE
        status = Path(f"/proc/{inner}/status").read_text()
        lines = dict(line.split(":", 1) for line in status.splitlines())
        opened = int(lines["FDSize"])  # the table's size, which doubles when more are open
        return int(lines["Threads"]), opened, int(lines["VmData"].split()[0])

    def batch(n: int) -> None:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for future in [pool.submit(actions[i % len(actions)]) for i in range(n)]:
                future.result()

    batch(70)
    threads, opened, memory = state()
    batch(280)
    assert state()[:2] == (threads, opened)
    assert state()[2] - memory < 8192  # KiB
    with connect(box) as last:
        order(last, "sleep", LONG)
        assert answer(last).event == "ready"
        assert len(children(inner)) == 1  # no zombies


def test_inside_a_rootless_engine() -> None:
    """Root of a user namespace with a single id, in which nobody cannot be mapped to a further user namespace."""
    wrapper = ["unshare", "--user", "--map-root-user"]
    if subprocess.run([*wrapper, "true"], check=False, stderr=subprocess.DEVNULL).returncode:
        pytest.skip("user namespaces are not available here")
    socket_path = shared_folder() / "s"
    server = start(socket_path, jobs="hostile_jobs", paths=[Path(__file__).parent], wrapper=wrapper)
    client = ProcessSandbox(socket_path)
    layers = client.layers()
    assert layers["seccomp"] and layers["namespaces"] and layers["empty_root"] and not layers["uid_drop"]
    result = client.run(Execution(job="attack", arguments={"name": "read_passwd"}))
    assert result.report is not None and result.report["refused"] == "PermissionError"
    server.terminate()
    assert server.wait(30) == 0


def test_a_path_longer_than_a_sockets_maximum_works(own: Make) -> None:
    folder = shared_folder(NOBODY)
    for part in ("far" * 20, "away" * 20):
        folder /= part
        folder.mkdir()
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
    assert own(folder=folder).run("empty").verdict == Verdict.DONE


def test_a_missing_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(SandboxError, match="No such file or directory"):
        start(tmp_path / "nowhere" / "s", jobs="hostile_jobs", stderr=subprocess.DEVNULL)


def test_probe(tmp_path: Path) -> None:
    """From any folder, with any environment: the program removes the variables of its caller."""
    command = [sys.executable, "-m", "evaluator.sandbox.process.server", "--probe"]
    result = subprocess.run(
        command, check=False, cwd=ROOT, env={**os.environ, "OMP_NUM_THREADS": "8"}, capture_output=True, text=True
    )
    assert result.returncode == 0
    assert "The required layers are present" in result.stdout
    assert "seccomp          yes      required" in result.stdout
