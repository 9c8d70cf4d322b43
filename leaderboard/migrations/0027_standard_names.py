"""Models and columns get the field's terms. Values stay, except model names in the audit trail and in permissions."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Value
from django.db.models.functions import Concat, Substr

MODELS = {
    "ArchiveArrival": "ArchiveImport",
    "Division": "PublicPrivatePartition",
    "Drawing": "ReleasePlot",
    "Likeness": "SimilarityCheck",
    "Move": "RankChange",
    "NearCopy": "NearDuplicate",
    "SideBySide": "HeadToHead",
}
FIELDS = {
    "announcement": {"made_at": "created_at", "made_by": "created_by"},
    "archiveexport": {"told": "progress"},
    "changeditem": {"place": "index"},
    "comparison": {"draws": "n_permutations"},
    "correction": {"fate": "decision"},
    "disqualification": {"made_at": "created_at", "made_by": "created_by"},
    "dryrun": {"half": "subset"},
    "extension": {"made_at": "created_at", "made_by": "created_by"},
    "generatedfrom": {"place": "index"},
    "generatedpart": {"place": "index"},
    "historicalphase": {"half": "subset"},
    "nearduplicate": {"found_at": "detected_at"},
    "phase": {"half": "subset", "arrivals": "last_sequence"},
    "prediction": {"arrival": "sequence"},
    "releaseplot": {"made_at": "created_at"},
    "releaseslice": {"cells": "scores"},
}


CONSTRAINTS = {
    "one_changed_item_a_place": "changeditem",
    "one_pending_correction_a_split": "correction",
    "correction_decided_at_a_moment": "correction",
    "confirmed_correction_is_a_version": "correction",
    "one_source_a_place": "generatedfrom",
    "one_part_a_place": "generatedpart",
}
"""Constraints on renamed columns, with their models: a rename leaves their conditions as they are."""
IMMUTABLE = {
    "leaderboard_auditentry": "leaderboard_auditentry",
    "leaderboard_division": "leaderboard_publicprivatepartition",
    "leaderboard_drawing": "leaderboard_releaseplot",
}
"""Tables whose triggers refuse updates, with their new names."""


def _drop(schema_editor, trigger, table):
    on = f" ON {table}" if schema_editor.connection.vendor == "postgresql" else ""
    schema_editor.execute(f"DROP TRIGGER IF EXISTS {trigger}_immutable{on}")


def _create(schema_editor, table):
    action = (
        "FOR EACH ROW EXECUTE FUNCTION holdout_refuse_update()"
        if schema_editor.connection.vendor == "postgresql"
        else f"BEGIN SELECT RAISE(ABORT, 'rows of {table} are immutable'); END"
    )
    schema_editor.execute(f"CREATE TRIGGER {table}_immutable BEFORE UPDATE ON {table} {action}")


def _without_triggers(tables):
    def drop(apps, schema_editor):
        for table in tables:
            _drop(schema_editor, table, table)

    return drop


def _with_triggers(tables):
    def create(apps, schema_editor):
        for table in tables:
            _create(schema_editor, table)

    return create


def _rename_references(apps, renamed):
    """Rename the models in the audit trail's subjects, `model:key`, and in the names of permissions."""
    entries = apps.get_model("leaderboard", "AuditEntry").objects
    permissions = apps.get_model("auth", "Permission").objects.filter(content_type__app_label="leaderboard")
    for old, new in renamed:
        begin = f"{old.lower()}:"
        entries.filter(subject__startswith=begin).update(
            subject=Concat(Value(f"{new.lower()}:"), Substr("subject", len(begin) + 1))
        )
        for action in ("add", "change", "delete", "view"):
            permissions.filter(codename=f"{action}_{old.lower()}").update(codename=f"{action}_{new.lower()}")


def rename_references(apps, schema_editor):
    _rename_references(apps, MODELS.items())


def restore_references(apps, schema_editor):
    _rename_references(apps, [(new, old) for old, new in MODELS.items()])


WITH_REASON = (
    "archiveexport",
    "correction",
    "dryrun",
    "generation",
    "headtohead",
    "prediction",
    "ranking",
    "run",
    "similaritycheck",
    "splitaudit",
)
REASON = models.CharField(
    blank=True,
    choices=[
        ("", "None"),
        ("bad_predictions", "the predictions do not fit the format"),
        ("time", "scoring the file took longer than allowed"),
        ("memory", "scoring the file took more memory than allowed"),
        ("output", "scoring the file produced no usable report"),
        ("exit", "the scorer stopped with an error"),
        ("bad_gold", "the benchmark's own files are at fault; its organisers are notified"),
        ("bad_report", "the scorer reported impossible numbers"),
        ("sandbox", "the sandbox could not run"),
        ("storage", "a stored file is missing or altered"),
        ("lost", "every attempt was interrupted"),
        ("internal", "an internal error"),
        ("bad_image", "the image cannot be accepted"),
        ("system_exit", "the container ended with an error"),
        ("system_time", "the container reached its time limit"),
        ("resources", "the container reached its limit of memory, processes or space"),
        ("system_output", "the container wrote no usable predictions"),
        ("engine", "the container engine could not run"),
        ("scorer", "the benchmark's scorer failed; its organisers are notified"),
        ("outdated", "the server is being upgraded"),
        ("withdrawn", "withdrawn"),
        ("superseded", "replaced by another scoring"),
    ],
    default="",
    max_length=20,
)


class Migration(migrations.Migration):
    dependencies = [
        ("leaderboard", "0026_standard_terms"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.RunPython(_without_triggers(IMMUTABLE.keys()), _with_triggers(IMMUTABLE.keys())),
        *[migrations.RemoveConstraint(model_name=model, name=name) for name, model in CONSTRAINTS.items()],
        *[migrations.RenameModel(old_name=old, new_name=new) for old, new in MODELS.items()],
        *[
            migrations.RenameField(model_name=model, old_name=old, new_name=new)
            for model, renamed in FIELDS.items()
            for old, new in renamed.items()
        ],
        migrations.AlterModelOptions(
            name="announcement",
            options={"ordering": ["-created_at"]},
        ),
        migrations.AlterModelOptions(
            name="changeditem",
            options={"ordering": ["correction", "index"]},
        ),
        migrations.AlterModelOptions(
            name="disqualification",
            options={"ordering": ["phase", "created_at"]},
        ),
        migrations.AlterModelOptions(
            name="extension",
            options={"ordering": ["created_at"]},
        ),
        migrations.AlterModelOptions(
            name="generatedfrom",
            options={"ordering": ["generation", "index"]},
        ),
        migrations.AlterModelOptions(
            name="generatedpart",
            options={"ordering": ["generation", "index"]},
        ),
        migrations.AlterModelOptions(
            name="nearduplicate",
            options={"ordering": ["-detected_at"], "verbose_name_plural": "near-duplicates"},
        ),
        migrations.AlterModelOptions(
            name="similaritycheck",
            options={"verbose_name_plural": "similarity checks"},
        ),
        migrations.RenameIndex(
            model_name="headtohead",
            new_name="leaderboard_state_1bbcd0_idx",
            old_name="leaderboard_state_0af0e4_idx",
        ),
        migrations.RenameIndex(
            model_name="similaritycheck",
            new_name="leaderboard_state_b9d203_idx",
            old_name="leaderboard_state_970e40_idx",
        ),
        migrations.AlterField(
            model_name="auditanswer",
            name="finding",
            field=models.PositiveSmallIntegerField(help_text="index in the report, from 0"),
        ),
        migrations.AlterField(
            model_name="benchmark",
            name="baselines_team",
            field=models.OneToOneField(
                blank=True,
                editable=False,
                help_text="owns the baselines' submissions; managers of the benchmark may submit for it",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="baselines_of",
                to="leaderboard.team",
            ),
        ),
        migrations.AlterField(
            model_name="benchmark",
            name="contact",
            field=models.CharField(
                blank=True, help_text="where questions go: a mail address or a page; shown to everybody", max_length=300
            ),
        ),
        migrations.AlterField(
            model_name="changeditem",
            name="index",
            field=models.PositiveIntegerField(help_text="index among the changed items, from 0"),
        ),
        migrations.AlterField(
            model_name="changeditem",
            name="kinds",
            field=models.CharField(help_text="kinds of change, such as |answer|slices|", max_length=120),
        ),
        migrations.AlterField(
            model_name="changeditem",
            name="line",
            field=models.PositiveIntegerField(help_text="in the file; for removed items, in the previous version"),
        ),
        migrations.AlterField(
            model_name="comparison",
            name="n_permutations",
            field=models.PositiveIntegerField(help_text="number of permutations behind p"),
        ),
        migrations.AlterField(
            model_name="comparison",
            name="resamples",
            field=models.PositiveIntegerField(help_text="bootstrap resamples behind the interval"),
        ),
        migrations.AlterField(
            model_name="correction",
            name="counts",
            field=models.JSONField(
                blank=True, default=dict, help_text="number of items by kind of change; empty until done"
            ),
        ),
        migrations.AlterField(
            model_name="correction",
            name="decision",
            field=models.CharField(
                choices=[
                    ("pending", "waits for confirmation"),
                    ("confirmed", "Confirmed"),
                    ("dropped", "Dropped"),
                    ("expired", "Expired"),
                ],
                default="pending",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="correction",
            name="gold",
            field=models.OneToOneField(
                help_text="the gold version made from it",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="correction",
                to="leaderboard.goldversion",
            ),
        ),
        migrations.AlterField(
            model_name="correction",
            name="inputs_sha256",
            field=models.CharField(help_text="of the inputs made from it", max_length=64),
        ),
        migrations.AlterField(
            model_name="download",
            name="description",
            field=models.TextField(blank=True, help_text="its format and purpose"),
        ),
        migrations.AlterField(
            model_name="download",
            name="title",
            field=models.CharField(help_text="one line", max_length=200),
        ),
        migrations.AlterField(
            model_name="dryrun",
            name="kind",
            field=models.CharField(
                choices=[("trivial", "computed by the server"), ("file", "uploaded")], max_length=10
            ),
        ),
        migrations.AlterField(
            model_name="dryrun",
            name="scored_as",
            field=models.CharField(
                blank=True, help_text="slug of the phase whose options it uses; empty: no phase", max_length=80
            ),
        ),
        migrations.AlterField(
            model_name="dryrun",
            name="subset",
            field=models.CharField(
                blank=True, help_text="public or private groups of the gold; empty: all groups", max_length=10
            ),
        ),
        migrations.AlterField(
            model_name="generatedfrom",
            name="index",
            field=models.PositiveSmallIntegerField(help_text="index among the generation's files, from 0"),
        ),
        migrations.AlterField(
            model_name="generatedpart",
            name="index",
            field=models.PositiveSmallIntegerField(help_text="index in the generator's order, from 0"),
        ),
        migrations.AlterField(
            model_name="generation",
            name="code_sha256",
            field=models.CharField(
                blank=True, help_text="code digest of the sandbox that ran the generator", max_length=64
            ),
        ),
        migrations.AlterField(
            model_name="generation",
            name="options",
            field=models.JSONField(blank=True, default=dict, help_text="the task's options for the new splits"),
        ),
        migrations.AlterField(
            model_name="generation",
            name="parameters",
            field=models.JSONField(default=dict, help_text="the generator's parameters, as entered"),
        ),
        migrations.AlterField(
            model_name="generation",
            name="problems",
            field=models.JSONField(blank=True, default=list, help_text="problems of the input, if rejected"),
        ),
        migrations.AlterField(
            model_name="generation",
            name="report",
            field=models.JSONField(blank=True, default=dict, help_text="the generator's report; empty until done"),
        ),
        migrations.AlterField(
            model_name="generation",
            name="salt",
            field=models.CharField(help_text="of the generated ids; as secret as gold", max_length=64),
        ),
        migrations.AlterField(
            model_name="generation",
            name="seed",
            field=models.PositiveBigIntegerField(help_text="of all random choices; as secret as gold"),
        ),
        migrations.AlterField(
            model_name="headtohead",
            name="leaderboard",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="head_to_heads", to="leaderboard.leaderboard"
            ),
        ),
        migrations.AlterField(
            model_name="headtohead",
            name="report",
            field=models.JSONField(
                default=dict, help_text="report of evaluator.jobs on the two systems; empty until done"
            ),
        ),
        migrations.AlterField(
            model_name="hiddensubmission",
            name="reason",
            field=models.CharField(help_text="shown to its team and the organisers only", max_length=300),
        ),
        migrations.AlterField(
            model_name="historicalbenchmark",
            name="contact",
            field=models.CharField(
                blank=True, help_text="where questions go: a mail address or a page; shown to everybody", max_length=300
            ),
        ),
        migrations.AlterField(
            model_name="historicalphase",
            name="finals_per_team",
            field=models.PositiveSmallIntegerField(
                default=1,
                help_text="number of final submissions a team may choose in a sealed phase",
                validators=[django.core.validators.MinValueValidator(1)],
            ),
        ),
        migrations.AlterField(
            model_name="historicalphase",
            name="scorer",
            field=models.ForeignKey(
                blank=True,
                db_constraint=False,
                help_text="the organisers' custom scorer, which replaces the task's; null: the task scores",
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="leaderboard.scorer",
            ),
        ),
        migrations.AlterField(
            model_name="historicalphase",
            name="shows_logs",
            field=models.BooleanField(
                blank=True, help_text="owners see their container's log; null: only if the inputs are public", null=True
            ),
        ),
        migrations.AlterField(
            model_name="historicalphase",
            name="subset",
            field=models.CharField(
                blank=True,
                choices=[("", "all groups"), ("public", "the public groups"), ("private", "the private groups")],
                default="",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="historicalphase",
            name="time_zone",
            field=models.CharField(
                default="UTC",
                help_text="dates are shown in it and in UTC: an IANA name, or AoE (anywhere on Earth)",
                max_length=60,
            ),
        ),
        migrations.AlterField(
            model_name="historicalphase",
            name="tracks",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text='tracks, of which a submission declares one: [{"name", "title", "description"}]; empty: no tracks',
            ),
        ),
        migrations.AlterField(
            model_name="historicalphase",
            name="unsealed_at",
            field=models.DateTimeField(blank=True, help_text="when its finals were scored", null=True),
        ),
        migrations.AlterField(
            model_name="image",
            name="digest",
            field=models.CharField(
                blank=True,
                help_text="the engine's image id; empty until inspected",
                max_length=71,
                validators=[
                    django.core.validators.RegexValidator(
                        "\\Asha256:[0-9a-f]{64}\\Z", "expected sha256: and 64 hexadecimal digits"
                    )
                ],
            ),
        ),
        migrations.AlterField(
            model_name="image",
            name="reference",
            field=models.CharField(
                blank=True, help_text="registry/name@sha256:..., for a pulled image", max_length=400
            ),
        ),
        migrations.AlterField(
            model_name="image",
            name="unpacked_bytes",
            field=models.PositiveBigIntegerField(default=0, help_text="size of all layers, after inspection"),
        ),
        migrations.AlterField(
            model_name="imageupload",
            name="benchmark",
            field=models.ForeignKey(
                help_text="instead of a phase: the image becomes a scorer of this benchmark",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="scorer_uploads",
                to="leaderboard.benchmark",
            ),
        ),
        migrations.AlterField(
            model_name="invitation",
            name="address",
            field=models.EmailField(
                help_text="recipient of the link; anyone who has the link may use it", max_length=254
            ),
        ),
        migrations.AlterField(
            model_name="leaderboard",
            name="revision",
            field=models.PositiveBigIntegerField(default=0, help_text="incremented by every change of the board"),
        ),
        migrations.AlterField(
            model_name="leaderboard",
            name="shown_from",
            field=models.DateTimeField(help_text="when it became current; null: never", null=True),
        ),
        migrations.AlterField(
            model_name="nearduplicate",
            name="n_errors",
            field=models.PositiveIntegerField(help_text="units on which either errs"),
        ),
        migrations.AlterField(
            model_name="nearduplicate",
            name="phase",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="near_duplicates", to="leaderboard.phase"
            ),
        ),
        migrations.AlterField(
            model_name="nearduplicate",
            name="reason",
            field=models.CharField(blank=True, help_text="why it was dismissed", max_length=300),
        ),
        migrations.AlterField(
            model_name="notice",
            name="answer",
            field=models.CharField(blank=True, help_text="result of the last attempt", max_length=100),
        ),
        migrations.AlterField(
            model_name="notice",
            name="state",
            field=models.CharField(
                choices=[("queued", "Queued"), ("done", "delivered"), ("failed", "failed after all attempts")],
                default="queued",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="finals_per_team",
            field=models.PositiveSmallIntegerField(
                default=1,
                help_text="number of final submissions a team may choose in a sealed phase",
                validators=[django.core.validators.MinValueValidator(1)],
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="last_sequence",
            field=models.PositiveIntegerField(
                default=0, editable=False, help_text="the highest Prediction.sequence assigned in this phase"
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="scorer",
            field=models.ForeignKey(
                blank=True,
                help_text="the organisers' custom scorer, which replaces the task's; null: the task scores",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="phases",
                to="leaderboard.scorer",
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="shows_logs",
            field=models.BooleanField(
                blank=True, help_text="owners see their container's log; null: only if the inputs are public", null=True
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="subset",
            field=models.CharField(
                blank=True,
                choices=[("", "all groups"), ("public", "the public groups"), ("private", "the private groups")],
                default="",
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="time_zone",
            field=models.CharField(
                default="UTC",
                help_text="dates are shown in it and in UTC: an IANA name, or AoE (anywhere on Earth)",
                max_length=60,
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="tracks",
            field=models.JSONField(
                blank=True,
                default=list,
                help_text='tracks, of which a submission declares one: [{"name", "title", "description"}]; empty: no tracks',
            ),
        ),
        migrations.AlterField(
            model_name="phase",
            name="unsealed_at",
            field=models.DateTimeField(blank=True, help_text="when its finals were scored", null=True),
        ),
        migrations.AlterField(
            model_name="prediction",
            name="error_id",
            field=models.CharField(blank=True, help_text="matches the log event in the operator's log", max_length=40),
        ),
        migrations.AlterField(
            model_name="prediction",
            name="execution",
            field=models.JSONField(blank=True, default=dict, help_text="conditions of the run: limits, image, engine"),
        ),
        migrations.AlterField(
            model_name="prediction",
            name="sequence",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="order of receipt among the phase's predictions, from 1; null: not ready yet",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="publicprivatepartition",
            name="gold",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE, related_name="partition", to="leaderboard.goldversion"
            ),
        ),
        migrations.AlterField(
            model_name="publicprivatepartition",
            name="seed",
            field=models.PositiveBigIntegerField(help_text="of the random partition"),
        ),
        migrations.AlterField(
            model_name="publicprivatepartition",
            name="share",
            field=models.DecimalField(decimal_places=6, help_text="requested fraction of public groups", max_digits=7),
        ),
        migrations.AlterField(
            model_name="rankchange",
            name="leaderboard",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="rank_changes", to="leaderboard.leaderboard"
            ),
        ),
        migrations.AlterField(
            model_name="rankchange",
            name="measure",
            field=models.CharField(help_text="the board's primary measure", max_length=60),
        ),
        migrations.AlterField(
            model_name="rankchange",
            name="system",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="rank_changes", to="leaderboard.system"
            ),
        ),
        migrations.AlterField(
            model_name="ranking",
            name="n_pairs",
            field=models.PositiveIntegerField(
                default=0, help_text="pairs in the family of the Holm correction, when last computed"
            ),
        ),
        migrations.AlterField(
            model_name="ranking",
            name="n_unresolved",
            field=models.PositiveIntegerField(
                default=0, help_text="pairs whose p is the smallest possible and still too large after correction"
            ),
        ),
        migrations.AlterField(
            model_name="rawfile",
            name="name",
            field=models.CharField(help_text="name of the uploaded file", max_length=255),
        ),
        migrations.AlterField(
            model_name="release",
            name="cost",
            field=models.JSONField(help_text="of the container, rounded (costs.py); null: not revealed", null=True),
        ),
        migrations.AlterField(
            model_name="releaseplot",
            name="content",
            field=models.JSONField(help_text="plot data computed by evaluator.plots.summary from the run's outcomes"),
        ),
        migrations.AlterField(
            model_name="releaseplot",
            name="release",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.PROTECT, related_name="plot", to="leaderboard.release"
            ),
        ),
        migrations.AlterField(
            model_name="releaseslice",
            name="dimensions",
            field=models.CharField(
                blank=True, help_text="the slice's dimensions, in order, as a JSON list", max_length=2000
            ),
        ),
        migrations.AlterField(
            model_name="releaseslice",
            name="slice_key",
            field=models.CharField(
                blank=True, help_text="the slice as canonical JSON; empty: all units", max_length=2000
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="detail",
            field=models.TextField(blank=True, help_text="what was wrong with the scorer; shown to organisers only"),
        ),
        migrations.AlterField(
            model_name="run",
            name="error_id",
            field=models.CharField(blank=True, help_text="matches the log event in the operator's log", max_length=40),
        ),
        migrations.AlterField(
            model_name="score",
            name="n_groups",
            field=models.PositiveIntegerField(
                help_text="number of gold groups with units in the slice, for the ladder's step; null: not counted",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="similaritycheck",
            name="phase",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="similarity_checks", to="leaderboard.phase"
            ),
        ),
        migrations.AlterField(
            model_name="similaritycheck",
            name="prediction",
            field=models.OneToOneField(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="similarity_check",
                to="leaderboard.prediction",
            ),
        ),
        migrations.AlterField(
            model_name="split",
            name="inputs_public",
            field=models.BooleanField(default=True, help_text="if false, only containers see the inputs"),
        ),
        migrations.AlterField(
            model_name="split",
            name="retired_reason",
            field=models.CharField(blank=True, help_text="shown to everybody", max_length=500),
        ),
        migrations.AlterField(
            model_name="splitaudit",
            name="accepted_at",
            field=models.DateTimeField(blank=True, help_text="when it was published with its answers", null=True),
        ),
        migrations.AlterField(
            model_name="splitaudit",
            name="code_sha256",
            field=models.CharField(
                blank=True, help_text="code digest of the sandbox that ran the audit", max_length=64
            ),
        ),
        migrations.AlterField(
            model_name="splitaudit",
            name="inputs_sha256",
            field=models.CharField(blank=True, help_text="of the audited inputs", max_length=64),
        ),
        migrations.AlterField(
            model_name="splitaudit",
            name="options",
            field=models.JSONField(blank=True, default=dict, help_text="the task's options at the time of the audit"),
        ),
        migrations.AlterField(
            model_name="splitaudit",
            name="parts",
            field=models.JSONField(blank=True, default=list, help_text="reports of the completed parts, in order"),
        ),
        migrations.AlterField(
            model_name="splitaudit",
            name="report",
            field=models.JSONField(
                blank=True, default=dict, help_text="the audit's report (evaluator.curation.audit); empty until done"
            ),
        ),
        migrations.AlterField(
            model_name="standing",
            name="disqualified",
            field=models.CharField(blank=True, help_text="the public reason; empty: not disqualified", max_length=300),
        ),
        migrations.AlterField(
            model_name="standing",
            name="rank_high",
            field=models.PositiveIntegerField(
                help_text="number of competing systems minus those significantly worse", null=True
            ),
        ),
        migrations.AlterField(
            model_name="standing",
            name="rank_low",
            field=models.PositiveIntegerField(
                help_text="1 + number of significantly better systems; see Ranking", null=True
            ),
        ),
        migrations.AlterField(
            model_name="submission",
            name="track",
            field=models.CharField(
                blank=True, editable=False, help_text="the declared track of the phase; empty: none", max_length=80
            ),
        ),
        migrations.AlterField(
            model_name="system",
            name="anonymous_number",
            field=models.PositiveIntegerField(
                blank=True, help_text='the N of "Anonymous N"; never reassigned', null=True, unique=True
            ),
        ),
        migrations.AlterField(
            model_name="system",
            name="anonymous_until",
            field=models.DateTimeField(
                blank=True, help_text='until then boards show "Anonymous N"; null: the name is shown', null=True
            ),
        ),
        migrations.AlterField(
            model_name="user",
            name="mailed_since",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="mail is sent for submissions that end after this time; null: never",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="workerreport",
            name="message",
            field=models.TextField(blank=True, help_text="why it is not ready, and how to fix it"),
        ),
        migrations.AddConstraint(
            model_name="changeditem",
            constraint=models.UniqueConstraint(fields=("correction", "index"), name="one_changed_item_a_place"),
        ),
        migrations.AddConstraint(
            model_name="correction",
            constraint=models.UniqueConstraint(
                condition=models.Q(("decision", "pending")), fields=("split",), name="one_pending_correction_a_split"
            ),
        ),
        migrations.AddConstraint(
            model_name="correction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decided_at", None), ("decision", "pending")),
                    models.Q(models.Q(("decision", "pending"), _negated=True), ("decided_at__isnull", False)),
                    _connector="OR",
                ),
                name="correction_decided_at_a_moment",
            ),
        ),
        migrations.AddConstraint(
            model_name="correction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("decision", "confirmed"), ("gold__isnull", False)),
                    models.Q(models.Q(("decision", "confirmed"), _negated=True), ("gold", None)),
                    _connector="OR",
                ),
                name="confirmed_correction_is_a_version",
            ),
        ),
        migrations.AddConstraint(
            model_name="generatedfrom",
            constraint=models.UniqueConstraint(fields=("generation", "index"), name="one_source_a_place"),
        ),
        migrations.AddConstraint(
            model_name="generatedpart",
            constraint=models.UniqueConstraint(fields=("generation", "index"), name="one_part_a_place"),
        ),
        *[migrations.AlterField(model_name=name, name="reason", field=REASON.clone()) for name in WITH_REASON],
        migrations.RunPython(rename_references, restore_references),
        migrations.RunPython(_with_triggers(IMMUTABLE.values()), _without_triggers(IMMUTABLE.values())),
    ]
