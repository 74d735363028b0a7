"""What was going on when it failed: the modules that were running, the step, the batch."""

from __future__ import annotations

import os
import sys
from typing import Any

from paramedic import at_work
from paramedic.errors import message_of
from paramedic.postmortem.frames import At, of_traceback, spots
from paramedic.postmortem.loading import loading, shown_indices
from paramedic.postmortem.mismatch import explain
from paramedic.postmortem.modulestack import Running, running_modules
from paramedic.postmortem.page import Page
from paramedic.postmortem.summarize import is_tensor


def add_modules(page: Page, error: BaseException) -> None:
    """The modules that were running, and what does not fit together in them."""
    frames = of_traceback(error.__traceback__)
    running = running_modules(frames) if "torch" in sys.modules else []
    if running:
        page.label("modules", module_path(running))
    here = spots(frames, most=1)
    tensors = {v.name: v.value for spot in here for v in spot.values if v.missing is None and is_tensor(v.value)}
    told = explain(message_of(error), _arguments(frames, tensors) or tensors, running[-1] if running else None)
    if told:
        page.label("because", told)


def _arguments(frames: list[At], read: dict[str, object]) -> dict[str, object]:
    """What a function of torch.nn.functional was given when it failed: `cross_entropy(net(x), y)` is not given x.

    Named as the failing statement names it, where it does.
    """
    if not frames or not frames[-1].frame.f_code.co_filename.endswith(os.path.join("torch", "nn", "functional.py")):
        return {}
    names = {id(value): name for name, value in read.items()}
    given = {name: value for name, value in frames[-1].frame.f_locals.items() if is_tensor(value)}
    return {names.get(id(value), name): value for name, value in given.items()}


def module_path(running: list[Running]) -> str:
    """`model → model.encoder → model.encoder.layers.3.attn (Attention)`."""
    *outer, last = running
    return " → ".join([*(one.path for one in outer), f"{last.path} ({type(last.module).__name__})"])


def add_step(page: Page, errors: list[BaseException]) -> None:
    """The step, and the batch that failed: the one being loaded, or the last one that was given."""
    attachment = _attachment()
    failed = next((found for e in errors if (found := loading(of_traceback(e.__traceback__)))), None)
    sentence = failed.sentence() if failed else ""
    if attachment is not None:
        worker = attachment.known.workers.failure_behind(errors)
        if worker is not None:
            page.text(worker.lines)
            sentence = worker.sentence or sentence
        for line in attachment.known.crashes.dead_workers(errors):
            page.label(*line)
        steps = attachment.watcher.step
        if steps or attachment.known.loaders.given():
            page.label("step", f"{steps:,}")
        if not sentence and not any(_through_loader(e) for e in errors):
            _add_last_batch(page, attachment)
    if sentence:
        page.label("loading", sentence)


def add_now(page: Page) -> None:
    """Step and batch of a run that is under way."""
    attachment = _attachment()
    if attachment is not None:
        page.label("step", f"{attachment.watcher.step:,}")
        _add_last_batch(page, attachment)


def _add_last_batch(page: Page, attachment: Any) -> None:
    last = attachment.known.loaders.last_batch().in_words()
    if last is None:
        return
    shapes = ", ".join(f"{path} {shape} {dtype}".strip() for path, shape, dtype in last.shapes[:4])
    origin = f" of the loader at {last.site.file}:{last.site.line}" if last.site.file else ""
    page.label("batch", f"number {last.position:,}{origin}: {shapes or 'no tensors'}")
    if last.indices is not None:
        page.label("samples", shown_indices(last.indices))


def _through_loader(error: BaseException) -> bool:
    """Whether a DataLoader was asked for the next batch when this happened."""
    return any(
        frame.f_code.co_name == "__next__" and frame.f_code.co_filename.endswith("torch/utils/data/dataloader.py")
        for frame, *_ in of_traceback(error.__traceback__)
    )


def _attachment() -> Any:
    """The watcher of this process; what a fork has inherited is about its parent's step and batch."""
    found = at_work.current()
    return found if found is not None and found.process == os.getpid() else None
