"""The confidence level is defined once: tables, help texts and pages follow a change."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from django.conf import settings
from django.test import Client

from evaluator.curation.audit.expected_intervals import proportion
from evaluator.statistics import confidence
from tests.support.rows.board_rows import stand
from tests.support.rows.tiny_world import build

WRITTEN = re.compile(r"95\s?%")
OTHERS = {
    "evaluator/similarity/predictions.py": "a share of errors",
    "evaluator/statistics/confidence.py": "the level itself",
    "leaderboard/templatetags/confidence.py": "an example of the text",
}
CHANGED = """
import sys
from importlib.util import find_spec, module_from_spec
spec = find_spec("evaluator.statistics.confidence")
source = spec.loader.get_source(spec.name)
assert "LEVEL = 0.95" in source
sys.modules[spec.name] = module = module_from_spec(spec)
exec(source.replace("LEVEL = 0.95", "LEVEL = 0.9"), vars(module))

import numpy as np
from evaluator.cli.tables import comparison_table, score_table
from evaluator.curation.audit.expected_intervals import proportion
from evaluator.curation.audit.text_report import _sizes
from evaluator.statistics.bootstrap import intervals
size = {"n": 1, "groups": 1, "half_width": 0.1, "half_width_if_groups_err_together": 0.1, "slice": {}, "at": 0.5}
print(score_table([]), comparison_table([]), _sizes({"primary": "f1", "sizes": [size]}))
random = np.random.default_rng(1)
drawn = random.normal(size=(1, 1000)), random.normal(size=(1, 50))
assert intervals(*drawn) == intervals(*drawn, 0.9) != intervals(*drawn, 0.95)
assert proportion(np.full(50, 1.0)).shared < float(sys.argv[1])

import django
django.setup()
from leaderboard.comparisons.api.comparisons import ComparisonSerializer
from leaderboard.core.api.serializers import ScoreSerializer
print(ScoreSerializer().fields["low"].help_text, ComparisonSerializer().fields["low"].help_text)
"""


def test_no_file_contains_the_level_as_text() -> None:
    occurrences = [
        name
        for folder in ("leaderboard", "evaluator")
        for path in sorted(Path(settings.ROOT, folder).rglob("*"))
        if path.suffix in (".py", ".html", ".svg", ".txt", ".js") and "vendor" not in path.parts
        if WRITTEN.search(path.read_text()) and (name := str(path.relative_to(settings.ROOT))) not in OTHERS
    ]
    assert occurrences == []


def test_tables_help_texts_and_widths_follow_the_level() -> None:
    width = str(proportion(np.full(50, 1.0)).shared)
    process = subprocess.run(
        [sys.executable, "-c", CHANGED, width], capture_output=True, text=True, cwd=settings.ROOT, check=False
    )
    assert process.returncode == 0, process.stderr
    assert not WRITTEN.search(process.stdout) and len(re.findall(r"90\s?%", process.stdout)) == 5


@pytest.mark.django_db
def test_pages_follow_the_level(monkeypatch: pytest.MonkeyPatch) -> None:
    stand(build(), "First")
    monkeypatch.setattr(confidence, "LEVEL", 0.9)
    for address in ("/benchmarks/tiny/test/", "/benchmarks/tiny/", "/benchmarks/tiny/test/progress/"):
        page = Client().get(address).content.decode()
        assert not WRITTEN.search(page) and "90 % interval" in page, address
    table = Client().get("/api/v1/benchmarks/tiny/phases/test/leaderboard.md").content.decode()
    assert "90 % intervals" in table
