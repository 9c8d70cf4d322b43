"""The picture of a benchmark: its address, and the page on which organisers change it."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import patch_cache_control
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.benchmarks.actions import teaser as actions
from leaderboard.boards.queries.lookup import benchmark_or_404, managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.public_responses import replace_csp
from leaderboard.core.web.refusals import add_to
from leaderboard.core.web.upload import check_upload
from leaderboard.models import Benchmark, Teaser

YEAR = 31_536_000


class TeaserForm(forms.Form):
    """Form to upload a picture, or to change its description."""

    file = forms.FileField(
        label="Picture",
        max_length=300,
        allow_empty_file=True,
        error_messages=dict.fromkeys(("required", "invalid"), "No picture was sent; choose a PNG, JPEG or WebP file."),
        help_text="PNG, JPEG or WebP, up to 8 MB. It is scaled down to at most 1,200 pixels.",
        widget=forms.FileInput({"accept": "image/png,image/jpeg,image/webp"}),
    )
    alternative_text = forms.CharField(
        max_length=300,
        label="Description",
        help_text="What the picture shows, for readers who do not see it.",
    )


@replace_csp(default_src=("'none'",))
@require_safe
def teaser(request: HttpRequest, slug: str, sha256: str) -> HttpResponseBase:
    """Send the picture with this digest. Addresses of former pictures redirect to it; 404 without a picture."""
    benchmark = benchmark_or_404(request.user, slug)
    row = get_object_or_404(Teaser, benchmark=benchmark)
    if row.sha256 != sha256:
        moved = redirect(row)
        patch_cache_control(moved, private=True, no_cache=True)
        return moved
    response = FileResponse(row.file.open("rb"), content_type=row.media_type)
    response["Content-Length"] = str(row.bytes)
    if benchmark.state == Benchmark.State.PUBLIC:
        patch_cache_control(response, public=True, max_age=YEAR, immutable=True)
    else:
        patch_cache_control(response, private=True, no_cache=True)
    return response


@login_required
@require_http_methods(["GET", "POST"])
def manage_teaser(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the picture and the form; a POST stores a picture, or only a new description of it."""
    benchmark = managed_or_404(request.user, slug)
    row = Teaser.objects.filter(benchmark=benchmark).first()
    initial = {"alternative_text": row.alternative_text if row else ""}
    form = TeaserForm(request.POST or None, request.FILES or None, initial=initial)
    form.fields["file"].required = row is None
    refusal, status = None, 422 if request.method == "POST" else 200
    try:
        if request.method == "POST":
            check_upload(request)
        if form.is_valid():
            text, file = form.cleaned_data["alternative_text"], form.cleaned_data["file"]
            if file:
                actions.put(benchmark=benchmark, file=file, alternative_text=text, by=request.user)
            else:
                actions.describe(benchmark=benchmark, alternative_text=text, by=request.user)
            messages.success(request, "The picture was saved.")
            return redirect("manage_teaser", slug)
    except Refused as refused:
        refusal, status = add_to(form, refused), refused.code.status
    context = {"benchmark": benchmark, "form": form, "refusal": refusal, "teaser": row}
    return render(request, "benchmarks/manage_teaser.html", context, status=status)


@login_required
@require_POST
def remove(request: PersonRequest, slug: str) -> HttpResponse:
    benchmark = managed_or_404(request.user, slug)
    if actions.remove(benchmark=benchmark, by=request.user):
        messages.success(request, "The picture was removed.")
    return redirect("manage_teaser", slug)
