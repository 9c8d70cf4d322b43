"""Indexes of the few rows that boards ask for, and room in PostgreSQL's pages of standings for new ranks."""

from django.db import migrations, models

# A page then has room for a second version of each of its rows. Such an update is a heap-only tuple (HOT): it touches no
# index, which costs a tenth, and the next ranking reuses the room. Existing pages get it as their rows are updated.
FILLFACTOR = 45


def leave_room(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"ALTER TABLE leaderboard_standing SET (fillfactor = {FILLFACTOR})")


def fill_pages(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("ALTER TABLE leaderboard_standing RESET (fillfactor)")


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0031_compared_pairs")]
    operations = [
        migrations.RunPython(leave_room, fill_pages),
        migrations.AddIndex(
            model_name="release",
            index=models.Index(
                condition=models.Q(("cost__isnull", False)), fields=["phase"], name="release_with_cost"
            ),
        ),
        migrations.AddIndex(
            model_name="system",
            index=models.Index(
                condition=models.Q(("anonymous_until__isnull", False)),
                fields=["anonymous_until"],
                name="system_anonymous",
            ),
        ),
        migrations.AddIndex(
            model_name="system",
            index=models.Index(
                condition=models.Q(("kind", "participant"), _negated=True),
                fields=["kind"],
                name="system_not_participant",
            ),
        ),
    ]
