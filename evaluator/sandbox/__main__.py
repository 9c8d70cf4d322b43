"""Entry point of the sandbox server: `python -I .../evaluator/sandbox/__main__.py --socket PATH`.

Isolated mode (`python -I`) leaves the project's folder off the import path. This module adds it, and the folders of
`--path`.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    root = str(Path(__file__).resolve().parents[2])
    paths = [path for option, path in zip(sys.argv, sys.argv[1:], strict=False) if option == "--path"]
    sys.path[:0] = [root, *(path for path in paths if path not in sys.path)]
    from evaluator.sandbox.process.server import main

    sys.exit(main())
