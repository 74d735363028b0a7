"""Experiments of `paramedic diagnose` leave the user's files alone, whichever function would change them."""

from __future__ import annotations

import os
from pathlib import Path

from workshop import Workshop

# Carried out in a copy of the folder. Names of things that stay as they are lead to the user's own.
SCRIPT = """
import os, pathlib, shutil, sqlite3, sys
from paramedic.lab import guard, scratch

mine, copied, own = map(pathlib.Path, sys.argv[1:4])
outside = pathlib.Path(sys.argv[4])
scratch.copy(mine, copied)
os.chdir(copied)
import mmap
import numpy, torch
guard.protect(mine, copied, own)

def write(path, mode):
    with open(path, mode) as file:
        file.write(b"changed" if "b" in mode else "changed")

def by_hand(path, flags):
    number = os.open(path, flags)
    os.ftruncate(number, 3)
    os.close(number)

def mapped(path):
    with open(path, "r+b") as file, mmap.mmap(file.fileno(), 0) as view:
        view[:3] = b"abc"

def table(path):
    connection = sqlite3.connect(path)
    connection.execute("create table if not exists t (a)")
    connection.commit()

def in_folder(path):
    number = os.open(os.path.dirname(path) or ".", os.O_RDONLY)
    try:
        os.unlink(os.path.basename(path), dir_fd=number)
    finally:
        os.close(number)

def by_number(path):
    with open(path, "rb") as file:
        os.chmod(file.fileno(), 0o600)

ways = {
    "truncate": lambda path: os.truncate(path, 10),
    "open w": lambda path: write(path, "wb"),
    "open a": lambda path: write(path, "a"),
    "open r+": lambda path: write(path, "r+b"),
    "os.open": lambda path: by_hand(path, os.O_RDWR),
    "pathlib": lambda path: pathlib.Path(path).write_text("changed"),
    "memmap": lambda path: numpy.memmap(path, mode="r+", shape=3, dtype="u1").fill(1),
    "mmap": mapped,
    "torch.save": lambda path: torch.save({}, path),
    "chmod": lambda path: os.chmod(path, 0o777),
    "fchmod": by_number,
    "utime": lambda path: os.utime(path, (0, 0)),
    "link": lambda path: (os.link(path, "linked.bin"), write("linked.bin", "wb")),
    "sqlite": table,
    "replace": lambda path: (write("new.bin", "wb"), os.replace("new.bin", path)),
    "rename": lambda path: os.rename(path, path + ".old"),
    "copy": lambda path: shutil.copyfile("train.py", path),
    "move": lambda path: shutil.move("train.py", path),
    "unlink": in_folder,
    "remove": os.remove,
}

def attempt(name, do, path):
    for made in ("linked.bin", "new.bin"):
        pathlib.Path(made).unlink(missing_ok=True)
    pathlib.Path("train.py").write_text("x")
    try:
        do(str(path))
    except PermissionError as error:
        return "refused" if "--in-place" in str(error) else repr(error)
    except (OSError, sqlite3.Error) as error:
        return repr(error)
    return "done"

for name, do in ways.items():
    link = pathlib.Path("data/large.bin")
    if not link.is_symlink():
        link.unlink(missing_ok=True)
        link.symlink_to(mine / "data" / "large.bin")
    found = [attempt(name, do, path) for path in (link, mine / "data" / "large.bin", mine / "small.txt", outside)]
    print(name, *found)
folders = {
    "makedirs": lambda path: os.makedirs(f"{path}/new/deep"),
    "rmtree": lambda path: shutil.rmtree(path),
    "symlink": lambda path: os.symlink("/", f"{path}/link"),
}
for name, do in folders.items():
    print(name, attempt(name, do, mine / "data"), attempt(name, do, outside.parent))
os.makedirs("results/deep")
write("results/deep/model.bin", "wb")
os.symlink(mine / "data", "shortcut")
print("through a link to a folder", attempt("", lambda path: write(path, "wb"), "shortcut/large.bin"))
print("read", len((mine / "data" / "large.bin").read_bytes()))
"""


def _as_it_is(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    found = {}
    for path in [folder, *folder.rglob("*")]:
        state = path.lstat()
        content = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (content, state.st_mode, state.st_mtime_ns)
    return found


def test_every_way_to_write_ends_in_the_copy_or_is_refused(shop: Workshop) -> None:
    mine, copied, own, outside = (shop.folder / name for name in ("mine", "copied", "own", "elsewhere"))
    for folder in (mine / "data", outside, own):
        folder.mkdir(parents=True)
    (mine / "train.py").write_text("x")
    (mine / "small.txt").write_text("small")
    (mine / "data" / "large.bin").write_bytes(os.urandom(2_500_000))
    (outside / "checkpoint.pt").write_bytes(b"weeks of work")
    before = _as_it_is(mine) | _as_it_is(outside)
    shop.write("attack.py", SCRIPT)
    done = shop.python("attack.py", mine, copied, own, outside / "checkpoint.pt")
    assert _as_it_is(mine) | _as_it_is(outside) == before
    lines = done.stdout.splitlines()
    assert done.code == 0 and len(lines) == 25, done.stdout + done.stderr
    for line in lines[:20]:
        assert line.endswith(" refused refused refused"), line
        assert " done " in line or line.startswith(("sqlite", "fchmod")), line
    assert [line.split()[-2:] for line in lines[20:23]] == [["refused", "refused"]] * 3
    assert lines[23:] == ["through a link to a folder refused", "read 2500000"]
