"""`facts_of(step)`: what the probes state about a few calls of a function, in the test's own process."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from torch import nn

from paramedic.capture.attach import Attachment, attach
from paramedic.program import where
from paramedic.record.reader import Run, open_runs
from paramedic.settings import Settings

QUIET = Settings(probes=False, budget=0.0)  # no process for questions to a copy of the model, no statistics


def facts_of(step: Callable[[], object], *, steps: int = 3, settings: Settings = QUIET) -> Run:
    """The record of a training whose steps are calls of `step`; `run.facts(LossCall)` are its facts.

    Models and optimizers may be built before or within: they are found as `paramedic.watch()` finds them. An exception
    ends the training, and the record tells of it.
    """
    folder = Path(tempfile.mkdtemp())
    with contextlib.suppress(Exception), attached(settings, folder):
        for _ in range(steps):
            step()
    [run] = open_runs(folder)
    weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


@contextlib.contextmanager
def attached(settings: Settings, folder: Path | None = None) -> Iterator[Attachment]:
    """Watching, for as long as the block lasts: for what probes know beyond the facts that they state."""
    scratch, state, error = folder or Path(tempfile.mkdtemp()), torch.get_rng_state(), None
    where.start_from(os.getcwd())
    attachment = attach(scratch, name="main", meta={"cwd": os.getcwd()}, settings=settings, eager=False)
    attachment.watcher.writer.start()
    attachment.known.modules.adopt_existing()
    try:
        yield attachment
    except Exception as raised:
        error = raised
        raise
    finally:
        attachment.finish(error)
        torch.set_rng_state(state)
        if folder is None:
            shutil.rmtree(scratch, ignore_errors=True)


def training(
    model: nn.Module, loss: Callable[[], torch.Tensor], optimizer: torch.optim.Optimizer | None = None
) -> Callable[[], None]:
    """A step of training as most scripts have it."""
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return step
