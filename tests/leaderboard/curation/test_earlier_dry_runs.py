"""Dry runs from before a correction are linked from the dry run page of the gold in force."""

from __future__ import annotations

import pytest
from django.test import Client

from leaderboard.curation.actions import run_dry_run
from leaderboard.datasets.actions import splits
from leaderboard.models import Benchmark
from tests.leaderboard.curation.test_dry_runs import added
from tests.support.rows.gold_uploads import uploaded
from tests.support.rows.tiny_world import LABELS, build, gold_lines

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
WHERE = "/manage/benchmarks/tiny/splits/test/dry-run/"


@pytest.mark.parametrize("as_phase", [False, True])
def test_the_page_of_the_gold_in_force_links_to_the_button(as_phase: bool) -> None:
    world = build()
    Benchmark.objects.update(state="draft")
    row = added(world, name="Earlier")
    run_dry_run.WORK.run(row.pk)
    if as_phase:
        type(row).objects.filter(pk=row.pk).update(scored_as="test")
    turned = {name: "REFUTES" if label == "SUPPORTS" else "SUPPORTS" for name, label in LABELS.items()}
    corrected = uploaded(gold_lines(turned), "gold.jsonl")
    splits.add_gold(split=world.split, file=corrected, reason="better", by=world.curator)
    client = Client()
    client.force_login(world.curator)
    leads = "scored before the gold was corrected can be put on the board under"
    assert leads not in client.get(WHERE).content.decode(), "no phase has opened"
    Benchmark.objects.update(state="public")
    page = client.get(WHERE).content.decode()
    to = f"{WHERE}?{'as=test&amp;' if as_phase else ''}gold=1"
    assert leads in page and f'<a href="{to}">gold version 1' in page
    earlier_page = client.get(to.replace("&amp;", "&")).content.decode()
    assert "Put it on the board<" in earlier_page and leads not in earlier_page
    type(row).objects.all().delete()
    assert leads not in client.get(WHERE).content.decode(), "nothing is left to submit"
