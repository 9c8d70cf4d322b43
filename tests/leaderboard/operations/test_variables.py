"""Each environment variable has an effect: its value is in the settings, and one that cannot be is refused."""

from __future__ import annotations

import os
import runpy
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from leaderboard.environment import OTHERS, PREFIX, VARIABLES, Environment
from tests.conftest import ROOT

MB = 1_000_000
OIDC = '[{"id": "u", "name": "U", "server": "https://u.example", "client_id": "x", "secret": "y"}]'
S3 = {"S3_BUCKET": "files", "S3_GOLD_BUCKET": "gold"}
RABBITMQ = {"BROKER_URL": "amqp://rabbit"}
EFFECTS: dict[str, tuple[dict[str, str], str, object]] = {
    "SECRET_KEY": ({"SECRET_KEY": "x" * 50}, "SECRET_KEY", "x" * 50),
    "DEBUG": ({"DEBUG": "on"}, "DEBUG", True),
    "HOSTS": ({"HOSTS": "a.example,b.example"}, "ALLOWED_HOSTS", ["a.example", "b.example"]),
    "BASE_URL": ({"BASE_URL": "https://a.example/"}, "CSRF_TRUSTED_ORIGINS", ["https://a.example"]),
    "PROXY": ({"PROXY": "yes"}, "SECURE_PROXY_SSL_HEADER", ("HTTP_X_FORWARDED_PROTO", "https")),
    "DATABASE_URL": ({"DATABASE_URL": "postgres://ada@db/board"}, "DATABASES.default.HOST", "db"),
    "BROKER_URL": ({"BROKER_URL": "redis://queue/0"}, "CELERY_BROKER_URL", "redis://queue/0"),
    "QUEUE_TYPE": ({**RABBITMQ, "QUEUE_TYPE": "quorum"}, "CELERY_TASK_DEFAULT_QUEUE_TYPE", "quorum"),
    "CACHE_URL": ({"CACHE_URL": "redis://cache/1"}, "CACHES.default.LOCATION", "redis://cache/1"),
    "EMAIL_URL": ({"EMAIL_URL": "smtp://mail:25"}, "EMAIL_HOST", "mail"),
    "EMAIL_FROM": ({"EMAIL_FROM": "board@a.example"}, "DEFAULT_FROM_EMAIL", "board@a.example"),
    "LOGIN_ORCID": ({"LOGIN_ORCID": "APP:secret"}, "LOGIN_PROVIDERS.0.id", "orcid"),
    "LOGIN_GITHUB": ({"LOGIN_GITHUB": "Iv1:secret"}, "LOGIN_PROVIDERS.0.id", "github"),
    "LOGIN_GOOGLE": ({"LOGIN_GOOGLE": "goo:secret"}, "LOGIN_PROVIDERS.0.id", "google"),
    "LOGIN_OIDC": ({"LOGIN_OIDC": OIDC}, "LOGIN_PROVIDERS.0.id", "u"),
    "CONTACT": ({"CONTACT": "help@a.example"}, "CONTACT", "help@a.example"),
    "OPERATORS": ({"OPERATORS": "ada@a.example"}, "OPERATORS", ["ada@a.example"]),
    "SECONDS_PER_MINUTE": ({"SECONDS_PER_MINUTE": "7"}, "SECONDS_PER_MINUTE", 7),
    "METRICS_TOKEN": ({"METRICS_TOKEN": "t" * 20}, "METRICS_TOKEN", "t" * 20),
    "NOTIFICATIONS": ({"NOTIFICATIONS": "off"}, "NOTIFICATIONS", False),
    "WEBHOOK_HOSTS": ({"WEBHOOK_HOSTS": "chat"}, "WEBHOOK_HOSTS", ["chat"]),
    "S3_BUCKET": (S3, "STORAGES.predictions.OPTIONS.bucket_name", "files"),
    "S3_GOLD_BUCKET": (S3, "STORAGES.gold.OPTIONS.bucket_name", "gold"),
    "S3_PUBLIC_BUCKET": ({**S3, "S3_PUBLIC_BUCKET": "public"}, "S3_PUBLIC_BUCKET", "public"),
    "S3_PUBLIC_URL": ({**S3, "S3_PUBLIC_URL": "https://cdn/"}, "S3_PUBLIC_URL", "https://cdn"),
    "S3_ENDPOINT": ({**S3, "S3_ENDPOINT": "http://s"}, "STORAGES.gold.OPTIONS.endpoint_url", "http://s"),
    "SANDBOX_SOCKET": ({"SANDBOX_SOCKET": "/run/s"}, "SANDBOX_SOCKET", "/run/s"),
    "LEASE_SECONDS": ({"LEASE_SECONDS": "31"}, "LEASE_SECONDS", 31),
    "SWEEP_SECONDS": ({"SWEEP_SECONDS": "11"}, "SWEEP_SECONDS", 11),
    "RESAMPLES": ({"RESAMPLES": "100"}, "RESAMPLES", 100),
    "SCORE_SECONDS": ({"SCORE_SECONDS": "240"}, "SCORE_SECONDS", 240),
    "VALIDATE_SECONDS": ({"VALIDATE_SECONDS": "60"}, "REFUSED_SECONDS", 1800),
    "SANDBOX_MEMORY_MB": ({"SANDBOX_MEMORY_MB": "4"}, "SANDBOX_MEMORY_BYTES", 4 << 20),
    "MAX_FILE_MB": ({"MAX_FILE_MB": "9"}, "MAX_UPLOAD_BYTES", 9 * MB),
    "MAX_RAW_MB": ({"MAX_RAW_MB": "9"}, "MAX_RAW_BYTES", 9 * MB),
    "SYSTEMS": ({"SYSTEMS": "no"}, "SYSTEMS", False),
    "ENGINE_PLAIN": ({"ENGINE_PLAIN": "true"}, "ENGINE_PLAIN", True),
    "ENGINE_RUNTIME": ({"ENGINE_RUNTIME": "runsc"}, "ENGINE_RUNTIME", "runsc"),
    "ENGINE_CPUS": ({"ENGINE_CPUS": "2.5"}, "ENGINE_CPUS", 2.5),
    "ENGINE_MEMORY_MB": ({"ENGINE_MEMORY_MB": "5"}, "ENGINE_MEMORY_BYTES", 5 * MB),
    "ENGINE_DISK": ({"ENGINE_DISK": "/disk"}, "ENGINE_DISK", "/disk"),
    "IMAGE_CACHE_MB": ({"IMAGE_CACHE_MB": "5"}, "IMAGE_CACHE_BYTES", 5 * MB),
    "DRAIN_SECONDS": ({"DRAIN_SECONDS": "5"}, "DRAIN_SECONDS", 5),
    "GPU_RUNTIME": ({"GPU_RUNTIME": "cdi"}, "GPU_RUNTIME", "cdi"),
    "REGISTRIES": ({"REGISTRIES": "ghcr.io"}, "REGISTRIES", ["ghcr.io"]),
    "BASE_IMAGE": ({"BASE_IMAGE": "mirror/python"}, "BASE_IMAGE", "mirror/python"),
    "SYSTEM_SECONDS": ({"SYSTEM_SECONDS": "5"}, "SCORER_SECONDS", 5),
    "SYSTEM_MEMORY_MB": ({"SYSTEM_MEMORY_MB": "5"}, "SCORER_MEMORY_MB", 5),
    "SYSTEM_CPUS": ({"SYSTEM_CPUS": "1.5"}, "SYSTEM_CPUS", 1.5),
    "SYSTEM_IMAGE_MB": ({"SYSTEM_IMAGE_MB": "5"}, "SYSTEM_IMAGE_MB", 5),
    "SCORERS": ({"SCORERS": "on"}, "SCORERS", True),
    "LOG_LEVEL": ({"LOG_LEVEL": "DEBUG"}, "LOGGING.root.level", "DEBUG"),
}
"""Variable -> variables that are set, path of the setting that they change, its value."""
ELSEWHERE = {
    "DATA": "test_serve.py",
    "LOG_FORMAT": "tests/leaderboard/work_queue/test_request_ids.py",
    "GPUS": "tests/leaderboard/containers/test_gpus.py",
    "NVIDIA_SMI": "tests/leaderboard/containers/test_gpus.py",
}
"""Variables that another test sets, and that test."""
REFUSALS = {
    "QUEUE_TYPE": ({"QUEUE_TYPE": "quorum"}, "classic, or quorum if HOLDOUT_BROKER_URL is amqp"),
    "METRICS_TOKEN": ({"METRICS_TOKEN": "short"}, "has 5 characters, expected at least 20"),
    "LOG_FORMAT": ({"LOG_FORMAT": "xml"}, "'xml', expected text or json"),
    "LOGIN_ORCID": ({"LOGIN_ORCID": "no colon"}, "HOLDOUT_LOGIN_ORCID"),
    "LOGIN_OIDC": ({"LOGIN_OIDC": "[{}]"}, "HOLDOUT_LOGIN_OIDC"),
    "S3_GOLD_BUCKET": (
        {"S3_BUCKET": "files", "S3_GOLD_BUCKET": "files"},
        "expected a bucket that is not HOLDOUT_S3_BUCKET",
    ),
    "S3_PUBLIC_BUCKET": ({**S3, "S3_PUBLIC_BUCKET": "gold"}, "expected a bucket other than"),
    "typing error": ({"LOG_LEVLE": "INFO"}, "unknown environment variable HOLDOUT_LOG_LEVLE; known are HOLDOUT_DATA"),
}
TYPED = {name: variable.cast for name, variable in VARIABLES.items() if variable.cast in (bool, int, float)}


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A function that returns the settings with these variables, and without those of the test run."""
    for name in list(os.environ):
        if name.startswith(PREFIX) and name not in OTHERS:
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOLDOUT_DATA", str(tmp_path))

    def settings(variables: dict[str, str]) -> dict[str, Any]:
        for name, value in variables.items():
            monkeypatch.setenv(PREFIX + name, value)
        return runpy.run_path(str(ROOT / "leaderboard" / "settings.py"))

    return settings


def value_at(settings: Any, path: str) -> object:
    for key in path.split("."):
        settings = (
            settings[int(key)]
            if key.isdigit()
            else settings[key]
            if isinstance(settings, dict)
            else getattr(settings, key)
        )
    return settings


def test_each_variable_is_set_by_a_test() -> None:
    assert EFFECTS.keys() | ELSEWHERE.keys() == VARIABLES.keys()


@pytest.mark.parametrize("name", EFFECTS)
def test_a_variable_has_an_effect(name: str, load: Any) -> None:
    variables, path, expected = EFFECTS[name]
    assert value_at(load(variables), path) == expected
    assert name in variables


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name: str, load: Any) -> None:
    variables, words = REFUSALS[name]
    with pytest.raises(ImproperlyConfigured, match=words):
        load(variables)


@pytest.mark.parametrize("name", TYPED)
def test_a_value_of_another_type_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PREFIX + name, "ture")
    with pytest.raises(ImproperlyConfigured, match=f"HOLDOUT_{name} is 'ture', expected {TYPED[name].__name__}: "):
        Environment()(name)


def test_an_address_with_tls_protects_cookies(load: Any) -> None:
    assert "SESSION_COOKIE_SECURE" not in load({"BASE_URL": "http://board.example"})
    secure = load({"BASE_URL": "https://board.example"})
    assert secure["SESSION_COOKIE_SECURE"] and secure["SECURE_SSL_REDIRECT"] and secure["SECURE_HSTS_SECONDS"]
