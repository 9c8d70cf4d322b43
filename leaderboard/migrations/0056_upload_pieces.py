"""Stored pieces of chunked uploads are rows of their own, instead of a column that grows with each piece."""

from django.db import migrations, models

KINDS = ("ImageUpload", "RawUpload")


def move_names(apps, schema_editor):
    """Create a row for each stored piece. Their names end with the offset, and perhaps a suffix of the storage."""
    pieces = apps.get_model("leaderboard", "UploadPiece")
    for kind in KINDS:
        for key, names in apps.get_model("leaderboard", kind).objects.values_list("pk", "pieces"):
            pieces.objects.bulk_create(
                pieces(upload=key, offset=int(name.rsplit("/", 1)[1][:14]), name=name) for name in names
            )


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0054_archive_imports_are_work")]
    operations = [
        migrations.CreateModel(
            name="UploadPiece",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("upload", models.UUIDField()),
                ("offset", models.PositiveBigIntegerField()),
                ("name", models.CharField(max_length=255)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("upload", "offset"), name="one_piece_at_an_offset")
                ]
            },
        ),
        migrations.RunPython(move_names, migrations.RunPython.noop, elidable=True),
        *(migrations.RemoveField(model_name=kind.lower(), name="pieces") for kind in KINDS),
    ]
