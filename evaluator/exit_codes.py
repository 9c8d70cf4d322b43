"""How a command ended, for scripts."""

DONE = 0
FOUND_ERRORS = 1  # an audit that ran, and found what blocks publishing
BAD_PREDICTIONS = 2  # or the image that was to make them: its author's to mend
BAD_GOLD = 3  # or inputs
OUR_FAULT = 4  # no engine, no server, a fault of ours: the same may work later
WRONG_USAGE = 64
NOT_YET = 75  # the submission is not over: the same will work later
INTERRUPTED = 130
