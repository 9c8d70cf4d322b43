"""Exit statuses of the commands."""

DONE = 0
FOUND_ERRORS = 1  # an audit ran and found errors that block publishing
BAD_PREDICTIONS = 2  # or a bad image; its author has to fix it
BAD_GOLD = 3  # or bad inputs
INTERNAL_ERROR = 4  # no engine, no server, or an internal error: a retry may work
WRONG_USAGE = 64
NOT_YET = 75  # the submission is not finished; retry later
INTERRUPTED = 130
