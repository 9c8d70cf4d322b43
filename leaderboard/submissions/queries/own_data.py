"""Copy of a user's data as a ZIP file: profile, teams, and own submissions with files, scores and receipts."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from knox.models import AuthToken

from evaluator.jsonl.decompress import is_packed
from leaderboard.models import Membership, Submission, User
from leaderboard.submissions.queries import progress, receipts
from leaderboard.submissions.queries.progress import Progress

CHUNK = 1 << 20


class _Sink(io.RawIOBase):
    """Write-only file object that buffers the bytes that ZipFile writes; `taken` returns and removes them."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(self._pieces[-1])

    def taken(self) -> bytes:
        content, self._pieces = b"".join(self._pieces), []
        return content


def archive(user: User) -> Iterator[bytes]:
    """Yield the ZIP file with a copy of the user's data, in pieces.

    It contains the data that the user's pages show, and nothing that they hide.
    """
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as files:
        files.writestr("profile.json", _text(_profile(user)))
        files.writestr("teams.json", _text(_teams(user)))
        own = Submission.objects.of_teams_of(user).filter(submitted_by=user)
        for row in progress.with_related(own).order_by("received_at", "pk").iterator(chunk_size=50):
            for name, content in _submission(progress.of(row)):
                with files.open(f"submissions/{row.pk}/{name}", "w", force_zip64=True) as file:
                    for piece in content:
                        file.write(piece)
                        yield sink.taken()
    yield sink.taken()


def _profile(user: User) -> dict[str, Any]:
    tokens = AuthToken.objects.filter(user=user).order_by("created")
    return {
        "username": user.username,
        "email": user.email,
        "email_addresses": list(EmailAddress.objects.filter(user=user).values("email", "verified", "primary")),
        "joined_at": user.date_joined,
        "last_log_in": user.last_login,
        "mails_since": user.mailed_since,
        "tokens": list(tokens.values("token_key", "created", "expiry", "details__name")),
        "linked_accounts": list(
            SocialAccount.objects.filter(user=user).values("provider", "uid", "extra_data", "date_joined")
        ),
        "second_factors": [
            {
                "type": row.type,
                "name": str(row.data.get("name", "")),
                "created": row.created_at,
                "last_used": row.last_used_at,
            }
            for row in Authenticator.objects.filter(user=user).order_by("pk")
        ],
        "webhooks": list(user.webhooks.values_list("url", flat=True)),
        "organises": list(user.benchmarks.values_list("slug", flat=True)),
    }


def _teams(user: User) -> list[dict[str, Any]]:
    rows = Membership.objects.filter(user=user).select_related("team").order_by("pk")
    return [{"name": row.team.name, "former_names": row.team.former_names, "is_owner": row.is_owner} for row in rows]


def _submission(row: Progress) -> Iterator[tuple[str, Iterator[bytes]]]:
    submission = row.submission
    about = {
        "id": str(submission.pk),
        "benchmark": submission.phase.benchmark.slug,
        "phase": submission.phase.slug,
        "team": submission.system.team.name,
        "system": submission.system.name,
        "track": submission.track,
        "note": submission.note,
        "received_at": submission.received_at,
        "state": row.state,
        "reason": row.reason,
        "scores": row.release.values if row.release else [],
        "off_the_board": row.hidden is not None,
    }
    yield "submission.json", iter([_text(about)])
    if receipt := receipts.document(row):
        yield "receipt.json", iter([_text(receipt)])
    file = row.prediction.file if row.prediction and row.file_is_shown else None
    if file and file.storage.exists(str(file.name)):
        suffix = ".jsonl.gz" if row.prediction and is_packed(row.prediction.name) else ".jsonl"
        yield f"predictions{suffix}", _pieces(file)


def _pieces(file: Any) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while piece := opened.read(CHUNK):
            yield piece


def _text(value: Any) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False, default=str).encode() + b"\n"
