"""Details of tokens, in a migration of their own: those of knox depend on the table of users in `0001_initial`."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0001_initial'),
        ('knox', '0009_extend_authtoken_field'),
    ]

    operations = [
        migrations.CreateModel(
            name='TokenDetails',
            fields=[
                ('token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='details', serialize=False, to='knox.authtoken')),
                ('name', models.CharField(blank=True, max_length=60)),
                ('scope', models.CharField(choices=[('read', 'read only'), ('submit', 'read and submit')], default='submit', max_length=6)),
                ('last_used', models.DateField(blank=True, help_text='to the day, so that most requests write nothing', null=True)),
            ],
        ),
    ]
