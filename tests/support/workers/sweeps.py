"""A sweep of all background work, as the process `beat` makes it."""

from leaderboard import jobs


def sweep() -> None:
    """Run all steps. An error in one is raised."""
    for step in jobs.steps().values():
        step()
