"""Background work that renders the plots of public boards as pictures, once for each revision of a board.

The sweep queues boards that have changed, so many results at once cause one rendering. Pictures show what everybody
sees: each is stored with the digest of the plot's specification for the public, and is served only while the board
still has that specification (`leaderboard/plots/web/pictures.py`).
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.http import Http404
from django.utils import timezone

from leaderboard.core import db_clock
from leaderboard.models import (
    TERMINAL,
    Benchmark,
    Leaderboard,
    PlotPicture,
    PlotRendering,
    Reason,
    Standing,
    State,
)
from leaderboard.plots.catalog import PLOTS, PlotRequest
from leaderboard.plots.render import rendered
from leaderboard.plots.vega_lite import Spec
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import AT_ONCE, Failure, Urgency, Work, not_enqueued

MIN_INTERVAL = timedelta(minutes=1)
"""Minimum time between two renderings of a board."""


def digest_of(spec: Spec) -> str:
    return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()


def _render(lease: Lease[PlotRendering]) -> None:
    board = lease.row.leaderboard
    specs = _public_specs(board)
    digests = {name: digest_of(spec) for name, spec in specs.items()}
    stored = dict(board.plot_pictures.values_list("plot", "digest"))
    pictures = rendered({name: spec for name, spec in specs.items() if stored.get(name) != digests[name]})
    with transaction.atomic():
        lease.finish(state=State.DONE)
        board.plot_pictures.exclude(plot__in=specs).delete()
        for name, (svg, png) in pictures.items():
            picture = {"digest": digests[name], "svg": svg, "png": png}
            PlotPicture.objects.update_or_create(leaderboard=board, plot=name, defaults=picture)
        board.plot_renderings.filter(revision__lt=lease.row.revision, state__in=TERMINAL).delete()


def _public_specs(board: Leaderboard) -> dict[str, Spec]:
    """Return the Vega-Lite specifications of the board's plots, as everybody sees them, by the plot's name."""
    is_current = board.state == Leaderboard.State.CURRENT
    version = {} if is_current else {"gold": board.gold_version.number, "task_version": board.task_version}
    request = PlotRequest(None, board.phase.benchmark.slug, board.phase.slug, version)
    specs = {}
    for name, read in PLOTS.items():
        try:
            spec = read(request)
        except Http404:  # the phase is not public any more, or the board has no such measure
            spec = None
        if spec is not None:
            specs[name] = spec
    return specs


def _queue() -> None:
    """Create a PlotRendering for each public board with results that has changed since its plots were rendered.

    At most AT_ONCE are created, and for each board at most one within MIN_INTERVAL.
    """
    if not settings.PLOT_PICTURES:
        return
    renderings = PlotRendering.objects.filter(leaderboard=OuterRef("pk"))
    now = timezone.now()
    changed = Leaderboard.objects.filter(
        Exists(Standing.objects.filter(leaderboard=OuterRef("pk"))),
        ~Exists(renderings.filter(revision=OuterRef("revision"))),
        ~Exists(renderings.filter(queued_at__gt=now - MIN_INTERVAL)),
        state__in=Leaderboard.PUBLIC,
        phase__benchmark__state=Benchmark.State.PUBLIC,
    )
    rows = [
        PlotRendering(leaderboard_id=board, revision=revision, queued_at=now, enqueued_at=not_enqueued(db_clock.now()))
        for board, revision in changed.order_by("pk").values_list("pk", F("revision"))[:AT_ONCE]
    ]
    PlotRendering.objects.bulk_create(rows, ignore_conflicts=True)


WORK = Work(
    name="render_plots",
    rows=PlotRendering.objects.select_related(
        "leaderboard__gold_version", "leaderboard__phase__benchmark", "leaderboard__phase__split"
    ),
    do=_render,
    errors={subprocess.SubprocessError: Failure(Reason.EXIT)},
    urgency=Urgency.PICTURE,
    before_sweep=_queue,
)
