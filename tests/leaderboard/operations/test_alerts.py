"""Alerts and dashboards of deploy/: each alert fires on metrics of the state that it is for, and only then.

A test brings about the state, reads `/metrics` as Prometheus does, and lets promtool evaluate the alert on series with
these values. Prometheus' own series `up` is the exception. Without promtool (Debian's package prometheus) these tests
are skipped; names and pages are checked without it.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
import yaml
from django.core.cache import cache
from django.db import OperationalError
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from prometheus_client.metrics import MetricWrapperBase

from evaluator.errors import SandboxError
from evaluator.jobs.compare import PlotRequest
from leaderboard.core import disk, process_metrics, store_errors
from leaderboard.core.web import request_metrics
from leaderboard.evaluation import sandbox_client
from leaderboard.models import State, WorkerReport
from leaderboard.operations import metrics as metrics_view
from leaderboard.operations import periodic
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import enqueue
from tests.conftest import ROOT
from tests.leaderboard.operations.test_metrics import TOKEN, WITH, Numbers, read_metrics
from tests.support.rows.tiny_world import World, build

RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
DASHBOARDS = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
PAGES = ROOT / "docs" / "runbooks"
OPERATORS = (ROOT / "docs" / "operators.md").read_text(encoding="utf-8")
HEADINGS = ["What it means", "What users see", "How to look", "How to fix it", "How to check that it is fixed"]
ALERTS = {rule["alert"]: rule for rule in yaml.safe_load(RULES.read_text())["groups"][0]["rules"]}
MINUTES = 20
"""Minutes for which a state lasts before its alert is evaluated; more than any alert's windows together."""

WITHOUT = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (Debian's package prometheus)")


def promtool(test: Any) -> Any:
    """Mark a test that needs promtool, whose package only the full run installs."""
    return pytest.mark.slow(WITHOUT(test))


@dataclass
class Site:
    """The site whose state a case changes. patch: undone after the case."""

    world: World
    patch: pytest.MonkeyPatch

    def request_fails(self) -> None:
        """Let one request end in a status 500."""
        with self.patch.context() as patch:
            patch.setattr(metrics_view, "Site", MagicMock(side_effect=ZeroDivisionError))
            answer = Client(raise_request_exception=False).get("/metrics", headers=WITH)
        assert answer.status_code == 500

    def request_takes(self, seconds: float) -> None:
        clock = iter((0.0, seconds))
        with self.patch.context() as patch:
            patch.setattr(request_metrics, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
            view = request_metrics.request_metrics_middleware(lambda request: HttpResponse())
            view(SimpleNamespace(resolver_match=SimpleNamespace(namespace="", view_name="home"), method="GET"))

    def run_fails_and_is_tried_again(self) -> None:
        work = replace(
            runs.WORK, do=MagicMock(side_effect=ZeroDivisionError), is_ready=lambda: True, may_claim=lambda _: True
        )
        run = self.world.insert_run()
        with self.patch.context() as patch:
            patch.setattr(sandbox_client, "is_outdated", lambda: False)
            for _ in range(2):
                work.run(run.pk)
        run.refresh_from_db()
        assert run.attempt == 2

    def job_finds_no_sandbox(self) -> None:
        with self.patch.context() as patch:
            patch.setattr(sandbox_client, "ProcessSandbox", MagicMock(side_effect=SandboxError("no server answers")))
            with pytest.raises(SandboxError):
                sandbox_client._ask(PlotRequest(), {}, 1, output_bytes=1)

    def store_fails(self) -> None:
        with pytest.raises(PermissionError), store_errors.recorded("save"):
            raise PermissionError

    def insert_failed_run(self) -> None:
        at = timezone.now()
        self.world.insert_run(state=State.FAILED, at=at, finished_at=at)

    def insert_late_lease(self) -> None:
        at = timezone.now()
        self.world.insert_run(state=State.RUNNING, at=at, attempt=1, lease_until=at - timedelta(seconds=1))

    def report(self, queue: str, *, ready: bool = True, age: int = 1) -> None:
        seen_at = timezone.now() - timedelta(seconds=age)
        WorkerReport.objects.update_or_create(queue=queue, host="a", defaults={"ready": ready, "seen_at": seen_at})


def repeat(n: int, step: Callable[[], object]) -> None:
    for _ in range(n):
        step()


BROKEN: dict[str, Callable[[Site], object]] = {
    "HoldoutDatabaseDown": lambda site: site.patch.setattr(
        metrics_view, "_workers", MagicMock(side_effect=OperationalError)
    ),
    "HoldoutBrokerDown": lambda site: site.patch.setattr(
        enqueue, "n_waiting", MagicMock(side_effect=enqueue.BrokerError)
    ),
    "HoldoutStoreDown": lambda site: site.patch.setattr(
        metrics_view, "check_stores", MagicMock(side_effect=PermissionError)
    ),
    "HoldoutStoreErrors": lambda site: site.store_fails(),
    "HoldoutSweepLate": lambda site: cache.set(periodic.COMPLETED, time.time() - 121),
    "HoldoutQueueOld": lambda site: site.world.insert_run(at=timezone.now() - timedelta(seconds=601)),
    "HoldoutWorkFailed": lambda site: site.insert_failed_run(),
    "HoldoutLateLeases": lambda site: site.insert_late_lease(),
    "HoldoutRepeatedAttempts": lambda site: site.run_fails_and_is_tried_again(),
    "HoldoutNoScoringWorkers": lambda site: site.report("scoring", age=91),
    "HoldoutEngineWorkersNotReady": lambda site: site.report("systems", ready=False),
    "HoldoutServerErrors": lambda site: repeat(2, site.request_fails),
    "HoldoutSlowRequests": lambda site: site.request_takes(8),
    "HoldoutSlowLocks": lambda site: process_metrics.LOCK_SECONDS.labels("phase").observe(3),
    "HoldoutSandboxUnavailable": lambda site: site.job_finds_no_sandbox(),
    "HoldoutDiskLow": lambda site: site.patch.setattr(disk, "is_low", lambda: True),
}
"""What brings about the state of an alert; for counters, what happens each minute."""
MISSING: dict[str, Callable[[Site], object]] = {
    "HoldoutSweepLate": lambda site: cache.delete(periodic.COMPLETED),
    "HoldoutNoScoringWorkers": lambda site: WorkerReport.objects.all().delete(),
}
"""States in which a metric is missing."""
FIRING = 'sum by (alertname) (ALERTS{alertstate="firing"})'
COUNTED = (
    "HoldoutStoreErrors",
    "HoldoutRepeatedAttempts",
    "HoldoutServerErrors",
    "HoldoutSlowRequests",
    "HoldoutSlowLocks",
    "HoldoutSandboxUnavailable",
)
"""Alerts on counters."""


@pytest.fixture
def site(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Site:
    settings.METRICS_TOKEN = TOKEN
    cache.set(periodic.COMPLETED, time.time())
    site = Site(build(), monkeypatch)
    site.report("scoring")
    site.report("systems")
    # Series of counters exist from the first event on, and count from the second.
    for name in COUNTED:
        BROKEN[name](site)
    return site


def firing(before: Numbers, after: Numbers, folder: Path, *, up: int = 1) -> set[str]:
    """Return the alerts that fire after MINUTES, in each of which the metrics grow as from `before` to `after`.

    Metrics that are not counters have the value of `after`.
    """
    series = [{"series": 'up{job="holdout",instance="a"}', "values": f"{up}x{MINUTES}"}]
    for (name, pairs), value in after.items():
        labels = ",".join(
            f"{key}={json.dumps(text)}" for key, text in [*sorted(pairs), ("job", "holdout"), ("instance", "a")]
        )
        counts = name.endswith(("_total", "_bucket", "_count", "_sum"))
        gain = value - before.get((name, pairs), 0.0) if counts else 0.0
        series.append({"series": f"{name}{{{labels}}}", "values": f"{value!r}+{gain!r}x{MINUTES}"})
    # An expectation that is never met: promtool then prints what fires.
    check = {
        "expr": FIRING,
        "eval_time": f"{MINUTES}m",
        "exp_samples": [{"labels": '{alertname="none"}', "value": 1}],
    }
    test = {"interval": "1m", "input_series": series, "promql_expr_test": [check]}
    file = folder / "test.yml"
    file.write_text(yaml.safe_dump({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [test]}))
    result = subprocess.run(["promtool", "test", "rules", str(file)], capture_output=True, text=True, check=False)
    output = result.stdout + result.stderr
    before_it, found, fired = output.partition("got:")
    assert found and "err" not in before_it and "invalid" not in before_it, output
    return set(re.findall(r'alertname="(\w+)"', fired))


@promtool
@pytest.mark.parametrize("name", BROKEN)
def test_it_fires_in_the_state_that_it_is_for(name: str, site: Site, tmp_path: Path) -> None:
    before = read_metrics()
    BROKEN[name](site)
    assert firing(before, read_metrics(), tmp_path) == {name}


@promtool
@pytest.mark.parametrize("name", MISSING)
def test_it_fires_where_its_metric_is_missing(name: str, site: Site, tmp_path: Path) -> None:
    MISSING[name](site)
    metrics = read_metrics()
    assert firing(metrics, metrics, tmp_path) == {name}


@promtool
def test_a_host_that_is_away_and_a_site_that_is_well(site: Site, tmp_path: Path) -> None:
    metrics = read_metrics()
    assert firing(metrics, metrics, tmp_path) == set()
    assert firing(metrics, metrics, tmp_path, up=0) == {"HoldoutDown"}


@promtool
def test_prometheus_accepts_each_expression(tmp_path: Path) -> None:
    rules = [{"record": "checked", "expr": expr} for expr in dashboard_queries()]
    file = tmp_path / "rules.yml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "checked", "rules": rules}]}))
    subprocess.run(["promtool", "check", "rules", "--lint=none", str(RULES), str(file)], check=True)


def dashboard_queries() -> list[str]:
    """Return the expressions of all panels."""
    boards = [json.loads(path.read_text()) for path in DASHBOARDS]
    return [target["expr"] for board in boards for panel in board["panels"] for target in panel["targets"]]


def test_each_alert_is_provoked() -> None:
    assert set(BROKEN) | {"HoldoutDown"} == set(ALERTS)


def test_expressions_name_metrics_that_exist(site: Site) -> None:
    expressions = [*dashboard_queries(), *(rule["expr"] for rule in ALERTS.values())]
    assert len(expressions) > 30
    named = {name for expr in expressions for name in re.findall(r"\bholdout_\w+", expr)}
    declared = [value for value in vars(process_metrics).values() if isinstance(value, MetricWrapperBase)]
    ends = {"counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}
    known = {metric._name + end for metric in declared for end in ends[metric._type]}
    assert named - known - {name for name, _ in read_metrics()} == set()


def test_each_alert_has_a_page_and_each_page_an_alert() -> None:
    assert {path.stem for path in PAGES.glob("Holdout*.md")} == set(ALERTS)
    for name, rule in ALERTS.items():
        assert rule["annotations"]["runbook"] == f"docs/runbooks/{name}.md"
        text = (PAGES / f"{name}.md").read_text()
        assert text.startswith(f"# {name}\n") and re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS


def test_pages_name_events_metrics_and_variables_that_exist() -> None:
    events = set(
        re.findall(r"^\| `(\w+)` \|", OPERATORS.partition("## Log events")[2].partition("\n## ")[0], re.MULTILINE)
    )
    for path in PAGES.glob("*.md"):
        text = path.read_text()
        for variable in re.findall(r"\bHOLDOUT_\w+", text):
            assert f"`{variable}`" in OPERATORS, f"{path.name}: {variable}"
        for metric in re.findall(r"\bholdout_\w+", text):
            assert re.sub(r"_(bucket|count|sum)$", "", metric) in OPERATORS, f"{path.name}: {metric}"
        for line in re.findall(r"[Ll]og events? (.*?)(?:\.|;|$)", " ".join(text.split("\n- "))):
            unknown = set(re.findall(r"`([a-z]+_[a-z_]+)`", line)) - events
            assert not unknown, f"{path.name}: {unknown}"
        for alert in re.findall(r"\bHoldout[A-Z]\w+", text):
            assert alert in ALERTS
