"""`paramedic run script` is `python script`: the same world for the script, the same answers for its caller."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workshop import TRAIN, Workshop

# Prints what a script can see of the way it was started.
WORLD = """
import inspect, json, os, pickle, sys

class Thing:
    pass

print(json.dumps({
    "argv": sys.argv,
    "name": __name__,
    "file": __file__,
    "package": __package__,
    "spec": __spec__ and __spec__.name,
    "path": sys.path,
    "cwd": os.getcwd(),
    "is main": sys.modules["__main__"].__dict__ is globals(),
    "pickles": type(pickle.loads(pickle.dumps(Thing()))) is Thing,
    "source": inspect.getsource(Thing),
    "flags": str(sys.flags),
    "stdin": sys.stdin.read(),
}))
"""


@pytest.mark.parametrize("path", ["train.py", "./train.py", "sub/train.py", "link.py", "absolute"])
def test_a_script_sees_the_same_world_as_under_python(shop: Workshop, path: str) -> None:
    written = shop.write("sub/train.py" if path in ("sub/train.py", "link.py") else "train.py", WORLD)
    if path == "link.py":
        (shop.folder / "link.py").symlink_to(written)
    script = str(written) if path == "absolute" else path
    plain = shop.python(script, "--lr", "0.1", input="from stdin\n")
    watched = shop.run(script, "--lr", "0.1", input="from stdin\n")
    assert watched.stdout.splitlines() == plain.stdout.splitlines()
    assert (watched.code, plain.code) == (0, 0)


def test_a_folder_with_main_is_a_script(shop: Workshop) -> None:
    shop.write("app/__main__.py", WORLD)
    shop.write("app/helper.py", "")
    plain, watched = shop.python("app", "x"), shop.run("app", "x")
    assert watched.code == plain.code == 0
    assert _world(watched.stdout) == _world(plain.stdout)


@pytest.mark.parametrize("module", ["pack.train", "pack"])
def test_dash_m_is_pythons_dash_m(shop: Workshop, module: str) -> None:
    shop.write("pack/__init__.py", "")
    shop.write("pack/train.py" if module == "pack.train" else "pack/__main__.py", "from . import other\n" + WORLD)
    shop.write("pack/other.py", "")
    plain = shop.python("-m", module, "lr=0.1", "--json", "mine.json")
    watched = shop.run("-m", module, "lr=0.1", "--json", "mine.json")
    assert watched.code == plain.code == 0
    assert _world(watched.stdout) == _world(plain.stdout)


def _world(stdout: str) -> dict[str, object]:
    seen: dict[str, object] = json.loads(stdout.splitlines()[0])
    return seen


HIDDEN = """
print(sorted(globals()))
import atexit, builtins, os, signal, sys, threading, warnings
print(sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__, sys.stdout is sys.__stdout__)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, signal.getsignal(signal.SIGTERM))
print(sys.gettrace(), sys.getprofile(), sys.getrecursionlimit(), warnings.filters == warnings.filters[:])
print(threading.excepthook is threading.__excepthook__, sorted(vars(builtins)) == sorted(set(dir(builtins))))
print(threading.active_count(), os.getcwd(), sys.getswitchinterval())
"""


def test_the_interpreter_is_as_the_script_would_find_it(shop: Workshop) -> None:
    shop.write("train.py", HIDDEN)
    assert shop.run("train.py").stdout.splitlines() == shop.python("train.py").stdout.splitlines()


ARGUMENTS = "import sys; print(sys.argv[1:])"


@pytest.mark.parametrize(
    ("line", "seen"),
    [
        ("run train.py --json a.json -v --help", "['--json', 'a.json', '-v', '--help']"),
        ("run -q train.py -m pack", "['-m', 'pack']"),
        ("run -- train.py --steps 3", "['--steps', '3']"),
        ("run train.py -- --steps 3", "['--', '--steps', '3']"),
        ("run --select PM5 --ignore=PM502 -vv train.py a b", "['a', 'b']"),
        ("check --steps 3 train.py --steps 4", "['--steps', '4']"),
        ("run train.py run train.py", "['run', 'train.py']"),
        ("run train.py ''", "['']"),
    ],
)
def test_everything_after_the_script_belongs_to_the_script(shop: Workshop, line: str, seen: str) -> None:
    shop.write("train.py", ARGUMENTS)
    words = [word.strip("'") for word in line.split(" ")]
    assert shop.paramedic(*words).stdout == seen + "\n"
    assert not (shop.folder / "a.json").exists()


@pytest.mark.parametrize(
    "ending",
    [
        "pass",
        "sys.exit(3)",
        "sys.exit()",
        "sys.exit('no data today')",
        "sys.exit(-1)",
        "sys.exit(True)",
        "raise SystemExit(256 + 7)",
        "raise ValueError('bad')",
        "os._exit(5)",
        "os.kill(os.getpid(), signal.SIGTERM)",
        "sys.exit({'odd': 1})",
        "atexit.register(print, 'bye'); sys.exit(4)",
    ],
)
def test_the_exit_code_and_the_last_words_are_the_scripts_own(shop: Workshop, ending: str) -> None:
    shop.write("train.py", f"import atexit, os, signal, sys\nprint('working', flush=True)\n{ending}\n")
    plain, watched = shop.python("train.py"), shop.run("train.py")
    assert (watched.code, watched.stdout) == (plain.code, plain.stdout)
    assert plain.stderr in watched.stderr


CRASHES = {
    "plain": "def inner():\n    raise ValueError('bad')\ninner()",
    "chained": "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise RuntimeError('later') from error",
    "a group": "raise ExceptionGroup('two', [ValueError(1), TypeError(2)])",
    "own hook": "sys.excepthook = lambda *error: print('hooked', error[0], file=sys.stderr)\nraise ValueError('bad')",
    "in a thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start(); t.join()\nsys.exit(1)",
}


@pytest.mark.parametrize("crash", CRASHES)
def test_the_traceback_is_pythons(shop: Workshop, crash: str) -> None:
    shop.write("train.py", f"import sys\n{CRASHES[crash]}\n")
    plain, watched = shop.python("train.py"), shop.run("train.py")
    assert (plain.code, watched.code) == (1, 1)
    assert plain.stderr
    assert watched.stderr.startswith(plain.stderr)


IN_TORCH = {
    "a loss": "F.cross_entropy(torch.zeros(3, 2), torch.zeros(4, dtype=torch.long))",
    "a module": "nn.Sequential(nn.Linear(3, 2), nn.Linear(3, 2))(torch.zeros(1, 3))",
    "backward": "torch.zeros(3).backward()",
    "a loader": "next(iter(torch.utils.data.DataLoader([1, 'two', None], batch_size=3)))",
    "load_state_dict": "nn.Linear(2, 2).load_state_dict({})",
    "an optimizer": "torch.optim.SGD([], lr=0.1)",
    "a handler": "try:\n    nn.Linear(3, 2)(torch.zeros(1, 4))\nexcept RuntimeError:\n    raise KeyError('later')",
}


@pytest.mark.parametrize("crash", IN_TORCH)
def test_the_traceback_of_an_error_in_torch_has_no_frames_of_ours(warm_shop: Workshop, crash: str) -> None:
    head = "import torch\nfrom torch import nn\nimport torch.nn.functional as F\n"
    script = warm_shop.write("train.py", head + IN_TORCH[crash] + "\n")
    done = warm_shop.run("train.py")
    assert done.code == 1
    shown = done.stderr.splitlines()
    assert shown[0] == "Traceback (most recent call last):", "something was said before the traceback"
    assert shown[1].startswith(f'  File "{script}", line ')
    assert not [line for line in shown if line.startswith("  File") and "paramedic/" in line]


def test_a_syntax_error_is_told_as_python_tells_it(shop: Workshop) -> None:
    shop.write("train.py", "import torch\nfor step in range(3)\n    pass\n")
    plain, watched = shop.python("train.py"), shop.run("train.py")
    assert watched.code == plain.code == 1
    assert watched.stderr.startswith(plain.stderr)
    assert not (shop.folder / ".paramedic").exists()


def test_an_error_in_the_script_is_in_the_verdict(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(8)\nraise ValueError('bad')\n")
    done = warm_shop.run("train.py")
    assert done.found["verdict"] == "inconclusive"
    assert done.found["run"]["exit_code"] == 1
    assert done.found["run"]["steps"] == 8
    assert "ValueError at train.py:25" in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_missing_script_is_a_message(shop: Workshop, command: str) -> None:
    done = shop.paramedic(command, "nowhere.py")
    assert done.code == 2
    assert "nowhere.py" in done.stderr and "try" in done.stderr and "Traceback" not in done.stderr
    assert not (shop.folder / ".paramedic").exists()


def test_no_script_at_all_is_a_message(shop: Workshop) -> None:
    done = shop.paramedic("run", "--json", "out.json")
    assert done.code == 2 and "no script was given" in done.stderr and "Traceback" not in done.stderr


def test_a_missing_module_is_what_python_says(shop: Workshop) -> None:
    done = shop.run("-m", "no_such_package.train")
    assert done.code == 1 and "No module named" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_a_report_into_a_missing_folder_is_refused_before_training(shop: Workshop, option: str) -> None:
    shop.write("train.py", "print('trained')")
    done = shop.paramedic("run", option, "missing/out.json", "train.py")
    assert done.code == 2 and done.stdout == "" and "missing" in done.stderr and "mkdir" in done.stderr


def test_without_torch_there_is_a_message_and_no_record(shop: Workshop) -> None:
    shop.write("train.py", "import sys\nprint('hello')\nsys.exit(3)\n")
    done = shop.run("train.py")
    assert (done.code, done.stdout) == (3, "hello\n")
    assert "never imported torch" in done.stderr
    assert list(shop.folder.iterdir()) == [shop.folder / "train.py"]


def test_watching_changes_neither_arguments_nor_stdout(shop: Workshop) -> None:
    shop.write(
        "pack/train.py", TRAIN + "import sys\nprint(__name__, sys.argv[1:], sys.path[0])\ntrain(8, softmax=True)\n"
    )
    done = shop.run("-m", "pack.train", "lr=0.1", "--json", "mine.json")
    assert done.stdout == f"__main__ ['lr=0.1', '--json', 'mine.json'] {shop.folder}\n"
    where = done.found["findings"][0]["where"]
    assert (done.code, where["file"], where["line"]) == (0, "pack/train.py", 17)


LATE = {
    "in a function": "def go():\n    import time; time.sleep(0.1)\n    import helper\n    helper.train(8)\ngo()",
    "by a thread": "import threading\nt = threading.Thread(target=lambda: __import__('helper').train(8))\n"
    "t.start(); t.join()",
    "after asking for it": "import importlib.util\nassert importlib.util.find_spec('torch')\n"
    "import helper\nhelper.train(8)",
    "by importlib": "import importlib\nimportlib.import_module('helper').train(8)",
    "a part of it first": "import torch.nn.functional\nimport helper\nhelper.train(8)",
}


@pytest.mark.parametrize("late", LATE)
def test_torch_may_come_late(shop: Workshop, late: str) -> None:
    shop.write("helper.py", TRAIN)
    shop.write("train.py", LATE[late])
    done = shop.run("train.py")
    assert done.code == 0
    assert (done.found["verdict"], done.found["run"]["steps"]) == ("healthy", 8)


def test_reports_go_where_they_were_asked_for_whatever_the_script_does(warm_shop: Workshop) -> None:
    text = TRAIN + "import os\nos.mkdir('elsewhere')\nos.chdir('elsewhere')\ntrain(8, softmax=True)\n"
    warm_shop.write("train.py", text)
    done = warm_shop.run("train.py", options=("--html", "out.html", "--runs", "records"))
    assert done.codes[0] == "PM502"
    assert (warm_shop.folder / "out.html").read_text().lstrip().startswith("<!")
    assert len(list((warm_shop.folder / "records").glob("*/main.db"))) == 1
    assert list((warm_shop.folder / "elsewhere").iterdir()) == []
    record = Path(done.found["run"]["record"])
    assert record.is_absolute() and record.is_dir()


def test_a_script_started_from_another_folder_is_named_by_its_path(warm_shop: Workshop) -> None:
    script = warm_shop.write("code/train.py", TRAIN + "train(8, softmax=True)\n")
    (warm_shop.folder / "work").mkdir()
    done = warm_shop.run("../code/train.py", cwd=warm_shop.folder / "work")
    file = done.found["findings"][0]["where"]["file"]
    assert (warm_shop.folder / "work" / file).resolve() == script.resolve(), (
        "relative to where the user is, or absolute"
    )


def test_a_finding_names_file_line_and_function(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(8, softmax=True)\n")
    where = warm_shop.run("train.py").found["findings"][0]["where"]
    assert (where["file"], where["line"], where["function"]) == ("train.py", 17, "train")


def test_a_run_that_cannot_be_watched_says_so_once(shop: Workshop) -> None:
    shop.write("torch.py", "# not the torch that is watched")
    shop.write("train.py", "import torch\nprint('trained')\n")
    done = shop.run("train.py")
    assert (done.code, done.stdout) == (0, "trained\n")
    assert "cannot watch this run" in done.stderr and "never imported torch" not in done.stderr
