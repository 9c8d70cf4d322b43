"""URLs of the pages for logged-in users: submissions, teams, notifications, tokens, and management of benchmarks."""

from django.urls import URLPattern, URLResolver, include, path

from leaderboard.accounts.web import delete_account, device, invitations, profile, settings, teams, tokens
from leaderboard.archives.web import manage_exports, manage_imports
from leaderboard.benchmarks.web import (
    manage_announcements,
    manage_audit_trail,
    manage_benchmarks,
    manage_deadlines,
    manage_draft,
    manage_edit,
    manage_leakage_budget,
    manage_organisers,
    manage_phases,
    manage_reported,
    teaser,
)
from leaderboard.boards.web import manage_facts, manage_tracks
from leaderboard.containers.web import manage_scorers, manage_workers, submit_image, withdraw
from leaderboard.curation.web import manage_baselines, manage_generators, manage_previews, manage_raw_files
from leaderboard.datasets.web import (
    manage_audits,
    manage_corrections,
    manage_gold,
    manage_lifecycle,
    manage_public_private,
    manage_publish_preview,
    manage_splits,
)
from leaderboard.near_duplicates.web import manage_near_duplicates
from leaderboard.notifications.web import notices
from leaderboard.operations import status_page
from leaderboard.scoring.web import manage_rescoring
from leaderboard.submissions.web import (
    examples,
    finals,
    join,
    manage_downloads,
    manage_hidden,
    manage_participants,
    my_submissions,
    own_data,
    submission,
    submit,
    take_off,
)
from leaderboard.systems.web import edit, manage_systems, rename

rescoring: list[URLPattern] = [
    path("", manage_rescoring.rescoring_page, name="manage_rescoring"),
    path("state/", manage_rescoring.state, name="manage_rescoring_state"),
    path("begin/", manage_rescoring.begin, name="manage_rescoring_begin"),
    path("cancel/", manage_rescoring.cancel, name="manage_rescoring_cancel"),
    path("resume/<int:number>/", manage_rescoring.resume, name="manage_rescoring_resume"),
]

split: list[URLPattern] = [
    path("lifecycle/", manage_lifecycle.lifecycle_page, name="manage_split"),
    path("publish/", manage_lifecycle.publish, name="manage_split_publish"),
    path("retire/", manage_lifecycle.retire, name="manage_split_retire"),
    path("preview/", manage_publish_preview.preview, name="manage_publish_preview"),
    path("audits/begin/", manage_audits.begin, name="manage_audit_begin"),
    path("audits/<int:pk>/", manage_audits.report, name="manage_audit"),
    path("audits/<int:pk>/state/", manage_audits.state, name="manage_audit_state"),
    path("audits/<int:pk>/cancel/", manage_audits.cancel, name="manage_audit_cancel"),
    path("audits/<int:pk>/show/", manage_audits.show, name="manage_audit_show"),
    path("corrections/<int:pk>/", manage_corrections.correction, name="manage_correction"),
    path("corrections/<int:pk>/state/", manage_corrections.state, name="manage_correction_state"),
    path("corrections/<int:pk>/items/", manage_corrections.items, name="manage_correction_items"),
    path("corrections/<int:pk>/confirm/", manage_corrections.confirm, name="manage_correction_confirm"),
    path("corrections/<int:pk>/drop/", manage_corrections.drop, name="manage_correction_discard"),
]

new_split: list[URLPattern] = [
    path("", manage_raw_files.new_split, name="manage_new_split"),
    path("raw-files/<int:pk>/remove/", manage_raw_files.remove, name="manage_raw_remove"),
    path("raw-uploads/<uuid:pk>/give-up/", manage_raw_files.give_up, name="cancel_raw_upload"),
    path("generators/<slug:generator>/", manage_generators.generator, name="manage_generator"),
    path("previews/<int:pk>/", manage_previews.preview, name="manage_preview"),
    path("previews/<int:pk>/state/", manage_previews.state, name="manage_preview_state"),
    path("previews/<int:pk>/cancel/", manage_previews.cancel, name="manage_preview_cancel"),
    path("previews/<int:pk>/forget/", manage_previews.forget, name="manage_preview_forget"),
    path("previews/<int:pk>/drafts/", manage_previews.make_drafts, name="manage_preview_drafts"),
    path("previews/<int:pk>/corrections/", manage_previews.correct, name="manage_preview_correct"),
]

manage: list[URLPattern | URLResolver] = [
    path("", manage_benchmarks.index, name="manage"),
    path("operations/", status_page.operations, name="manage_operations"),
    path("operations/run-again/", status_page.run_failed_again, name="manage_run_again"),
    path("workers/", manage_workers.show, name="manage_workers"),
    path("workers/<int:pk>/drain/", manage_workers.drain, name="manage_worker_drain"),
    path("archives/", manage_imports.archive_imports, name="manage_imports"),
    path("archives/<int:pk>/", manage_imports.archive_import, name="manage_import"),
    path("archives/<int:pk>/state/", manage_imports.state, name="manage_import_state"),
    path("archives/<int:pk>/remove/", manage_imports.remove, name="manage_import_remove"),
    path("create/", manage_benchmarks.create, name="manage_benchmark_create"),
    path("benchmarks/<slug:slug>/", manage_benchmarks.benchmark, name="manage_benchmark"),
    path("benchmarks/<slug:slug>/picture/", teaser.manage_teaser, name="manage_teaser"),
    path("benchmarks/<slug:slug>/picture/remove/", teaser.remove, name="manage_teaser_remove"),
    path("benchmarks/<slug:slug>/edit/", manage_edit.edit, name="manage_benchmark_edit"),
    path("benchmarks/<slug:slug>/draft/", manage_draft.draft, name="manage_draft"),
    path("benchmarks/<slug:slug>/draft/reset/", manage_draft.reset, name="manage_draft_reset"),
    path("benchmarks/<slug:slug>/publish/", manage_benchmarks.publish, name="manage_publish"),
    path("benchmarks/<slug:slug>/phases/create/", manage_phases.create, name="manage_phase_create"),
    path("benchmarks/<slug:slug>/phases/<slug:phase>/edit/", manage_phases.edit, name="manage_phase_edit"),
    path("benchmarks/<slug:slug>/phases/<slug:phase>/rescoring/", include(rescoring)),
    path(
        "benchmarks/<slug:slug>/phases/<slug:phase>/leakage-budget/",
        manage_leakage_budget.leakage_budget,
        name="manage_leakage_budget",
    ),
    path("benchmarks/<slug:slug>/scorers/", manage_scorers.scorers_page, name="manage_scorers"),
    path("benchmarks/<slug:slug>/phases/<slug:phase>/scorer/", manage_scorers.attach, name="manage_scorer_attach"),
    path(
        "benchmarks/<slug:slug>/phases/<slug:phase>/systems/<int:pk>/disqualify/",
        manage_systems.disqualify,
        name="disqualify",
    ),
    path(
        "benchmarks/<slug:slug>/phases/<slug:phase>/systems/<int:pk>/reinstate/",
        manage_systems.reinstate,
        name="reinstate",
    ),
    path("benchmarks/<slug:slug>/hidden/", manage_hidden.manage_hidden, name="manage_hidden"),
    path("benchmarks/<slug:slug>/hidden/teams/", manage_hidden.teams_may_hide, name="teams_may_hide"),
    path("benchmarks/<slug:slug>/submissions/<uuid:pk>/hide/", manage_hidden.hide_submission, name="hide_submission"),
    path(
        "benchmarks/<slug:slug>/submissions/<uuid:pk>/unhide/",
        manage_hidden.unhide_submission,
        name="unhide_submission",
    ),
    path("benchmarks/<slug:slug>/organisers/", manage_organisers.organisers, name="manage_organisers"),
    path(
        "benchmarks/<slug:slug>/organisers/<int:pk>/remove/", manage_organisers.remove, name="manage_organiser_remove"
    ),
    path("benchmarks/<slug:slug>/submissions.csv", manage_downloads.submissions_csv, name="manage_submissions_csv"),
    path("benchmarks/<slug:slug>/scores.csv", manage_downloads.scores_csv, name="manage_scores_csv"),
    path(
        "benchmarks/<slug:slug>/phases/<slug:phase>/exact-scores.csv",
        manage_downloads.exact_scores_csv,
        name="manage_exact_scores_csv",
    ),
    path("benchmarks/<slug:slug>/participants/", manage_participants.participants, name="manage_participants"),
    path("benchmarks/<slug:slug>/participants/bar/", manage_participants.bar, name="manage_bar"),
    path(
        "benchmarks/<slug:slug>/participants/bars/<int:pk>/lift/",
        manage_participants.lift_bar,
        name="manage_bar_lift",
    ),
    path("benchmarks/<slug:slug>/participants/invite/", manage_participants.invite, name="manage_registration_invite"),
    path(
        "benchmarks/<slug:slug>/participants/<int:pk>/decide/", manage_participants.decide, name="manage_registration"
    ),
    path("benchmarks/<slug:slug>/announcements/", manage_announcements.announcements, name="manage_announcements"),
    path(
        "benchmarks/<slug:slug>/announcements/<uuid:pk>/take-back/",
        manage_announcements.take_back,
        name="retract_announcement",
    ),
    path("benchmarks/<slug:slug>/exports/", manage_exports.exports_page, name="manage_exports"),
    path("benchmarks/<slug:slug>/exports/<int:pk>/state/", manage_exports.state, name="manage_export_state"),
    path("benchmarks/<slug:slug>/exports/<int:pk>/download/", manage_exports.download, name="manage_export_download"),
    path("benchmarks/<slug:slug>/exports/<int:pk>/remove/", manage_exports.remove, name="manage_export_remove"),
    path("benchmarks/<slug:slug>/contact/", manage_announcements.contact, name="manage_contact"),
    path("benchmarks/<slug:slug>/phases/<slug:phase>/deadline/", manage_deadlines.deadline, name="manage_deadline"),
    path("benchmarks/<slug:slug>/reported/", manage_reported.reported, name="manage_reported"),
    path("benchmarks/<slug:slug>/reported/<int:pk>/remove/", manage_reported.remove, name="manage_reported_remove"),
    path("benchmarks/<slug:slug>/facts/", manage_facts.manage_facts, name="manage_facts"),
    path("benchmarks/<slug:slug>/phases/<slug:phase>/tracks/", manage_tracks.manage_tracks, name="manage_tracks"),
    path("benchmarks/<slug:slug>/phases/<slug:phase>/baselines/", manage_baselines.baselines, name="manage_baselines"),
    path("benchmarks/<slug:slug>/phases/<slug:phase>/zone/", manage_deadlines.zone, name="manage_time_zone"),
    path(
        "benchmarks/<slug:slug>/near-duplicates/", manage_near_duplicates.near_duplicates, name="manage_near_duplicates"
    ),
    path(
        "benchmarks/<slug:slug>/near-duplicates/<int:pk>/dismiss/",
        manage_near_duplicates.dismiss,
        name="manage_near_duplicate_dismiss",
    ),
    path("benchmarks/<slug:slug>/audit-trail/", manage_audit_trail.manage_audit_trail, name="manage_audit_trail"),
    path("benchmarks/<slug:slug>/new-split/", include(new_split)),
    path("benchmarks/<slug:slug>/splits/<slug:split>/", include(split)),
    path("benchmarks/<slug:slug>/splits/create/", manage_splits.create, name="manage_split_create"),
    path(
        "benchmarks/<slug:slug>/splits/<slug:split>/public-private-split/",
        manage_public_private.public_private,
        name="manage_public_private",
    ),
    path("benchmarks/<slug:slug>/splits/<slug:split>/gold/", manage_gold.upload, name="manage_gold"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/gold/<int:number>/", manage_gold.read, name="manage_gold_read"),
]

urlpatterns = [
    path("join/<slug:slug>/", join.join, name="join"),
    path("benchmarks/<slug:slug>/<slug:phase>/submit/", submit.submit, name="submit"),
    path("benchmarks/<slug:slug>/<slug:phase>/submit-image/", submit_image.submit_image, name="submit_image"),
    path("benchmarks/<slug:slug>/<slug:phase>/finals/", finals.finals, name="finals"),
    path("submissions/<uuid:pk>/final/", finals.choose, name="choose_final"),
    path("submissions/<uuid:pk>/final/give-back/", finals.give_back, name="unchoose_final"),
    path("me/image-uploads/<uuid:pk>/give-up/", submit_image.give_up, name="cancel_image_upload"),
    path("submissions/<uuid:pk>/", submission.submission, name="submission"),
    path("submissions/<uuid:pk>/state/", submission.state, name="submission_state"),
    path("submissions/<uuid:pk>/receipt.json", submission.receipt, name="submission_receipt"),
    path("submissions/<uuid:pk>/withdraw/", withdraw.withdraw, name="withdraw_submission"),
    path("submissions/<uuid:pk>/predictions/", submission.download, name="download_prediction"),
    path("submissions/<uuid:pk>/take-off/", take_off.take_off, name="take_off_submission"),
    path("submissions/<uuid:pk>/put-back/", take_off.put_back, name="put_back_submission"),
    path("submissions/<uuid:pk>/examples/", examples.examples, name="submission_examples"),
    path("submissions/<uuid:pk>/examples.csv", examples.download_csv, name="submission_examples_csv"),
    path("submissions/<uuid:pk>/examples.jsonl", examples.download_jsonl, name="submission_examples_jsonl"),
    path("submissions/<uuid:pk>/represent/", edit.represent, name="represent_system"),
    path("systems/<int:pk>/edit/", edit.edit, name="edit_system"),
    path("systems/<int:pk>/rename/", rename.rename_system, name="rename_system"),
    path("me/teams/<int:pk>/rename/", rename.rename_team, name="rename_team"),
    path(
        "benchmarks/<slug:slug>/<slug:phase>/systems/<int:pk>/best/",
        edit.represent_by_best,
        name="represent_system_by_best",
    ),
    path("me/submissions/", my_submissions.my_submissions, name="my_submissions"),
    path("me/teams/", teams.my_teams, name="my_teams"),
    path("me/teams/<int:pk>/", teams.team, name="team"),
    path("me/teams/<int:pk>/invite/", teams.invite, name="invite_to_team"),
    path("me/teams/<int:pk>/invitations/<int:invitation>/revoke/", teams.revoke, name="revoke_invitation"),
    path("me/teams/<int:pk>/leave/", teams.leave, name="leave_team"),
    path("me/teams/<int:pk>/close/", teams.close, name="close_team"),
    path("me/teams/<int:pk>/members/<int:member>/transfer/", teams.transfer, name="transfer_team"),
    path("me/teams/<int:pk>/members/<int:member>/remove/", teams.remove, name="remove_member"),
    path("me/teams/<int:pk>/delete/", teams.delete, name="delete_team"),
    path("invitations/<str:token>/", invitations.invitation, name="invitation"),
    path("me/notifications/", notices.my_notices, name="my_notices"),
    path("me/notifications/mail/", notices.mail, name="mail_notices"),
    path("me/notifications/read/", notices.read, name="read_notices"),
    path("me/follows/<slug:slug>/", notices.follow, name="follow_benchmark"),
    path("me/webhooks/<uuid:pk>/test/", notices.test, name="test_webhook"),
    path("me/webhooks/<uuid:pk>/secret/", notices.rotate_secret, name="rotate_webhook_secret"),
    path("me/webhooks/<uuid:pk>/remove/", notices.remove, name="remove_webhook"),
    path("me/settings/", settings.settings, name="settings"),
    path("me/data.zip", own_data.own_data, name="own_data"),
    path("me/delete/", delete_account.delete, name="delete_account"),
    path("me/profile/", profile.my_profile, name="my_profile"),
    path("device/", device.device, name="device"),
    path("me/tokens/", tokens.my_tokens, name="my_tokens"),
    path("me/tokens/<str:key>/revoke/", tokens.revoke_token, name="revoke_token"),
    path("manage/", include(manage)),
]
