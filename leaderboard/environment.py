"""Typed environment variables; an unknown or malformed one prevents the start."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

PREFIX = "HOLDOUT_"
OTHERS = {"HOLDOUT_TOKEN"}
"""Variables of the `holdout` command, which may be used from the same shell."""


@dataclass(frozen=True)
class Variable:
    """A variable: its type (a django-environ cast), its default, and its description."""

    cast: Any
    default: Any
    doc: str


VARIABLES = {
    "DATA": Variable(str, "var", "folder of the embedded default: database, files, queue, sockets"),
    "SECRET_KEY": Variable(str, "", "Django's secret; empty: one is made and kept in DATA/secret_key"),
    "DEBUG": Variable(bool, False, "Django's debug pages; never in production"),
    "HOSTS": Variable(list, ["localhost", "127.0.0.1", "[::1]"], "host names that are answered"),
    "BASE_URL": Variable(str, "http://127.0.0.1:8000", "the address that mails and permalinks carry"),
    "HTTPS": Variable(bool, False, "served over TLS: secure cookies, HSTS, redirect"),
    "PROXY": Variable(bool, False, "behind one proxy that sets X-Forwarded-Proto and X-Forwarded-For"),
    "DATABASE_URL": Variable(str, "", "empty: SQLite in DATA; else postgres://user:password@host/name"),
    "BROKER_URL": Variable(str, "", "empty: folders in DATA; else redis://... or amqp://..."),
    "CACHE_URL": Variable(str, "", "empty: files in DATA; else redis://..."),
    "EMAIL_URL": Variable(str, "", "empty: mails become files in DATA/mail; else smtp://..."),
    "EMAIL_FROM": Variable(str, "holdout@localhost", "the sender of mails"),
    "OPERATORS": Variable(list, [], "mail addresses that are told when the disk runs low"),
    "DISK_ALARM_MB": Variable(int, 2000, "less room than this for data raises the alarm; a tenth of it: not ready"),
    "METRICS_TOKEN": Variable(str, "", "who sends it may read /metrics; empty: nobody may; at least 20 characters"),
    "NOTICES": Variable(bool, True, "people are told of their finished submissions, by mail and webhook, if they ask"),
    "WEBHOOK_HOSTS": Variable(list, [], "hosts that webhooks may call though they are not public; none by default"),
    "S3_BUCKET": Variable(str, "", "empty: local folders; else the bucket of everything but gold"),
    "S3_GOLD_BUCKET": Variable(str, "", "the bucket of gold; must differ from S3_BUCKET"),
    "S3_ENDPOINT": Variable(str, "", "endpoint of an S3-compatible service"),
    "SANDBOX_SOCKET": Variable(str, "", "the sandbox server's socket; empty: DATA/sandbox.sock"),
    "LEASE_SECONDS": Variable(int, 30, "a worker that is silent for so long has lost its run"),
    "SWEEP_SECONDS": Variable(int, 10, "how often lost and forgotten runs are looked for"),
    "MAX_ATTEMPTS": Variable(int, 3, "a run is tried so often before it has failed"),
    "RESAMPLES": Variable(int, 1000, "bootstrap resamples behind each published interval"),
    "SCORE_SECONDS": Variable(int, 120, "wall limit of one scoring"),
    "VALIDATE_SECONDS": Variable(int, 20, "wall limit of one validation"),
    "SANDBOX_MEMORY_MB": Variable(int, 2048, "memory budget of one sandbox job"),
    "MAX_UPLOAD_MB": Variable(int, 200, "largest upload that is accepted"),
    "MAX_RAW_MB": Variable(int, 500, "largest raw file that splits are made from; it arrives in pieces"),
    "SYSTEMS": Variable(bool, True, "containers may be submitted wherever a phase takes them and an engine answers"),
    "ENGINE": Variable(str, "", "the container engine's address; empty: DOCKER_HOST, or the local socket"),
    "ENGINE_RUNTIME": Variable(str, "runc", "the OCI runtime of submitted containers: runc, runsc, ..."),
    "REGISTRIES": Variable(list, [], "registries that images may be named from, by digest; none by default"),
    "BASE_IMAGE": Variable(str, "python:3.11-slim-bookworm", "what seeding builds the reference systems from"),
    "SYSTEM_SECONDS": Variable(int, 600, "wall limit of a submitted container, unless its phase sets one"),
    "SYSTEM_MEMORY_MB": Variable(int, 4000, "its memory; swap and /tmp count"),
    "SYSTEM_CPUS": Variable(float, 1.0, "its processors"),
    "SYSTEM_PROCESSES": Variable(int, 256, "its processes and threads"),
    "SYSTEM_IMAGE_MB": Variable(int, 10_000, "the largest image, unpacked"),
    "SYSTEM_OUTPUT_MB": Variable(int, 200, "all that it may leave in /output"),
    "SYSTEM_OUTPUT_FILES": Variable(int, 64, "files that it may leave in /output"),
    "SYSTEM_LOG_KB": Variable(int, 64, "how much of what it prints is kept"),
    "SCORERS": Variable(bool, False, "organisers' own scorer images are run; their worker has the engine and gold"),
    "SCORER_SECONDS": Variable(int, 600, "wall limit of one execution of a scorer image; each run takes two"),
    "SCORER_MEMORY_MB": Variable(int, 4000, "its memory; swap and /tmp count"),
    "SCORER_OUTPUT_MB": Variable(int, 100, "all that it may leave in /output"),
    "LOG_LEVEL": Variable(str, "INFO", "DEBUG, INFO, WARNING or ERROR"),
}


class Environment:
    """Typed view of os.environ; raises ImproperlyConfigured with the variable's name."""

    def __init__(self) -> None:
        self._env = environ.Env()
        unknown = sorted(
            name
            for name in os.environ
            if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in VARIABLES and name not in OTHERS
        )
        if unknown:
            raise ImproperlyConfigured(
                f"unknown environment variable {', '.join(unknown)}; "
                f"known are {', '.join(PREFIX + name for name in VARIABLES)}"
            )

    def __call__(self, name: str) -> Any:
        variable = VARIABLES[name]
        try:
            return self._env.get_value(PREFIX + name, cast=variable.cast, default=variable.default)
        except (ValueError, TypeError) as error:
            raise ImproperlyConfigured(
                f"{PREFIX}{name} is {os.environ.get(PREFIX + name)!r}, "
                f"expected {variable.cast.__name__}: {variable.doc}"
            ) from error

    def database(self, url: str) -> dict[str, Any]:
        return dict(self._env.db_url_config(url))

    def cache(self, url: str) -> dict[str, Any]:
        return dict(self._env.cache_url_config(url))

    def email(self, url: str) -> dict[str, Any]:
        return dict(self._env.email_url_config(url))


def stored_secret(path: Path) -> str:
    """Return the secret in `path`; create it on the first start, readable by its owner only."""
    try:
        return path.read_text()
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return path.read_text()
        with os.fdopen(descriptor, "w") as file:
            file.write(secrets.token_urlsafe(64))
        return path.read_text()
