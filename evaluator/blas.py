"""Limit NumPy's linear algebra to one thread, as in the server's sandbox. Import this module before NumPy.

Floating-point sums then agree with the server's to the last digit, and on a busy machine small matrix products do not
wait for a second core.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
