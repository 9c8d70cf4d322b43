"""One run: the site is started and filled, clients submit through all stages, and then everything is checked."""

from __future__ import annotations

import argparse
import itertools
import threading
import time
from pathlib import Path

import requests
from django.conf import settings
from django.core.management import call_command
from django.db import connection

from leaderboard.accounts.actions import teams, tokens
from leaderboard.models import User
from leaderboard.operations import embedded
from tests.several_hosts import checks, faults, figures, site, traffic
from tests.several_hosts.engine import Engine
from tests.several_hosts.network import Link
from tests.several_hosts.processes import ProcessorTime, eventually
from tests.several_hosts.services import HTTP, Services
from tests.several_hosts.traffic import Reader, Submitter, Traffic
from tests.several_hosts.watch import Lost, Watch, leases
from tests.support.rows import tiny_world

NAMES = ("Abel", "Boole", "Curry", "Dijkstra", "Euler", "Frege", "Gauss", "Hopper")
N_IMAGES = 4
PROGRESS_SECONDS = 5.0
START_PATIENCE, END_PATIENCE = 300.0, 900.0
GOLD = tiny_world.gold_lines().replace(b'"g1"', b'"hidden-group-7c3f"')
"""Gold with a text that must appear in no log."""
SECRETS = ("hidden-group-7c3f",)


class Run:
    def __init__(
        self,
        *,
        options: argparse.Namespace,
        folder: Path,
        links: dict[str, Link],
        services: Services,
        env: dict[str, str],
        times: ProcessorTime,
        say: site.Say,
    ) -> None:
        self.options, self.folder, self.services, self.times, self.say = options, folder, services, times, say
        self.postgres, self.broker, self.store = services.postgres, services.broker, services.store
        self.hosts: dict[str, site.Host] = {}
        for name, link in links.items():
            own = site.environment(folder / name, {**services.environment, **_secret(env)})
            self.hosts[name] = site.Host(link, folder / name, own, times, say)
        self.engine = None
        if options.engine:
            host = self.hosts["c"]
            self.engine = Engine(host, times)
            address = {**host.env, "DOCKER_HOST": self.engine.address}
            host.add_role("systems", times=times, env=address)
        self.keeper = site.Keeper([*self.hosts.values()])
        self.spans: dict[str, tuple[float, float]] = {}
        """Stage -> seconds since the start at which it began and ended."""

    def perform(self) -> list[str]:
        """Return the faults of the site that were found."""
        self._fill()
        stages = self._stages()
        for host in self.hosts.values():
            host.start()
        self.keeper.start()
        self.watch.start()
        people = self._people()
        # The database restarts later.
        connection.close()
        self.wait_until_ready()
        self.say("the site is ready on all hosts")
        for person in people:
            person.start()
        used = self.times.seconds()
        self.traffic.began = time.monotonic()
        share, more = divmod(self.options.submissions, len(stages))
        for fault in stages:
            self._stage(fault, share + more)
            more = 0
        self.traffic.stage = "end"
        self._drain()
        used = {kind: seconds - used.get(kind, 0.0) for kind, seconds in self.times.seconds().items()}
        self._stop_traffic()
        # What they would still do, such as the search for near-duplicates, is not checked, and the checks take long.
        self._stop_site()
        self._print(used)
        return self._check()

    def _fill(self) -> None:
        """Fill the database; the files go to the store that all hosts use."""
        call_command("migrate", verbosity=0, interactive=False)
        for data in (settings.DATA, *(host.folder / "data" for host in self.hosts.values())):
            if files := getattr(self.store, "files", None):
                (data / "files").symlink_to(files)
        embedded.collect_static()
        for host in self.hosts.values():
            (host.folder / "data" / "static").symlink_to(settings.STATIC_ROOT)
        self.world = tiny_world.build(quota_per_day=1_000_000, quota_total=1_000_000, gold_content=GOLD)
        labels = ("SUPPORTS", "REFUTES")
        answers = [dict(zip(tiny_world.LABELS, some, strict=True)) for some in itertools.product(labels, repeat=4)]
        self.variants = [traffic.lines(row) for row in answers]
        self.images: list[Path] = []
        if self.engine is not None:
            self.hosts["c"].start()
            self.engine.wait()
            self.world.phase.takes_images = True
            self.world.phase.save()
            archives = [self.folder / f"image-{number}.tar" for number in range(N_IMAGES)]
            self.images = [
                self.engine.image(content, path) for content, path in zip(self.variants, archives, strict=False)
            ]
        every = max(2, min(100, self.options.submissions // 5))
        self.traffic = Traffic(self.variants, self.images, image_every=every)
        self.watch = Watch(self.traffic)

    def _people(self) -> list[Submitter | Reader]:
        submitters = []
        for number, name in enumerate(NAMES, N_IMAGES):
            user = User.objects.create_user(name.lower(), f"{name.lower()}@holdout.example", "correct horse")
            teams.create(name=f"Team {name}", by=user)
            own = range(number, len(self.variants), len(NAMES))  # the first are those of the images
            submitters.append(Submitter(self.traffic, name, tokens.issue(by=user)[1], own))
        readers = [Reader(self.traffic, submitter) for submitter in submitters[: traffic.READERS]]
        return [*submitters, *readers]

    def _stages(self) -> list[faults.Fault]:
        every = [
            faults.Fault(),
            faults.HostKilled("b"),
            faults.FrozenPublisher(),
            faults.HostCutOff("a"),
            faults.BrokerWiped(),
            *([faults.StoreHangs()] if self.store.can_hang else []),
            faults.DatabaseRestarts(),
            faults.ClockOff("a", +1),
            faults.ClockOff("b", -1),
            faults.HostKilled("c"),
            faults.HostWithoutSandbox("c"),
            faults.HostWithFullDisk("c", self.options.full_disk_seconds),
            faults.OtherCode("c"),
            faults.RollingUpgrade(),
        ]
        only = self.options.only or [""]
        return [
            fault
            for fault in every
            if type(fault) is faults.Fault or any(text in f"{fault.name} {type(fault).__name__}" for text in only)
        ]

    def wait_until_ready(self, path: str = "/health/ready") -> None:
        eventually(lambda: self._is_ready(path), "the site, on all hosts", seconds=START_PATIENCE)

    def wait_until_host_is_ready(self, host: site.Host) -> None:
        url = f"http://{host.link.address}:{site.WEB_PORT}/health/ready"
        eventually(lambda: _status(url) == 200, f"host {host.name}", seconds=START_PATIENCE)

    def _is_ready(self, path: str) -> bool:
        return (
            all(
                _status(f"http://{host.link.address}:{site.WEB_PORT}{path}") == 200
                for host in self.hosts.values()
                if "web" in host.processes
            )
            and _status(HTTP) == 200
        )

    def _stage(self, fault: faults.Fault, share: int) -> None:
        """Run one stage: a share of the submissions spread over its duration, and longer if they are not accepted."""
        traffic_ = self.traffic
        traffic_.stage = f"before {fault.name}"
        fault.prepare(self)
        traffic_.stage = fault.name
        self.say(f"--- {fault.name}")
        at = traffic_.now()
        began, given, goal = time.monotonic(), 0, len(traffic_.accepted) + share
        steps = _Steps(fault, self)
        steps.start()
        printed = began
        while not steps.is_over or len(traffic_.accepted) < goal:
            now = time.monotonic()
            due = min(share, int(share * (now - began) / fault.seconds) + 1)
            traffic_.allow(due - given)
            given = due
            if now - printed > PROGRESS_SECONDS:
                printed = now
                self._progress()
            time.sleep(0.1)
        steps.join()
        if steps.error is not None:
            raise steps.error
        self.spans[fault.name] = (at, traffic_.now())

    def _progress(self) -> None:
        accepted, scored = len(self.traffic.accepted), len(self.watch.scored)
        self.say(f"{self.traffic.stage}: {accepted} of {self.options.submissions} accepted, {scored} scored")

    def _drain(self) -> None:
        """Wait until every submission has its result."""
        began = time.monotonic()
        printed = began
        while (left := checks.unfinished()) and time.monotonic() - began < END_PATIENCE:
            if time.monotonic() - printed > PROGRESS_SECONDS:
                printed = time.monotonic()
                self.say(f"end: {left} without a result")
            time.sleep(0.25)
        self.spans["end"] = (self.traffic.now() - (time.monotonic() - began), self.traffic.now())

    def _stop_traffic(self) -> None:
        self.traffic.stop()
        self.watch.stop()

    def _stop_site(self) -> None:
        self.keeper.stop()
        for host in self.hosts.values():
            host.stop()

    def _check(self) -> list[str]:
        self.say("checking")
        found = []
        if left := checks.unfinished():
            found.append(f"{left} rows had no end after {END_PATIENCE:.0f} s")
        in_process = checks.expected(self.world, self.variants, GOLD)
        found += checks.results(self.traffic.accepted, in_process, in_process[: len(self.images)])
        found += checks.boards()
        broken, orphans = checks.files()
        found += broken
        if orphans:
            self.say(f"{len(orphans)} stored files without a record: {', '.join(orphans[:3])}")
        logs = self.logs()
        found += checks.leaks(logs, SECRETS)
        # A busy machine makes pages and sweeps slow without any fault: what the quiet stage shows is not counted.
        noise = max((wait.seconds for wait in self.traffic.waits if wait.stage == faults.Fault.name), default=0.0)
        found += checks.slow_pages(self.traffic.waits, traffic.PAGE_SECONDS + noise)
        found += checks.errors(self.traffic.waits)
        for loss in self.watch.losses:
            last = max(loss.returned, default=0.0)
            self.say(
                f"{loss.stage}: {len(loss.returned)} leased rows were in other hands within {last:.1f} s, expected "
                f"{site.TAKEN_BACK_SECONDS} s; {len(loss.rows)} were not"
            )
            if loss.rows or last > site.TAKEN_BACK_SECONDS + noise:
                found.append(f"{loss.stage}: rows of the host came back after {last:.1f} s, {len(loss.rows)} never")
        return found

    def logs(self) -> list[Path]:
        return sorted(path for path in self.folder.glob("*/*.log"))

    def _print(self, used: dict[str, float]) -> None:
        traffic_ = self.traffic
        lines = figures.stages(self.spans, traffic_.accepted, self.watch.scored, traffic_.waits)
        lines += ["", "seconds: p50, p99 and maximum", "", *figures.processor_time(used, len(traffic_.accepted))]
        lines += ["", "warnings and errors in the logs:"]
        lines += [f"{n:6} {event}" for event, n in checks.events(self.logs()).most_common()]
        total = sum(end - begin for begin, end in self.spans.values())
        n_scored = len(self.watch.scored)
        lines.append(
            f"{len(traffic_.accepted)} accepted, {n_scored} scored in {total:.0f} s: {n_scored / total:.2f} a second"
        )
        lines.append(f"processes that ended by themselves: {sum(host.restarts for host in self.hosts.values())}")
        print("\n".join(lines), flush=True)
        (self.folder / "figures.txt").write_text("\n".join(lines) + "\n")

    def stop(self) -> None:
        """End everything that was started, after a failure too."""
        if hasattr(self, "traffic"):
            self.traffic.stop()
        if self.keeper.is_alive():
            self.keeper.stop()
        for host in self.hosts.values():
            host.kill()
        if self.engine is not None:
            self.engine.unmount()


class _Steps(threading.Thread):
    """A fault from its begin to its end, next to the traffic."""

    def __init__(self, fault: faults.Fault, run: Run) -> None:
        super().__init__(daemon=True, name=fault.name)
        self.fault, self.of = fault, run
        self.error: Exception | None = None

    @property
    def is_over(self) -> bool:
        return not self.is_alive()

    def run(self) -> None:
        try:
            loss = Lost(self.fault.name, time.monotonic())
            self.fault.begin(self.of)
            if self.fault.takes_back:
                loss.began, loss.rows = time.monotonic(), leases()
                self.of.watch.losses.append(loss)
            time.sleep(self.fault.seconds)
            self.fault.end(self.of)
            self.of.wait_until_ready()
            self.of.say(f"{self.fault.name}: repaired, and all web hosts are ready")
        except Exception as error:  # noqa: BLE001  raised again by the main thread
            self.error = error
        finally:
            connection.close()


def _secret(env: dict[str, str]) -> dict[str, str]:
    return {"HOLDOUT_SECRET_KEY": env["HOLDOUT_SECRET_KEY"]}


def _status(url: str) -> int:
    try:
        return requests.get(url, timeout=10).status_code
    except requests.RequestException:
        return 0
