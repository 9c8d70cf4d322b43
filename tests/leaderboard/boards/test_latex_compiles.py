"""Tables and references that boards give away, through TeX itself. Skipped where there is none on the machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.models import Benchmark, Phase
from tests.support.board_rows import stand, symmetric_scores
from tests.support.tiny_world import World, build
from tests.support.two_way_phase import cross, crossed_scores

pytestmark = pytest.mark.django_db
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
CELLS = {(a, b): 0.5 for a in ("generated", "original") for b in ("REFUTES", "SUPPORTS")}
LATIN = [
    "_ & % # $ ~ ^ \\ { }",
    "\\input{/etc/passwd} \\end{tabular} %",
    "[1ex] * \\\\ ] -- --- ?` !` `` '' ,, \" << >> <b>",
    "Ada Błaszczyk-Ðorđević ß éèe\u0301 ø ñ ç “quoted” ‘single’ – — … ©²×",  # noqa: RUF001  (as people write them)
    ("A system whose name is as long as names may be " * 5)[:200],
    "W" * 200,
    "^^M ^^5c\\relax",
]
OTHER = ["نظام التحقق", "מערכת", "事実検証システム", "система α β ≤ ∑", "👩‍🔬 🤖 🏳️‍🌈", "ไทย हिन्दी"]  # noqa: RUF001  (as people write them)
PREAMBLE = {
    "pdflatex": r"\usepackage[T1]{fontenc}\usepackage{lmodern}",
    "lualatex": r"",
}
MOST_SECONDS = 240


def set_by(engine: str, folder: Path, table: str) -> str:
    """What the engine says of a document with this table in it, which must come to an end without an error."""
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed (Debian: texlive-latex-recommended, lmodern)")
    (folder / "table.tex").write_text(table)
    document = rf"\documentclass{{article}}{PREAMBLE[engine]}\usepackage{{booktabs}}\begin{{document}}\input{{table}}"
    (folder / "paper.tex").write_text(document + "\n\\ref{x}\n\\end{document}\n")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=MOST_SECONDS)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-3000:]
    assert (folder / "paper.pdf").stat().st_size > 1000
    return said


def table_of(names: list[str], **query: str) -> str:
    world: World = build()
    cross(world)
    Benchmark.objects.update(title="100 % _claims_ & {braces} \\ #1")
    Phase.objects.update(title="~test^ $phase$")
    for place, name in enumerate(names):
        scores = [*crossed_scores(CELLS, whole=place / 10), *symmetric_scores(None)[-2:-1]]
        stand(world, name, scores, team=name[:90] if place % 2 else "")
    stand(world, "Floor", symmetric_scores(None), kind="baseline")
    answer = Client().get(f"{API}.tex", query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("slices", ["", "all"])
def test_pdflatex_sets_any_latin_name(tmp_path: Path, slices: str) -> None:
    said = set_by("pdflatex", tmp_path, table_of(LATIN, slices=slices))
    assert "LaTeX Error" not in said and "Undefined control" not in said


def test_lualatex_sets_any_name(tmp_path: Path) -> None:
    said = set_by("lualatex", tmp_path, table_of([*LATIN, *OTHER], slices="all"))
    assert "LaTeX Error" not in said


def test_an_empty_board_is_set(tmp_path: Path) -> None:
    build()
    set_by("pdflatex", tmp_path, Client().get(f"{API}.tex").content.decode())


def test_a_name_that_is_not_escaped_would_be_found(tmp_path: Path) -> None:
    table = table_of(["plain"])
    with pytest.raises(AssertionError, match="Undefined control sequence"):
        set_by("pdflatex", tmp_path, table.replace("plain", r"\plain"))


def test_bibtex_reads_the_entry(tmp_path: Path) -> None:
    if shutil.which("bibtex") is None:
        pytest.skip("bibtex is not installed (Debian: texlive-binaries)")
    table_of(LATIN)
    (tmp_path / "board.bib").write_text(Client().get(f"{API}.bib").content.decode())
    (tmp_path / "paper.aux").write_text("\\relax\n\\citation{*}\n\\bibdata{board}\n\\bibstyle{plain}\n")
    done = subprocess.run(["bibtex", "paper"], cwd=tmp_path, capture_output=True, check=False, timeout=60)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0 and "error" not in said.lower() and "warning" not in said.lower(), said
    assert "claims" in (tmp_path / "paper.bbl").read_text()
