"""Every command line in a block of the documentation is run, in a small project that has the files it speaks of."""

from __future__ import annotations

import importlib.util
import re
import shlex
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from benchmarks.warm import Warm

from documented import NAN, RANKS, SICK, command_lines, write_project
from workshop import TRAIN, Workshop, wait_for_line

NOT_RUN = {
    "make demo": "makes an environment of its own; CI runs it, and `paramedic demo` is run here",
    "make test": "is what runs this test",
    "pip install paramedic": "needs the package index; tests/test_install.py installs the wheel",
    "pip install 'paramedic[live]'": "needs the package index",
}
SERVERS = {"serve", "--live"}
TRACKERS = {"wandb", "mlflow", "trackio"}
WRITTEN = ("--html", "--sarif", "--junit", "--diff", "--out", "-o", "--tensorboard", "--copy-weights", "--subset")
RUN_ID = re.compile(r"2026\d{4}-\d{4,6}(?:-\w{6})?")
LINES = sorted({line for line in command_lines() if line not in NOT_RUN})


@dataclass(frozen=True)
class Past:
    """A project with a past: two runs, and one that ended at a NaN and left a bundle."""

    folder: Path
    runs: list[str]
    bundle: str


@pytest.fixture(scope="session")
def past(tmp_path_factory: pytest.TempPathFactory, warm: Warm) -> Past:
    folder = tmp_path_factory.mktemp("documented")
    write_project(folder)
    shop = Workshop(folder, warm)
    shop.write("nan.py", NAN)
    for script in ("nan.py", "train.py", "train.py"):
        shop.paramedic("run", script)
    runs = sorted(path for path in (folder / ".paramedic" / "runs").iterdir() if (path / "main.db").exists())
    (bundle,) = runs[0].glob("*.pt")
    shop.paramedic("check", "--baseline", "known.json", "--update-baseline", "train.py")
    shutil.copy(folder / "known.json", folder / "paramedic-baseline.json")
    shutil.copy(bundle, folder / "main-step17.pt")
    return Past(folder, [path.name for path in runs[1:]], str(bundle.relative_to(folder)))


@pytest.fixture
def project(tmp_path: Path, warm: Warm, past: Past) -> Workshop:
    shutil.copytree(past.folder, tmp_path, dirs_exist_ok=True)
    return Workshop(tmp_path, warm)


def test_what_is_not_run_is_there() -> None:
    assert set(NOT_RUN) <= set(command_lines()) and len(LINES) > 80


@pytest.mark.parametrize("line", LINES)
def test_it_does_what_the_page_says(line: str, project: Workshop, past: Past) -> None:
    words = typed(line, past)
    if words[:1] == ["cure"]:
        project.write("train.py", SICK)
    if "torchrun" in line or ("-m" in words and "mypackage.train" not in words):
        project.write("train.py", RANKS)
        runner = ["-m", "torch.distributed.run"] if "torchrun" in line else ["-m", "paramedic"]
        expect(project.python(*runner, *words), words, project.folder)
    elif SERVERS & set(words):
        serves(project, words)
    elif words[0] == "dump":
        dumps(project)
    elif TRACKERS & set(words) and importlib.util.find_spec(words[-1]) is None:
        done = project.paramedic(*words)
        assert done.code == 2 and f"paramedic[{words[-1]}]" in done.stderr
    else:
        expect(project.paramedic(*words), words, project.folder)


def typed(line: str, past: Past) -> list[str]:
    """The words behind `paramedic` (or `torchrun`), with what the page's placeholders stand for."""
    ids = iter(past.runs)
    line = re.sub(r"\S+/main-step17\.pt", past.bundle, line).replace("BUNDLE", past.bundle).replace("~/my-model", ".")
    line = re.sub(r"(node\d/.paramedic/runs/)\S+", r"\1ID", line)
    return [RUN_ID.sub(lambda _: next(ids), word) for word in shlex.split(line)[1:]]


def expect(done: object, words: list[str], folder: Path) -> None:
    code, said = done.code, done.stdout + done.stderr  # type: ignore[attr-defined]
    assert code in (0, 1) and said and "Traceback" not in said.split("Verdict")[-1], said
    for option, name in pairwise(words):
        if option in WRITTEN:
            assert (folder / name).exists(), f"{name} was not written: {said}"


def serves(project: Workshop, words: list[str]) -> None:
    """It says where its page is, and ends when it is told to."""
    command = [sys.executable, "-m", "paramedic", *words]
    process = subprocess.Popen(
        command, cwd=project.folder, env=project.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        assert process.stderr is not None
        assert any("http://127.0.0.1" in line for line in process.stderr), "no address was told"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()


def dumps(project: Workshop) -> None:
    """A run that stands still is asked where it is, and goes on."""
    project.write("stuck.py", TRAIN + "import time\ntrain(8)\nprint('ready', flush=True)\ntime.sleep(600)\n")
    process = project.start("run", "stuck.py")
    try:
        wait_for_line(process, "ready")
        done = project.paramedic("dump", process.pid)
        assert done.code == 0 and "stuck.py" in done.stdout, done.stderr
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
