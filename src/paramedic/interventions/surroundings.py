"""Inside an experiment: where the surroundings of a training script can be changed without touching its source.

Batches are changed where they leave a DataLoader, so that the script's own code still works on them. A script without
DataLoaders gets them changed where it draws them from the data, `x[rows]`; or else where its model is called, and where
a loss function of torch takes the targets or, in a hand-written loss, where they meet what the model has made.
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

from paramedic.aliases import Args, Fields, Function, Kwargs
from paramedic.interventions.draws import Draw, Draws
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
        self.noted: Fields = {}  # what an intervention has found out on the way
        self.loader_used = False  # or draws of the script's own, which are changed like the batches of a loader
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
        self._draws: Draws | None = None
        self._drawn_in: dict[Part, set[int]] = {}  # the first steps
        self._row_numbers: set[Part] = set()  # drawn, but only to draw by them
        self.drawn_now: dict[Part, torch.Tensor] = {}  # since the last step
        self.drawn_from = 0  # so many samples
        self.choose_rows: list[Callable[[Draw, torch.Tensor], torch.Tensor]] = []  # of draws
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
        if target is not None and self._meetings is None:
            self._meetings = Meetings(self._meets, lambda: self._depth > 0)
            self._meetings.__enter__()
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
        self.on_finish.append(self._roles_found)

    def around_steps(self, before: Callable[[Optimizer], object], after: Callable[[Optimizer], object]) -> None:
        register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: before(optimizer))
        register_optimizer_step_post_hook(lambda optimizer, args, kwargs: after(optimizer))

    def replace(self, owner: object, name: str, make: Callable[[Function], Function]) -> None:
        """Replace a function of torch by `make(original)`; inside a graph being compiled the original is used."""
        self._patches.wrap(owner, name, make)

    def summary(self) -> Intervention:
        """What became of the intervention, for the record."""
        worked = self.applied > 0 and self.failed is None
        reason = "" if worked else self.failed or self.reason
        return Intervention(applied=worked, reason=reason, noted=self.noted)

    # Batches ------------------------------------------------------------------------------------------------------

    def _watch_batches(self) -> None:
        self.watch_draws()
        for owner in (torch, nn.Module):
            self.replace(owner, "compile", lambda original: _after(self._leave_modes, original))
        self.replace(_BaseDataLoaderIter, "__next__", self._loader_gives)
        self.replace(nn.Module, "__call__", self._module_called)
        for name in LOSSES:
            self.replace(F, name, self._loss_called)

    def _loader_gives(self, original: Function) -> Function:
        def following(iterator: Any) -> object:
            batch = Batch(original(iterator), roles=self.roles)
            if batch.parts:
                if not self.loader_used:
                    self.loader_used = True
                    self._leave_modes(uses=False)
                self.place, self.iterator = id(iterator._dataset), iterator
                if self._uses is not None:
                    self._uses.batch(batch.parts)
                self.on_batch(batch.parts)
                batch.inputs = self._through_inputs(batch.inputs)
                batch.targets = self._through_targets(batch.targets)
            return batch.rebuilt()

        return following

    def _module_called(self, original: Function) -> Function:
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

    def _given_to_a_model(self, args: Args, kwargs: Kwargs) -> Any:
        self._calls += 1
        self.place = self._calls
        batch = Batch((args, kwargs), whole=True)
        if any(tensor.requires_grad for tensor in batch.inputs):  # what another model has made
            return args, kwargs
        if self._meetings is not None and not self.target_seen:
            self._meetings.given = list(batch.inputs)
        batch.inputs = self._through_inputs(batch.inputs)
        return batch.rebuilt()

    def _meets(self, target: torch.Tensor) -> torch.Tensor:
        """The target of a hand-written loss, unless the script turns out to have another source of them."""
        if self.loader_used or self.target_seen or not torch.is_grad_enabled():
            return target
        self.target_met = True
        return self._through_targets([target])[0]

    def _loss_called(self, original: Function) -> Function:
        inside = [False]

        def loss(prediction: object, *args: object, **kwargs: object) -> Any:
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

    # Draws --------------------------------------------------------------------------------------------------------

    def watch_draws(self) -> None:
        """Only where there is something to find or to change: roles tell which draws make up a batch."""
        if self._draws is None and (self._uses is not None or (self.roles is not None and self.roles.are_drawn)):
            self._draws = Draws(
                self._look_at_draw if self._uses is not None else self._change_draw, lambda: self._depth > 0
            )
            self._draws.__enter__()
            self.loader_used = self._uses is None

    def _look_at_draw(self, draw: Draw, usual: Callable[[], torch.Tensor]) -> torch.Tensor:
        result = usual()
        self.drawn_from = len(draw.source)
        self._row_numbers |= {part for part, tensor in self.drawn_now.items() if tensor is draw.index}
        self.drawn_now[draw.part] = result
        if self._uses is not None:
            self._uses.batch({draw.part: result})
            self._drawn_in.setdefault(draw.part, set()).add(self.step)
        return result

    def _change_draw(self, draw: Draw, usual: Callable[[], torch.Tensor]) -> torch.Tensor:
        roles = self.roles
        if roles is None or draw.part not in (*roles.inputs, *roles.targets, *roles.beside):
            return usual()
        result = usual()
        if self.choose_rows:
            rows = draw.rows
            for choose in self.choose_rows:
                rows = choose(draw, rows)
            result = draw.source[rows]
        if draw.part not in roles.inputs and draw.part not in roles.targets:
            return result
        alike = roles.inputs if draw.part in roles.inputs else roles.targets
        self.place = "drawn" if len(alike) == 1 else draw.part
        change = self._through_inputs if alike is roles.inputs else self._through_targets
        return change([result])[0]

    def _leave_modes(self, *, uses: bool = True) -> None:
        for mode in (self._uses if uses else None, self._meetings, self._draws):
            if mode is not None:
                mode.leave()

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

    def _stepped(self, optimizer: Optimizer, args: Args, kwargs: Kwargs) -> None:
        if self.drawn_now and self.roles is not None and self.roles.are_drawn:
            self.on_batch(self.drawn_now)
        self.drawn_now = {}
        self.step += 1
        self._calls = 0
        if self._draws is not None:
            self._draws.stepped()
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
            if self.roles is not None and not self.loader_used:
                often = {part for part, steps in self._drawn_in.items() if len(steps) > 1}
                self.roles = self.roles.only(often - self._row_numbers)
            if self.roles is not None:
                self.roles.save(self.folder)
                self.noted["targets"] = len(self.roles.targets)
                self.noted["drawn_again"] = self.roles.drawn_again


def _after(first: Callable[[], object], original: Function) -> Function:
    def call(*args: Any, **kwargs: Any) -> Any:
        first()
        return original(*args, **kwargs)

    return call


def _in_transform() -> bool:
    """Inside vmap or grad, where a tensor must not outlive the call."""
    return torch._C._functorch.peek_interpreter_stack() is not None


def is_trained(module: nn.Module) -> bool:
    return module.training and torch.is_grad_enabled() and any(p.requires_grad for p in module.parameters())
