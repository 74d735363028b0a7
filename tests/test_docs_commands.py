"""Every command line in a block of the documentation is run, in a small project that has the files it speaks of."""

from __future__ import annotations

import importlib.util
import itertools
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from benchmarks.warm import Warm

from documented import NAN, RANKS, SICK, command_lines, git, write_project
from workshop import TRAIN, Workshop, wait_for_line

NOT_RUN = {
    "make demo": "makes an environment of its own; CI runs it, and `paramedic demo` is run here",
    "make test": "is what runs this test",
    "pip install paramedic": "needs the package index; tests/test_install.py installs the wheel",
    "pip install 'paramedic[live]'": "needs the package index",
}
SERVERS = {("serve",), ("run", "--live")}
TROUBLE = {"cure": SICK, "replay": NAN}  # commands that want a script with a fault
HELLO = (
    '{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
    '"capabilities": {}, "clientInfo": {"name": "reader", "version": "1"}}}\n'
)
TRACKERS = {"wandb", "mlflow", "trackio"}
WRITTEN = ("--html", "--sarif", "--junit", "--diff", "--out", "-o", "--tensorboard", "--copy-weights")
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
    healthy = (folder / "train.py").read_text()
    for script in (NAN, healthy, healthy):
        shop.write("train.py", script)
        shop.paramedic("run", "train.py")
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
    if words[0] in TROUBLE:
        project.write("train.py", TROUBLE[words[0]])
        git(project.folder, "commit", "-qam", "trouble")  # `cure --write` wants a clean tree
    if "torchrun" in line or ("-m" in words and "mypackage.train" not in words):
        project.write("train.py", RANKS)
        runner = ["-m", "torch.distributed.run"] if "torchrun" in line else ["-m", "paramedic"]
        expect(project.python(*runner, *words), words, project.folder)
    elif words[0] == "replay" and "--" not in words:
        done = project.paramedic(*words)  # it asks before it runs what stands in a file, and nobody is here to answer
        assert done.code == 2 and "Traceback" not in done.stderr and "the bundle's command" in done.stderr
    elif words[0] == "mcp":
        expect(project.python("-m", "paramedic", *words, input=HELLO), words, project.folder)
    elif (words[0],) in SERVERS or tuple(words[:2]) in SERVERS:
        serves(project, words)
    elif words[0] in ("dump", "bundle"):
        asks(project, words[0])
    elif TRACKERS & set(words) and importlib.util.find_spec(words[-1]) is None:
        done = project.paramedic(*words)
        assert done.code == 2 and f"paramedic[{words[-1]}]" in done.stderr
    else:
        expect(project.paramedic(*words), words, project.folder)


def typed(line: str, past: Past) -> list[str]:
    """The words behind `paramedic` (or `torchrun`), with what the page's placeholders stand for."""
    ids = iter(past.runs)
    line = re.sub(r"(node\d)/\S*runs/\S+", r"\1/.paramedic/runs/ID", line).replace("~/my-model", ".")
    line = re.sub(r"\S+/main-step17\.pt", "BUNDLE", line)
    words = [RUN_ID.sub(lambda _: next(ids), word) for word in shlex.split(line)[1:]]
    return [past.bundle if word == "BUNDLE" else word for word in words]


def expect(done: object, words: list[str], folder: Path) -> None:
    code, said = done.code, done.stdout + done.stderr  # type: ignore[attr-defined]
    assert code in (0, 1) and said and "Traceback" not in said.split("Verdict")[-1], said
    for option, name in itertools.pairwise(words):
        if option in WRITTEN:
            assert (folder / name).exists(), f"{name} was not written: {said}"


def serves(project: Workshop, words: list[str]) -> None:
    """It says where its page is, and ends when it is told to."""
    command = [sys.executable, "-m", "paramedic", *words]
    process = subprocess.Popen(
        command, cwd=project.folder, env=project.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        assert process.stdout is not None
        assert any("http://127.0.0.1" in line for line in process.stdout), "no address was told"
        process.terminate()
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()


def asks(project: Workshop, what: str) -> None:
    """A run is asked where it is, or for its next step, and goes on."""
    project.write("busy.py", TRAIN + "train(8)\nprint('ready', flush=True)\nwhile True:\n    train(8, pause=0.05)\n")
    process = project.start("run", "busy.py")
    try:
        wait_for_line(process, "ready")
        done = project.paramedic(what, *([process.pid] if what == "dump" else []))
        assert done.code == 0 and ("busy.py" if what == "dump" else ".pt") in done.stdout, done.stderr
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
