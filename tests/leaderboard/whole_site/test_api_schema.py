"""The API's schema: responses match it, and its page works under the strict content security policy."""

from __future__ import annotations

import re

import pytest
from django.contrib.staticfiles import finders
from django.test import Client
from hypothesis import HealthCheck, given, settings

from leaderboard.accounts.actions import tokens
from leaderboard.models import ImageUpload, RawUpload
from tests.support.api_calls import ROOT, person
from tests.support.rows import generator_previews
from tests.support.rows.board_rows import stand
from tests.support.rows.container_rows import engine_is_there, takes_images
from tests.support.rows.tiny_world import TASK, build

pytestmark = pytest.mark.django_db
UPLOADS = {
    *("image_upload_create", "scorer_upload_create", "raw_upload_create", "image_upload_append", "raw_upload_append"),
}
WRITES = {
    *("token_issue", "token_revoke", "submit", "image_upload_discard", "image_submit", "image_reference"),
    "raw_upload_discard",
    *UPLOADS,
    *("team_create", "team_invite", "team_invitation_revoke", "team_hand_on", "team_leave", "invitation_answer"),
}
ONLY_MANAGERS = {"scorer_upload_create", "raw_upload_create"}
ONLY_MEMBERS = {"team_invite", "team_invitation_revoke", "team_hand_on", "team_leave", "invitation_answer"}
"""Of a team, or who holds an invitation."""


def test_the_schema_names_every_operation():
    schema = Client().get(f"{ROOT}/schema/").json()
    operations = {operation["operationId"] for path in schema["paths"].values() for operation in path.values()}
    assert operations == {
        *("token_issue", "device_code", "device_token", "token_revoke", "task_list", "task"),
        *("benchmark_list", "benchmark", "benchmark_croissant", "split_inputs"),
        *("leaderboard", "leaderboard_comparisons", "leaderboard_csv", "submit", "submission_list", "submission"),
        *("leaderboard_latex", "leaderboard_markdown", "leaderboard_bibtex", "leaderboard_canonical"),
        *("submission_scores", "submission_predictions", "submission_hide", "submission_unhide", "exact_scores"),
        *("system_list", "system_rename"),
        *("image_upload_state", "image_upload_discard", "image_submit", "image_reference"),
        *("leaderboard_plots", "leaderboard_plot", "raw_upload_state", "raw_upload_discard"),
        *UPLOADS,
        *("team_list", "team_create", "team", "team_invite", "team_invitation_revoke", "team_hand_on", "team_leave"),
        *("invitation_answer",),
    }
    assert all(path.startswith("/api/v1/") for path in schema["paths"])


def test_the_page_has_neither_inline_script_nor_inline_style():
    page = Client().get(f"{ROOT}/docs/")
    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert "unsafe" not in page["Content-Security-Policy"]
    text = page.content.decode()
    assert "<style" not in text and " style=" not in text and " on" not in re.sub(r">[^<]*<", "><", text)
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", text, re.S)
    assert scripts and all("src=" in attributes and not body.strip() for attributes, body in scripts)
    sources = re.findall(r'<(?:script|link)[^>]* (?:src|href)="([^"]+)"', text)
    assert sources and all(source.startswith("/") for source in sources)
    for source in sources:
        if source.startswith("/static/"):
            assert finders.find(source.removeprefix("/static/")), source
        else:
            script = Client().get(source.replace("&amp;", "&"))
            assert script["Content-Type"].startswith("application/javascript")
            assert b"SwaggerUIBundle" in script.content


class SchemaWorld:
    """A world with one object of each kind, and the parameters of each operation."""

    def __init__(self, role: str) -> None:
        self.world = world = build(quota_per_day=1000, quota_total=1000)
        engine_is_there()
        takes_images(world)
        self.submission = world.insert_run().prediction.submission_id
        stand(world, "Carnot")
        organiser = person("xena")
        world.benchmark.organisers.add(organiser)
        users = {"researcher": world.researcher, "organiser": organiser, "curator": world.curator}
        self.user = users.get(role)

    def headers(self) -> dict[str, str]:
        """Returns a token for each call, because one of the operations revokes it."""
        return {"Authorization": f"Token {tokens.issue(by=self.user)[1]}"} if self.user else {}

    def blanks(self, path: str) -> dict[str, str]:
        """Returns values for an operation's path parameters; creates the uploads that some operations need."""
        key = self.submission
        if "image-uploads" in path:
            ImageUpload.objects.all().delete()
            by = self.user or self.world.researcher
            upload = ImageUpload.objects.create(phase=self.world.phase, by=by, name="image.tar", bytes=5)
            key = upload.pk
        if "raw-uploads" in path:
            RawUpload.objects.all().delete()
            key = generator_previews.upload(self.world, self.user or self.world.researcher).pk
        if "/teams/" in path:
            key = self.world.system.team_id
        named = {"slug": "tiny", "phase": "test", "split": "test", "plot": "intervals"}
        return {**named, "invitation": "1", "name": TASK, "id": str(key)}


def _with_address(environ, start_response):
    """Call the site with an address of the client: without one, a wrong password is refused like a forbidden action."""
    from leaderboard.wsgi import application  # it collects garbage

    return application({"REMOTE_ADDR": "127.0.0.1", **environ}, start_response)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("role", ["anonymous", "researcher", "organiser", "curator"])
@pytest.mark.parametrize("worlds", ["invented", "real"])
def test_every_response_matches_the_schema(sandbox, role, worlds):
    # Only here, because its import would take every test process a second.
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    conformance = [checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance]
    schemathesis.serializer.alias("application/offset+octet-stream", "application/octet-stream")
    objects = SchemaWorld(role)
    schema = schemathesis.openapi.from_wsgi(f"{ROOT}/schema/", _with_address)
    statuses: dict[str, set[int]] = {}
    for found in schema.get_all_operations():
        operation = found.ok()
        seen_statuses = statuses.setdefault(operation.definition.raw["operationId"], set())

        @given(case=operation.as_strategy())
        @settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        def call(case):
            if worlds == "real":
                blanks = objects.blanks(case.path)
                case.path_parameters = {blank: blanks[blank] for blank in case.path_parameters}
            answer = case.call(headers=objects.headers())
            case.validate_response(answer, checks=[not_a_server_error, *conformance])
            if answer.status_code >= 400 and case.method != "HEAD":
                assert {"code", "message"} <= answer.json().keys()
            seen_statuses.add(answer.status_code)  # noqa: B023  (called in this iteration only)

        call()
    expected = {
        operation_["operationId"] for path in schema.raw_schema["paths"].values() for operation_ in path.values()
    }
    assert statuses.keys() == expected
    if role == "anonymous":
        refusals = {400, 401, 404, 405, 411, 413, 415, 422, 429}
        others = {name: statuses[name] - refusals for name in WRITES & expected}
        assert not {name: found for name, found in others.items() if found}
    elif worlds == "real":
        others = WRITES - ONLY_MANAGERS - ONLY_MEMBERS - {"token_issue"}  # which refuses any password but the right one
        refused = {name for name in others if statuses[name] <= {401, 403, 404}}
        assert refused == set(), "the role got as far as what is asked"
