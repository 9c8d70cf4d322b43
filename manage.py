#!/usr/bin/env python3
"""Django's entry: `python manage.py COMMAND`."""

import os
import sys

FORMER_COMMANDS = {
    "compare": "compute_rank_ranges",
    "divide": "partition_split",
    "draw": "compute_plots",
    "tidy": "cleanup",
}
"""Former name of a command -> its name; they still work, with a warning."""


def main() -> None:
    if len(sys.argv) > 1 and sys.argv[1] in FORMER_COMMANDS:
        former, sys.argv[1] = sys.argv[1], FORMER_COMMANDS[sys.argv[1]]
        sys.stderr.write(f"{sys.argv[0]} {former} is deprecated: use {sys.argv[1]}\n")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    try:
        execute_from_command_line(sys.argv)
    except DatabaseError:
        if not _is_empty():
            raise
        from django.conf import settings

        sys.exit(
            f"{sys.argv[0]}: the database of {settings.DATA} has no tables yet. Is it the folder that HOLDOUT_DATA is "
            "to name? `manage.py migrate` makes a new site in it."
        )


def _is_empty() -> bool:
    """Whether nobody has ever migrated the database: a folder that was misspelt, mostly."""
    from django.db import DatabaseError, connection

    try:
        return not connection.introspection.table_names()
    except DatabaseError:  # it cannot be reached at all, which the first error says
        return False


if __name__ == "__main__":
    main()
