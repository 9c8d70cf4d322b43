"""URLs of the API, under /api/v1/."""

from django.urls import path, re_path

from leaderboard.accounts.api import device_grant, teams, tokens
from leaderboard.benchmarks.api import benchmarks, tasks
from leaderboard.boards.api import boards, exports, plots
from leaderboard.comparisons.api import comparisons
from leaderboard.containers.api import images
from leaderboard.core.api import schema
from leaderboard.curation.api import raw_files
from leaderboard.plots.api import specs
from leaderboard.submissions.api import submissions
from leaderboard.systems.api import systems

PHASE = "benchmarks/<slug:slug>/phases/<slug:phase>"

urlpatterns = [
    path("auth/tokens/", tokens.TokensView.as_view(), name="api_tokens"),
    path("auth/tokens/current/", tokens.CurrentTokenView.as_view(), name="api_token"),
    path("auth/device/", device_grant.DeviceCodeView.as_view(), name="api_device_code"),
    path("auth/device/token/", device_grant.DeviceTokenView.as_view(), name="api_device_token"),
    path("tasks/", tasks.TasksView.as_view(), name="api_tasks"),
    path("tasks/<slug:name>/", tasks.TaskView.as_view(), name="api_task"),
    path("benchmarks/", benchmarks.BenchmarksView.as_view(), name="api_benchmarks"),
    path("benchmarks/<slug:slug>/", benchmarks.BenchmarkView.as_view(), name="api_benchmark"),
    path("benchmarks/<slug:slug>/croissant.json", benchmarks.CroissantView.as_view(), name="api_croissant"),
    path("benchmarks/<slug:slug>/splits/<slug:split>/inputs.jsonl", benchmarks.InputsView.as_view(), name="api_inputs"),
    path(f"{PHASE}/leaderboard/", boards.BoardView.as_view(), name="api_leaderboard"),
    path(f"{PHASE}/leaderboard/comparisons/", comparisons.ComparisonsView.as_view(), name="api_comparisons"),
    path(f"{PHASE}/leaderboard/plots/", plots.PlotsView.as_view(), name="api_plots"),
    path(f"{PHASE}/leaderboard/plots/<slug:plot>/", specs.SpecView.as_view(), name="api_plot"),
    path(f"{PHASE}/leaderboard.csv", boards.BoardTableView.as_view(), name="api_leaderboard_csv"),
    path(f"{PHASE}/leaderboard.tex", exports.LatexView.as_view(), name="api_leaderboard_latex"),
    path(f"{PHASE}/leaderboard.md", exports.MarkdownView.as_view(), name="api_leaderboard_markdown"),
    path(f"{PHASE}/leaderboard.bib", exports.BibtexView.as_view(), name="api_leaderboard_bibtex"),
    path(f"{PHASE}/leaderboard.json", exports.CanonicalView.as_view(), name="api_leaderboard_canonical"),
    path(f"{PHASE}/exact-scores.csv", submissions.ExactScoresView.as_view(), name="api_exact_scores"),
    path(f"{PHASE}/submissions/", submissions.SubmitView.as_view(), name="api_submit"),
    path(f"{PHASE}/image-uploads/", images.ImageUploadsView.as_view(), name="api_image_uploads"),
    path(f"{PHASE}/images/references/", images.ReferencesView.as_view(), name="api_image_references"),
    path(
        "benchmarks/<slug:slug>/scorers/image-uploads/", images.ScorerUploadsView.as_view(), name="api_scorer_uploads"
    ),
    path("benchmarks/<slug:slug>/raw-uploads/", raw_files.RawUploadsView.as_view(), name="api_raw_uploads"),
    path("raw-uploads/<uuid:pk>/", raw_files.RawUploadView.as_view(), name="api_raw_upload"),
    path("image-uploads/<uuid:pk>/", images.UploadView.as_view(), name="api_image_upload"),
    path("image-uploads/<uuid:pk>/submission/", images.UploadSubmissionView.as_view(), name="api_image_submit"),
    path("teams/", teams.TeamsView.as_view(), name="api_teams"),
    path("teams/<int:pk>/", teams.TeamView.as_view(), name="api_team"),
    path("teams/<int:pk>/invitations/", teams.InviteView.as_view(), name="api_team_invite"),
    path("teams/<int:pk>/invitations/<int:invitation>/", teams.InvitationView.as_view(), name="api_team_invitation"),
    path("teams/<int:pk>/owner/", teams.OwnerView.as_view(), name="api_team_owner"),
    path("teams/<int:pk>/membership/", teams.LeaveView.as_view(), name="api_team_leave"),
    path("invitations/", teams.AnswerView.as_view(), name="api_invitation"),
    path("submissions/", submissions.SubmissionsView.as_view(), name="api_submissions"),
    path("submissions/<uuid:pk>/", submissions.SubmissionView.as_view(), name="api_submission"),
    path("submissions/<uuid:pk>/scores/", submissions.ScoresView.as_view(), name="api_scores"),
    path("submissions/<uuid:pk>/predictions/", submissions.PredictionsView.as_view(), name="api_predictions"),
    path("submissions/<uuid:pk>/hidden/", submissions.HiddenView.as_view(), name="api_hidden"),
    path("systems/", systems.SystemsView.as_view(), name="api_systems"),
    path("systems/<int:pk>/name/", systems.NameView.as_view(), name="api_system_name"),
    path("schema/", schema.SchemaView.as_view(), name="api_schema"),
    path("docs/", schema.DocsView.as_view(), name="api_docs"),
    re_path(r"^(?P<rest>.*)$", schema.NothingView.as_view(), name="api_nothing"),
]
