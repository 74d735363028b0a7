"""Edits reach the user's files byte for byte: encodings, line endings, permissions, git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from paramedic.cure.patch import unified
from paramedic.cure.project import NotEditable, Project
from paramedic.cure.source import Source
from paramedic.cure.writing import check_clean, write
from paramedic.errors import ParamedicError

SCRIPT = "import torch.nn.functional as F\n\n\ndef head(x):  # Größe\n    return F.softmax(x, dim=1)  # why\n"


def cured(folder: Path, name: str) -> Project:
    """The project after an edit of the softmax in this file."""
    project = Project(folder=folder)
    source = project.source(name)
    call = source.calls("softmax")[0]
    return project.after(
        source.edit("without softmax", source.unwrap(call), source.before(source.statement_of(call), "pass"))
    )


def cured_pair(folder: Path) -> Project:
    """The project after edits of two files."""
    for name in ("one.py", "two.py"):
        (folder / name).write_text(SCRIPT)
    project = cured(folder, "one.py")
    source = project.source("two.py")
    return project.after(source.edit("", source.unwrap(source.calls("softmax")[0])))


@pytest.mark.parametrize(
    "data",
    [
        SCRIPT.encode(),
        SCRIPT.replace("\n", "\r\n").encode(),
        SCRIPT.encode("utf-8-sig"),
        b"# -*- coding: latin-1 -*-\n" + SCRIPT.encode("latin-1"),
        SCRIPT.rstrip("\n").encode(),
        SCRIPT.replace("    ", "\t").encode(),
        SCRIPT.encode() + b"\x0c\nlast = 'a\x0cb'\n",
    ],
    ids=["unix", "windows", "byte order mark", "latin-1", "no last newline", "tabs", "form feeds"],
)
def test_every_byte_outside_the_edit_stays(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "train.py"
    file.write_bytes(data)
    file.chmod(0o750)
    project = cured(tmp_path, "train.py")
    assert write(project) == ["train.py"]
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    indent = b"\t" if b"\t" in data else b"    "
    wanted = data.replace(b"F.softmax(x, dim=1)", b"x")
    wanted = wanted.replace(indent + b"return", indent + b"pass" + newline + indent + b"return")
    assert file.read_bytes() == wanted
    assert file.stat().st_mode & 0o777 == 0o750
    assert os.listdir(tmp_path) == ["train.py"]


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b""], ids=["unix", "windows", "no last newline"])
def test_git_applies_the_patch(tmp_path: Path, ending: bytes) -> None:
    folder = tmp_path / "below"
    folder.mkdir()
    data = SCRIPT.rstrip("\n").encode().replace(b"\n", ending or b"\n") + ending
    (folder / "train.py").write_bytes(data)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-A"], cwd=tmp_path, check=True)
    project = cured(folder, "train.py")
    patch = tmp_path / "fix.patch"
    patch.write_bytes(project.patch())
    subprocess.run(["git", "apply", str(patch)], cwd=folder, check=True)
    assert (folder / "train.py").read_bytes() == project.changed()["train.py"]


def test_a_dirty_tree_is_refused_and_a_clean_one_or_none_is_not(tmp_path: Path) -> None:
    check_clean(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    (tmp_path / "notes.txt").write_text("not known to git")
    check_clean(tmp_path)
    (tmp_path / "train.py").write_text(SCRIPT + "x = 1\n")
    with pytest.raises(ParamedicError, match="not committed"):
        check_clean(tmp_path)


def test_a_file_that_was_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    project = cured_pair(tmp_path)
    (tmp_path / "two.py").write_text("print('mine')\n")
    with pytest.raises(ParamedicError, match="meantime"):
        write(project)
    assert (tmp_path / "one.py").read_text() == SCRIPT  # all or none
    assert (tmp_path / "two.py").read_text() == "print('mine')\n"
    assert sorted(os.listdir(tmp_path)) == ["one.py", "two.py"]


def test_a_file_that_cannot_be_replaced_leaves_the_others_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = cured_pair(tmp_path)
    replace = os.replace

    def full(new: Path, path: Path) -> None:
        if path.name == "two.py":
            raise OSError(28, "No space left on device", str(path))
        replace(new, path)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ParamedicError, match="No space left"):
        write(project)
    assert [(tmp_path / name).read_text() for name in sorted(os.listdir(tmp_path))] == [SCRIPT, SCRIPT]


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    project = cured_pair(tmp_path)
    (tmp_path / "two.py").chmod(0o444)
    with pytest.raises(ParamedicError, match=r"two\.py is read-only"):
        write(project)
    assert [(tmp_path / name).read_text() for name in sorted(os.listdir(tmp_path))] == [SCRIPT, SCRIPT]


def test_a_file_that_git_does_not_know_is_written_only_by_force(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    project = cured(tmp_path, "train.py")
    for ignored in ("", "train.py\n", "*\n"):
        (tmp_path / ".gitignore").write_text(ignored)
        with pytest.raises(ParamedicError, match=r"git does not know train\.py"):
            write(project)
    (tmp_path / ".gitignore").unlink()
    with pytest.raises(ParamedicError, match="git does not know"):
        check_clean(tmp_path, tmp_path / "train.py")
    assert write(project, force=True) == ["train.py"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_a_file_keeps_its_owner(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    os.chown(tmp_path / "train.py", 1234, 1235)
    write(cured(tmp_path, "train.py"))
    state = (tmp_path / "train.py").stat()
    assert (state.st_uid, state.st_gid) == (1234, 1235)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.py").write_text(SCRIPT)
    (tmp_path / "train.py").symlink_to("real.py")
    write(cured(tmp_path, "train.py"))
    assert (tmp_path / "train.py").is_symlink()
    assert "softmax" not in (tmp_path / "real.py").read_text()


def test_files_elsewhere_are_not_edited(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "library.py").write_text(SCRIPT)
    project = Project(folder=tmp_path / "here")
    for name in (str(tmp_path / "library.py"), "../library.py", None, "missing.py"):
        with pytest.raises(NotEditable):
            project.source(name)


def test_a_file_that_does_not_parse_is_a_clear_error() -> None:
    with pytest.raises(ParamedicError, match=r"broken\.py cannot be parsed"):
        Source("broken.py", "def f(:\n")


def test_no_difference_is_no_patch() -> None:
    assert unified("train.py", b"a\n", b"a\n") == b""
