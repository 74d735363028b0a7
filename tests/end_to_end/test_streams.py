"""What surrounds a script: its streams, its modules, its descriptors, signals, and rules of other packages."""

from __future__ import annotations

import os
import signal
import time

import pytest

from workshop import TIMEOUT, TRAIN, Workshop, wait_for_line


@pytest.mark.parametrize("closed", [(2,), (0, 1, 2)], ids=str)
def test_closed_streams_stay_silent(shop: Workshop, closed: tuple[int, ...]) -> None:
    shop.write("train.py", TRAIN + "import sys\ntrain(30)\nprint('mine', sys.stderr)\nsys.exit('no data today')\n")
    done = shop.run("train.py", prepare=lambda: [os.close(number) for number in closed])
    assert (done.code, done.stderr) == (1, "")
    assert done.stdout == ("" if 1 in closed else "mine None\n")
    assert done.found["run"]["steps"] == 30 and done.found["rules"]["crashed"] == []


MODULES = """
import sys
import time
import statistics, rich
from psutil import mine
print(statistics.mine, rich.mine, mine, sys.path[0])
train(30)
import statistics as again
print(again is statistics, "rich.console" in sys.modules)
"""


def test_modules_named_like_those_of_others_are_the_scripts_own(shop: Workshop) -> None:
    for name in ("statistics", "rich", "psutil", "contextlib_mine"):
        shop.write(f"{name}.py", f"mine = {name!r}\n")
    shop.write("train.py", TRAIN + MODULES)
    plain, done = shop.python("train.py"), shop.run("train.py", options=("--html", "page.html"))
    assert plain.code == done.code == 0, done.stderr
    assert done.stdout == plain.stdout
    assert done.found["run"]["steps"] == 30 and done.found["run"]["notices"] == []
    assert (shop.folder / "page.html").stat().st_size > 1000


@pytest.mark.parametrize("name", ["queue", "random"])
def test_a_module_that_torch_needs_fails_as_it_does_alone(shop: Workshop, name: str) -> None:
    shop.write(f"{name}.py", "mine = True\n")
    shop.write("train.py", f"import {name}\nprint({name}.mine, flush=True)\n" + TRAIN + "train(3)\n")
    plain, done = shop.python("train.py"), shop.run("train.py")
    assert plain.code == 1
    assert (done.code, done.stdout) == (plain.code, plain.stdout)
    assert "Error" in plain.stderr and f"'{name}'" in done.stderr  # perhaps at another place: we have loaded some


def _package(shop: Workshop, name: str, text: str) -> None:
    shop.write(f"packages/{name}.py", text)
    shop.write(f"packages/{name}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    shop.write(f"packages/{name}-1.0.dist-info/entry_points.txt", f"[paramedic.rules]\n{name} = {name}\n")


RULE = '''
import sys
from paramedic.rules import rule

@rule("XY101", "hasty-exit", severity="warning", needs=[])
def check(run):
    """Leaves."""
    sys.exit(9)
'''


def test_bad_rules_of_other_packages_cost_one_line_each(shop: Workshop) -> None:
    _package(shop, "broken", "raise RuntimeError('half installed')\n")
    _package(shop, "leaving", "import sys\nsys.exit(8)\n")
    _package(shop, "hasty", RULE)
    shop.write("train.py", TRAIN + "train(30)\nprint('trained')\nraise SystemExit(4)\n")
    path = os.pathsep.join((str(shop.folder / "packages"), shop.env["PYTHONPATH"]))
    done = shop.run("train.py", env={"PYTHONPATH": path})
    assert (done.code, done.stdout) == (4, "trained\n"), done.stderr
    for package in ("broken", "leaving"):
        assert len([line for line in done.stderr.splitlines() if f"the rules of {package} are skipped" in line]) == 1
    assert [crash["code"] for crash in done.found["rules"]["crashed"]] == ["XY101"], done.stderr


NATIVE = """
import ctypes, os
train(30)
for number in range(3, 256):
    ctypes.CDLL(None).close(number)
files = [os.open(f"mine{n}.bin", os.O_RDWR | os.O_CREAT) for n in range(20)]
train(300, pause=0.002)
print([os.fstat(number).st_size for number in files] == [0] * 20)
"""


def test_nothing_lands_in_files_that_got_our_numbers(shop: Workshop) -> None:
    shop.write("train.py", TRAIN + NATIVE)
    done = shop.run("train.py")
    assert (done.code, done.stdout) == (0, "True\n"), done.stderr
    assert [path.stat().st_size for path in sorted(shop.folder.glob("mine*.bin"))] == [0] * 20


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_the_run_at_once_and_the_verdict_is_given(shop: Workshop, name: str) -> None:
    if signal.getsignal(signal.Signals[name]) is signal.SIG_IGN:
        pytest.skip("whoever runs these tests has it ignored, as nohup does")
    again = "train(10**6, softmax=True, pause=0.01)"
    shop.write("train.py", TRAIN + f"train(30, softmax=True)\nprint('ready', flush=True)\n{again}\n")
    process = shop.start("run", "train.py")
    wait_for_line(process, "ready")
    time.sleep(2)  # the record is written a few times a second
    process.send_signal(signal.Signals[name])
    _, stderr = process.communicate(timeout=TIMEOUT)
    assert process.returncode == -signal.Signals[name]
    assert f"ended by {name} at step" in stderr and "PM502" in stderr and "Verdict:" in stderr
    page = shop.paramedic("report", "--format", "html").stdout
    assert f"it was ended by {name}" in page, "what ended it is known, and kept"
