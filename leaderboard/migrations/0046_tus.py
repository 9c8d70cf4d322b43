"""Metadata of uploads by the tus protocol, which are returned to the client."""

from django.db import migrations, models

# The default is the database's: web hosts of the previous release insert rows after the migration.
METADATA = models.TextField(
    blank=True, db_default='', default='', help_text='the header Upload-Metadata, as it was sent'
)


class Migration(migrations.Migration):

    dependencies = [
        ('leaderboard', '0045_webhook_secrets'),
    ]

    operations = [
        migrations.AddField('imageupload', 'metadata', METADATA.clone()),
        migrations.AddField('rawupload', 'metadata', METADATA.clone()),
    ]
