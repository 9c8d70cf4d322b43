#!/usr/bin/env python3
"""Django's entry: `python manage.py COMMAND`."""

import os
import sys


def main() -> None:
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
