"""What the `holdout` command does beyond scoring: a system on one's own machine, and the talk with a server."""
