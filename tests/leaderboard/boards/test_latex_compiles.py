"""Exported tables and references, compiled by TeX. Skipped where TeX is not installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from django.test import Client

from leaderboard.models import Benchmark, Phase
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.tiny_world import World, build
from tests.support.rows.two_way_phase import cross, crossed_scores

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


def compile_table(engine: str, folder: Path, table: str) -> str:
    """Output of the engine for a document with this table, which must finish without an error."""
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed (Debian: texlive-latex-recommended, lmodern)")
    (folder / "table.tex").write_text(table)
    document = rf"\documentclass{{article}}{PREAMBLE[engine]}\usepackage{{booktabs}}\begin{{document}}\input{{table}}"
    (folder / "paper.tex").write_text(document + "\n\\ref{x}\n\\end{document}\n")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    process = subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=MOST_SECONDS)
    output = process.stdout.decode(errors="replace")
    assert process.returncode == 0, output[-3000:]
    assert (folder / "paper.pdf").stat().st_size > 1000
    return output


def table_of(names: list[str], **query: str) -> str:
    world: World = build()
    cross(world)
    Benchmark.objects.update(title="100 % _claims_ & {braces} \\ #1")
    Phase.objects.update(title="~test^ $phase$")
    for index, name in enumerate(names):
        scores = [*crossed_scores(CELLS, whole=index / 10), *symmetric_scores(None)[-2:-1]]
        stand(world, name, scores, team=name[:90] if index % 2 else "")
    stand(world, "Floor", symmetric_scores(None), kind="baseline")
    answer = Client().get(f"{API}.tex", query)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.parametrize("slices", ["", "all"])
def test_pdflatex_compiles_any_latin_name(tmp_path: Path, slices: str) -> None:
    output = compile_table("pdflatex", tmp_path, table_of(LATIN, slices=slices))
    assert "LaTeX Error" not in output and "Undefined control" not in output


def test_lualatex_compiles_any_name(tmp_path: Path) -> None:
    output = compile_table("lualatex", tmp_path, table_of([*LATIN, *OTHER], slices="all"))
    assert "LaTeX Error" not in output


def test_an_empty_board_compiles(tmp_path: Path) -> None:
    build()
    compile_table("pdflatex", tmp_path, Client().get(f"{API}.tex").content.decode())


def test_an_unescaped_name_would_be_detected(tmp_path: Path) -> None:
    table = table_of(["plain"])
    with pytest.raises(AssertionError, match="Undefined control sequence"):
        compile_table("pdflatex", tmp_path, table.replace("plain", r"\plain"))


def test_bibtex_reads_the_entry(tmp_path: Path) -> None:
    if shutil.which("bibtex") is None:
        pytest.skip("bibtex is not installed (Debian: texlive-binaries)")
    table_of(LATIN)
    (tmp_path / "board.bib").write_text(Client().get(f"{API}.bib").content.decode())
    (tmp_path / "paper.aux").write_text("\\relax\n\\citation{*}\n\\bibdata{board}\n\\bibstyle{plain}\n")
    process = subprocess.run(["bibtex", "paper"], cwd=tmp_path, capture_output=True, check=False, timeout=60)
    output = process.stdout.decode(errors="replace")
    assert process.returncode == 0 and "error" not in output.lower() and "warning" not in output.lower(), output
    assert "claims" in (tmp_path / "paper.bbl").read_text()
