"""Scripts whose loop is inside of a library: Lightning calls `training_step`, the Trainer of transformers the model."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.errors import ParamedicError


@dataclass(frozen=True, slots=True)
class Loop:
    """A step inside of a library, as it was when the model was called."""

    kind: str  # "lightning" or "transformers"
    owner: Any  # the LightningModule, or the Trainer
    batch: Any
    scale: int  # batches per update: the library divides the loss by it

    @property
    def loss_class(self) -> str | None:
        """The script's own Trainer, where it computes the loss itself."""
        own = next((k for k in type(self.owner).__mro__ if "compute_loss" in vars(k)), None)
        return own.__name__ if own is not None and own.__module__ == "__main__" else None


def loop_of(frame: FrameType | None) -> Loop | None:
    """The library's step among the callers of this frame."""
    while frame is not None:
        if frame.f_code.co_name == "training_step":
            values, names = frame.f_locals, frame.f_code.co_varnames
            owner = values.get(names[0]) if names else None
            if _derives(owner, "LightningModule") and len(names) > 1:
                scale = getattr(getattr(owner, "_trainer", None), "accumulate_grad_batches", 1)
                return Loop("lightning", owner, values[names[1]], int(scale))
            if _derives(owner, "Trainer") and "inputs" in values:
                scale = getattr(getattr(owner, "args", None), "gradient_accumulation_steps", 1)
                return Loop("transformers", owner, dict(values["inputs"]), int(scale))
        frame = frame.f_back
    return None


def _derives(value: object, name: str) -> bool:
    libraries = ("lightning", "pytorch_lightning", "transformers")
    return any(k.__name__ == name and k.__module__.partition(".")[0] in libraries for k in type(value).__mro__)


def call_at(tree: ast.AST, line: int) -> str | None:
    """What is called on a line, `trainer.fit`: the outermost call that spans it."""
    spans = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.lineno <= line <= (n.end_lineno or n.lineno)]
    named = [n for n in spans if isinstance(n.func, ast.Attribute) and n.func.attr in ("fit", "train")] or spans
    return ast.unparse(named[0].func) if named else None


def called_path(holder: nn.Module, called: nn.Module) -> str | None:
    """Where in `holder` the module is that the step calls; empty: `holder` itself."""
    return next((path for path, module in holder.named_modules() if module is called), None)


def tested_path(holder: nn.Module, path: str | None) -> str:
    """The module that the assertions look at: the one that is called, if it holds all that is trained."""
    if path is None:
        return ""
    inner = {id(p) for p in holder.get_submodule(path).parameters()}
    return path if all(id(p) in inner for p in holder.parameters() if p.requires_grad) else ""


class LightningLoss:
    """`training_step` as a loss of model and batch."""

    def __init__(self, holder: Any, path: str) -> None:
        self.holder, self.path = holder, path
        for name in ("log", "log_dict"):  # without a Trainer they would only warn
            setattr(holder, name, lambda *args, **kwargs: None)

    def __call__(self, used: Any, batch: Mapping[str, Any]) -> torch.Tensor:
        with _exchanged(self.holder, self.path, used):
            found = self.holder.training_step(batch["batch"], 0)
        return found["loss"] if isinstance(found, Mapping) else found


class TrainerLoss:
    """The Trainer's `compute_loss`, or the loss in the model's output."""

    def __init__(self, own: type | None) -> None:
        self.own = own

    def __call__(self, used: Any, batch: Mapping[str, Any]) -> torch.Tensor:
        inputs = dict(batch["batch"])
        if self.own is not None:
            found = self.own.compute_loss(object.__new__(self.own), used, inputs)  # type: ignore[attr-defined]
            return found[0] if isinstance(found, tuple) else found
        output = used(**inputs)
        return output["loss"] if isinstance(output, Mapping) else output[0]


@contextlib.contextmanager
def _exchanged(holder: nn.Module, path: str, used: object) -> Iterator[None]:
    """`used` in the place of the module at `path`, as long as the step runs."""
    original = holder.get_submodule(path)
    if used is original:
        yield
    elif not path:
        holder.forward = used
        try:
            yield
        finally:
            del holder.forward
    else:
        parent, _, name = path.rpartition(".")
        setattr(holder.get_submodule(parent), name, used)
        try:
            yield
        finally:
            setattr(holder.get_submodule(parent), name, original)


def configured(holder: Any) -> Any:
    """The first optimizer of `configure_optimizers()`, at its full learning rate."""
    found = holder.configure_optimizers()
    while not hasattr(found, "param_groups"):
        if isinstance(found, Mapping):
            found = found["optimizer"]
        elif isinstance(found, (list, tuple)) and found:
            found = found[0]
        else:
            raise ParamedicError("configure_optimizers() gives no optimizer", expected="one of torch.optim")
    return at_full_rate(found)


def at_full_rate(optimizer: Optimizer) -> object:
    """A warm-up starts at 0, at which nothing would move."""
    for group in optimizer.param_groups:
        group["lr"] = group.get("initial_lr") or group["lr"]
    return optimizer
