"""Collect what a bundle needs: weights, optimizers, the batch, random states and the source, as they are now."""

from __future__ import annotations

import linecache
import math
import os
import random
import sys
import time
from pathlib import Path

import torch

from paramedic.bundle.file import is_plain, save
from paramedic.capture.inquest.excerpt import excerpt
from paramedic.capture.inquest.inquest import Conclusion, frames
from paramedic.capture.inquest.randomness import RandomState, random_state
from paramedic.capture.inquest.statement import measure
from paramedic.capture.inquest.tracer import look
from paramedic.capture.sources.loop import Loop
from paramedic.capture.watcher import Watcher
from paramedic.masking import is_secret, masked_text, masked_words
from paramedic.program.where import frame_site, is_users
from paramedic.record.writer import Site


def write_bundle(
    watcher: Watcher,
    loop: Loop,
    found: Conclusion,
    loss: torch.Tensor | None,
    state: RandomState | None,
    reason: str,
    *,
    failure: bool,
) -> Path | None:
    """Write the bundle of this step into the run's folder; returns its path."""
    settings = watcher.settings
    if settings.bundle_limit <= 0:
        return None
    path = watcher.writer.path.parent / f"{watcher.writer.path.stem}-step{watcher.step}.pt"
    kept = found.inputs if settings.bundle_data else {}
    inputs = {name: value for name, value in kept.items() if is_plain(value) and not _is_secret(name, value)}
    content = {
        "reason": masked_text(reason),
        "failure": failure,  # or a step that somebody wanted to look at
        "step": watcher.step,
        "place": list(found.place),
        "statement": _text(found.place),
        "conclusion": {**found.data, "site": list(found.site), "module": found.module},
        "loss": loss,
        "variables": inputs,
        "whole": found.whole,
        "without_data": not settings.bundle_data,
        "models": _models(watcher),
        "optimizers": [{"class": type(o).__name__, "state": o.state_dict()} for o in loop.accounts],
        "random": _random(state or random_state()),
        "command": _command(),
        "versions": {"torch": str(torch.__version__), "python": sys.version.split()[0]},
        "sources": {
            name: "".join(linecache.getlines(name)) for name in {_full(found.place), _full(found.site)} if name
        },
        "losses": [list(point) for point in watcher.recent],
        "time": time.time(),
    }
    save(content, path, settings.bundle_limit * 1_000_000)
    return path


def at_this_step() -> Conclusion:
    """The statements that lead to the backward() that is running, without an inquest."""
    for frame in frames():
        statements = excerpt(frame)
        if statements is not None and statements.count > 1:
            more = excerpt(frame, whole=True)  # to run them here might do harm: that is for a replay to try
            inputs = {**(more.inputs if more is not None else {}), **statements.inputs}
            return Conclusion(site=frame_site(frame), place=frame_site(frame), inputs=inputs, whole=None)
    return Conclusion()


def bad_from_the_start() -> Conclusion | None:
    """A variable with NaN among those that the statements of this step were given; found without running anything."""
    for frame in frames():
        statements = excerpt(frame)
        if statements is None or statements.count < 2:
            continue
        for name, value in statements.inputs.items():
            given = isinstance(value, torch.Tensor) and value.dtype.is_floating_point and not value.requires_grad
            if given and (seen := look(value)) is not None and math.isnan(seen.low):
                data = {"origin": "variable", "name": name, "outside": measure(seen), "reproduced": False}
                return Conclusion(site=frame_site(frame), data=data)
    return None


def in_traceback(error: BaseException) -> Conclusion | None:
    """The training loop that an exception went through, with the variables of the step it happened in."""
    found = None
    entry = error.__traceback__
    while entry is not None:
        if is_users(entry.tb_frame.f_code.co_filename):
            statements = excerpt(entry.tb_frame, whole=True)
            if statements is not None and statements.in_loop:
                place = frame_site(entry.tb_frame)._replace(line=entry.tb_lineno)
                found = Conclusion(site=place, place=place, inputs=statements.inputs, whole=True)
        entry = entry.tb_next
    return found


def _models(watcher: Watcher) -> dict[str, object]:
    registry = watcher.registry
    trained = [root for root in registry.roots() if any(True for _ in root.parameters())]
    return {registry.root_name(root): root.state_dict() for root in trained if not _is_spread(root)}


def _is_spread(root: torch.nn.Module) -> bool:
    """Whether the weights are spread over processes by FSDP's first make: to collect them would wait for the others."""
    return any(type(module).__name__ == "FullyShardedDataParallel" for module in root.modules())


def _random(state: RandomState) -> dict[str, object]:
    version, numbers, gauss = random.getstate()
    found: dict[str, object] = {"torch": state.cpu, "cuda": state.cuda, "python": [version, list(numbers), gauss]}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        kind, keys, *rest = numpy.random.get_state()
        found["numpy"] = [kind, [int(key) for key in keys], *rest]
    return found


def _command() -> dict[str, object]:
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    module = spec.name.removesuffix(".__main__") if spec is not None and spec.name != "__main__" else None
    words = masked_words([str(word) for word in sys.argv])
    return {"arguments": list(words), "module": module, "folder": os.getcwd()}


def _is_secret(name: str, value: object) -> bool:
    return isinstance(value, str) and is_secret(name)


def _text(place: Site) -> str:
    return linecache.getline(_full(place), place.line or 0).strip() if place.file else ""


def _full(place: Site) -> str:
    return os.path.abspath(place.file) if place.file else ""
