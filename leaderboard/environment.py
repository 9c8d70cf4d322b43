"""Typed environment variables of the site.

The site does not start if a variable is unknown or malformed, or has different values under its current and its former
name.
"""

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
"""Variables that only the `holdout-eval` command reads. They are allowed, since it may be used from the same shell."""


@dataclass(frozen=True)
class Variable:
    """An environment variable: its type (a django-environ cast), its default, and its description.

    former: the variable's name in the previous release, which is still read and reported by a system check; empty: the
    variable was not renamed.
    """

    cast: Any
    default: Any
    doc: str
    former: str = ""


VARIABLES = {
    "DATA": Variable(str, "var", "folder of the embedded default: database, files, queue, sockets"),
    "SECRET_KEY": Variable(
        str, "", "Django's secret key; empty: generated at the first start and stored in DATA/secret_key"
    ),
    "DEBUG": Variable(bool, False, "Django's debug pages; never in production"),
    "HOSTS": Variable(
        list, ["localhost", "127.0.0.1", "[::1]"], "host names that the site answers to (Django's ALLOWED_HOSTS)"
    ),
    "BASE_URL": Variable(str, "http://127.0.0.1:8000", "the site's address in mails and permanent links"),
    "HTTPS": Variable(bool, False, "the site is served over TLS: secure cookies, HSTS, redirect from HTTP"),
    "PROXY": Variable(bool, False, "the site is behind one proxy that sets X-Forwarded-Proto and X-Forwarded-For"),
    "DATABASE_URL": Variable(str, "", "empty: SQLite in DATA; otherwise postgres://user:password@host/name"),
    "DATABASE_LOCK_SECONDS": Variable(
        int, 60, "longest wait for a lock on PostgreSQL; web processes and beat wait 5 seconds unless this is set"
    ),
    "BROKER_URL": Variable(str, "", "empty: folders in DATA; otherwise redis://... or amqp://..."),
    "QUEUE_TYPE": Variable(
        str, "classic", "type of the queues on RabbitMQ: classic, or quorum (copied to several nodes)"
    ),
    "CACHE_URL": Variable(str, "", "empty: files in DATA; otherwise redis://..."),
    "EMAIL_URL": Variable(str, "", "empty: mails are written to files in DATA/mail; otherwise smtp://..."),
    "EMAIL_FROM": Variable(str, "holdout@localhost", "sender address of mails"),
    "LOGIN_ORCID": Variable(str, "", "CLIENT_ID:SECRET: users may log in with ORCID, see Log-in by other providers"),
    "LOGIN_GITHUB": Variable(str, "", "CLIENT_ID:SECRET: users may log in with GitHub"),
    "LOGIN_GOOGLE": Variable(str, "", "CLIENT_ID:SECRET: users may log in with Google"),
    "LOGIN_OIDC": Variable(
        str, "", "JSON list of other OpenID Connect providers: id, name, server, client_id, secret, optional origins"
    ),
    "CONTACT": Variable(str, "", "mail or web address of the operator, shown to everybody"),
    "SECURITY_CONTACT": Variable(
        str, "", "mail or https address for reports of vulnerabilities, in /.well-known/security.txt; empty: CONTACT"
    ),
    "OPERATORS": Variable(list, [], "mail addresses that are notified when the disk runs low"),
    "DISK_ALARM_MB": Variable(
        int, 2000, "free space for data below which the disk alarm is raised; below a tenth of it the site is not ready"
    ),
    "SECONDS_PER_MINUTE": Variable(
        int,
        30,
        "seconds of processor and database that the requests of one network without log-in, of one API token and of "
        "one session may take each minute; 0: no limit",
    ),
    "METRICS_TOKEN": Variable(
        str, "", "bearer token for /metrics, at least 20 characters; empty: /metrics answers 404"
    ),
    "NOTIFICATIONS": Variable(
        bool,
        True,
        "users are notified on the site, and if they wish by mail and webhook, of finished submissions, lost ranks, "
        "announcements and deadlines",
        former="NOTICES",
    ),
    "PLOT_PICTURES": Variable(
        bool, True, "workers render the plots of public boards as pictures, for pages without scripts and link previews"
    ),
    "WEBHOOK_HOSTS": Variable(list, [], "hosts that webhooks may call although their addresses are not public"),
    "S3_BUCKET": Variable(
        str, "", "empty: files are stored in local folders; otherwise the bucket of everything but gold"
    ),
    "S3_GOLD_BUCKET": Variable(str, "", "the bucket of gold; must differ from S3_BUCKET"),
    "S3_PUBLIC_BUCKET": Variable(
        str, "", "a bucket for copies of public files, to which downloads are redirected; empty: the site sends them"
    ),
    "S3_PUBLIC_URL": Variable(
        str,
        "",
        "address of S3_PUBLIC_BUCKET for everybody, such as a CDN's; empty: signed addresses, valid for 10 minutes",
    ),
    "S3_ENDPOINT": Variable(str, "", "endpoint of an S3-compatible service"),
    "S3_SECONDS": Variable(
        float, 5.0, "timeout of connecting to the S3 service, and of each wait for it; each request is tried twice"
    ),
    "FILE_CACHE_MB": Variable(
        int, 2000, "space for local copies of gold, inputs and outcomes in S3, in DATA/file-cache; 0: no copies"
    ),
    "SANDBOX_SOCKET": Variable(str, "", "the sandbox server's socket; empty: DATA/sandbox.sock"),
    "LEASE_SECONDS": Variable(int, 30, "a worker that has not renewed its lease for this long loses its run"),
    "SWEEP_SECONDS": Variable(int, 10, "interval between sweeps, which requeue runs whose worker or message was lost"),
    "MAX_ATTEMPTS": Variable(int, 3, "attempts at a run before it fails"),
    "RESAMPLES": Variable(int, 1000, "bootstrap resamples behind each published interval"),
    "SCORE_SECONDS": Variable(int, 120, "processor-time limit of one scoring; of wall-clock time five times as much"),
    "VALIDATE_SECONDS": Variable(
        int, 20, "processor-time limit of one validation; of wall-clock time five times as much"
    ),
    "VALIDATE_NOW_MB": Variable(
        int, 20, "largest upload that is validated during the request; a worker validates larger ones"
    ),
    "REFUSED_SECONDS": Variable(
        int, 600, "processor time that the checks of one user's refused files may take in an hour; then 429"
    ),
    "SANDBOX_MEMORY_MB": Variable(int, 2048, "memory limit of one sandbox job"),
    "MAX_UPLOAD_MB": Variable(int, 200, "largest upload that is accepted"),
    "MAX_FILE_MB": Variable(int, 200, "largest file of predictions, gold or inputs, after decompression"),
    "MAX_LINES": Variable(int, 2_000_000, "most lines of a file of predictions, gold or inputs"),
    "MAX_RAW_MB": Variable(int, 500, "largest raw file that splits are generated from; it is uploaded in chunks"),
    "SYSTEMS": Variable(
        bool, True, "containers may be submitted to phases that accept them, while a container engine is available"
    ),
    "ENGINE": Variable(str, "", "the container engine's address; empty: DOCKER_HOST, or the local socket"),
    "ENGINE_BACKEND": Variable(
        str, "docker", "the kind of container engine: docker, or podman on the worker's own host"
    ),
    "ENGINE_CERTS": Variable(
        str, "", "folder with ca.pem, cert.pem and key.pem for an engine at tcp://...; empty: DOCKER_CERT_PATH"
    ),
    "ENGINE_PLAIN": Variable(bool, False, "an engine on another host may be reached by tcp:// without TLS"),
    "ENGINE_WAIVED": Variable(
        list, [], "promises of docs/sandbox.md that the engine cannot keep, and that this site does without"
    ),
    "ENGINE_RUNTIME": Variable(str, "runc", "the OCI runtime of submitted containers: runc, runsc, ..."),
    "ENGINE_CPUS": Variable(float, 0.0, "processors of the engine's host that its containers share; 0: all of them"),
    "ENGINE_MEMORY_MB": Variable(
        int, 0, "memory of the engine's host that its containers share; 0: nine tenths of all of it"
    ),
    "ENGINE_DISK": Variable(
        str, "", "a folder on the engine's disk; empty: the engine's own folder, if this host has it"
    ),
    "ENGINE_DISK_MB": Variable(
        int, 2000, "free space on the engine's disk below which images are removed, and then no container is started"
    ),
    "IMAGE_CACHE_MB": Variable(
        int, 20_000, "space for images on the engine; the least recently used are removed; 0: all that are not in use"
    ),
    "DRAIN_SECONDS": Variable(
        int, 8, "how long a worker for containers that gets SIGTERM lets its containers run before other hosts get them"
    ),
    "GPUS": Variable(
        str, "", "NVIDIA GPUs that a worker systems-gpu offers: all, or indexes and UUIDs with commas; empty: none"
    ),
    "GPU_RUNTIME": Variable(str, "nvidia", "how a container gets GPUs: nvidia (its runtime's hook) or cdi"),
    "NVIDIA_SMI": Variable(str, "nvidia-smi", "the nvidia-smi command on the engine's host, with its arguments"),
    "REGISTRIES": Variable(list, [], "registries from which images may be submitted by digest"),
    "BASE_IMAGE": Variable(str, "python:3.11-slim-bookworm", "base image of the systems that `manage.py seed` builds"),
    "SYSTEM_SECONDS": Variable(int, 600, "wall-clock limit of a submitted container, unless its phase sets one"),
    "SYSTEM_MEMORY_MB": Variable(int, 4000, "memory limit of a submitted container, swap and /tmp included"),
    "SYSTEM_CPUS": Variable(float, 1.0, "processor limit of a submitted container"),
    "SYSTEM_PROCESSES": Variable(int, 256, "limit of processes and threads in a submitted container"),
    "SYSTEM_LOAD_SECONDS": Variable(int, 600, "longest time in which an engine may load a submitted image"),
    "SYSTEM_IMAGE_MB": Variable(int, 10_000, "largest image that is accepted, unpacked"),
    "SYSTEM_OUTPUT_MB": Variable(
        int, 200, "largest total size of the files that a submitted container writes to /output"
    ),
    "SYSTEM_OUTPUT_FILES": Variable(int, 64, "largest number of files that a submitted container writes to /output"),
    "SYSTEM_LOG_KB": Variable(int, 64, "how much of what a submitted container prints is stored"),
    "SCORERS": Variable(bool, False, "organisers' own scorer images are run, by a worker that has the engine and gold"),
    "SCORER_SECONDS": Variable(
        int, 600, "wall-clock limit of one execution of a scorer image; each run executes it twice"
    ),
    "SCORER_MEMORY_MB": Variable(int, 4000, "memory limit of a scorer image, swap and /tmp included"),
    "SCORER_OUTPUT_MB": Variable(int, 100, "largest total size of the files that a scorer image writes to /output"),
    "LOG_LEVEL": Variable(str, "INFO", "DEBUG, INFO, WARNING or ERROR"),
    "TRACES": Variable(bool, False, "traces by OpenTelemetry, with the packages of requirements-otel.lock"),
    "SENTRY_DSN": Variable(
        str, "", "address to which errors are reported, with the package of requirements-sentry.lock; empty: no reports"
    ),
    "LOG_FORMAT": Variable(str, "text", "text: keys and values; json: one JSON object a line"),
}

FORMER = {variable.former: name for name, variable in VARIABLES.items() if variable.former}
"""Renamed variables: former name -> present name, both without the prefix. Each is removed one release later."""


def former_names() -> dict[str, str]:
    """Return former name -> current name, both with HOLDOUT_, of renamed variables set under the former name."""
    return {PREFIX + former: PREFIX + name for former, name in FORMER.items() if PREFIX + former in os.environ}


class Environment:
    """Typed view of os.environ: calling it with a variable's name, without HOLDOUT_, returns the variable's value.

    Raises ImproperlyConfigured for an unknown or malformed variable.
    """

    def __init__(self) -> None:
        self._env = environ.Env()
        known = VARIABLES.keys() | FORMER.keys()
        unknown = sorted(
            name
            for name in os.environ
            if name.startswith(PREFIX) and name.removeprefix(PREFIX) not in known and name not in OTHERS
        )
        if unknown:
            raise ImproperlyConfigured(
                f"unknown environment variable {', '.join(unknown)}; "
                f"known are {', '.join(PREFIX + name for name in VARIABLES)}"
            )

    def __call__(self, name: str) -> Any:
        variable = VARIABLES[name]
        value = self._value(PREFIX + name, variable)
        former = PREFIX + variable.former
        if not variable.former or former not in os.environ:
            return value
        former_value = self._value(former, variable)
        if PREFIX + name in os.environ and former_value != value:
            raise ImproperlyConfigured(
                f"{PREFIX}{name} is {os.environ[PREFIX + name]!r} and {former}, its former name, is "
                f"{os.environ[former]!r}, expected the same value or {PREFIX}{name} alone; remove {former}"
            )
        return former_value

    def _value(self, key: str, variable: Variable) -> Any:
        try:
            return self._env.get_value(key, cast=variable.cast, default=variable.default)
        except (ValueError, TypeError) as error:
            raise ImproperlyConfigured(
                f"{key} is {os.environ.get(key)!r}, expected {variable.cast.__name__}: {variable.doc}"
            ) from error

    def database(self, url: str) -> dict[str, Any]:
        return dict(self._env.db_url_config(url))

    def cache(self, url: str) -> dict[str, Any]:
        return dict(self._env.cache_url_config(url))

    def email(self, url: str) -> dict[str, Any]:
        return dict(self._env.email_url_config(url))


def stored_secret(path: Path) -> str:
    """Return the secret stored in the file `path`; at the first start, create the file, readable by its owner only."""
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
