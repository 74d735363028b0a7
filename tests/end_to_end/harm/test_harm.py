"""Programs that notice when their code is called: they print and leave behind the same with and without paramedic.

Each prints what it wants compared: losses, counters, random numbers. The files that it writes are compared as well.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchmarks.warm import Warm

from workshop import Workshop

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
OURS = (".paramedic", "out.json", "stdout.txt", "stderr.txt", "__pycache__")


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_nothing_a_program_can_notice_is_different(tmp_path: Path, warm: Warm, program: Path) -> None:
    alone, watched = Workshop(tmp_path / "alone", warm), Workshop(tmp_path / "watched", warm)
    for shop in (alone, watched):
        shop.folder.mkdir()
        shutil.copy(program, shop.folder / "train.py")
    plain, seen = alone.python("train.py"), watched.run("train.py")
    assert plain.code == 0, plain.stderr
    assert seen.stdout == plain.stdout, seen.stderr
    assert _left_behind(watched.folder) == _left_behind(alone.folder)
    assert seen.alarms == [] and seen.code == 0, seen.stderr
    assert seen.found["run"]["steps"] > 0 and seen.found["rules"]["crashed"] == []
    assert not [notice for notice in seen.found["run"]["notices"] if "failed" in notice]


def _left_behind(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in files
        if not set(path.relative_to(folder).parts) & set(OURS)
    }
