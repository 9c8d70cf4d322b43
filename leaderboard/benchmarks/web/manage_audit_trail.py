"""Management page of a benchmark's audit trail: who did what and who read gold, also as CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.benchmarks.queries import audit_trail
from leaderboard.benchmarks.queries.audit_trail import AuditTrailEntry
from leaderboard.benchmarks.web.forms.phase import KINDS
from leaderboard.boards.api.csv import escape_formula
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.web.access import PersonRequest
from leaderboard.datasets.web.manage_corrections import WORDS
from leaderboard.models import Benchmark, Phase

A_PAGE = 50
HEADS = ("at", "by", "action", "what", "read_gold", "detail")
ACTS = {
    "gold.uploaded": "uploaded large gold",
    "gold.read": "viewed gold",
    "audit.read": "viewed an audit, which quotes gold",
    "gold.added": "added a gold version",
    "gold.divided": "split the groups into public and private",
    "correction.proposed": "uploaded corrected gold",
    "correction.confirmed": "confirmed a correction",
    "correction.dropped": "discarded a correction",
    "correction.expired": "deleted an unconfirmed correction",
    "inputs.added": "added inputs",
    "raw_file.added": "uploaded a raw file",
    "raw_file.removed": "removed a raw file",
    "generation.begun": "requested a preview",
    "generation.cancelled": "cancelled a preview",
    "generation.forgotten": "deleted a preview",
    "generation.read": "viewed a preview, which quotes gold",
    "generation.used": "created a draft split from a preview",
    "generation.corrects": "used a preview as a correction of gold",
    "split.created": "created a split",
    "split.published": "published a split",
    "split.dropped": "deleted a draft split",
    "split.retired": "retired a split",
    "audit.begun": "requested an audit",
    "audit.cancelled": "cancelled an audit",
    "audit.answered": "answered a finding",
    "audit.published": "published an audit",
    "benchmark.created": "created the benchmark",
    "benchmark.published": "published the benchmark",
    "benchmark.edited": "edited the benchmark",
    "benchmark.contact": "changed the contact",
    "benchmark.access": "changed who may submit",
    "organiser.added": "added an organiser",
    "organiser.removed": "removed an organiser",
    "registration.approved": "registered a team",
    "registration.declined": "declined or removed a team",
    "registration.barred": "barred a team",
    "registration.bar_lifted": "let a barred team submit again",
    "benchmark.exported": "wrote an archive of the benchmark",
    "benchmark.imported": "imported the benchmark from an archive",
    "benchmark.teams_may_hide": "changed whether teams may take submissions off the board",
    "dataset.created": "created the dataset",
    "dataset.edited": "edited the dataset's details",
    "hosting.began": "started to host the benchmark",
    "hosting.ended": "finished hosting the benchmark",
    "phase.created": "added a phase",
    "phase.edited": "edited a phase",
    "phase.extended": "extended a deadline",
    "phase.scorer": "set a phase's scorer",
    "phase.takes_images": "enabled images for a phase",
    "phase.time_zone": "changed a phase's time zone",
    "benchmark.picture_changed": "changed the picture of the benchmark",
    "benchmark.picture_removed": "removed the picture of the benchmark",
    "benchmark.facts_changed": "changed the facts of systems that the benchmark asks for",
    "phase.tracks_changed": "changed a phase's tracks",
    "phase.unsealed": "unsealed a phase",
    "draft.testers": "set the testers of the draft",
    "draft.reset": "reset the draft",
    "baselines.submitted": "submitted baselines",
    "gold.refused": "uploaded invalid gold",
    "work.run_again": "ran work again that had failed because of the server",
    "export.asked": "requested an export",
    "export.downloaded": "downloaded an export",
    "export.removed": "removed an export",
    "announcement.made": "published an announcement",
    "announcement.taken_back": "withdrew an announcement",
    "download.added": "added a file to download",
    "reported.added": "added a reported row",
    "reported.removed": "removed a reported row",
    "record.changed": "changed the record in the admin",
    "record.deleted": "deleted the record in the admin",
    "rescoring.begun": "started a rescoring",
    "rescoring.cancelled": "cancelled a rescoring",
    "rescoring.resumed": "resumed a rescoring",
    "system.disqualified": "disqualified a system",
    "system.reinstated": "reinstated a system",
    "submissions.downloaded": "downloaded all submissions or scores as CSV",
    "submission.hidden": "hid a submission",
    "submission.unhidden": "unhid a submission",
    "near_duplicate.dismissed": "dismissed a near-duplicate",
    "scorer.added": "added a scorer",
}


FLAGS = {
    "unaudited": "without an audit",
    "gold_public": "gold is public",
    "closed": "with an encrypted part",
    "passphrase": "with a passphrase",
}
NAMES = {
    **{"disclosure": "kind", "least_groups": "smallest slice shown", "afterwards": "later answers show"},
    **{"number": "version", "sha256": "SHA-256", "inputs_sha256": "SHA-256 of the inputs"},
}
ONLY_IN_CSV = ("parts",)
EMPTY: tuple[object, ...] = (None, "", [], {})
DIGEST = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")


@login_required
@require_safe
def manage_audit_trail(request: PersonRequest, slug: str) -> HttpResponse:
    """List a benchmark's audit trail, in pages.

    `?only=gold`: only entries about users who read hidden gold. `?download=csv`: the
    entries of all pages as a file. Both may be combined.
    """
    benchmark = managed_or_404(request.user, slug)
    gold_only = request.GET.get("only") == "gold"
    rows = audit_trail.entries(benchmark, gold_only=gold_only)
    if request.GET.get("download") == "csv":
        return _as_csv(benchmark, audit_trail.with_names(rows))
    page = Paginator(rows, A_PAGE).get_page(request.GET.get("page"))
    entries = audit_trail.with_names(page.object_list)
    lines = [(entry, words(entry), details(entry)) for entry in entries]
    context = {"benchmark": benchmark, "lines": lines, "page": page, "gold_only": gold_only}
    return render(request, "benchmarks/manage_audit_trail.html", context)


def words(entry: AuditTrailEntry) -> str:
    """Return what an entry's actor did, in words."""
    return ACTS.get(entry.action, entry.action)


def details(entry: AuditTrailEntry) -> list[tuple[str, str, str]]:
    """Return (name, short text, whole text) of each detail of an entry. A flag has only a name.

    Details that are false or empty are left out, and so are those that only the CSV has.
    """
    rows = []
    for name, value in entry.detail.items():
        if value in (False, *EMPTY) or name in ONLY_IN_CSV:
            continue
        whole = "" if value is True else _in_words(name, value)
        if whole or value is True:
            rows.append((FLAGS.get(name) or NAMES.get(name) or name.replace("_", " "), _short(whole), whole))
    return rows


def _in_words(name: str, value: object) -> str:
    if isinstance(value, dict) and value.keys() == {"before", "after"}:
        shown = (_in_words(name, part) if part not in EMPTY else "empty" for part in (value["before"], value["after"]))
        return " \N{RIGHTWARDS ARROW} ".join(shown)
    if isinstance(value, dict) and value.keys() <= WORDS.keys():
        return ", ".join(f"{n} {WORDS[kind]}" for kind, n in value.items() if n)
    if name == "disclosure" and isinstance(value, str) and value in KINDS:
        return KINDS[Phase.Disclosure(value)].title
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    """Return a text with at most 200 characters, and with 12 of each SHA-256 digest's."""
    text = DIGEST.sub("\\1\N{HORIZONTAL ELLIPSIS}", text)
    return text if len(text) <= 200 else text[:199] + "\N{HORIZONTAL ELLIPSIS}"


def _as_csv(benchmark: Benchmark, entries: Sequence[AuditTrailEntry]) -> HttpResponse:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(HEADS)
    for entry in entries:
        texts = (entry.at.isoformat(), entry.by, entry.action, entry.what, "yes" if entry.read_gold else "no")
        writer.writerow(
            [*map(escape_formula, texts), escape_formula(json.dumps(entry.detail, ensure_ascii=False, sort_keys=True))]
        )
    disposition = f'attachment; filename="{benchmark.slug}-trail.csv"'
    return HttpResponse(
        buffer.getvalue(), content_type="text/csv; charset=utf-8", headers={"Content-Disposition": disposition}
    )
