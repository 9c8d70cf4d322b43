#!/usr/bin/env python3
"""Django's command-line entry point: `python manage.py COMMAND`; `python manage.py help` lists the commands."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "leaderboard.settings")
    # NumPy would start a thread for each core, and `serve` forks, which a process with threads must not.
    for library in ("OMP", "OPENBLAS"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    from django.core.management import execute_from_command_line
    from django.db import DatabaseError

    try:
        execute_from_command_line(sys.argv)
    except DatabaseError:
        if not _is_empty():
            raise
        from django.conf import settings

        sys.exit(
            f"{sys.argv[0]}: the database of {settings.DATA} has no tables yet. If your site is in another folder, "
            "set HOLDOUT_DATA to that folder. To make a new site in this one, run `manage.py migrate`."
        )


def _is_empty() -> bool:
    """Return True if the database has no tables, mostly because HOLDOUT_DATA names a wrong folder."""
    from django.db import DatabaseError, connection

    try:
        return not connection.introspection.table_names()
    except DatabaseError:  # the database cannot be reached; the caller raises the first error, which says so
        return False


if __name__ == "__main__":
    main()
