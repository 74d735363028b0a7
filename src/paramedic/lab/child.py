"""The process of one experiment: the user's script, watched as ever, with one thing around it changed."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import random
import sys
from pathlib import Path
from typing import NoReturn

from paramedic.errors import ParamedicError
from paramedic.lab.experiment import Order
from paramedic.launch import Target, launch
from paramedic.paths import PRIVATE_FILE, make_private_folder
from paramedic.program import where
from paramedic.settings import Settings

OUTPUT = "output.txt"
# Windows that wait to be closed, and accounts of experiment trackers, are none of an experiment's business.
SURROUNDINGS = {"MPLBACKEND": "Agg", "WANDB_MODE": "disabled", "MLFLOW_TRACKING_URI": "", "COMET_MODE": "disabled"}


def carry_out(order: Order) -> NoReturn:
    """Run the script and end this process, as python would end it."""
    folder = Path(order.folder)
    make_private_folder(folder)
    _separate(folder / OUTPUT)
    os.chdir(order.cwd)
    where.start_from(os.getcwd())
    _start_alike(order.threads)
    if order.original is not None:
        from paramedic.lab.guard import protect

        protect(Path(order.original), Path(order.cwd), folder)
    target = Target(name=order.script, args=order.args, is_module=order.is_module)
    code = 1
    with contextlib.suppress(SystemExit, ParamedicError):
        settings = Settings.from_dict(order.settings)
        outcome = launch(target, runs=folder.parent, name=folder.name, settings=settings)
        code = outcome.exit_code
        if settings.audit and outcome.torch_seen:
            from paramedic.lab import checking

            checking.keep(outcome, settings)
    leave(code)


def leave(code: int) -> NoReturn:
    """End a forked process without returning into the code of its parent."""
    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)


def _separate(output: Path) -> None:
    """A session of its own, so that it can be ended with all its children, and its words go to a file."""
    with contextlib.suppress(OSError):
        os.setsid()
    written = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE_FILE)
    nothing = os.open(os.devnull, os.O_RDONLY)
    sys.stdout.flush()
    sys.stderr.flush()
    os.dup2(nothing, 0)
    os.dup2(written, 1)
    os.dup2(written, 2)
    os.environ.update(SURROUNDINGS)


def _start_alike(threads: int) -> None:
    """Runs that are compared begin with the same random numbers, unless the script sets a seed of its own."""
    import numpy
    import torch

    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    torch.set_num_threads(threads)


if __name__ == "__main__":
    asked = json.loads(sys.stdin.read())
    carry_out(Order(**{**asked, "args": tuple(asked["args"])}))
