"""Fifty posts at once, against a real server: the quota lets exactly five in."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from threading import Barrier

import pytest

from leaderboard.actions import tokens
from leaderboard.models import Prediction, QuotaCharge, Run, Submission
from tests.integration.calling import SUBMIT, stored_files
from tests.integration.serving import served
from tests.world import build, prediction_lines

POSTS = 50


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("sandbox")
def test_fifty_parallel_posts_at_quota_five_are_exactly_five():
    world = build(quota_per_day=5)
    _, secret = tokens.issue(by=world.researcher)
    files = len(stored_files())
    together = Barrier(POSTS)

    def post(number: int, site: str) -> int:
        request = urllib.request.Request(
            f"{site}{SUBMIT}?system=System%20{number % 3}",
            data=prediction_lines(),
            headers={"Authorization": f"Token {secret}", "Content-Type": "application/x-ndjson"},
        )
        together.wait()
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    with served() as site, ThreadPoolExecutor(POSTS) as pool:
        answers = Counter(pool.map(post, range(POSTS), repeat(site.address)))

    assert answers == {201: 5, 429: POSTS - 5}
    assert [model.objects.count() for model in (Submission, Prediction, Run, QuotaCharge)] == [5, 5, 5, 5]
    assert len(stored_files()) == files + 5
