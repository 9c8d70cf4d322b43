"""The server as a program of its own: `python -I .../evaluator/sandbox/__main__.py --socket PATH`.

Isolated mode leaves the project's folder off the import path; this file knows where it is.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
    from evaluator.sandbox.server import main

    sys.exit(main())
