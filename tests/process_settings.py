"""The site's settings for processes that a test starts.

With TEST_CODE_SHA256 they accept the test's sandbox server as one with the same code. Otherwise a source file that is
saved while the tests run would stop them: the server was started before, and the site refuses a server with other code.
"""

import os

from evaluator import code_digest
from leaderboard.settings import *  # noqa: F403

if sha256 := os.environ.get("TEST_CODE_SHA256"):
    code_digest.SHA256 = sha256
# Each board's pictures take a second of processor time.
PLOT_PICTURES = False
