"""Simultaneous posts to the product's own server: the quota accepts exactly its number of submissions."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from leaderboard.accounts.actions import tokens
from leaderboard.models import Prediction, QuotaCharge, Run, Submission, Team, User
from tests.support.api_calls import SUBMIT, person, stored_files
from tests.support.rows.tiny_world import build, prediction_lines
from tests.support.web_server import served

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]


def post_at_once(by: User, *, posts: int) -> Counter[int]:
    """Returns how often each status was returned for posts that are sent at the same time."""
    _, secret = tokens.issue(by=by)
    together = Barrier(posts)

    def post(address: str) -> int:
        headers = {"Authorization": f"Token {secret}", "Content-Type": "application/x-ndjson"}
        request = urllib.request.Request(address, data=prediction_lines(), headers=headers)
        together.wait()
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    with served() as site, ThreadPoolExecutor(posts) as pool:
        systems = [f"{site.address}{SUBMIT}?system=System%20{number % 3}" for number in range(posts)]
        return Counter(pool.map(post, systems))


def test_a_quota_of_five_accepts_five_of_fifty_parallel_posts():
    world = build(quota_per_day=5)
    files = len(stored_files())
    assert post_at_once(world.researcher, posts=50) == {201: 5, 429: 45}
    assert [model.objects.count() for model in (Submission, Prediction, Run, QuotaCharge)] == [5, 5, 5, 5]
    assert len(stored_files()) == files + 5


def test_simultaneous_first_posts_create_one_team_with_one_quota():
    build(quota_per_day=2)
    grace = person("grace")
    assert post_at_once(grace, posts=12) == {201: 2, 429: 10}
    assert Team.objects.filter(members=grace).count() == 1
