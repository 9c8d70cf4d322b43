"""Every error of the API is problem details (RFC 9457) with a documented code, whatever raised it."""

from __future__ import annotations

import ast
import errno
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.exceptions import RequestDataTooBig
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from leaderboard.benchmarks.api.benchmarks import BenchmarksView
from leaderboard.core.api import problem_details, samples
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.store_errors import StoreUnavailableError
from leaderboard.core.web import error_pages
from leaderboard.core.web.docs import rendered
from leaderboard.models import Phase
from leaderboard.operations import web_worker
from tests.support.api_calls import ROOT, SUBMIT, client_of, person, send
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
REPOSITORY = Path(__file__).parents[4]
LIST = f"{ROOT}/benchmarks/"
IMAGES = f"{ROOT}/benchmarks/tiny/phases/test/image-uploads/"
Request = Callable[[World, Client], Any]


class Case(NamedTuple):
    """A request that fails; `raised` is raised by the view of LIST."""

    status: int
    code: str
    request: Request
    raised: Exception | None = None


def raising(status: int, code: str, error: Exception) -> Case:
    return Case(status, code, lambda _, ada: ada.get(LIST), error)


def by_closed_phase(_: World, ada: Client) -> Any:
    Phase.objects.update(closes_at=timezone.now())
    return send(ada, b"{}")


CASES = [
    Case(400, "invalid", lambda _, ada: ada.get(f"{LIST}?page=x")),
    Case(400, "parse_error", lambda _, ada: ada.post(SUBMIT, b"", content_type="application/x-ndjson")),
    Case(400, "bad_request", lambda _, ada: ada.get(LIST, headers={"Host": "elsewhere.example"})),
    Case(401, "not_authenticated", lambda *_: Client().get(f"{ROOT}/submissions/")),
    Case(401, "authentication_failed", lambda *_: Client(headers={"Authorization": "Token x"}).get(LIST)),
    Case(403, "not_a_member", lambda world, _: send(client_of(person("eve")), b"{}", team=world.system.team.name)),
    Case(404, "not_found", lambda _, ada: ada.get(f"{LIST}none/")),
    Case(404, "not_found", lambda _, ada: ada.get(f"{ROOT}/none")),
    Case(405, "method_not_allowed", lambda _, ada: ada.delete(LIST)),
    Case(406, "not_acceptable", lambda *_: Client().get(f"{ROOT}/schema/", headers={"Accept": "image/png"})),
    Case(409, "phase_closed", by_closed_phase),
    raising(410, "upload_gone", Refused(Code.UPLOAD_GONE, "Gone.")),
    Case(
        *(411, "length_required"),
        lambda _, ada: ada.generic("POST", SUBMIT, b"x", "text/x", headers={"Transfer-Encoding": "chunked"}),
    ),
    Case(412, "unsupported_version", lambda _, ada: ada.post(IMAGES, headers={"Tus-Resumable": "0.2"})),
    raising(413, "too_large", RequestDataTooBig()),
    Case(415, "unsupported_media_type", lambda _, ada: ada.post(SUBMIT, b"x", content_type="text/x")),
    Case(422, "invalid_name", lambda _, ada: ada.post(f"{ROOT}/teams/", {"name": "anonymous"}, "application/json")),
    raising(422, "invalid_predictions", Refused(Code.INVALID_PREDICTIONS, "1 problem.", [{"line": 1}], more=2)),
    raising(429, "quota_exceeded", Refused(Code.QUOTA_EXCEEDED, "Used.", retry_at=timezone.now())),
    raising(460, "checksum_mismatch", Refused(Code.CHECKSUM_MISMATCH, "Damaged.")),
    raising(500, "server_error", RuntimeError("the text of an unexpected error")),
    raising(503, "busy", OperationalError("database is locked")),
    raising(503, "store_unavailable", StoreUnavailableError()),
    raising(503, "engine_unavailable", Refused(Code.ENGINE_UNAVAILABLE, "Away.")),
    raising(507, "disk_full", OSError(errno.ENOSPC, "No space left on device")),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{case.status}-{case.code}" for case in CASES])
def test_an_error_is_problem_details(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    if case.raised is not None:

        def get(*_: Any) -> None:
            raise case.raised  # type: ignore[misc]

        monkeypatch.setattr(BenchmarksView, "get", get)
    world = build()
    response = case.request(world, client_of(world.researcher))
    assert (response.status_code, response["Content-Type"]) == (case.status, "application/problem+json")
    problem = json.loads(response.content)
    assert problem["code"] == case.code
    assert problem["status"] == case.status and problem["title"]
    assert problem["detail"] == problem["message"] and "unexpected" not in problem["message"]
    page, _, anchor = problem["type"].partition("/docs/error-codes/#")
    assert page.startswith("http") and anchor == case.code
    path, _, request_id = problem["instance"].partition("#")
    assert path.startswith("/api/v1/") and request_id == response["X-Request-ID"]
    for name, value in {"problems": [{"line": 1}], "more": 2}.items() if case.code == "invalid_predictions" else ():
        assert problem[name] == value


def test_every_status_has_a_case() -> None:
    statuses = {int(title.split()[0]) for _, title in rendered("error-codes").sections}
    assert statuses == {case.status for case in CASES} | {web_worker.RequestTimeout.code}


def test_every_code_is_documented_under_its_status() -> None:
    own = {(code.status, code.text) for code in Code}
    common = {(status, code) for status, codes in samples.COMMON_CODES.items() for code in codes}
    pages = {(status, error_pages.MESSAGES[status][0]) for status in error_pages.MESSAGES}
    server = {(error.code, error.code_text) for error in web_worker.JSONError.__subclasses__()}
    cases = {(case.status, case.code) for case in CASES if not case.code.endswith("_away")}
    documented = set(descriptions())
    assert own | common | pages | server | cases <= documented
    assert all(f'id="{code}"' in rendered("error-codes").html for _, code in documented)
    assert len({code for _, code in documented}) == len(documented), "a code has one status"


def descriptions() -> dict[tuple[int, str], str]:
    """Return (status, code) -> description of each code on the page of error codes."""
    section, code, found = 0, "", dict[tuple[int, str], str]()
    for line in (REPOSITORY / "docs" / "error-codes.md").read_text().splitlines():
        if line.startswith("## "):
            section, code = int(line.split()[1]), ""
        elif line.startswith("### "):
            code = line.strip("# `")
            found[section, code] = ""
        elif code:
            found[section, code] = f"{found[section, code]} {line}".strip()
    return found


def test_no_two_codes_have_one_description() -> None:
    """Codes of one cause were described alike: "You may not do this.", "The server failed. It is logged."."""
    starts = [text.partition(".")[0].partition(";")[0] for text in descriptions().values()]
    assert all(starts) and len(set(starts)) == len(starts), sorted(starts)


RAISED_ONLY_IN = {
    Code.INVALID_NAME: ("core/names/", "accounts/actions/", "systems/actions/rename.py"),
    Code.INVALID_FACT: ("submissions/api/submissions.py",),
    Code.NOT_ACCEPTED: ("submissions/actions/submit.py", "containers/actions/images.py"),
    Code.QUOTA_EXCEEDED: ("submissions/actions/submit.py",),
    Code.SCORER_FAILING: ("submissions/actions/failure_limit.py",),
    Code.INVALID_DIGEST: ("core/chunked_upload.py",),
    Code.UPLOAD_INCOMPLETE: ("core/chunked_upload.py",),
    Code.DIGEST_MISMATCH: ("core/chunked_upload.py",),
    Code.INVALID_REFERENCE: ("containers/actions/",),
    Code.INVITATION_GONE: ("accounts/actions/invitations.py",),
}
WORDS = {
    Code.INVALID_REASON: "reason",
    Code.EMPTY_FILE: "empty|bytes",
    Code.NO_FILE: "file",
    Code.LIMIT_REACHED: "maximum",
}
"""Words that messages with a code have."""


def raised() -> list[tuple[str, Code, str]]:
    """Return (module, code, source of the arguments) of each refusal in the site's code."""
    found = []
    for path in sorted((REPOSITORY / "leaderboard").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Refused":
                source = ast.unparse(node)
                module = str(path.relative_to(REPOSITORY / "leaderboard"))
                found += [(module, Code[name], source) for name in re.findall(r"\bCode\.(\w+)", source)]
    return found


def test_a_code_is_raised_for_one_cause() -> None:
    """Values, limits and states without a code of their own have the general codes, never that of another cause."""
    sites = raised()
    assert len(sites) > 150
    elsewhere = [
        (module, code.name)
        for module, code, _ in sites
        if code in RAISED_ONLY_IN and not module.startswith(RAISED_ONLY_IN[code])
    ]
    assert elsewhere == []
    others = [(module, source) for module, code, source in sites if not re.search(WORDS.get(code, ""), source)]
    assert others == []


def test_each_code_is_used() -> None:
    """Outside the tables that list them, which would otherwise keep codes that nothing raises."""
    tables = {"core/web/refusals.py", "core/api/samples.py"}
    site = REPOSITORY / "leaderboard"
    texts = [path.read_text() for path in site.rglob("*.py") if str(path.relative_to(site)) not in tables]
    used = set(re.findall(r"\bCode\.([A-Z_]+)\b", "\n".join(texts)))
    assert [code.name for code in Code if code.name not in used] == []


def test_the_web_servers_own_errors_are_problem_details() -> None:
    status, headers, body = web_worker.ServiceUnavailable("too many uploads").to_response()
    assert status == "503 Service Unavailable"
    assert ("Content-Type", problem_details.MEDIA_TYPE) in headers
    assert json.loads(body)["type"].endswith("#busy") and json.loads(body)["message"] == "too many uploads"
