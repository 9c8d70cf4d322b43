"""SQLite refuses changes of a submission's track again: 0060 copied the table, without its trigger.

The next migration that alters the table of submissions has to create the trigger, too.
"""

from django.db import migrations

CREATE = """
CREATE TRIGGER IF NOT EXISTS leaderboard_submission_track BEFORE UPDATE OF track ON leaderboard_submission
WHEN NEW.track <> OLD.track BEGIN SELECT RAISE(ABORT, 'the track of a submission is immutable'); END
"""


def create(apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(CREATE)


class Migration(migrations.Migration):
    safe_with = ""
    dependencies = [("leaderboard", "0067_standing_by_release")]

    operations = [migrations.RunPython(create, migrations.RunPython.noop)]
