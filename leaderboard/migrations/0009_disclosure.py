"""Disclosure policies, halves by group, finals; predictions keep the order in which they were there."""

import django.core.validators
import django.db.models.deletion
import leaderboard.models.dataset
from django.conf import settings
from django.db import migrations, models


TABLE = "leaderboard_division"


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


def number_arrivals(apps, schema_editor):
    """What is there was there when its file was complete."""
    predictions = apps.get_model("leaderboard", "Prediction").objects.filter(state="done")
    last = {}
    ordered = predictions.order_by("finished_at", "submission_id").values_list("pk", "submission__phase_id")
    for pk, phase in ordered.iterator():
        last[phase] = last.get(phase, 0) + 1
        predictions.filter(pk=pk).update(arrival=last[phase])


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0008_scorers'),
    ]

    operations = [
        migrations.CreateModel(
            name='Division',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('share', models.DecimalField(decimal_places=6, help_text='of the groups that was to be public', max_digits=7)),
                ('seed', models.PositiveBigIntegerField(help_text='of the draw')),
                ('n_public', models.PositiveIntegerField(help_text='groups')),
                ('n_private', models.PositiveIntegerField(help_text='groups')),
                ('file', models.FileField(storage=leaderboard.models.dataset.gold_storage, upload_to=leaderboard.models.dataset.unguessable_name)),
                ('sha256', models.CharField(max_length=64)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name='Final',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('chosen_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['phase', 'team', 'chosen_at'],
            },
        ),
        migrations.AddField(
            model_name='phase',
            name='finals_per_team',
            field=models.PositiveSmallIntegerField(default=1, help_text='how many a team may choose in a sealed phase', validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AddField(
            model_name='phase',
            name='half',
            field=models.CharField(blank=True, choices=[('', 'all groups'), ('public', 'the public half'), ('private', 'the private half')], default='', max_length=10),
        ),
        migrations.AddField(
            model_name='phase',
            name='quota_everybody',
            field=models.PositiveIntegerField(blank=True, help_text='of all teams together; null: no limit', null=True, validators=[django.core.validators.MinValueValidator(1)]),
        ),
        migrations.AddField(
            model_name='phase',
            name='scope',
            field=models.CharField(choices=[('team', 'each team its own'), ('task', 'one for everybody')], default='team', help_text='of a ladder', max_length=10),
        ),
        migrations.AddField(
            model_name='phase',
            name='sealed_until',
            field=models.DateTimeField(blank=True, help_text='of a sealed phase: when its finals are scored', null=True),
        ),
        migrations.AddField(
            model_name='phase',
            name='unsealed_at',
            field=models.DateTimeField(blank=True, help_text='when that was done', null=True),
        ),
        migrations.AddField(
            model_name='prediction',
            name='arrival',
            field=models.PositiveIntegerField(blank=True, help_text="which of its phase's predictions it was to be there, from 1; null: not yet", null=True),
        ),
        migrations.AddField(
            model_name='score',
            name='n_groups',
            field=models.PositiveIntegerField(help_text="groups of gold that the slice has units of: a ladder's step; null: not counted", null=True),
        ),
        migrations.AlterField(
            model_name='phase',
            name='disclosure',
            field=models.CharField(choices=[('full', 'Full'), ('ladder', 'Ladder'), ('sealed', 'Sealed')], default='full', max_length=10),
        ),
        migrations.AddConstraint(
            model_name='phase',
            constraint=models.CheckConstraint(condition=models.Q(('quota_everybody', None), ('quota_everybody__gte', 1), _connector='OR'), name='phase_quota_of_all_is_positive'),
        ),
        migrations.AddConstraint(
            model_name='phase',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('closes_at__isnull', False), ('closes_at__lte', models.F('sealed_until')), ('disclosure', 'sealed'), ('sealed_until__isnull', False)), models.Q(models.Q(('disclosure', 'sealed'), _negated=True), ('sealed_until', None), ('unsealed_at', None)), _connector='OR'), name='phase_is_sealed_until_it_has_closed'),
        ),
        migrations.AddField(
            model_name='division',
            name='created_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='division',
            name='gold',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='division', to='leaderboard.goldversion'),
        ),
        migrations.AddField(
            model_name='final',
            name='chosen_by',
            field=models.ForeignKey(help_text='null: by default', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddField(
            model_name='final',
            name='phase',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='finals', to='leaderboard.phase'),
        ),
        migrations.AddField(
            model_name='final',
            name='submission',
            field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='final', to='leaderboard.submission'),
        ),
        migrations.AddField(
            model_name='final',
            name='team',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='finals', to='leaderboard.team'),
        ),
        migrations.AddConstraint(
            model_name='division',
            constraint=models.CheckConstraint(condition=models.Q(('n_public__gte', 1), ('n_private__gte', 1)), name='both_halves_have_groups'),
        ),
        migrations.RunPython(number_arrivals, migrations.RunPython.noop),
        migrations.RunPython(forbid_updates, allow_updates),
    ]
