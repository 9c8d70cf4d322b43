"""Typed environment variables of the site.

The site does not start if a variable is unknown or malformed.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from evaluator.statistics.confidence import RESAMPLES

PREFIX = "HOLDOUT_"
OTHERS = {"HOLDOUT_TOKEN"}
"""Variables that only the `holdout-eval` command reads. They are allowed, since it may be used from the same shell."""
SWITCHES = ("", "0", "1", "false", "no", "off", "on", "true", "yes")
"""Values of variables that switch something on or off. django-environ would take any other word for off."""


@dataclass(frozen=True)
class Variable:
    """An environment variable: its type (a django-environ cast), default, description, and who sets it and why."""

    cast: Any
    default: Any
    doc: str
    why: str = field(kw_only=True)


VARIABLES = {
    "DATA": Variable(
        str,
        "var",
        "folder of the embedded default: database, files, queue, sockets",
        why="whoever keeps data outside the checkout, or runs two sites",
    ),
    "SECRET_KEY": Variable(
        str,
        "",
        "Django's secret key; empty: generated at the first start and stored in DATA/secret_key",
        why="several hosts, which need the same; a secret store",
    ),
    "DEBUG": Variable(bool, False, "Django's debug pages; never in production", why="developers of pages"),
    "HOSTS": Variable(
        list,
        ["localhost", "127.0.0.1", "[::1]"],
        "host names that the site answers to (Django's ALLOWED_HOSTS)",
        why="every site that others reach",
    ),
    "BASE_URL": Variable(
        str,
        "http://127.0.0.1:8000",
        "the site's address in mails and permanent links",
        why="every site that others reach; `https://` switches on secure cookies, HSTS and the redirect from HTTP",
    ),
    "PROXY": Variable(
        bool,
        False,
        "the site is behind one proxy that sets X-Forwarded-Proto and X-Forwarded-For",
        why="every site behind a proxy: otherwise all visitors share its address and its limits",
    ),
    "DATABASE_URL": Variable(
        str,
        "",
        "empty: SQLite in DATA; otherwise postgres://user:password@host/name",
        why="production: many writers at once, backups while it runs",
    ),
    "BROKER_URL": Variable(str, "", "empty: folders in DATA; otherwise redis://... or amqp://...", why="several hosts"),
    "QUEUE_TYPE": Variable(
        str,
        "classic",
        "type of the queues on RabbitMQ: classic, or quorum (copied to several nodes)",
        why="clusters of RabbitMQ",
    ),
    "CACHE_URL": Variable(
        str, "", "empty: files in DATA; otherwise redis://...", why="several hosts: limits and codes are common to all"
    ),
    "EMAIL_URL": Variable(
        str,
        "",
        "empty: mails are written to files in DATA/mail; otherwise smtp://...",
        why="every site with people: passwords are reset by mail",
    ),
    "EMAIL_FROM": Variable(
        str,
        "holdout@localhost",
        "sender address of mails",
        why="with EMAIL_URL: the mail server accepts only its own domain",
    ),
    "LOGIN_ORCID": Variable(
        str,
        "",
        "CLIENT_ID:SECRET: users may log in with ORCID, see Log-in by other providers",
        why="sites for researchers",
    ),
    "LOGIN_GITHUB": Variable(
        str, "", "CLIENT_ID:SECRET: users may log in with GitHub", why="sites whose users have an account there"
    ),
    "LOGIN_GOOGLE": Variable(
        str, "", "CLIENT_ID:SECRET: users may log in with Google", why="sites whose users have an account there"
    ),
    "LOGIN_OIDC": Variable(
        str,
        "",
        "JSON list of other OpenID Connect providers: id, name, server, client_id, secret, optional origins",
        why="universities and companies with a log-in of their own",
    ),
    "CONTACT": Variable(
        str, "", "mail or web address of the operator, shown to everybody", why="every site that others reach"
    ),
    "OPERATORS": Variable(
        list,
        [],
        "mail addresses that are notified when the disk runs low",
        why="whoever is to know before the disk is full",
    ),
    "SECONDS_PER_MINUTE": Variable(
        int,
        30,
        "seconds of processor and database that the requests of one network without log-in, of one API token and of "
        "one session may take each minute; 0: no limit",
        why="a class behind one address; machines that are much faster or slower",
    ),
    "METRICS_TOKEN": Variable(
        str,
        "",
        "bearer token for /metrics, at least 20 characters; empty: /metrics answers 404",
        why="whoever monitors with Prometheus",
    ),
    "NOTIFICATIONS": Variable(
        bool,
        True,
        "users are notified on the site, and if they wish by mail and webhook, of finished submissions, lost ranks, "
        "announcements and deadlines",
        why="sites that may call no other host",
    ),
    "WEBHOOK_HOSTS": Variable(
        list,
        [],
        "hosts that webhooks may call although their addresses are not public",
        why="chat servers in the operator's own network",
    ),
    "S3_BUCKET": Variable(
        str,
        "",
        "empty: files are stored in local folders; otherwise the bucket of everything but gold",
        why="several hosts without a common folder",
    ),
    "S3_GOLD_BUCKET": Variable(
        str, "", "the bucket of gold; must differ from S3_BUCKET", why="with S3_BUCKET: other credentials guard gold"
    ),
    "S3_PUBLIC_BUCKET": Variable(
        str,
        "",
        "a bucket for copies of public files, to which downloads are redirected; empty: the site sends them",
        why="large downloads that are not to pass through the site",
    ),
    "S3_PUBLIC_URL": Variable(
        str,
        "",
        "address of S3_PUBLIC_BUCKET for everybody, such as a CDN's; empty: signed addresses, valid for 10 minutes",
        why="a CDN in front of that bucket",
    ),
    "S3_ENDPOINT": Variable(str, "", "endpoint of an S3-compatible service", why="any store but Amazon's"),
    "SANDBOX_SOCKET": Variable(
        str, "", "the sandbox server's socket; empty: DATA/sandbox.sock", why="a sandbox in another container"
    ),
    "LEASE_SECONDS": Variable(
        int,
        30,
        "a worker that has not renewed its lease for this long loses its run",
        why="hosts that freeze for longer, such as virtual machines that move",
    ),
    "SWEEP_SECONDS": Variable(
        int,
        10,
        "interval between sweeps, which requeue lost runs; a step that found nothing rests for two of them",
        why="whoever wants lost work to wait less, for more idle processor time",
    ),
    "RESAMPLES": Variable(
        int,
        RESAMPLES,
        "bootstrap resamples behind each published interval",
        why="very large files, whose resampling takes longer than scoring may",
    ),
    "SCORE_SECONDS": Variable(
        int,
        120,
        "processor-time limit of one scoring; of wall-clock time five times as much",
        why="large gold, see Large files",
    ),
    "VALIDATE_SECONDS": Variable(
        int,
        20,
        "processor-time limit of one validation; of wall-clock time five times as much",
        why="large predictions, see Large files",
    ),
    "SANDBOX_MEMORY_MB": Variable(int, 2048, "memory limit of one sandbox job", why="large gold, see Large files"),
    "MAX_FILE_MB": Variable(
        int, 200, "largest file of predictions, gold or inputs, after decompression", why="large gold, see Large files"
    ),
    "MAX_RAW_MB": Variable(
        int,
        500,
        "largest raw file that splits are generated from; it is uploaded in chunks",
        why="organisers whose graphs are larger",
    ),
    "SYSTEMS": Variable(
        bool,
        True,
        "containers may be submitted to phases that accept them, while a container engine is available",
        why="hosts whose engine is for other work",
    ),
    "ENGINE_PLAIN": Variable(
        bool,
        False,
        "an engine on another host may be reached by tcp:// without TLS",
        why="an engine in a private network",
    ),
    "ENGINE_RUNTIME": Variable(
        str,
        "runc",
        "the OCI runtime of submitted containers: runc, runsc, ...",
        why="sites that accept images from strangers: gVisor",
    ),
    "ENGINE_CPUS": Variable(
        float,
        0.0,
        "processors of the engine's host that its containers share; 0: all of them",
        why="a host that does other work too",
    ),
    "ENGINE_MEMORY_MB": Variable(
        int,
        0,
        "memory of the engine's host that its containers share; 0: nine tenths of all of it",
        why="a host that does other work too",
    ),
    "ENGINE_DISK": Variable(
        str,
        "",
        "a folder on the engine's disk; empty: the engine's own folder, if this host has it",
        why="a worker in a container, or an engine on another host",
    ),
    "IMAGE_CACHE_MB": Variable(
        int,
        20_000,
        "space for images on the engine; the least recently used are removed; 0: all that are not in use",
        why="small disks, or many images that run often",
    ),
    "DRAIN_SECONDS": Variable(
        int,
        8,
        "how long a worker for containers that gets SIGTERM lets its containers run before other hosts get them",
        why="orchestrators that kill sooner or later than ten seconds after SIGTERM",
    ),
    "GPUS": Variable(
        str,
        "",
        "NVIDIA GPUs that a worker systems-gpu offers: all, or indexes and UUIDs with commas; empty: none",
        why="hosts with GPUs",
    ),
    "GPU_RUNTIME": Variable(
        str, "nvidia", "how a container gets GPUs: nvidia (its runtime's hook) or cdi", why="hosts with CDI"
    ),
    "NVIDIA_SMI": Variable(
        str,
        "nvidia-smi",
        "the nvidia-smi command on the engine's host, with its arguments",
        why="a worker in a container, or an engine on another host",
    ),
    "REGISTRIES": Variable(
        list,
        [],
        "registries from which images may be submitted by digest",
        why="sites whose participants push images instead of uploading them",
    ),
    "BASE_IMAGE": Variable(
        str,
        "python:3.11-slim-bookworm",
        "base image of the systems that `manage.py seed` builds",
        why="machines that do not reach Docker Hub",
    ),
    "SYSTEM_SECONDS": Variable(
        int,
        600,
        "wall-clock limit of a submitted container, unless its phase sets one",
        why="systems and scorers that need longer",
    ),
    "SYSTEM_MEMORY_MB": Variable(
        int, 4000, "memory limit of a submitted container, swap and /tmp included", why="models that need more memory"
    ),
    "SYSTEM_CPUS": Variable(
        float, 1.0, "processor limit of a submitted container", why="hosts with processors to spare"
    ),
    "SYSTEM_IMAGE_MB": Variable(
        int, 10_000, "largest image that is accepted, unpacked", why="large models in images, or small disks"
    ),
    "SCORERS": Variable(
        bool,
        False,
        "organisers' own scorer images are run, by a worker that has the engine and gold",
        why="sites whose organisers bring a scorer of their own",
    ),
    "LOG_LEVEL": Variable(str, "INFO", "DEBUG, INFO, WARNING or ERROR", why="whoever looks for a fault"),
    "LOG_FORMAT": Variable(
        str, "text", "text: keys and values; json: one JSON object a line", why="collectors of logs"
    ),
}


class Environment:
    """Typed view of os.environ: calling it with a variable's name, without HOLDOUT_, returns the variable's value.

    Raises ImproperlyConfigured for an unknown or malformed variable.
    """

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
        variable, key = VARIABLES[name], PREFIX + name
        try:
            if variable.cast is bool and os.environ.get(key, "off").lower() not in SWITCHES:
                raise ValueError
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


def address_settings(url: str) -> dict[str, Any]:
    """Return Django's settings that follow from the site's address."""
    return {
        "BASE_URL": url,
        "CSRF_TRUSTED_ORIGINS": [url],
        # Browsers offer passkeys on localhost without TLS, but the library accepts addresses with TLS only.
        "MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN": url.startswith("http://"),
    }


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
