"""`python -m tests.several_hosts`: start the services and hosts, run the faults, check the results, print figures."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import django

from tests.several_hosts import engine, network, rabbitmq, site, swift
from tests.several_hosts.processes import ProcessorTime
from tests.several_hosts.services import Services


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.several_hosts", description=__doc__)
    parser.add_argument(
        "--submissions", type=int, default=300, help="accepted submissions to reach (default %(default)s)"
    )
    parser.add_argument("--broker", choices=("redis", "rabbitmq"), default="redis")
    parser.add_argument("--store", choices=("folder", "swift"), default="folder")
    parser.add_argument(
        "--engine",
        action="store_true",
        help="host c has a Docker engine; one in 100 submissions is a container, and at least 5 are",
    )
    parser.add_argument(
        "--only", action="append", help="run only faults whose name or class contains this; may be repeated"
    )
    parser.add_argument(
        "--full-disk-seconds", type=float, default=30.0, help="how long a host has a full disk (default %(default)s)"
    )
    parser.add_argument("--folder", type=Path, help="keep logs and data here (default: a new folder in /tmp)")
    return parser.parse_args()


def main() -> int:
    options = arguments()
    reasons = [network.missing()]
    reasons += [rabbitmq.missing()] if options.broker == "rabbitmq" else []
    reasons += [swift.missing()] if options.store == "swift" else []
    reasons += [engine.missing()] if options.engine else []
    if any(reasons):
        print("skipped:", "; ".join(filter(None, reasons)))
        return network.SKIPPED
    folder = options.folder or Path(tempfile.mkdtemp(prefix="several-hosts-"))
    folder.mkdir(exist_ok=True)
    folder.chmod(0o755)
    began = time.monotonic()

    def say(line: str) -> None:
        print(f"{time.monotonic() - began:7.1f} {line}", flush=True)

    say(f"logs and data are in {folder}")
    with ExitStack() as stack:
        links = stack.enter_context(network.links(*site.ROLES))
        times = ProcessorTime()
        stack.callback(times.remove)
        started = Services(folder, times, links, stack, broker=options.broker, store=options.store)
        env = site.environment(folder / "here", {**site.secret(), **started.environment})
        os.environ.update(env)
        os.environ["DJANGO_SETTINGS_MODULE"] = "leaderboard.settings"
        django.setup()
        from tests.several_hosts.run import Run

        run = Run(options=options, folder=folder, links=links, services=started, env=env, times=times, say=say)
        stack.callback(run.stop)
        faults = run.perform()
    for fault in faults:
        say(f"FAULT: {fault}")
    say(f"{len(faults)} faults; logs by host are in {folder}" if faults else "all checks hold")
    if not faults and options.folder is None:
        shutil.rmtree(folder)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
