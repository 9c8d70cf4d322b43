"""Tests that only `.ci/run full` runs (marked slow): repetitions. That run sets TEST_FULL."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

FULL = bool(os.environ.get("TEST_FULL"))


def examples(number: int) -> int:
    """Return the number of hypothesis examples of a property with `number` in the full run: a fifth, at least 20."""
    return number if FULL else min(number, max(20, number // 5))


# A slow or busy machine is no fault of the code: neither an example nor the making of examples has a time limit.
settings.register_profile(
    "holdout",
    max_examples=examples(settings.default.max_examples),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("holdout")


CASES: dict[str, tuple[str, ...]] = {
    "disclosure/test_ladder_warnings.py::test_who_sees_that_spans_are_longer_than_golds": ("ladder-expected1",),
    "containers/test_container_changes.py::test_a_stored_file_that_is_missing_or_altered_is_our_failure": (
        "archive-altered",
    ),
    "containers/test_hostile_containers.py::test_hidden_inputs_are_not_shown_to_the_sender": ("in its log",),
    "browser/test_every_page.py::test_public_pages": (  # eight templates; benchmarks/test_public_pages.py has all
        "home",
        "benchmark-mirror",
        "split-atlas",
        "board-mirror",
        "board-graph-scenarios",
        "board-mirror-pairs",
        "board-mirror-progress",
        "log-in",
    ),
    "browser/test_every_page.py::test_a_researchers_pages": ("my-submissions", "my-notices", "submit", "two-factor"),
    "browser/test_every_page.py::test_a_curators_pages": (
        "manage-workers",
        "manage-benchmark",
        "manage-baselines",
        "manage-arrivals",
        "manage-gold",
        "manage-scorers",
        "manage-phase",
        "manage-new-split-atlas",
    ),
    "browser/test_cost_picture.py::test_cost_plot_contrast": ("dark",),
    "browser/test_frozen_pages.py::test_views_of_a_frozen_board": ("board",),
    "containers/test_scorers.py::test_a_failing_scorer_ranks_no_system": ("by the clock", "unknown field", "memory"),
    "browser/test_stored_scripts.py::test_stored_text_never_runs_as_script": ("anonymous",),
    "scoring/test_faults.py::test_a_worker_killed_before_it_writes_is_replaced": ("scored",),
    "systems/test_faults.py::test_output_lost_with_its_volume_holder_is_a_sandbox_error": ("runc-kill",),
    "systems/test_greedy.py::test_exit_codes_collapse": ("runc-77",),
    "systems/test_images_made.py::test_workdir_on_a_descriptor_is_refused": ("runc-/proc/self/fd/7",),
    "systems/test_images_made.py::test_workdir_through_a_link_to_a_descriptor": ("runc-8",),
    "systems/test_images_made.py::test_ignored_instructions": (
        "runc-ENV LD_PRELOAD=/nowhere.so",
        "runc-ONBUILD RUN false",
    ),
    "systems/test_images_made.py::test_a_command_that_cannot_be_started": ('runc-["/nowhere"]',),
    "systems/test_images_made.py::test_a_file_where_a_folder_is_mounted": ("runc-/output",),
    "systems/test_images_made.py::test_a_link_where_a_folder_is_mounted": ("runc-/output",),
    "systems/test_output.py::test_output_as_symlink": ("runc-/etc/passwd", "runc-../../etc"),
    "audit/test_label_leaks.py::test_ids_that_reveal_the_label": ("parity", "prefix", "order", "modulo 7"),
    "audit/test_label_leaks.py::test_surface_features_that_reveal_the_label": (  # each look in one of two fields
        "claim-length",
        "claim-first word",
        "claim-first letter",
        "claim-case",
        "claim-end",
        "claim-white space",
        "claim-double space",
        "claim-another space",
    ),
    "boards/test_as_of_choice.py::test_it_equals_reading_all_releases": ("0-1", "1--1"),
    "boards/test_as_of_choice.py::test_on_every_day_it_equals_the_releases_until_then": ("0",),
    "disclosure/test_best_shown.py::test_it_equals_reading_all_releases": ("0-1", "1--1"),
    "scenarios/test_scenarios_realdata.py::test_a_matrix_has_the_promised_properties": ("codex-s-P463-words4",),
    "scenarios/test_embeddings.py::test_embeddings_equal_those_of_the_full_decomposition": ("30",),
    "scoring/test_many_pairs.py::test_every_permutation_of_few_groups": ("f1-True", "mrr-False", "auroc-True"),
    "scoring/test_published_numbers_scores.py::test_buckle": (
        "foundedBy/test_c0.5_h1.0_s300_r0.2_popular_scenario.tsv",
        "nearestCity/train_c1.0_h1.0_s300_r1.0_random_scenario.tsv",
    ),
    "scoring/test_rebuilding.py::test_a_rebuilt_board_is_equal_byte_for_byte": ("full", "ladder a team"),
    "statistics/test_resampled_scores.py::test_correlations": ("blocks of 7",),
    "submissions/test_slow_clients.py::test_slow_clients_hold_up_nobody": ("alone",),
    "core/test_store_faults.py::test_an_upload_to_a_store_that_is_away": ("Fault.HANG", "Fault.UNAVAILABLE"),
    "core/test_store_faults.py::test_a_store_that_fails_while_the_file_is_stored": ("Fault.LOST", "Fault.UNAVAILABLE"),
    "core/test_store_faults.py::test_a_run_waits_for_the_store": ("Fault.HANG-fails", "Fault.UNAVAILABLE-away"),
    "core/test_store_faults.py::test_no_part_of_a_large_file_is_left": ("Fault.LOST", "Fault.UNAVAILABLE"),
    "local/test_run_command.py::test_errors_of_a_system_are_reported": ("a label that is none", "a crash"),
    "local/test_run_command.py::test_an_image_that_a_server_refuses_is_refused": ("more0-VOLUME /data-volume",),
    "process/test_operations.py::test_invalid_compressed_files_give_the_same_report_in_the_sandbox": ("cut off",),
    "core/test_busy.py::test_sessions_of_postgresql_have_timeouts": ("web",),
    "core/test_store_faults.py::test_readiness_and_metrics_report_the_store": ("Fault.UNAVAILABLE",),
    "reweighting/test_reweighting.py::test_the_minimum_is_no_worse_than_the_best_of_ten_starts_of_scipy": ("0",),
    "core/test_manage.py::test_a_folder_without_a_database_is_named_in_one_line": ("cleanup",),
    # Differences between users are tested by what is quicker.
    "process/test_operations.py::test_a_system_of_each_task_in_each_environment": (
        "root-fact-verification",
        *("user-fact-checking", "user-fact-extraction", "user-fact-verification", "user-knowledge-base-population"),
        *("user-link-prediction", "user-metric-correlation"),
    ),
    "process/test_faults.py::test_resources_do_not_accumulate": ("user",),
    "process/test_limits.py::test_jobs_that_share_too_few_processors_are_not_at_fault": ("user",),
    "process/test_limits.py::test_endless_loop_without_a_pid_namespace": ("user",),
    "process/test_operations.py::test_each_part_of_an_audit": (
        "sizes-fact-checking",
        "balance-fact-extraction",
        "duplicates-fact-verification",
        "overlaps-knowledge-base-population",
        "cues-fact-verification",
        "trivial-link-prediction",
        "tells-metric-correlation",
        "agreement-fact-checking",
    ),
    "process/test_operations.py::test_invalid_files_give_the_same_report_in_the_sandbox": (
        *(f"{fault}-fact-verification" for fault in ("BOM", "UTF-16", "NUL", "depth 100,000", "8 MB label", "pickle")),
        *("unknown label-metric-correlation", "unknown id-knowledge-base-population", "code-link-prediction"),
    ),
}
"""Test -> its cases that every run includes; the other cases are marked slow."""
TESTS = (
    "browser/test_every_page.py::test_audit_from_start_to_report",
    "local/test_run_command.py::test_an_image_named_by_its_tag",
    "browser/test_new_split.py::test_raw_file_to_draft_by_keyboard",
    "containers/test_scorers_example.py::test_the_example_works",  # as test_systems_example.py, for scorers
    "systems/test_loading.py::test_tag_spoof",  # images are run by their ids
    "systems/test_images_made.py::test_healthcheck_is_disabled",
    "local/test_run_command.py::test_an_archive_leaves_no_image_behind",
    "browser/test_images.py::test_resuming_needs_the_same_file_and_giving_up_deletes_the_upload",
    "whole_site/test_installed_task.py::test_baselines_are_scored_by_the_task",  # the site hosts it, with its baselines
    "whole_site/test_installed_task.py::test_audits_use_its_columns_checks_and_baselines",
    "containers/test_systems_worker.py::test_an_image_stays_on_the_engine_until_another_needs_its_space",
    "containers/test_container_faults.py::test_a_worker_killed_at_each_stage_is_replaced",  # in work_queue/
    "operations/test_web_worker.py::test_no_request_waits_for_a_server_that_starts",
    "disclosure/test_anonymous_systems.py::test_the_search_finds_the_name_where_it_is_shown",  # the crawl's own check
    "scenarios/test_scenarios_command.py::test_a_scenario_does_not_depend_on_the_rest_of_the_matrix",
    "reweighting/test_reweighting.py::test_the_objective_never_rises_and_is_reported_correctly",
    "reweighting/test_reweighting.py::test_many_claims_are_solved_nearly_as_well_as_few",  # half a minute
    "scoring/test_faults.py::test_a_worker_whose_main_process_is_killed_scores_no_more",
    "curation/test_new_split_pages.py::test_content_that_only_raw_files_have_is_shown_nowhere",  # as test_canary
    "local/test_run_command.py::test_an_image_is_checked_as_on_the_server",
    "whole_site/test_installed_task.py::test_the_commands_of_its_readme_run",
    "whole_site/test_installed_task.py::test_the_command_line_uses_the_task",
    "browser/test_admin.py::test_axe_finds_no_violations",  # Django's own pages, with few styles of ours
    "containers/test_hostile_containers.py::test_a_hostile_system_is_rejected_and_charged",  # as in test_containers.py
    "process/test_attacks.py::test_attack_is_real",  # the attacks' own check: without a sandbox they succeed
    "near_duplicates/test_near_duplicates.py::test_only_organisers_see_near_duplicates",  # crawls, as test_canary does
    "disclosure/test_budgets.py::test_twenty_accounts_do_not_beat_the_limit_of_all_teams",
    "submissions/test_api_quota.py::test_simultaneous_first_posts_create_one_team_with_one_quota",
    "scenarios/test_scenarios_realdata.py::test_the_closed_world",
    "scenarios/test_scenarios_realdata.py::test_a_relation_without_plausible_false_claims_is_refused",
    "scenarios/test_scenarios_command.py::test_the_same_bytes_in_another_process_with_another_hash_seed",
    "open_triples/test_leakage.py::test_real_mentions",
    "audit/test_label_leaks.py::test_a_hundred_different_answers_give_no_finding",
    "audit/test_audit_realdata.py::test_claims_of_fever_reveal_labels",
    "audit/test_audit_realdata.py::test_whole_passages_score_as_with_the_public_evaluator",
    "fixtures/test_ids_reveal_nothing.py::test_leak_in_published_symmetric_ids_is_found",
    "fixtures/test_fixtures_open.py::test_thorough_training_triples_contain_no_leak",
    "archives/test_archives.py::test_rights_and_passwords_are_not_exported",
    "statistics/test_intervals_short.py::test_resampling_rows_instead_of_groups_covers_too_little",
    "containers/test_images.py::test_memory_is_bounded",
    "browser/test_journey.py::test_curator_creates_and_publishes_a_benchmark",
    "containers/test_scorers.py::test_gold_defines_the_units",
    "local/test_run_command.py::test_an_interrupted_run_removes_its_container",
    "operations/test_seed.py::test_a_fresh_site_gets_populated_boards",  # CI's first command does
    "systems/test_greedy.py::test_child_killed_for_memory_does_not_end_the_system",
    "systems/test_greedy.py::test_inode_flood_and_100_000_output_files",
    "systems/test_greedy.py::test_endless_log_line",
    "systems/test_greedy.py::test_ansi_is_removed_from_the_log",
    "systems/test_greedy.py::test_daemonises_with_setsid",
    "browser/test_every_page.py::test_contrast_in_both_colour_schemes",
    "curation/test_baselines.py::test_one_of_several_simultaneous_presses_submits",
    "docs/test_operators.py::test_postgresql",  # CI's own tests run on it
    "container/test_operators_page.py::test_production_setup_and_backup",
    "containers/test_container_changes.py::test_a_container_that_is_always_killed_is_charged",
    "containers/test_container_changes.py::test_a_full_disk_while_collecting_leaves_no_half_file",
    "containers/test_container_changes.py::test_a_report_never_takes_the_container_of_a_live_worker",
    "containers/test_container_changes.py::test_a_sandbox_that_disconnects_while_collecting",
    "containers/test_container_changes.py::test_a_phase_that_closes_meanwhile_still_scores_it",
    "containers/test_scorer_faults.py::test_a_worker_killed_at_each_point_is_replaced",
    "whole_site/test_installed_task.py::test_the_site_hosts_it",
    "docs/test_operators.py::test_one_machine_and_its_archive_on_another",
    "docs/test_operators.py::test_upgrade",
    "docs/test_operators.py::test_files_in_buckets",
    "operations/test_serve.py::test_it_leaves_no_process_and_restarts_over_a_stale_socket",
    "systems/test_loading.py::test_two_equal_layers",
    "scoring/test_rescoring_faults.py::test_a_worker_killed_in_the_transaction_that_switches",
)
"""Tests that are marked slow, because a quicker test of the same kind of work covers the same code."""


FILES = ("tests/container/test_composed.py", "tests/container/test_composed_systems.py")
"""Files marked slow: the services of production, whose images take minutes to build."""


def mark(item: pytest.Item) -> None:
    if not isinstance(item, pytest.Function):
        return
    path = item.nodeid.split("[")[0]
    cases = next((cases for name, cases in CASES.items() if path.endswith(name)), None)
    if path.startswith(FILES) or path.endswith(TESTS) or (cases is not None and item.callspec.id not in cases):
        item.add_marker(pytest.mark.slow)
