"""Static pictures of plots, as SVG and PNG."""

from __future__ import annotations

from csp.constants import NONE
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.boards.queries.lookup import phase_or_404
from leaderboard.core.web.public_responses import replace_csp
from leaderboard.models import PlotPicture
from leaderboard.plots.actions.pictures import digest_of
from leaderboard.plots.catalog import PlotRequest, spec_or_404

MEDIA_TYPES = {"svg": "image/svg+xml", "png": "image/png"}


@require_safe
@conditional_page
@replace_csp(default_src=[NONE], img_src=[NONE], form_action=[NONE])
def picture(request: HttpRequest, slug: str, phase: str, plot: str, suffix: str, **version: int) -> HttpResponse:
    """Return a plot as everybody sees it now; raise Http404 until a worker has rendered this state of the board.

    suffix: svg or png.
    """
    asked = PlotRequest(None, slug, phase, version)
    digest = digest_of(spec_or_404(plot, asked))
    boards = phase_or_404(None, slug, phase).leaderboards.values("pk")
    stored = PlotPicture.objects.filter(leaderboard__in=boards, plot=plot, digest=digest).only(suffix).first()
    if stored is None:
        raise Http404("this plot has not been rendered yet")
    return HttpResponse(getattr(stored, suffix), content_type=MEDIA_TYPES[suffix])
