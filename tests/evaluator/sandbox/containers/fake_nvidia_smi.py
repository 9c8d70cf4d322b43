"""A fake `nvidia-smi`, which answers from a file and records what it was asked for. No GPU is involved."""

from __future__ import annotations

import json
import sys
from pathlib import Path

H100, L4 = "GPU-11111111-aaaa-bbbb-cccc-000000000001", "GPU-22222222-aaaa-bbbb-cccc-000000000002"
MIG = "GPU-33333333-aaaa-bbbb-cccc-000000000003"
LISTED = f"""\
1, {L4}, NVIDIA L4, 23034, [N/A]
0, {H100}, NVIDIA H100 80GB HBM3, 81559, Disabled
2, {MIG}, NVIDIA H100 80GB HBM3, 81559, Enabled
"""


class FakeNvidiaSmi:
    """The command and its answers. samples: one answer for each sample; the last is repeated."""

    def __init__(self, folder: Path, *, listed: str = LISTED, samples: list[str] | None = None) -> None:
        self.asked_file = folder / "asked"
        self.answers = folder / "answers.json"
        self.answers.write_text(json.dumps({"listed": listed, "samples": samples or [f"{H100}, 0, 4\n{L4}, 0, 4\n"]}))
        self.command = (sys.executable, __file__, str(folder))

    @property
    def asked(self) -> list[str]:
        """The arguments of each call."""
        return self.asked_file.read_text().splitlines() if self.asked_file.exists() else []


def answer(folder: Path, arguments: list[str]) -> str:
    answers = json.loads((folder / "answers.json").read_text())
    with (folder / "asked").open("a") as asked:
        asked.write(" ".join(arguments) + "\n")
    if "memory.total" in arguments[0]:
        return str(answers["listed"])
    n = sum("memory.used" in line for line in (folder / "asked").read_text().splitlines())
    return str(answers["samples"][min(n, len(answers["samples"])) - 1])


if __name__ == "__main__":
    sys.stdout.write(answer(Path(sys.argv[1]), sys.argv[2:]))
