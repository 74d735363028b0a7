"""Inside an experiment: where the surroundings of a training script can be changed without touching its source.

Batches are changed where they leave a DataLoader, so that the script's own code still works on them. A script without
DataLoaders gets them changed where its model is called, and where a loss function of torch takes the targets or, in a
hand-written loss, where they meet what the model has made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils.data.dataloader import _BaseDataLoaderIter

from paramedic.interventions.meetings import Meetings
from paramedic.interventions.roles import Batch, is_changeable
from paramedic.interventions.uses import STEPS, Part, Uses, load
from paramedic.patching import Patches
from paramedic.record.facts import Intervention

Inputs = list[torch.Tensor]
LOSSES = (
    "cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits", "mse_loss", "l1_loss",
    "smooth_l1_loss", "huber_loss", "multilabel_soft_margin_loss", "soft_margin_loss", "multi_margin_loss",
    "poisson_nll_loss", "gaussian_nll_loss", "kl_div",
)  # fmt: skip


class Surroundings:
    """What an intervention may change. Nothing is patched before an intervention asks for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # of the run's record; files that belong to it may be left there
        self.on_finish: list[Callable[[], object]] = []
        self.step = 0  # optimizer steps completed
        self.applied = 0  # how often something was really changed
        self.reason = "the script never reached the code that this changes"
        self.failed: str | None = None  # why it did not work after all
        self.patience: int | None = 20  # steps after which an intervention that finds nothing to change gives up
        self.noted: dict[str, Any] = {}  # what an intervention has found out on the way
        self.loader_used = False
        self.iterator: object = None  # the pass over a loader that the batch at hand comes from
        self.target_seen = False  # a loss function of torch has taken a target, so that targets can be changed there
        self.target_met = False  # the same of a loss that is written by hand
        self.place: object = None  # what the batch at hand belongs to: a loader, or the number of the call in its step
        self._calls = 0  # of models since the last step
        self._depth = 0  # of module calls
        self._inputs: list[Callable[[Inputs], Inputs]] = []
        self._targets: list[Callable[[torch.Tensor], torch.Tensor]] = []
        self.target_number = 0  # of the target at hand, where a batch has several
        self.targets_at_once = 1
        self.roles = load(folder)
        self.on_batch: Callable[[Mapping[Part, torch.Tensor]], object] = lambda parts: None  # of a loader
        self._patches = Patches()
        self._uses: Uses | None = None
        self._meetings: Meetings | None = None
        register_optimizer_step_post_hook(self._stepped)

    # What interventions ask for -----------------------------------------------------------------------------------

    def change_batches(
        self,
        *,
        inputs: Callable[[Inputs], Inputs] | None = None,
        target: Callable[[torch.Tensor], torch.Tensor] | None = None,
    ) -> None:
        """Change what the model is trained on. For every batch the inputs are asked for first, then the target."""
        if not self._inputs and not self._targets:
            self._watch_batches()
        self._inputs += [inputs] if inputs else []
        self._targets += [target] if target else []
        self.reason = "no part of the batches is used as a target" if target and not inputs else "no batches were seen"

    def needs_inputs_apart(self) -> None:
        """Give up where outputs are compared with the inputs: to change those is to change what the loss means."""
        if self.roles is not None and self.roles.drawn_again:
            self.failed, self.patience = "the outputs are compared with the inputs themselves", 1

    def find_roles(self) -> None:
        """Follow the first steps to see which part of a batch is used for what."""
        uses = self._uses = Uses(LOSSES)
        uses.inside_model = lambda: self._depth > 0
        uses.__enter__()
        self.replace(torch, "compile", lambda original: _after(uses.leave, original))
        self.replace(nn.Module, "compile", lambda original: _after(uses.leave, original))
        self.on_finish.append(self._roles_found)

    def around_steps(self, before: Callable[[Optimizer], object], after: Callable[[Optimizer], object]) -> None:
        register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: before(optimizer))
        register_optimizer_step_post_hook(lambda optimizer, args, kwargs: after(optimizer))

    def replace(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        """Replace a function of torch by `make(original)`; inside a graph being compiled the original is used."""
        self._patches.wrap(owner, name, make)

    def summary(self) -> Intervention:
        """What became of the intervention, for the record."""
        worked = self.applied > 0 and self.failed is None
        reason = "" if worked else self.failed or self.reason
        return Intervention(applied=worked, reason=reason, noted=self.noted)

    # Batches ------------------------------------------------------------------------------------------------------

    def _watch_batches(self) -> None:
        self.replace(_BaseDataLoaderIter, "__next__", self._loader_gives)
        self.replace(nn.Module, "__call__", self._module_called)
        for name in LOSSES:
            self.replace(F, name, self._loss_called)

    def _loader_gives(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def following(iterator: Any) -> Any:
            batch = Batch(original(iterator), roles=self.roles)
            if batch.parts:
                self.loader_used = True
                self.place, self.iterator = id(iterator._dataset), iterator
                if self._uses is not None:
                    self._uses.batch(batch.parts)
                self.on_batch(batch.parts)
                batch.inputs = self._through_inputs(batch.inputs)
                batch.targets = self._through_targets(batch.targets)
            return batch.rebuilt()

        return following

    def _module_called(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(module: nn.Module, *args: Any, **kwargs: Any) -> Any:
            outermost = not self._depth and is_trained(module)
            if outermost and self._uses is not None:
                self._uses.model_called((args, kwargs))
            if outermost and not self.loader_used and not _in_transform():
                args, kwargs = self._given_to_a_model(args, kwargs)
            inside = bool(self._depth) or any(True for _ in module.parameters())
            self._depth += inside  # a loss that is a module is no model
            try:
                return original(module, *args, **kwargs)
            finally:
                self._depth -= inside

        return call

    def _given_to_a_model(self, args: Any, kwargs: Any) -> Any:
        self._calls += 1
        self.place = self._calls
        batch = Batch((args, kwargs), whole=True)
        if any(tensor.requires_grad for tensor in batch.inputs):  # what another model has made
            return args, kwargs
        if self._targets and self._meetings is None and not self.target_seen:
            self._meetings = Meetings(self._meets, lambda: self._depth > 0)
            self._meetings.__enter__()
        if self._meetings is not None:
            self._meetings.given = list(batch.inputs)
        batch.inputs = self._through_inputs(batch.inputs)
        return batch.rebuilt()

    def _meets(self, target: torch.Tensor) -> torch.Tensor:
        """The target of a hand-written loss, unless the script turns out to have another source of them."""
        if self.loader_used or self.target_seen or not torch.is_grad_enabled():
            return target
        self.target_met = True
        return self._through_targets([target])[0]

    def _loss_called(self, original: Callable[..., Any]) -> Callable[..., Any]:
        inside = [False]

        def loss(prediction: Any, *args: Any, **kwargs: Any) -> Any:
            if self.loader_used or inside[0] or not torch.is_grad_enabled() or _in_transform():
                return original(prediction, *args, **kwargs)
            self.target_seen = True
            if args and is_changeable(args[0]):
                args = (self._through_targets([args[0]])[0], *args[1:])
            elif is_changeable(kwargs.get("target")):
                kwargs["target"] = self._through_targets([kwargs["target"]])[0]
            inside[0] = True
            try:
                return original(prediction, *args, **kwargs)
            finally:
                inside[0] = False

        return loss

    def _through_inputs(self, inputs: Inputs) -> Inputs:
        for change in self._inputs if inputs else ():
            inputs = change(inputs)
        return inputs

    def _through_targets(self, targets: list[torch.Tensor]) -> list[torch.Tensor]:
        self.targets_at_once = len(targets)
        changed = []
        for self.target_number, target in enumerate(targets):
            for change in self._targets:
                target = change(target)
            changed.append(target)
        return changed

    def _stepped(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        self.step += 1
        self._calls = 0
        if self._meetings is not None:
            self._meetings.stepped()
        if self._uses is not None and self.step >= STEPS:
            self._roles_found()
        if self.step == self.patience and (self.failed or not self.applied):
            raise SystemExit(0)  # the rest of the run would be the baseline once more

    def _roles_found(self) -> None:
        uses, self._uses = self._uses, None
        if uses is not None:
            self.roles = uses.roles()
            uses.leave()
            if self.roles is not None and self.loader_used:
                self.roles.save(self.folder)
                self.noted["targets"] = len(self.roles.targets)
                self.noted["drawn_again"] = self.roles.drawn_again


def _after(first: Callable[[], object], original: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        first()
        return original(*args, **kwargs)

    return call


def _in_transform() -> bool:
    """Inside vmap or grad, where a tensor must not outlive the call."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def is_trained(module: nn.Module) -> bool:
    return module.training and torch.is_grad_enabled() and any(p.requires_grad for p in module.parameters())
