"""Follows of benchmarks, the list of notices on the site, lost ranks, and public profiles."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def keep_what_users_had(apps, schema_editor):
    """Mark notices that were sent as read, and go on mailing announcements to those who get mails."""
    notices = apps.get_model("leaderboard", "Notice").objects.all()
    notices.update(read_at=models.F("created_at"))
    apps.get_model("leaderboard", "User").objects.update(news_mailed_since=models.F("mailed_since"))


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0038_way_back'),
    ]

    operations = [
        migrations.CreateModel(
            name='Follow',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['benchmark__title'],
            },
        ),
        migrations.CreateModel(
            name='Profile',
            fields=[
                ('user', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='profile', serialize=False, to=settings.AUTH_USER_MODEL)),
                ('is_public', models.BooleanField(default=False)),
                ('name', models.CharField(max_length=100)),
                ('affiliation', models.CharField(blank=True, max_length=200)),
                ('url', models.URLField(blank=True, max_length=300)),
                ('orcid', models.CharField(blank=True, help_text='with hyphens; its check digit is right', max_length=19)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='RankSnapshot',
            fields=[
                ('leaderboard', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='rank_snapshot', serialize=False, to='leaderboard.leaderboard')),
                ('revision', models.PositiveBigIntegerField()),
                ('rows', models.JSONField()),
                ('notified_at', models.DateTimeField(null=True)),
            ],
        ),
        migrations.AddField(
            model_name='notice',
            name='read_at',
            field=models.DateTimeField(blank=True, help_text='when its user marked it as read', null=True),
        ),
        migrations.AddField(
            model_name='user',
            name='news_mailed_since',
            field=models.DateTimeField(blank=True, editable=False, help_text='mail is sent for announcements and deadlines after this time; null: never', null=True),
        ),
        migrations.AlterField(
            model_name='notice',
            name='state',
            field=models.CharField(choices=[('queued', 'Queued'), ('done', 'delivered'), ('failed', 'failed after all attempts'), ('site', 'on the site only')], default='queued', max_length=10),
        ),
        migrations.AddIndex(
            model_name='notice',
            index=models.Index(fields=['subject'], name='notice_of_event'),
        ),
        migrations.AddIndex(
            model_name='notice',
            index=models.Index(condition=models.Q(('read_at', None), ('webhook', None)), fields=['user'], name='notice_unread'),
        ),
        migrations.AddField(
            model_name='follow',
            name='benchmark',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='follows', to='leaderboard.benchmark'),
        ),
        migrations.AddField(
            model_name='follow',
            name='user',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='follows', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='follow',
            constraint=models.UniqueConstraint(fields=('user', 'benchmark'), name='follow_once'),
        ),
        migrations.RunPython(keep_what_users_had, migrations.RunPython.noop),
    ]
