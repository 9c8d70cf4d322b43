"""Which requests ask a logged-in user again who they are, by URL name: a page without an entry fails the tests.

Whatever outlives the session, or changes who gets in, asks. What somebody with a copy of the session's cookie could do
must end with the session.
"""

from __future__ import annotations

ASKS = {
    # Ways to log in, and addresses to which a new password is sent. Changing the password needs the present one.
    "account_email": "POST",
    "account_set_password": "GET POST",
    "mfa_add_webauthn": "GET POST",
    "mfa_edit_webauthn": "GET POST",
    "mfa_remove_webauthn": "GET POST",
    "mfa_activate_totp": "GET POST",
    "mfa_deactivate_totp": "GET POST",
    "mfa_generate_recovery_codes": "GET POST",
    "mfa_view_recovery_codes": "GET",
    "mfa_download_recovery_codes": "GET POST",
    "socialaccount_connections": "POST",
    # Tokens and calls that go on after the session.
    "my_tokens": "POST",
    "device": "POST",
    "my_notices": "POST",
    "rotate_webhook_secret": "POST",
    # The account, and a copy of everything in it.
    "own_data": "GET",
    "delete_account": "GET POST",
    # Members of teams and organisers of benchmarks.
    "invite_to_team": "POST",
    "transfer_team": "POST",
    "remove_member": "POST",
    "close_team": "POST",
    "delete_team": "POST",
    "api_team_invite": "POST",
    "api_team_owner": "POST",
    "manage_organisers": "POST",
    "manage_organiser_remove": "POST",
    # Hidden gold leaves the site.
    "manage_gold_read": "GET",
    "manage_correction_items": "GET",
    "manage_exports": "GET POST",
    "manage_export_download": "POST",
}
"""URL name -> methods of requests that ask."""

_OF_PARTICIPANTS = """
    join submit submit_image cancel_image_upload take_off_submission put_back_submission withdraw_submission
    choose_final unchoose_final represent_system represent_system_by_best rename_system edit_system submission
    finals submission_state submission_receipt download_prediction submission_examples submission_examples_csv
    submission_examples_jsonl my_submissions
"""
_OF_PEOPLE = """
    my_teams team revoke_invitation rename_team leave_team invitation my_profile settings mail_notices
    read_notices follow_benchmark test_webhook remove_webhook revoke_token
"""
_OF_MANAGERS = """
    manage manage_operations manage_workers manage_worker_drain manage_imports manage_import
    manage_import_state manage_run_again manage_bar manage_bar_lift
    manage_import_remove manage_export_state manage_export_remove manage_benchmark manage_benchmark_create
    manage_benchmark_edit manage_teaser manage_teaser_remove manage_publish manage_phase_create
    manage_phase_edit manage_leakage_budget manage_public_private manage_rescoring manage_rescoring_state
    manage_rescoring_begin manage_rescoring_cancel manage_rescoring_resume manage_scorers manage_scorer_attach
    disqualify reinstate manage_hidden hide_submission unhide_submission teams_may_hide manage_submissions_csv
    manage_scores_csv manage_exact_scores_csv
    manage_participants manage_registration_invite manage_registration manage_announcements
    retract_announcement manage_contact manage_deadline manage_facts manage_tracks manage_baselines
    manage_reported manage_reported_remove
    manage_draft manage_draft_reset manage_time_zone manage_near_duplicates
    manage_near_duplicate_dismiss manage_split_create manage_new_split manage_raw_remove cancel_raw_upload
    manage_generator manage_preview manage_preview_state manage_preview_cancel manage_preview_forget
    manage_preview_drafts manage_preview_correct manage_publish_preview manage_audit_trail manage_split
    manage_split_publish manage_split_retire manage_audit_begin manage_audit
    manage_audit_state manage_audit_cancel manage_audit_show manage_correction manage_correction_state
    manage_correction_confirm manage_correction_discard manage_gold
"""
_OF_LOG_INS = """
    account_login account_signup account_logout account_inactive account_reauthenticate
    account_email_verification_sent account_change_password account_reset_password account_reset_password_done
    account_reset_password_from_key account_reset_password_from_key_done account_confirm_email
    account_confirm_login_code mfa_index mfa_list_webauthn mfa_login_webauthn mfa_reauthenticate_webauthn
    mfa_authenticate mfa_reauthenticate socialaccount_signup socialaccount_login_cancelled
    socialaccount_login_error github_login github_callback openid_connect_login openid_connect_callback
"""
"""A log-in at another provider asks if it links the account there: see the tests in accounts/."""
_OF_API = """
    api_tokens api_device_code api_device_token api_token api_tasks api_task api_benchmarks api_benchmark
    api_inputs api_croissant api_leaderboard api_leaderboard_csv api_leaderboard_latex api_leaderboard_markdown
    api_leaderboard_bibtex api_leaderboard_canonical api_comparisons api_plots api_plot api_submit
    api_image_uploads api_image_references api_scorer_uploads api_raw_uploads
    api_raw_upload api_image_upload api_image_submit api_teams api_team
    api_team_invitation api_team_leave api_invitation api_submissions api_submission api_scores
    api_exact_scores api_predictions
    api_hidden api_systems api_system_name api_schema api_docs api_nothing
"""
"""Tokens are issued for the password, or for a code that a page of the site has allowed."""
DOES_NOT_ASK = frozenset(" ".join((_OF_PARTICIPANTS, _OF_PEOPLE, _OF_MANAGERS, _OF_LOG_INS, _OF_API)).split())
"""URL names of which no request asks: ordinary use of a session, or they ask for the password itself."""
