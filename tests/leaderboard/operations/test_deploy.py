"""The files of deploy/ for several hosts agree with the code: roles, addresses, variables, probes and times."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.conf import settings
from django.test import Client

from evaluator.sandbox.process import launch
from leaderboard.environment import PREFIX, VARIABLES
from leaderboard.operations import processes

ROOT: Path = settings.ROOT
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())
OVERLAY = yaml.safe_load((DEPLOY / "compose.hosts.yaml").read_text())
MANIFESTS = [
    document
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
WORKLOADS = {
    document["metadata"]["name"]: document["spec"]["template"]["spec"]
    for document in MANIFESTS
    if document["kind"] in ("Deployment", "Job") and document["metadata"]["name"] != "any"
}
DROP_INS = {path.parent.name: path for path in (DEPLOY / "systemd").glob("*/role.conf")}
RUN_SECONDS = {
    "worker": 5 * VARIABLES["SCORE_SECONDS"].default,
    "systems": VARIABLES["SYSTEM_SECONDS"].default,
    "scorers": 2 * VARIABLES["SYSTEM_SECONDS"].default,
}
"""The longest run of each worker with the default settings, in seconds of wall-clock time."""


def variables(text: str) -> set[str]:
    return set(re.findall(rf"\b{PREFIX}([A-Z0-9_]+)", text))


@pytest.mark.parametrize(
    "path", [p for p in sorted(DEPLOY.rglob("*")) if p.is_file() and p.suffix != ".pyc"], ids=lambda p: p.name
)
def test_files_name_only_variables_that_are_read(path: Path) -> None:
    assert variables(path.read_text()) <= VARIABLES.keys()


# --- compose


def test_the_overlay_adds_to_services_of_compose() -> None:
    assert OVERLAY["services"].keys() - COMPOSE["services"].keys() == {"rabbitmq"}
    with_settings = {name for name, service in COMPOSE["services"].items() if "HOLDOUT_DATABASE_URL" in str(service)}
    for name in with_settings:
        addresses = OVERLAY["services"][name]["environment"]
        local = [host for host in ("@postgres", "@redis") if host in json.dumps(addresses)]
        assert addresses["HOLDOUT_BROKER_URL"] and not local, f"{name} connects to a container of its own host"


def test_compose_passes_on_every_variable() -> None:
    services = COMPOSE["services"]
    passed = variables(" ".join(services["web"]["environment"]))
    gpus = variables(" ".join(services["systems-gpu"]["environment"])) - passed
    addresses = variables(" ".join(OVERLAY["services"]["web"]["environment"])) - passed
    # The image has the data folder; the engine's disk is a mount of the worker; no image is built in a container.
    assert VARIABLES.keys() - passed - gpus - addresses == {"DATA", "DEBUG", "NVIDIA_SMI", "ENGINE_DISK", "BASE_IMAGE"}
    defaults = [name for name, value in services["web"]["environment"].items() if ":-" in str(value)]
    assert not defaults, "a default here would hide the site's own"
    assert services["sandbox"]["environment"].keys() == {launch.LIMIT}


def test_compose_gives_workers_time_to_finish() -> None:
    for name, seconds in RUN_SECONDS.items():
        assert int(OVERLAY["services"][name]["stop_grace_period"].removesuffix("s")) > seconds


@pytest.mark.skipif(not shutil.which("docker-compose"), reason="needs docker-compose")
def test_compose_accepts_the_overlay(tmp_path: Path) -> None:
    names = set(re.findall(r"\$\{(\w+):\?", (ROOT / "compose.yaml").read_text() + json.dumps(OVERLAY)))
    (tmp_path / "env").write_text("".join(f"{name}=value\n" for name in sorted(names)))
    command = [
        "docker-compose",
        "-f",
        "compose.yaml",
        "-f",
        "deploy/compose.hosts.yaml",
        "--env-file",
        tmp_path / "env",
    ]
    done = subprocess.run([*command, "config"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    services = yaml.safe_load(done.stdout)["services"]
    assert services["worker"]["environment"]["HOLDOUT_DATABASE_URL"] == "postgres://holdout:value@value/holdout"
    assert services["web"]["environment"]["HOLDOUT_PROXY"] == "true", "the settings of compose.yaml stay"


# --- systemd


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """Return the units as an installed site has them, with a code folder that exists here."""
    folder = tmp_path / "systemd"
    shutil.copytree(DEPLOY / "systemd", folder)
    python = tmp_path / "python"
    python.symlink_to("/bin/true")
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_text(path.read_text().replace("/opt/holdout/.venv/bin/python", str(python)))
    return folder


def test_the_template_starts_every_role(units: Path) -> None:
    unit = (DEPLOY / "systemd" / "holdout@.service").read_text()
    assert "manage.py serve %i\n" in unit and "KillMode=mixed\n" in unit and "KillSignal=SIGTERM\n" in unit
    assert {name.removeprefix("holdout@").removesuffix(".service.d") for name in DROP_INS} <= set(processes.ROLES)
    for role, seconds in RUN_SECONDS.items():
        stated = re.search(r"^TimeoutStopSec=(\d+)$", DROP_INS[f"holdout@{role}.service.d"].read_text(), re.MULTILINE)
        assert stated and int(stated[1]) > seconds
    sandbox = DROP_INS["holdout@sandbox.service.d"].read_text()
    assert "EnvironmentFile=\n" in sandbox and "PrivateNetwork=yes\n" in sandbox


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_accepts_the_units(units: Path) -> None:
    for role in processes.ROLES:
        shutil.copy(units / "holdout@.service", units / f"holdout@{role}.service")
    names = [units / f"holdout@{role}.service" for role in processes.ROLES]
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={"SYSTEMD_UNIT_PATH": f"{units}:"})
    # About units of this machine it may complain.
    assert [line for line in done.stderr.splitlines() if "holdout" in line] == [] and done.returncode == 0, done.stderr


# --- Kubernetes


def containers() -> list[tuple[str, dict[str, Any]]]:
    return [(name, container) for name, pod in WORKLOADS.items() for container in pod["containers"]]


@pytest.mark.parametrize(
    ("workload", "container"), containers(), ids=lambda value: value if isinstance(value, str) else value["name"]
)
def test_a_container_is_confined_and_starts_a_role(workload: str, container: dict[str, Any]) -> None:
    assert container["image"] == "holdout"
    expected = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert container["securityContext"] == expected
    assert container["resources"]["requests"].keys() == {"cpu", "memory"} and container["resources"]["limits"]["memory"]
    command = container["command"]
    if container["name"] == "sandbox":
        assert command == ["python", *processes.sandbox()[1:4], "/run/holdout/sandbox.sock"]
        assert "env" not in container and "envFrom" not in container
    elif workload != "migrate":
        assert command[:3] == ["python", "manage.py", "serve"] and command[3] in processes.ROLES
    keys = {variable["name"] for variable in container.get("env", ())}
    assert keys - {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} <= {PREFIX + name for name in VARIABLES}


def test_only_web_and_scoring_workers_have_the_credential_of_gold() -> None:
    assert {name for name, container in containers() if "'holdout-store'" in repr(container)} == {
        "web",
        "worker-scoring",
    }


def test_probes_and_ports_are_those_of_the_site() -> None:
    (web,) = [container for container in WORKLOADS["web"]["containers"] if container["name"] == "web"]
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert f"EXPOSE {web['ports'][0]['containerPort']}\n" in dockerfile
    for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
        path = web[probe]["httpGet"]["path"]
        # Without a database and a sandbox `ready` answers 503; a path that is none would be 404.
        assert Client().get(path).status_code in (200, 503), path
    (service,) = [document for document in MANIFESTS if document["kind"] == "Service"]
    assert service["spec"]["ports"][0]["port"] == web["ports"][0]["containerPort"]
    assert f"server web:{service['spec']['ports'][0]['port']};" in (DEPLOY / "nginx-site.conf").read_text()


def test_a_deleted_pod_finishes_its_runs() -> None:
    assert WORKLOADS["worker-scoring"]["terminationGracePeriodSeconds"] > RUN_SECONDS["worker"]


@pytest.mark.skipif(not shutil.which("kubectl"), reason="needs kubectl")
def test_kustomize_builds_the_base() -> None:
    done = subprocess.run(["kubectl", "kustomize", DEPLOY / "kubernetes"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = list(yaml.safe_load_all(done.stdout))
    pods = {
        document["metadata"]["name"]: document["spec"]["template"]["spec"]
        for document in built
        if "template" in document.get("spec", {})
    }
    assert pods.keys() == WORKLOADS.keys()
    for name, pod in pods.items():
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 10001, name
        mounted = {mount["name"] for container in pod["containers"] for mount in container["volumeMounts"]}
        assert mounted <= {volume["name"] for volume in pod["volumes"]}
        assert all(container["image"] == "registry.example/holdout:latest" for container in pod["containers"])
    (config,) = [document for document in built if document["kind"] == "ConfigMap"]
    assert {name.removeprefix(PREFIX) for name in config["data"]} <= VARIABLES.keys()


def test_what_the_image_copies_exists_and_is_in_its_context() -> None:
    """The full run builds the image; this finds a file that was renamed, or that .dockerignore leaves out."""
    lines = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    copies = [line.split()[1:-1] for line in lines if line.startswith("COPY ") and "--from" not in line]
    sources = {source.removeprefix("./") for copy in copies for source in copy if "*" not in source}
    assert {"manage.py", "evaluator", "leaderboard", "requirements.lock"} <= sources
    admitted = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert all((ROOT / source).exists() for source in sources)
    assert sources <= admitted
