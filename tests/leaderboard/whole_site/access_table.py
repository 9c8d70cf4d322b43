"""Expected responses of every address of the site, for GET and POST, by role.

A row has the response's status for anonymous, A, B, X, Y, curator, staff and T in turn; `login` is a redirect to the
log-in page. A competes and has a submission, B competes elsewhere, X organises the benchmark `tiny`, Y the unpublished
`draft`, in which T is a tester. POSTs have no valid fields, so 400 and 422 mean that this role has reached the form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

EVERYONE = "200 200 200 200 200 200 200 200"
NOBODY = "404 404 404 404 404 404 404 404"
PEOPLE_OF_DRAFT = "404 404 404 404 200 200 404 200"
LOGGED_IN = "login 200 200 200 200 200 200 200"
LOG_IN = "login login login login login login login login"
NOT_CONFIRMED = "401 401 401 401 401 401 401 401"
ELSEWHERE = "login 302 302 302 302 302 302 302"
ITS_TEAM_AND_MANAGERS = "login 200 404 200 404 200 404 404"
MANAGERS = "login 404 404 200 404 200 404 404"
CURATOR = "login 404 404 404 404 200 404 404"
MANAGERS_OF_DRAFT_POSTS = "login 404 404 404 302 302 404 404"
CURATOR_POSTS = "login 404 404 404 404 405 404 404"
PEOPLE_OF_DRAFT_LOGGED_IN = "login 404 404 404 200 200 404 200"
MANAGERS_OF_DRAFT_LOGGED_IN = "login 404 404 404 200 200 404 404"
NO_PAGE = "login 405 405 405 405 405 405 405"
OWN_SYSTEM = "login 200 404 404 404 404 404 404"
NOBODY_LOGGED_IN = "login 404 404 404 404 404 404 404"
DRAFT = {"slug": "draft"}
UPLOAD = {"pk": "upload"}


@dataclass(frozen=True)
class Row:
    """One address. A verb without an entry must be refused to everybody."""

    name: str
    get: str = ""
    post: str = ""
    delete: str = ""
    patch: str = ""
    where: dict[str, str] = field(default_factory=dict)


def both(name: str, get: str, draft: str) -> list[Row]:
    """The same address in the public benchmark and in the draft."""
    return [Row(name, get), Row(name, draft, where=DRAFT)]


PUBLIC = [
    Row("home", EVERYONE),
    # Without the operator's token the response is that of a missing address.
    Row("metrics", NOBODY),
    Row("tasks", EVERYONE),
    Row("about", EVERYONE),
    Row("contact", EVERYONE),
    Row("status", EVERYONE),
    Row("robots", EVERYONE),
    Row("sitemap", EVERYONE),
    Row("manifest_schema", EVERYONE),
    # The tests' settings have no contact.
    Row("security_txt", NOBODY),
    Row("docs", EVERYONE),
    Row("docs_page", EVERYONE, where={"name": "researchers"}),
    Row("docs_file", EVERYONE, where={"path": "images/board-symmetric.png"}),
    Row("measures", EVERYONE),
    *both("benchmark", EVERYONE, PEOPLE_OF_DRAFT),
    *both("benchmark_data", EVERYONE, PEOPLE_OF_DRAFT),
    *both("benchmark_rules", EVERYONE, PEOPLE_OF_DRAFT),
    *both("benchmark_submit", EVERYONE, PEOPLE_OF_DRAFT),
    *both("leaderboard", EVERYONE, PEOPLE_OF_DRAFT),
    # Nothing was scored in either benchmark, so there is no frozen board.
    *both("frozen_board", NOBODY, NOBODY),
    *both("frozen_board_by_slice", NOBODY, NOBODY),
    *both("frozen_two_way_board", NOBODY, NOBODY),
    *both("frozen_symmetric_board", NOBODY, NOBODY),
    *both("frozen_cost_board", NOBODY, NOBODY),
    *both("board_by_slice", EVERYONE, PEOPLE_OF_DRAFT),
    # Neither has tracks, nor gold with a dimension of that name.
    *both("board_by_track", NOBODY, NOBODY),
    *both("frozen_board_by_track", NOBODY, NOBODY),
    *both("two_way_board", EVERYONE, PEOPLE_OF_DRAFT),
    *both("symmetric_board", EVERYONE, PEOPLE_OF_DRAFT),
    *both("head_to_head", EVERYONE, PEOPLE_OF_DRAFT),
    *both("frozen_head_to_head", NOBODY, NOBODY),
    *both("progress", EVERYONE, PEOPLE_OF_DRAFT),
    *both("frozen_progress", NOBODY, NOBODY),
    *both("significance", EVERYONE, PEOPLE_OF_DRAFT),
    *both("frozen_significance", NOBODY, NOBODY),
    *both("pairs", EVERYONE, PEOPLE_OF_DRAFT),
    *both("frozen_pairs", NOBODY, NOBODY),
    # Claims have neither probabilities nor ratings, so these plots do not exist.
    *both("roc", NOBODY, NOBODY),
    *both("frozen_roc", NOBODY, NOBODY),
    *both("agreement", NOBODY, NOBODY),
    *both("frozen_agreement", NOBODY, NOBODY),
    # Nothing is rendered: neither has a result.
    *both("plot_svg", NOBODY, NOBODY),
    *both("plot_png", NOBODY, NOBODY),
    *both("frozen_plot_svg", NOBODY, NOBODY),
    *both("frozen_plot_png", NOBODY, NOBODY),
    # No system has run as a container in either benchmark, so there are no costs.
    *both("cost_board", NOBODY, NOBODY),
    *both("cite", EVERYONE, PEOPLE_OF_DRAFT),
    *both("frozen_cite", NOBODY, NOBODY),
    # Embedded views are fetched anonymously: that of a draft is 404 for its managers too.
    *both("embed", EVERYONE, NOBODY),
    *both("frozen_embed", NOBODY, NOBODY),
    *both("badge", NOBODY, NOBODY),
    *both("frozen_badge", NOBODY, NOBODY),
    Row("site_feed", EVERYONE),
    *both("benchmark_feed", EVERYONE, NOBODY),
    # It has no score, so only its team sees it.
    Row("system", OWN_SYSTEM.replace("login", "404")),
    # No board shows a system of the team, and nobody has a public profile.
    Row("team_page", NOBODY),
    Row("person", NOBODY),
    *both("split", EVERYONE, PEOPLE_OF_DRAFT),
    *both("download_archive", EVERYONE, PEOPLE_OF_DRAFT),
    *both("download_inputs", EVERYONE, PEOPLE_OF_DRAFT),
    *both("download_sample", EVERYONE, PEOPLE_OF_DRAFT),
    *both("download_gold", NOBODY, NOBODY),
    Row("download_gold", EVERYONE, where={"split": "train"}),
    Row("download_gold", PEOPLE_OF_DRAFT, where={"split": "train", **DRAFT}),
    Row("croissant", EVERYONE),
    Row("croissant", NOBODY, where=DRAFT),
    Row("teaser", EVERYONE, where={"sha256": "1" * 64}),
    Row("teaser", "302 302 302 302 302 302 302 302", where={"sha256": "2" * 64}),
    Row("teaser", NOBODY, where={"sha256": "1" * 64, **DRAFT}),
    Row("download_pinned", NOBODY, where={"sha256": "0" * 64, "filename": "absent.jsonl"}),
    Row("download_file", EVERYONE, where={"name": "pages"}),
    Row("download_file", PEOPLE_OF_DRAFT, where={"name": "pages", **DRAFT}),
    Row("download_file", NOBODY, where={"name": "absent"}),
    # It scores no phase yet, so only managers of the benchmark see it.
    Row("scorer_measures", "404 404 404 200 404 200 404 404"),
    Row("scorer_measures", NOBODY, where=DRAFT),
]
PEOPLE = [
    # It asks for no agreement and no registration, so a POST has nothing to refuse.
    Row("join", LOGGED_IN, ELSEWHERE),
    Row("join", PEOPLE_OF_DRAFT_LOGGED_IN, "login 404 404 404 302 302 404 302", where=DRAFT),
    Row("submit", LOGGED_IN, "login 422 422 422 422 422 422 422"),
    Row("submit", PEOPLE_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 422", where=DRAFT),
    # The phase accepts files: its page for images redirects to the one for files.
    Row("submit_image", ELSEWHERE, "login 422 422 422 422 422 422 422"),
    Row("submit_image", "login 404 404 404 302 302 404 302", "login 404 404 404 422 422 404 422", where=DRAFT),
    Row("cancel_image_upload", NO_PAGE, "login 302 404 404 404 404 404 404", where=UPLOAD),
    Row("submission", ITS_TEAM_AND_MANAGERS),
    Row("take_off_submission", NO_PAGE, "login 302 404 404 404 404 404 404"),
    Row("put_back_submission", NO_PAGE, "login 302 404 404 404 404 404 404"),
    Row("withdraw_submission", NO_PAGE, "login 302 404 404 404 404 404 404"),
    # The submission's phase has no finals, so nobody can choose one.
    Row("choose_final", NO_PAGE, "login 409 404 404 404 404 404 404"),
    Row("unchoose_final", NO_PAGE, "login 409 404 404 404 404 404 404"),
    Row("finals", "login 404 404 404 404 404 404 404"),
    Row("finals", "login 404 404 404 404 404 404 404", where=DRAFT),
    Row("submission_state", ITS_TEAM_AND_MANAGERS.replace("login", "404")),
    # There is no receipt before there are scores.
    Row("submission_receipt", "login 404 404 404 404 404 404 404"),
    Row("download_prediction", ITS_TEAM_AND_MANAGERS),
    # The phase's gold is hidden.
    Row("submission_examples", "login 404 404 404 404 404 404 404"),
    Row("submission_examples_csv", "login 404 404 404 404 404 404 404"),
    Row("submission_examples_jsonl", "login 404 404 404 404 404 404 404"),
    Row("represent_system", NO_PAGE, "login 302 404 404 404 404 404 404"),
    Row("represent_system_by_best", NO_PAGE, "login 302 404 404 404 404 404 404"),
    Row("represent_system_by_best", NO_PAGE, "login 404 404 404 404 404 404 404", where=DRAFT),
    Row("rename_system", OWN_SYSTEM, "login 422 404 404 404 404 404 404"),
    Row("edit_system", OWN_SYSTEM, "login 302 404 404 404 404 404 404"),
    Row("my_submissions", LOGGED_IN),
    Row("my_teams", LOGGED_IN, "login 422 422 422 422 422 422 422"),
    # A owns the team; its other member is a user outside these roles.
    Row("team", OWN_SYSTEM),
    Row("invite_to_team", NO_PAGE, "login 422 404 404 404 404 404 404"),
    Row("revoke_invitation", NO_PAGE, "login 302 404 404 404 404 404 404"),
    Row("revoke_invitation", NO_PAGE, NOBODY_LOGGED_IN, where={"invitation": "999999"}),
    Row("rename_team", OWN_SYSTEM, "login 422 404 404 404 404 404 404"),
    Row("close_team", NO_PAGE, "login 409 404 404 404 404 404 404"),
    Row("leave_team", NO_PAGE, "login 409 404 404 404 404 404 404"),
    Row("transfer_team", NO_PAGE, "login 302 404 404 404 404 404 404"),
    Row("transfer_team", NO_PAGE, NOBODY_LOGGED_IN, where={"member": "999999"}),
    Row("remove_member", NO_PAGE, "login 302 404 404 404 404 404 404"),
    Row("remove_member", NO_PAGE, NOBODY_LOGGED_IN, where={"member": "999999"}),
    # It has submitted something.
    Row("delete_team", NO_PAGE, "login 409 404 404 404 404 404 404"),
    # Everybody with the link may answer it; a POST without an answer changes nothing.
    Row("invitation", LOGGED_IN, "login 422 422 422 422 422 422 422"),
    Row("invitation", NOBODY_LOGGED_IN, NOBODY_LOGGED_IN, where={"token": "never-was"}),
    Row("settings", LOGGED_IN),
    Row("own_data", LOGGED_IN),
    Row("device", LOGGED_IN, "login 422 422 422 422 422 422 422"),
    Row("delete_account", LOGGED_IN, "login 422 422 422 422 409 409 422"),
    Row("my_profile", LOGGED_IN, "login 422 422 422 422 422 422 422"),
    Row("my_tokens", LOGGED_IN, "login 422 422 422 422 422 422 422"),
    Row("my_notices", LOGGED_IN, "login 422 422 422 422 422 422 422"),
    Row("mail_notices", NO_PAGE, ELSEWHERE),
    Row("read_notices", NO_PAGE, ELSEWHERE),
    Row("follow_benchmark", NO_PAGE, ELSEWHERE),
    Row("follow_benchmark", NO_PAGE, "login 404 404 404 302 302 404 302", where=DRAFT),
    # None exists with this id.
    Row("test_webhook", NO_PAGE, "login 404 404 404 404 404 404 404"),
    Row("rotate_webhook_secret", NO_PAGE, "login 404 404 404 404 404 404 404"),
    Row("remove_webhook", NO_PAGE, "login 404 404 404 404 404 404 404"),
    Row("revoke_token", "login 405 405 405 405 405 405 405", "login 302 404 404 404 404 404 404"),
]
MANAGE = [
    Row("manage", "login 404 404 200 200 200 200 404"),
    Row("manage_operations", "login 404 404 404 404 404 200 404"),
    Row("manage_run_again", "login 404 404 404 404 404 405 404", "login 404 404 404 404 404 302 404"),
    Row("manage_workers", "login 404 404 404 404 200 200 404"),
    Row("manage_worker_drain", "login 404 404 404 404 405 405 404", "login 404 404 404 404 302 302 404"),
    Row("manage_imports", CURATOR, CURATOR.replace("200", "422")),
    Row("manage_import", CURATOR, CURATOR.replace("200", "422")),
    Row("manage_import_state", CURATOR),
    Row("manage_import_remove", CURATOR_POSTS, CURATOR.replace("200", "302")),
    # The archive belongs to the curator and is of the public benchmark; the request has no key.
    Row("manage_exports", CURATOR, CURATOR.replace("200", "302")),
    Row("manage_exports", CURATOR, CURATOR.replace("200", "302"), where=DRAFT),
    Row("manage_export_state", CURATOR),
    Row("manage_export_state", NOBODY_LOGGED_IN, where=DRAFT),
    Row("manage_export_download", CURATOR_POSTS, CURATOR),
    Row("manage_export_download", CURATOR_POSTS, NOBODY_LOGGED_IN, where=DRAFT),
    Row("manage_export_remove", CURATOR_POSTS, CURATOR.replace("200", "302")),
    Row("manage_export_remove", CURATOR_POSTS, NOBODY_LOGGED_IN, where=DRAFT),
    Row("manage_benchmark_create", CURATOR, CURATOR.replace("200", "422")),
    *both("manage_benchmark", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    Row("manage_benchmark_edit", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_benchmark_edit", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_teaser", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_teaser", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_teaser_remove", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("manage_teaser_remove", NO_PAGE, MANAGERS_OF_DRAFT_POSTS, where=DRAFT),
    Row("manage_publish", "login 405 405 405 405 405 405 405", "login 404 404 302 404 302 404 404"),
    Row("manage_publish", "login 405 405 405 405 405 405 405", "login 404 404 404 302 302 404 404", where=DRAFT),
    Row("manage_phase_create", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_phase_create", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_phase_edit", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_phase_edit", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    *both("manage_leakage_budget", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    Row("manage_public_private", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_public_private", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    *both("manage_rescoring", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    *both("manage_rescoring_state", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    Row("manage_rescoring_begin", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("manage_rescoring_begin", NO_PAGE, "login 404 404 404 302 302 404 404", where=DRAFT),
    # Nothing is being rescored in either benchmark, so nothing can be cancelled or resumed.
    Row("manage_rescoring_cancel", NO_PAGE, "login 404 404 409 404 409 404 404"),
    Row("manage_rescoring_cancel", NO_PAGE, "login 404 404 404 409 409 404 404", where=DRAFT),
    Row("manage_rescoring_resume", NO_PAGE, "login 404 404 409 404 409 404 404"),
    Row("manage_rescoring_resume", NO_PAGE, "login 404 404 404 409 409 404 404", where=DRAFT),
    Row("manage_scorers", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_scorers", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    # No scorer is named: the task scores, as before.
    Row("manage_scorer_attach", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("manage_scorer_attach", NO_PAGE, "login 404 404 404 302 302 404 404", where=DRAFT),
    Row("disqualify", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("disqualify", NOBODY_LOGGED_IN, NOBODY_LOGGED_IN, where=DRAFT),
    Row("reinstate", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("reinstate", NO_PAGE, NOBODY_LOGGED_IN, where=DRAFT),
    *both("manage_hidden", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    Row("hide_submission", MANAGERS, "login 404 404 422 404 422 404 404"),
    # The submission is another benchmark's.
    Row("hide_submission", NOBODY_LOGGED_IN, NOBODY_LOGGED_IN, where=DRAFT),
    Row("unhide_submission", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("teams_may_hide", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("teams_may_hide", NO_PAGE, MANAGERS_OF_DRAFT_POSTS, where=DRAFT),
    Row("unhide_submission", NO_PAGE, NOBODY_LOGGED_IN, where=DRAFT),
    *both("manage_submissions_csv", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    *both("manage_scores_csv", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    *both("manage_exact_scores_csv", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    Row("manage_organisers", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_organisers", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    # The only organiser stays.
    Row("manage_organiser_remove", NO_PAGE, "login 404 404 409 404 409 404 404"),
    Row("manage_organiser_remove", NO_PAGE, NOBODY_LOGGED_IN, where=DRAFT),
    Row("manage_participants", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_participants", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    # No team is named.
    Row("manage_registration_invite", NO_PAGE, "login 404 404 422 404 422 404 404"),
    Row("manage_registration_invite", NO_PAGE, "login 404 404 404 422 422 404 404", where=DRAFT),
    # The registration is another benchmark's.
    Row("manage_registration", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("manage_registration", NO_PAGE, NOBODY_LOGGED_IN, where=DRAFT),
    Row("manage_bar", NO_PAGE, "login 404 404 422 404 422 404 404"),
    Row("manage_bar", NO_PAGE, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_bar_lift", NO_PAGE, "login 404 404 302 404 302 404 404"),
    # The bar is another benchmark's.
    Row("manage_bar_lift", NO_PAGE, NOBODY_LOGGED_IN, where=DRAFT),
    Row("manage_announcements", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_announcements", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("retract_announcement", NO_PAGE, "login 404 404 302 404 302 404 404"),
    # The announcement is another benchmark's.
    Row("retract_announcement", NO_PAGE, NOBODY_LOGGED_IN, where=DRAFT),
    # No contact is named: there is none, as before.
    Row("manage_contact", MANAGERS, "login 404 404 302 404 302 404 404"),
    Row("manage_contact", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 302 302 404 404", where=DRAFT),
    Row("manage_deadline", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_deadline", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_facts", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_facts", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_reported", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_reported", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_reported_remove", NO_PAGE, "login 404 404 302 404 302 404 404"),
    # The row is another benchmark's.
    Row("manage_reported_remove", NO_PAGE, NOBODY_LOGGED_IN, where=DRAFT),
    # No tracks are named: there are none, as before.
    Row("manage_tracks", MANAGERS, "login 404 404 302 404 302 404 404"),
    Row("manage_tracks", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 302 302 404 404", where=DRAFT),
    # The public benchmark is no draft.
    Row("manage_draft", NOBODY_LOGGED_IN, NOBODY_LOGGED_IN),
    Row("manage_draft", MANAGERS_OF_DRAFT_LOGGED_IN, MANAGERS_OF_DRAFT_POSTS, where=DRAFT),
    Row("manage_draft_reset", NO_PAGE, NOBODY_LOGGED_IN),
    Row("manage_draft_reset", NO_PAGE, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_baselines", MANAGERS, "login 404 404 302 404 302 404 404"),
    Row("manage_baselines", MANAGERS_OF_DRAFT_LOGGED_IN, MANAGERS_OF_DRAFT_POSTS, where=DRAFT),
    Row("manage_time_zone", NO_PAGE, "login 404 404 422 404 422 404 404"),
    Row("manage_time_zone", NO_PAGE, "login 404 404 404 422 422 404 404", where=DRAFT),
    *both("manage_near_duplicates", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    Row("manage_near_duplicate_dismiss", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_near_duplicate_dismiss", NOBODY_LOGGED_IN, NOBODY_LOGGED_IN, where=DRAFT),
    Row("manage_split_create", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_split_create", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_new_split", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_new_split", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    # Both benchmarks use one dataset, and share its raw files and previews.
    Row("manage_raw_remove", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("manage_raw_remove", NO_PAGE, "login 404 404 404 302 302 404 404", where=DRAFT),
    # X uploads it; nobody else sees it, even with other benchmarks to manage.
    Row("cancel_raw_upload", NO_PAGE, "login 404 404 302 404 404 404 404"),
    Row("cancel_raw_upload", NO_PAGE, NOBODY_LOGGED_IN, where=DRAFT),
    Row("manage_generator", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_generator", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    *both("manage_preview", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    *both("manage_preview_state", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    # It is finished, and no use of its part is named.
    Row("manage_preview_cancel", NO_PAGE, "login 404 404 409 404 409 404 404"),
    Row("manage_preview_cancel", NO_PAGE, "login 404 404 404 409 409 404 404", where=DRAFT),
    Row("manage_preview_forget", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("manage_preview_forget", NO_PAGE, "login 404 404 404 302 302 404 404", where=DRAFT),
    Row("manage_preview_drafts", NO_PAGE, "login 404 404 422 404 422 404 404"),
    Row("manage_preview_drafts", NO_PAGE, "login 404 404 404 422 422 404 404", where=DRAFT),
    # No part is named.
    Row("manage_preview_correct", NO_PAGE, NOBODY_LOGGED_IN),
    Row("manage_preview_correct", NO_PAGE, NOBODY_LOGGED_IN, where=DRAFT),
    # The split is published, so it has no preview.
    *both("manage_publish_preview", NOBODY_LOGGED_IN, NOBODY_LOGGED_IN),
    *both("manage_audit_trail", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    *both("manage_split", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    # It is published and cannot be published again; retiring needs a reason, and none is given.
    Row("manage_split_publish", NO_PAGE, "login 404 404 409 404 409 404 404"),
    Row("manage_split_publish", NO_PAGE, "login 404 404 404 409 409 404 404", where=DRAFT),
    Row("manage_split_retire", NO_PAGE, "login 404 404 422 404 422 404 404"),
    Row("manage_split_retire", NO_PAGE, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_audit_begin", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("manage_audit_begin", NO_PAGE, "login 404 404 404 302 302 404 404", where=DRAFT),
    # A finished audit: it cannot be cancelled, and its warnings have no answers to show.
    Row("manage_audit", MANAGERS, "login 404 404 302 404 302 404 404"),
    Row("manage_audit", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 302 302 404 404", where=DRAFT),
    *both("manage_audit_state", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    Row("manage_audit_cancel", NO_PAGE, "login 404 404 409 404 409 404 404"),
    Row("manage_audit_cancel", NO_PAGE, "login 404 404 404 409 409 404 404", where=DRAFT),
    Row("manage_audit_show", NO_PAGE, "login 404 404 409 404 409 404 404"),
    Row("manage_audit_show", NO_PAGE, "login 404 404 404 409 409 404 404", where=DRAFT),
    # It is not compared with the gold yet, so it can be neither confirmed nor read; no reason is given.
    *both("manage_correction", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    *both("manage_correction_state", MANAGERS, MANAGERS_OF_DRAFT_LOGGED_IN),
    *both("manage_correction_items", NOBODY_LOGGED_IN, NOBODY_LOGGED_IN),
    Row("manage_correction_confirm", NO_PAGE, "login 404 404 422 404 422 404 404"),
    Row("manage_correction_confirm", NO_PAGE, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_correction_discard", NO_PAGE, "login 404 404 302 404 302 404 404"),
    Row("manage_correction_discard", NO_PAGE, "login 404 404 404 302 302 404 404", where=DRAFT),
    Row("manage_gold", MANAGERS, "login 404 404 422 404 422 404 404"),
    Row("manage_gold", MANAGERS_OF_DRAFT_LOGGED_IN, "login 404 404 404 422 422 404 404", where=DRAFT),
    Row("manage_gold_read", "login 404 404 404 404 200 404 404"),
    Row("manage_gold_read", "login 404 404 404 404 200 404 404", where=DRAFT),
]
HOME = "200 302 302 302 302 302 302 302"
ACCOUNTS = [
    Row("account_login", HOME, HOME),
    Row("account_signup", HOME, HOME),
    Row("account_logout", "302 200 200 200 200 200 200 200", "302 302 302 302 302 302 302 302"),
    Row("account_inactive", EVERYONE),
    Row("account_reauthenticate", LOGGED_IN, LOGGED_IN),
    Row("account_email", LOGGED_IN, ELSEWHERE),
    Row("account_email_verification_sent", EVERYONE),
    Row("account_change_password", LOGGED_IN, LOGGED_IN),
    Row("account_set_password", ELSEWHERE, ELSEWHERE),
    Row("account_reset_password", EVERYONE, EVERYONE),
    Row("account_reset_password_done", EVERYONE),
    Row("account_reset_password_from_key", EVERYONE, EVERYONE),
    Row("account_reset_password_from_key_done", EVERYONE),
    Row("account_confirm_email", EVERYONE, NOBODY),
    Row("account_confirm_login_code", ELSEWHERE, ELSEWHERE),
    Row("mfa_index", LOGGED_IN),
    Row("mfa_add_webauthn", LOGGED_IN, LOGGED_IN),
    Row("mfa_list_webauthn", LOGGED_IN),
    Row("mfa_edit_webauthn", NOBODY_LOGGED_IN, NOBODY_LOGGED_IN, where={"pk": "1"}),
    Row("mfa_remove_webauthn", NOBODY_LOGGED_IN, NOBODY_LOGGED_IN, where={"pk": "1"}),
    Row("mfa_login_webauthn", ELSEWHERE, ELSEWHERE),
    Row("mfa_reauthenticate_webauthn", ELSEWHERE, ELSEWHERE),
    Row("socialaccount_connections", LOGGED_IN, LOGGED_IN),
    Row("socialaccount_signup", LOG_IN, LOG_IN),
    Row("socialaccount_login_cancelled", EVERYONE),
    Row("socialaccount_login_error", NOT_CONFIRMED),
    Row("github_login", EVERYONE, HOME.replace("200", "302")),
    Row("github_callback", NOT_CONFIRMED, NOT_CONFIRMED),
    # The provider of the tests does not answer.
    Row("openid_connect_login", EVERYONE, NOT_CONFIRMED, where={"provider_id": "university"}),
    Row("openid_connect_callback", NOT_CONFIRMED, NOT_CONFIRMED, where={"provider_id": "university"}),
    Row("mfa_authenticate", ELSEWHERE, ELSEWHERE),
    Row("mfa_reauthenticate", ELSEWHERE, ELSEWHERE),
    Row("mfa_activate_totp", LOGGED_IN, LOGGED_IN),
    Row("mfa_generate_recovery_codes", LOGGED_IN, LOGGED_IN),
    Row("mfa_deactivate_totp", NOBODY.replace("404", "login", 1), NOBODY.replace("404", "login", 1)),
    Row("mfa_view_recovery_codes", NOBODY.replace("404", "login", 1)),
    Row("mfa_download_recovery_codes", NOBODY.replace("404", "login", 1), NOBODY.replace("404", "login", 1)),
]
MINE = "401 200 404 200 404 200 404 404"
API = [
    Row("api_tokens", post="415 415 415 415 415 415 415 415"),
    Row("api_device_code", post="415 415 415 415 415 415 415 415"),
    Row("api_device_token", post="415 415 415 415 415 415 415 415"),
    Row("api_token", delete="401 400 400 400 400 400 400 400"),
    Row("api_tasks", EVERYONE),
    Row("api_task", EVERYONE),
    Row("api_benchmarks", EVERYONE),
    *both("api_benchmark", EVERYONE, PEOPLE_OF_DRAFT),
    *both("api_inputs", EVERYONE, PEOPLE_OF_DRAFT),
    Row("api_croissant", EVERYONE),
    Row("api_croissant", NOBODY, where=DRAFT),
    *both("api_leaderboard", EVERYONE, PEOPLE_OF_DRAFT),
    *both("api_leaderboard_csv", EVERYONE, PEOPLE_OF_DRAFT),
    *both("api_leaderboard_latex", EVERYONE, PEOPLE_OF_DRAFT),
    *both("api_leaderboard_markdown", EVERYONE, PEOPLE_OF_DRAFT),
    # Neither benchmark has a result to cite.
    *both("api_leaderboard_bibtex", EVERYONE.replace("200", "409"), PEOPLE_OF_DRAFT.replace("200", "409")),
    *both("api_leaderboard_canonical", EVERYONE, PEOPLE_OF_DRAFT),
    Row("api_exact_scores", "401 404 404 200 404 200 404 404"),
    Row("api_exact_scores", "401 404 404 404 200 200 404 404", where=DRAFT),
    *both("api_comparisons", EVERYONE, PEOPLE_OF_DRAFT),
    *both("api_plots", EVERYONE, PEOPLE_OF_DRAFT),
    # Neither has a result to plot.
    *both("api_plot", NOBODY, NOBODY),
    Row("api_submit", post="401 400 400 400 400 400 400 400"),
    Row("api_submit", post="401 404 404 404 400 400 404 400", where=DRAFT),
    Row("api_image_uploads", post="401 400 400 400 400 400 400 400"),
    Row("api_image_uploads", post="401 404 404 404 400 400 404 400", where=DRAFT),
    Row("api_image_references", post="401 415 415 415 415 415 415 415"),
    Row("api_image_references", post="401 404 404 404 415 415 404 415", where=DRAFT),
    Row("api_scorer_uploads", post="401 404 404 400 404 400 404 404"),
    Row("api_scorer_uploads", post="401 404 404 404 400 400 404 404", where=DRAFT),
    Row("api_raw_uploads", post="401 404 404 400 404 400 404 404"),
    Row("api_raw_uploads", post="401 404 404 404 400 400 404 404", where=DRAFT),
    Row(
        "api_raw_upload",
        "401 404 404 200 404 404 404 404",
        delete="401 404 404 204 404 404 404 404",
        patch="401 404 404 415 404 404 404 404",
    ),
    Row(
        "api_image_upload",
        "401 200 404 404 404 404 404 404",
        delete="401 204 404 404 404 404 404 404",
        patch="401 415 404 404 404 404 404 404",
        where=UPLOAD,
    ),
    Row("api_image_submit", post="401 415 404 404 404 404 404 404", where=UPLOAD),
    Row("api_teams", "401 200 200 200 200 200 200 200", "401 415 415 415 415 415 415 415"),
    Row("api_team", OWN_SYSTEM.replace("login", "401")),
    Row("api_team_invite", post="401 415 415 415 415 415 415 415"),
    Row("api_team_invitation", delete="401 204 404 404 404 404 404 404"),
    Row("api_team_invitation", delete="401 404 404 404 404 404 404 404", where={"invitation": "999999"}),
    Row("api_team_owner", post="401 415 415 415 415 415 415 415"),
    Row("api_team_leave", delete="401 409 404 404 404 404 404 404"),
    Row("api_invitation", post="401 415 415 415 415 415 415 415"),
    Row("api_submissions", "401 200 200 200 200 200 200 200"),
    Row("api_submission", MINE),
    # Managers may read a submission, and only its team takes it off the board.
    Row("api_hidden", post="401 200 404 404 404 404 404 404", delete="401 200 404 404 404 404 404 404"),
    Row("api_systems", "401 200 200 200 200 200 200 200"),
    Row("api_system_name", post="401 415 415 415 415 415 415 415"),
    Row("api_scores", MINE.replace("200", "409")),
    Row("api_predictions", MINE),
    Row("api_schema", EVERYONE),
    Row("api_docs", EVERYONE),
    Row("api_nothing", NOBODY, NOBODY),
]
ROWS = [*PUBLIC, *PEOPLE, *MANAGE, *ACCOUNTS, *API]

READ_ONLY_RECORDS = {
    *("auditentry", "comparison", "publicprivatepartition", "download", "final", "goldversion", "hiddensubmission"),
    *("image", "imageupload"),
    *(
        "leaderboard",
        "placement",
        "prediction",
        "quotacharge",
        "ranking",
        "release",
        "reportedresult",
        "run",
        "score",
        "scorer",
        "standing",
        "submission",
        "workerreport",
    ),
}
"""Nobody adds, changes or deletes these in the admin; staff may look."""
EDITED_RECORDS = {"benchmark", "dataset", "phase", "split", "system", "team", "user"}
OTHERS_RECORDS = {"account_emailaddress"}
NOT_EXPORTED = {"user"}
"""Of the admin's records all others leave as a file for who may look at them."""
ADMIN = {
    *("index", "login", "logout", "password_change", "password_change_done", "autocomplete", "jsi18n"),
    *("view_on_site", "app_list", "auth_user_password_change"),
}
"""Admin addresses that belong to no record."""
