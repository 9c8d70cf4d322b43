"""The addresses of what people do: submit, follow, manage."""

from django.urls import URLPattern, URLResolver, include, path

from leaderboard.web.people import (
    finals,
    manage_benchmarks,
    manage_gold,
    manage_halves,
    manage_information,
    manage_phases,
    manage_rescoring,
    manage_scorers,
    manage_splits,
    manage_systems,
    manage_workers,
    mine,
    notices,
    submission,
    submit,
    submit_image,
    systems,
    teams,
    tokens,
)

rescoring: list[URLPattern] = [
    path("", manage_rescoring.rescoring_page, name="manage_rescoring"),
    path("state/", manage_rescoring.state, name="manage_rescoring_state"),
    path("begin/", manage_rescoring.begin, name="manage_rescoring_begin"),
    path("cancel/", manage_rescoring.cancel, name="manage_rescoring_cancel"),
    path("resume/<int:number>/", manage_rescoring.resume, name="manage_rescoring_resume"),
]

manage: list[URLPattern | URLResolver] = [
    path("", manage_benchmarks.desk, name="manage"),
    path("workers/", manage_workers.workers, name="manage_workers"),
    path("create/", manage_benchmarks.create, name="manage_benchmark_create"),
    path("benchmarks/<slug:slug>/", manage_benchmarks.benchmark, name="manage_benchmark"),
    path("benchmarks/<slug:slug>/publish/", manage_benchmarks.publish, name="manage_publish"),
    path("benchmarks/<slug:slug>/phases/create/", manage_phases.create, name="manage_phase_create"),
    path("benchmarks/<slug:slug>/phases/<slug:phase>/rescoring/", include(rescoring)),
    path(
        "benchmarks/<slug:slug>/phases/<slug:phase>/information/",
        manage_information.information,
        name="manage_information",
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
    path("benchmarks/<slug:slug>/splits/create/", manage_splits.create, name="manage_split_create"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/halves/", manage_halves.divide, name="manage_halves"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/gold/", manage_gold.upload, name="manage_gold"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/gold/<int:number>/", manage_gold.read, name="manage_gold_read"),
]

urlpatterns = [
    path("benchmarks/<slug:slug>/<slug:phase>/submit/", submit.submit, name="submit"),
    path("benchmarks/<slug:slug>/<slug:phase>/submit-image/", submit_image.submit_image, name="submit_image"),
    path("benchmarks/<slug:slug>/<slug:phase>/finals/", finals.finals, name="finals"),
    path("submissions/<uuid:pk>/final/", finals.choose, name="choose_final"),
    path("submissions/<uuid:pk>/final/give-back/", finals.give_back, name="give_back_final"),
    path("me/image-uploads/<uuid:pk>/give-up/", submit_image.give_up, name="give_up_image_upload"),
    path("submissions/<uuid:pk>/", submission.submission, name="submission"),
    path("submissions/<uuid:pk>/state/", submission.state, name="submission_state"),
    path("submissions/<uuid:pk>/receipt.json", submission.receipt, name="submission_receipt"),
    path("submissions/<uuid:pk>/withdraw/", submission.withdraw, name="withdraw_submission"),
    path("submissions/<uuid:pk>/predictions/", submission.download, name="download_prediction"),
    path("submissions/<uuid:pk>/represent/", systems.represent, name="represent_system"),
    path("systems/<int:pk>/edit/", systems.edit, name="edit_system"),
    path(
        "benchmarks/<slug:slug>/<slug:phase>/systems/<int:pk>/best/",
        systems.represent_by_best,
        name="represent_system_by_best",
    ),
    path("me/submissions/", mine.my_submissions, name="my_submissions"),
    path("me/teams/", teams.my_teams, name="my_teams"),
    path("me/notices/", notices.my_notices, name="my_notices"),
    path("me/notices/mail/", notices.mail, name="mail_notices"),
    path("me/webhooks/<uuid:pk>/test/", notices.test, name="test_webhook"),
    path("me/webhooks/<uuid:pk>/remove/", notices.remove, name="remove_webhook"),
    path("me/tokens/", tokens.my_tokens, name="my_tokens"),
    path("me/tokens/<str:key>/revoke/", tokens.revoke_token, name="revoke_token"),
    path("manage/", include(manage)),
]
