"""Organisers' own scorers: their rows are never edited, and a run by one may have no outcomes."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


TABLE = "leaderboard_scorer"


def forbid_updates(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    if vendor == "sqlite":
        schema_editor.execute(
            f"CREATE TRIGGER {TABLE}_immutable BEFORE UPDATE ON {TABLE} "
            f"BEGIN SELECT RAISE(ABORT, 'rows of {TABLE} are immutable'); END"
        )
    elif vendor == "postgresql":
        # The function is that of 0002.
        schema_editor.execute(
            f"CREATE TRIGGER {TABLE}_immutable BEFORE UPDATE ON {TABLE} "
            "FOR EACH ROW EXECUTE FUNCTION holdout_refuse_update()"
        )


def allow_updates(apps, schema_editor):
    vendor = schema_editor.connection.vendor
    if vendor == "sqlite":
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_immutable")
    elif vendor == "postgresql":
        schema_editor.execute(f"DROP TRIGGER IF EXISTS {TABLE}_immutable ON {TABLE}")


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0007_release_cost'),
    ]

    operations = [
        migrations.CreateModel(
            name='Scorer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('measures', models.JSONField(help_text='[{"name", "title", "doc", "lower", "upper", "higher_is_better"}]')),
                ('primary', models.CharField(help_text='the measure that ranks', max_length=60)),
                ('reason', models.TextField(help_text='why this version exists')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['benchmark', 'number'],
            },
        ),
        migrations.RemoveConstraint(
            model_name='run',
            name='run_done_has_outcomes',
        ),
        migrations.AddField(
            model_name='imageupload',
            name='benchmark',
            field=models.ForeignKey(help_text='in place of a phase: the image becomes a scorer of it', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='scorer_uploads', to='leaderboard.benchmark'),
        ),
        migrations.AddField(
            model_name='run',
            name='detail',
            field=models.TextField(blank=True, help_text='what was wrong with the scorer: for organisers alone'),
        ),
        migrations.AlterField(
            model_name='imageupload',
            name='phase',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='image_uploads', to='leaderboard.phase'),
        ),
        migrations.AlterField(
            model_name='prediction',
            name='reason',
            field=models.CharField(blank=True, choices=[('', 'None'), ('bad_predictions', 'the predictions do not fit the format'), ('time', 'scoring the file took longer than allowed'), ('memory', 'scoring the file took more memory than allowed'), ('output', 'scoring the file gave no usable report'), ('exit', 'the scorer stopped with an error'), ('bad_gold', "the benchmark's own files are at fault; its organisers are told"), ('bad_report', 'the scorer reported impossible numbers'), ('sandbox', 'the sandbox could not run'), ('storage', 'a stored file is missing or altered'), ('lost', 'the workers stopped in the middle, each time'), ('internal', 'an error of ours'), ('bad_image', 'the image cannot be accepted'), ('system_exit', 'the container ended with an error'), ('system_time', 'the container reached its time limit'), ('resources', 'the container reached its limit of memory, processes or space'), ('system_output', 'the container left no predictions that can be used'), ('engine', 'the container engine could not run'), ('scorer', "the benchmark's scorer failed; its organisers are told"), ('outdated', 'the server is in the middle of an upgrade'), ('withdrawn', 'withdrawn'), ('superseded', 'another scoring took its place')], default='', max_length=20),
        ),
        migrations.AlterField(
            model_name='ranking',
            name='reason',
            field=models.CharField(blank=True, choices=[('', 'None'), ('bad_predictions', 'the predictions do not fit the format'), ('time', 'scoring the file took longer than allowed'), ('memory', 'scoring the file took more memory than allowed'), ('output', 'scoring the file gave no usable report'), ('exit', 'the scorer stopped with an error'), ('bad_gold', "the benchmark's own files are at fault; its organisers are told"), ('bad_report', 'the scorer reported impossible numbers'), ('sandbox', 'the sandbox could not run'), ('storage', 'a stored file is missing or altered'), ('lost', 'the workers stopped in the middle, each time'), ('internal', 'an error of ours'), ('bad_image', 'the image cannot be accepted'), ('system_exit', 'the container ended with an error'), ('system_time', 'the container reached its time limit'), ('resources', 'the container reached its limit of memory, processes or space'), ('system_output', 'the container left no predictions that can be used'), ('engine', 'the container engine could not run'), ('scorer', "the benchmark's scorer failed; its organisers are told"), ('outdated', 'the server is in the middle of an upgrade'), ('withdrawn', 'withdrawn'), ('superseded', 'another scoring took its place')], default='', max_length=20),
        ),
        migrations.AlterField(
            model_name='run',
            name='reason',
            field=models.CharField(blank=True, choices=[('', 'None'), ('bad_predictions', 'the predictions do not fit the format'), ('time', 'scoring the file took longer than allowed'), ('memory', 'scoring the file took more memory than allowed'), ('output', 'scoring the file gave no usable report'), ('exit', 'the scorer stopped with an error'), ('bad_gold', "the benchmark's own files are at fault; its organisers are told"), ('bad_report', 'the scorer reported impossible numbers'), ('sandbox', 'the sandbox could not run'), ('storage', 'a stored file is missing or altered'), ('lost', 'the workers stopped in the middle, each time'), ('internal', 'an error of ours'), ('bad_image', 'the image cannot be accepted'), ('system_exit', 'the container ended with an error'), ('system_time', 'the container reached its time limit'), ('resources', 'the container reached its limit of memory, processes or space'), ('system_output', 'the container left no predictions that can be used'), ('engine', 'the container engine could not run'), ('scorer', "the benchmark's scorer failed; its organisers are told"), ('outdated', 'the server is in the middle of an upgrade'), ('withdrawn', 'withdrawn'), ('superseded', 'another scoring took its place')], default='', max_length=20),
        ),
        migrations.AlterField(
            model_name='run',
            name='task_version',
            field=models.PositiveIntegerField(help_text="the task's, or the scorer's number"),
        ),
        migrations.AddConstraint(
            model_name='imageupload',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('benchmark', None), ('phase__isnull', False)), models.Q(('benchmark__isnull', False), ('phase', None)), _connector='OR'), name='image_upload_is_a_systems_or_a_scorers'),
        ),
        migrations.AddField(
            model_name='scorer',
            name='benchmark',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='scorers', to='leaderboard.benchmark'),
        ),
        migrations.AddField(
            model_name='scorer',
            name='created_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='scorer',
            name='image',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='scorers', to='leaderboard.image'),
        ),
        migrations.AddField(
            model_name='phase',
            name='scorer',
            field=models.ForeignKey(blank=True, help_text="the organisers' own, which scores in the task's place; none: the task scores", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='phases', to='leaderboard.scorer'),
        ),
        migrations.AddField(
            model_name='run',
            name='scorer',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='leaderboard.scorer'),
        ),
        migrations.AddConstraint(
            model_name='run',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('state', 'done'), _negated=True), models.Q(models.Q(('outcomes', ''), _negated=True), models.Q(('outcomes_sha256', ''), _negated=True)), models.Q(('outcomes', ''), ('outcomes_sha256', ''), ('scorer__isnull', False)), _connector='OR'), name='run_done_has_outcomes'),
        ),
        migrations.AddConstraint(
            model_name='scorer',
            constraint=models.UniqueConstraint(fields=('benchmark', 'number'), name='scorer_number_once_a_benchmark'),
        ),
        migrations.AddConstraint(
            model_name='scorer',
            constraint=models.CheckConstraint(condition=models.Q(('number__gte', 1)), name='scorer_numbers_from_one'),
        ),
        migrations.RunPython(forbid_updates, allow_updates),
    ]
