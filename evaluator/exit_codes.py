"""Exit statuses of the commands."""

DONE = 0
FOUND_ERRORS = 1  # an audit ran and found errors that block publishing
BAD_PREDICTIONS = 2  # or the image is invalid; its author has to fix it
BAD_GOLD = 3  # or the inputs are invalid; the curator has to fix them
INTERNAL_ERROR = 4  # or the Docker engine or the server is unavailable; a retry may work
WRONG_USAGE = 64
NOT_YET = 75  # the submission is not finished; retry later
INTERRUPTED = 130
