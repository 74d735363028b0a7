"""Every attempt to freeze or unfreeze parameters, effective or not."""

from __future__ import annotations

import dis
import linecache
import re
import sys
from collections import Counter
from types import CodeType, FrameType
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on, on_call_of
from paramedic.capture.facts import address
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.where import frame_site, is_restoring, is_users, locals_of, shown_path, user_frame, user_site
from paramedic.record.facts import Freeze
from paramedic.record.writer import Site

MOST_NAMES = 40
NEAR = 3  # lines between a loop over parameters and what it does with them
CLOSE_LOOKS = 3  # steps that are examined after it, besides the one at hand: as many as rules want to have seen
MOST_LOOKOUTS = 3  # per function: a GAN may freeze and unfreeze in every step


@probe("freezes", states=[Freeze])
class Freezes:
    """Collects changes of requires_grad by line, and tells them when the next optimizer step makes them matter."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._tried: dict[tuple[Site, bool, str], list[torch.Tensor]] = {}
        self._freezers: dict[CodeType, tuple[Site, list[str]]] = {}  # functions that froze something, their switches
        self._lines: dict[CodeType, tuple[int, ...]] = {}  # per function: where it changes requires_grad
        self._lookouts: Counter[CodeType] = Counter()
        self._again: list[tuple[Site, list[torch.Tensor]]] = []  # called again, to un-freeze what is still frozen

    def install(self) -> None:
        watcher = self.watcher
        original = nn.Module.__setattr__

        # Hot in every constructor, so without the usual wrapper around it.
        def set_attribute(module: nn.Module, name: str, value: object) -> None:
            original(module, name, value)
            if name == "requires_grad":
                watcher.ask("freezes", self._on_module, module, value)

        watcher.patches.set(nn.Module, "__setattr__", set_attribute)
        walk = nn.Module.parameters

        # In every gear, and inert until something was frozen: then one look at who is asking.
        def parameters(module: nn.Module, *args: object, **kwargs: object) -> Any:
            if self._freezers and (frame := sys._getframe(1)).f_code in self._freezers:
                watcher.ask("freezes", self._walked, module, frame)
            unwatched = watcher.step and not watcher.gears.examining
            if unwatched and self._lines.get((frame := _asking(sys._getframe(1))).f_code) != ():
                watcher.ask("freezes", self._look_out, frame)
            return walk(module, *args, **kwargs)

        watcher.patches.set(nn.Module, "parameters", parameters)

    @on_call_of(torch.Tensor.requires_grad.__set__, torch.Tensor.requires_grad_)
    def _changed(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        tensor = args[0]
        if torch._C._functorch.is_functorch_wrapped_tensor(tensor) or is_restoring():
            return
        value = bool(args[1] if len(args) > 1 else kwargs.get("requires_grad", True))
        if isinstance(tensor, nn.Parameter):
            if not value and (frame := user_frame()) is not None:
                self._remember_freezer(frame)
            self._tried.setdefault((user_site(), value, "parameter"), []).append(tensor)
        elif not value or tensor.dim() > 0:
            self._tried.setdefault((user_site(), value, "tensor"), []).append(tensor.detach())

    def _look_out(self, frame: FrameType) -> None:
        """In the middle of the training: is a freeze about to happen? Then look closely, but not at each of many."""
        code = frame.f_code
        lines = self._lines.get(code)
        if lines is None:
            lines = self._lines[code] = _freezing_lines(code) if is_users(code.co_filename) else ()
        if any(0 <= line - frame.f_lineno <= NEAR for line in lines) and self._lookouts[code] < MOST_LOOKOUTS:
            self._lookouts[code] += 1
            self.watcher.gears.news(CLOSE_LOOKS)

    def _remember_freezer(self, frame: FrameType) -> None:
        names = locals_of(frame)
        switches = [name for name in _switches(frame.f_code) if names.get(name) is False]
        if switches and frame.f_code.co_name != "<module>":
            self._freezers.setdefault(frame.f_code, (frame_site(frame), switches))

    def _walked(self, module: nn.Module, frame: FrameType) -> None:
        """A function that froze before goes over a module's parameters again, its switch on."""
        site, switches = self._freezers[frame.f_code]
        names = locals_of(frame)
        if any(names.get(name) is True for name in switches):
            held = [p for _, p in anatomy.named_parameters(module)]
            if held and not any(p.requires_grad for p in held):
                self._again.append((site, held))

    def _on_module(self, module: nn.Module, value: object) -> None:
        count = sum(1 for _ in anatomy.parameters(module))
        self.watcher.state(
            Freeze(target="module", value=bool(value), names=[], tensors=count),
            site=user_site(),
            module=self.watcher.registry.path(module),
            phase="setup",
            key=("module", id(module), bool(value)),
        )

    @on(moments.step_taken, moments.run_over)
    def tell(self) -> None:
        if not self._tried and not self._again:
            return
        registry = self.watcher.registry
        owners = {address(p): p for module in registry.roots() for p in anatomy.parameters(module) if p.numel()}
        for (site, value, target), tensors in self._tried.items():
            if target == "tensor":  # is it a handle on a parameter's memory, as state_dict() gives out?
                tensors = [owners[address(t)] for t in tensors if t.numel() and address(t) in owners]
                if not tensors:
                    continue
            names = [registry.parameter_name(tensor) for tensor in tensors]
            self.watcher.state(
                Freeze(
                    target="copy" if target == "tensor" else "parameter",
                    value=value,
                    names=names[:MOST_NAMES],
                    tensors=len(tensors),
                    now=sum(tensor.requires_grad for tensor in tensors),
                ),
                site=site,
                phase="setup",
            )
        for site, held in self._again:
            if not any(p.requires_grad for p in held):
                names = [registry.parameter_name(p) for p in held]
                data = Freeze(target="nothing", value=True, names=names[:MOST_NAMES], tensors=len(held), now=0)
                self.watcher.state(data, site=site, phase="setup")
        self._again.clear()
        self._tried.clear()


def _asking(frame: FrameType) -> FrameType:
    """Who wants the parameters: of `encoder.requires_grad_(True)`, the line that says so and not torch's loop."""
    by_torch = frame.f_code is nn.Module.requires_grad_.__code__
    return frame.f_back if by_torch and frame.f_back is not None else frame


def _switches(code: CodeType) -> set[str]:
    """The variables whose value this code assigns to requires_grad: not every flag of a function is that switch."""
    steps = [step for step in dis.get_instructions(code) if step.opname not in ("CACHE", "EXTENDED_ARG")]
    found = set()
    for index, step in enumerate(steps):
        if step.opname == "STORE_ATTR" and step.argval == "requires_grad" and index >= 2:
            value = steps[index - 2]  # value, object, STORE_ATTR
            if value.opname in ("LOAD_FAST", "LOAD_DEREF"):
                found.add(str(value.argval))
    return found


def _freezing_lines(code: CodeType) -> tuple[int, ...]:
    """The lines of a function that assign to requires_grad, or call requires_grad_()."""
    begins, line = dict(dis.findlinestarts(code)), 0
    found = set()
    for step in dis.get_instructions(code):
        line = begins.get(step.offset) or line
        if step.argval == "requires_grad_" or (step.argval == "requires_grad" and step.opname == "STORE_ATTR"):
            found.add(line)
    return tuple(found)


def tell_misspelt(watcher: Watcher, parameters: list[torch.Tensor]) -> None:
    """Parameters that carry an attribute like requires_grad, but not quite: `p.require_grad = False`."""
    odd: dict[str, list[torch.Tensor]] = {}
    for parameter in parameters:
        for name in parameter.__dict__:
            if name.startswith("require"):
                odd.setdefault(name, []).append(parameter)
    for attribute, tensors in odd.items():
        names = [watcher.registry.parameter_name(tensor) for tensor in tensors]
        site, count = _assigned_at(attribute) or user_site(), len(tensors)
        fact = Freeze(target="misspelt", value=True, attribute=attribute, names=names[:MOST_NAMES], tensors=count)
        watcher.state(fact, site=site, phase="setup", key=("misspelt", site))


def _assigned_at(attribute: str) -> Site | None:
    """The line of the user's source that assigns to an attribute of this name: nothing else has seen it happen."""
    assignment = re.compile(rf"\.{re.escape(attribute)}\s*=[^=]")
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    for file in sorted(file for file in files if isinstance(file, str) and is_users(file)):
        for number, line in enumerate(linecache.getlines(file), 1):
            if assignment.search(line):
                return Site(shown_path(file), number, None)
    return None
