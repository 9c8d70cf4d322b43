"""The faults, each a class: `prepare` may take long, `begin` causes it, `end` repairs it `seconds` later."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tests.several_hosts.services import ROOT
from tests.several_hosts.site import LEASE_SECONDS, SWEEP_SECONDS, TAKEN_BACK_SECONDS

if TYPE_CHECKING:
    from tests.several_hosts.run import Run

LOCK_PATIENCE = 60.0
BALANCER_SECONDS = 11.0
"""The next host is stopped so much later, since nginx sends a host that was away nothing for ten seconds."""


class Fault:
    """No fault: what the others are compared with. takes_back: the rows of a host are leased to others meanwhile."""

    name = "quiet"
    seconds = 15.0
    takes_back = False

    def prepare(self, run: Run) -> None:
        pass

    def begin(self, run: Run) -> None:
        pass

    def end(self, run: Run) -> None:
        pass


class OfHost(Fault):
    def __init__(self, host: str) -> None:
        self.host = host
        self.name = f"{self.name} {host}"


class HostKilled(OfHost):
    """Every process of a host is killed; later the host starts again."""

    name = "killed host"
    seconds = TAKEN_BACK_SECONDS + 4.0
    takes_back = True

    def begin(self, run: Run) -> None:
        run.hosts[self.host].kill()

    def end(self, run: Run) -> None:
        run.hosts[self.host].start()


class HostCutOff(OfHost):
    """A host's cable is pulled: nothing arrives and nothing is refused, on both ends."""

    name = "cut off host"
    seconds = TAKEN_BACK_SECONDS + 4.0
    takes_back = True

    def begin(self, run: Run) -> None:
        run.hosts[self.host].link.cut()

    def end(self, run: Run) -> None:
        run.hosts[self.host].link.mend()


class FrozenPublisher(Fault):
    """A worker freezes inside its publishing transaction, with the phase's row locked, and thaws much later."""

    name = "frozen publisher"
    seconds = 2.0 * LEASE_SECONDS + SWEEP_SECONDS
    takes_back = True
    pid: int | None = None

    def begin(self, run: Run) -> None:
        addresses = {host.link.address: host for host in run.hosts.values()}
        with psycopg.connect(run.postgres.url) as holder, psycopg.connect(run.postgres.url, autocommit=True) as viewer:
            # Workers that want to publish queue up behind this lock; the first of them gets it when it is given up.
            holder.execute("SELECT id FROM leaderboard_phase FOR NO KEY UPDATE")
            deadline = time.monotonic() + LOCK_PATIENCE
            while self.pid is None:
                assert time.monotonic() < deadline, "no worker wanted to publish"
                time.sleep(0.05)
                found = viewer.execute(
                    "SELECT host(client_addr), client_port FROM pg_stat_activity "
                    "WHERE wait_event_type = 'Lock' AND %s = ANY(pg_blocking_pids(pid))",
                    [holder.info.backend_pid],
                ).fetchall()
                for address, port in found:
                    host = addresses.get(address)
                    pid = host.link.client_of(port) if host else None
                    if pid and b"celery" in Path(f"/proc/{pid}/cmdline").read_bytes():
                        self.pid = pid
                        os.kill(pid, signal.SIGSTOP)
                        run.say(f"froze a worker of host {host.name}, process {pid}")
                        break

    def end(self, run: Run) -> None:
        if self.pid is not None:
            os.kill(self.pid, signal.SIGCONT)


class BrokerWiped(Fault):
    """The broker loses all messages and queues."""

    name = "wiped broker"

    def begin(self, run: Run) -> None:
        run.broker.wipe()


class StoreHangs(Fault):
    """The store accepts connections and answers nothing."""

    name = "hanging store"
    seconds = 30.0

    def begin(self, run: Run) -> None:
        run.store.freeze()

    def end(self, run: Run) -> None:
        run.store.thaw()


class DatabaseRestarts(Fault):
    """The database stops at once, in the middle of transactions, and is back after some seconds."""

    name = "database restart"
    away = 4.0

    def begin(self, run: Run) -> None:
        run.postgres.stop()
        time.sleep(self.away)
        run.postgres.start()


class ClockOff(OfHost):
    """A host's clock is wrong by an hour, in all its processes but the sandbox; they are restarted for it."""

    name = "clock of host"
    seconds = TAKEN_BACK_SECONDS + 4.0

    def __init__(self, host: str, hours: int) -> None:
        super().__init__(host)
        self.hours = hours
        self.name += f" {hours:+d} h"

    def prepare(self, run: Run) -> None:
        library = run.folder / "clock.so"
        source = Path(__file__).with_name("clock.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-o", str(library), str(source), "-ldl"], check=True)
        clock = {"LD_PRELOAD": str(library), "CLOCK_OFFSET_SECONDS": str(3600 * self.hours)}
        run.hosts[self.host].restart_with_clock(clock)
        # An S3 store refuses the signatures of such a host, which is then not ready: it answers uploads with 503.
        run.wait_until_ready("/health/live" if run.store.signs_time else "/health/ready")

    def end(self, run: Run) -> None:
        run.hosts[self.host].restart_with_clock({})


def copy_of_code(folder: Path) -> Path:
    """Return a folder with a copy of the site's code, which may be changed; everything else is shared."""
    folder.mkdir()
    for entry in ROOT.iterdir():
        if entry.name in ("leaderboard", "evaluator", "manage.py"):
            copy = shutil.copytree if entry.is_dir() else shutil.copy
            copy(entry, folder / entry.name)
        elif entry.name not in (".git", "var"):
            (folder / entry.name).symlink_to(entry)
    return folder


class OtherCode(OfHost):
    """A worker runs other code than the sandbox of its host, as after an upgrade that stopped half-way."""

    name = "other code on host"
    seconds = 20.0

    def prepare(self, run: Run) -> None:
        self.tree = copy_of_code(run.folder / "other-code")
        with (self.tree / "evaluator" / "errors.py").open("a") as file:
            file.write("# Other code has another digest.\n")

    def begin(self, run: Run) -> None:
        run.hosts[self.host].restart(self.tree, "worker")

    def end(self, run: Run) -> None:
        run.hosts[self.host].restart(ROOT, "worker")


MIGRATION = """
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("leaderboard", {last!r})]
    operations = [migrations.AddField({model!r}, "rehearsed", models.IntegerField(default=7{default}))]
"""
BUSY = ("phase", "submission", "prediction", "run")
"""The tables that every submission writes, and that workers and `beat` lock: a migration for each."""
MODELS = """
from django.db import models as _models

for _model in (Phase, Submission, Prediction, Run):
    _model.add_to_class("rehearsed", _models.IntegerField(default=7, db_default=7))
"""


class RollingUpgrade(Fault):
    """A release with migrations replaces the code of one host after the other, as docs/operators.md describes.

    Before, it is tried with migrations beside which the older code could insert nothing.
    """

    name = "rolling upgrade"
    seconds = 60.0

    def prepare(self, run: Run) -> None:
        self.tree = copy_of_code(run.folder / "release")
        self.write_migrations(default="")
        with (self.tree / "leaderboard" / "models" / "__init__.py").open("a") as file:
            file.write(MODELS)

    def write_migrations(self, *, default: str) -> None:
        folder = self.tree / "leaderboard" / "migrations"
        last = max(path.stem for path in folder.glob("0*.py"))
        for number, model in enumerate(BUSY, 9001):
            name = f"{number}_rehearsed_{model}"
            (folder / f"{name}.py").write_text(MIGRATION.format(last=last, model=model, default=default))
            last = name

    def begin(self, run: Run) -> None:
        host = run.hosts["a"]
        migrate = (sys.executable, "manage.py", "migrate", "--noinput")
        refused = host.run(*migrate, cwd=self.tree)
        assert refused.returncode and "Nothing was migrated" in refused.stderr, refused
        run.say(f"refused: {refused.stderr.strip().splitlines()[-1]}")
        self.write_migrations(default=", db_default=7")
        began = time.monotonic()
        done = host.run(*migrate, cwd=self.tree)
        assert done.returncode == 0, done
        waited = done.stderr.count("trying again")
        run.say(
            f"migrated beside the older code in {time.monotonic() - began:.1f} s; {waited} times a table was in use"
        )
        for host in run.hosts.values():
            began = time.monotonic()
            host.stop()
            host.use(self.tree)
            host.start()
            if "web" in host.processes:
                run.wait_until_host_is_ready(host)
                time.sleep(BALANCER_SECONDS)
            run.say(f"host {host.name} runs the release after {time.monotonic() - began:.1f} s")


# --- hosts that lack something: their workers take nothing, and the others work at their usual speed


class HostWithoutSandbox(OfHost):
    """A worker host's sandbox ends and is not started again; its workers go on running."""

    name = "no sandbox on host"
    seconds = 30.0

    def begin(self, run: Run) -> None:
        run.hosts[self.host].switch_off("sandbox")

    def end(self, run: Run) -> None:
        run.hosts[self.host].switch_on("sandbox")


class HostWithFullDisk(OfHost):
    """The disk on which a host's workers keep their temporary files has 8 kB."""

    name = "full disk on host"

    def __init__(self, host: str, seconds: float) -> None:
        super().__init__(host)
        self.seconds = seconds

    def begin(self, run: Run) -> None:
        folder = self._folder(run)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", str(folder)], check=True)

    def end(self, run: Run) -> None:
        subprocess.run(["umount", "--lazy", str(self._folder(run))], check=True)

    def _folder(self, run: Run) -> Path:
        return run.folder / self.host / "data" / "uploads"
