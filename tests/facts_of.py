"""`facts_of(step)`: what the probes state about a few calls of a function, in the test's own process."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path

import torch

from paramedic.capture.attach import attach
from paramedic.program import where
from paramedic.record.reader import Run, open_runs
from paramedic.settings import Settings

QUIET = Settings(probes=False, budget=0.0)  # no process for questions to a copy of the model, no statistics


def facts_of(step: Callable[[], object], *, steps: int = 3, settings: Settings = QUIET) -> Run:
    """The record of a training whose steps are calls of `step`; `run.facts(LossCall)` are its facts.

    Models and optimizers may be built before or within: they are found as `paramedic.watch()` finds them. An exception
    ends the training, and the record tells of it.
    """
    folder, state, error = Path(tempfile.mkdtemp()), torch.get_rng_state(), None
    where.start_from(os.getcwd())
    attachment = attach(folder, name="main", meta={"cwd": os.getcwd()}, settings=settings, eager=False)
    attachment.watcher.writer.start()
    attachment.known.modules.adopt_existing()
    try:
        for _ in range(steps):
            step()
    except Exception as raised:
        error = raised
    finally:
        attachment.finish(error)
        torch.set_rng_state(state)
    [run] = open_runs(folder)
    weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run
