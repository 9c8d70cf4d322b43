"""A submission can be hidden from the boards of its phase."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0024_team_of_baselines'),
    ]

    operations = [
        migrations.CreateModel(
            name='HiddenSubmission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('reason', models.CharField(help_text='shown to its team and the organisers alone', max_length=300)),
                ('hidden_at', models.DateTimeField()),
                ('unhidden_at', models.DateTimeField(null=True)),
                ('hidden_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('submission', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='hidings', to='leaderboard.submission')),
                ('unhidden_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-hidden_at', '-id'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('unhidden_at', None)), fields=('submission',), name='hidden_once_at_a_time'), models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='hidden_for_a_reason'), models.CheckConstraint(condition=models.Q(models.Q(('unhidden_at', None), ('unhidden_by', None)), models.Q(('unhidden_at__gte', models.F('hidden_at')), ('unhidden_by__isnull', False)), _connector='OR'), name='unhidden_by_somebody_later')],
            },
        ),
    ]
