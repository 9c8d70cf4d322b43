"""Progress of rank ranges; boards of over 10,000 pairs are ranked again, by neighbours and the leader."""

from django.db import migrations, models
from django.db.models import F

MAX_PAIRS = 10_000


def rank_large_boards_again(apps, schema_editor):
    """Clear the ranges of boards on which fewer pairs count now. The sweep enqueues their computation."""
    large = apps.get_model("leaderboard", "Ranking").objects.filter(n_pairs__gt=MAX_PAIRS)
    boards = list(large.values_list("leaderboard", flat=True))
    standings = apps.get_model("leaderboard", "Standing").objects.filter(leaderboard__in=boards)
    standings.exclude(rank_low=None).update(rank_low=None, rank_high=None)
    large.update(changes=F("changes") + 1, failures=0, n_pairs=0)
    apps.get_model("leaderboard", "Leaderboard").objects.filter(pk__in=boards).update(revision=F("revision") + 1)


class Migration(migrations.Migration):
    dependencies = [("leaderboard", "0030_phase_ranked_sequence")]
    operations = [
        migrations.AddField(
            model_name="ranking",
            name="n_compared",
            field=models.PositiveIntegerField(default=0, help_text="how many of these pairs are compared"),
        ),
        migrations.AlterField(
            model_name="ranking",
            name="n_pairs",
            field=models.PositiveIntegerField(
                default=0,
                help_text="pairs in the family of the Holm correction; 0 until the first are compared after a change",
            ),
        ),
        migrations.RunPython(rank_large_boards_again, migrations.RunPython.noop),
    ]
