"""The page that follows a rescoring: what it shows to whom, and its buttons."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.conf import settings as site
from django.test import Client
from django.utils import timezone

from leaderboard.models import Run, State, User
from leaderboard.scoring.actions import runs
from tests.support.rows.corrected_gold import AFTER, BEFORE, correct, score_all, shown, states, two_systems
from tests.support.rows.tiny_world import World

pytestmark = pytest.mark.django_db(transaction=True)
WHERE = "/manage/benchmarks/tiny/phases/test/rescoring/"
WHY = "labels of <b>batch 3</b> were swapped"


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    """A correction with one of two predictions rescored."""
    world = two_systems()
    correct(world, reason=WHY)
    first = Run.objects.filter(state=State.QUEUED).order_by("queued_at").first()
    assert first is not None
    runs.WORK.run(first.pk)
    return world


def client_of(user: User, **more: bool) -> Client:
    client = Client(**more)  # type: ignore[arg-type]
    client.force_login(user)
    return client


def page(client: Client, url: str = WHERE) -> str:
    """Returns the text of the page with white space normalised."""
    response = client.get(url)
    assert response.status_code == 200
    return re.sub(r"\s+", " ", response.content.decode())


def test_it_shows_reason_progress_and_changes(world: World) -> None:
    curator = client_of(world.curator)
    markup = page(curator)
    assert "labels of &lt;b&gt;batch 3&lt;/b&gt; were swapped" in markup
    assert "1 of 2</strong> predictions are scored" in markup
    assert '<progress max="2" value="1"' in markup
    assert "1 waiting · 0 running · 0 failed" in markup
    assert f'hx-get="{WHERE}state/"' in markup and "Refresh" in markup
    changes = markup[markup.index("Prepared changes") :]
    row = changes[changes.index("Bernoulli") :]
    assert re.search(r'<td class="num">1</td><td class="num">1</td><td class="num">1.000</td>', row)
    assert "Rescoring: 1 of 2" in page(curator, "/manage/benchmarks/tiny/")
    assert "1 of 2 done" in page(curator, "/manage/benchmarks/tiny/splits/test/gold/")


def test_polling_ends_with_a_reload(world: World) -> None:
    curator = client_of(world.curator)
    assert "HX-Refresh" not in curator.get(f"{WHERE}state/")
    score_all()
    answer = curator.get(f"{WHERE}state/")
    assert answer["HX-Refresh"] == "true"
    assert "hx-get" not in answer.content.decode()
    assert "current</a>" in page(curator) and "frozen</a>" in page(curator)


def test_failed_runs_are_named_and_retried(world: World, settings, hung_up: str) -> None:
    settings.SANDBOX_SOCKET, settings.MAX_ATTEMPTS, socket = hung_up, 1, site.SANDBOX_SOCKET
    # For a day such attempts would not count.
    Run.objects.filter(state=State.QUEUED).update(queued_at=timezone.now() - timedelta(days=1))
    score_all()
    settings.SANDBOX_SOCKET = socket
    curator = client_of(world.curator)
    markup = page(curator)
    assert "0 waiting · 0 running · 1 failed" in markup
    assert "Contrary" in markup[markup.index("Failed runs") : markup.index("Prepared changes")]
    assert "the sandbox could not run" in markup
    assert "hx-get" not in markup, "nothing is on its way, so there is nothing to ask for"
    assert curator.post(f"{WHERE}begin/")["Location"] == WHERE
    assert "1 prediction will be scored again." in page(curator)
    score_all()
    assert shown(world) == AFTER


def test_cancelling_and_resuming_by_buttons(world: World) -> None:
    curator = client_of(world.curator)
    assert "Cancel the rescoring on gold version 2" in page(curator)
    assert curator.post(f"{WHERE}cancel/")["Location"] == WHERE
    markup = page(curator)
    assert "The rescoring on gold version 2 was cancelled." in markup
    assert "Cancelled: gold version 2" in markup and "Submissions are scored on gold version 1." in markup
    second_response = curator.post(f"{WHERE}cancel/")
    assert second_response.status_code == 409 and "nothing to cancel" in second_response.content.decode()
    assert curator.post(f"{WHERE}resume/7/").status_code == 404
    assert curator.post(f"{WHERE}resume/1/").status_code == 409
    assert shown(world) == BEFORE
    curator.post(f"{WHERE}resume/2/")
    assert states(world) == [(1, 1, "current"), (2, 1, "preparing")]
    score_all()
    assert shown(world) == AFTER


def test_buttons_need_a_csrf_token(world: World) -> None:
    strict = client_of(world.curator, enforce_csrf_checks=True)
    for act in ("begin", "cancel", "resume/2"):
        assert strict.post(f"{WHERE}{act}/").status_code == 403
    assert states(world)[1] == (2, 1, "preparing")


def test_prepared_scores_are_visible_to_managers_only(world: World) -> None:
    for verb in ("get", "post"):
        for act in ("", "state/", "begin/", "cancel/", "resume/2/"):
            assert getattr(client_of(world.researcher), verb)(WHERE + act).status_code in (404, 405)
    world.benchmark.organisers.add(world.researcher)
    assert "Prepared changes" in page(client_of(world.researcher))


def test_changes_of_a_switch_stay_on_the_page(world: World) -> None:
    curator = client_of(world.curator)
    assert "Changes by the last rescoring" not in page(curator)
    score_all()
    markup = page(curator)
    changes = markup[markup.index("Changes by the last rescoring") :]
    assert "gold version 1, task version 1</a>" in changes and "Rank before" in changes and "prepared" not in changes
    ranks = r'<td class="num">1</td><td class="num"><strong>2</strong></td>'
    numbers = ranks + r'<td class="num">1.000</td><td class="num">0.000</td>'
    assert re.search(numbers, changes[changes.index("Bernoulli") :])
    assert "Prepared changes" not in markup


def test_a_phase_without_correction_has_no_comparison(sandbox: str) -> None:
    world = two_systems()
    markup = page(client_of(world.curator))
    assert "Prepared changes" not in markup and "Changes by the last rescoring" not in markup
