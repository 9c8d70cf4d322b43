"""Import before NumPy: one thread for its linear algebra, as in the server's sandbox.

Sums of fractions then come out the same to the last digit here and there, and on a busy machine small products do
not wait for a second core.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(name, "1")
