"""Single calls on tensors, seen by a function mode while examining: broadcasts, cuts in the graph, activations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import FrameType, FunctionType

import torch
from torch.autograd.graph import Node
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.graph import serials
from paramedic.capture.sources.activations import Activations
from paramedic.capture.sources.cuts import Cuts
from paramedic.capture.sources.functions import ACTIVATIONS, ARITHMETIC, COMPARISON, CUTS
from paramedic.capture.sources.terms import LossTerms
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.patching import before_next_backward
from paramedic.program.where import is_users

T = torch.Tensor


class OpMode(TorchFunctionMode):
    """Sees every call of a torch function and hands the interesting ones to their handlers."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self.watcher = watcher
        self.waiting: list[Waiting] = []  # for a backward pass
        self.cuts = Cuts(watcher, self.waiting)
        self.terms = LossTerms(watcher, self.cuts, self.waiting)
        self.activations = Activations(watcher, self.waiting)
        self.on_result: Callable[[Args, Kwargs, object], None] | None = None  # told of every call, while there is need
        self._active = False
        self.timers: dict[Function, Function] = {}  # calls that another probe makes itself, to time them
        self._handlers: dict[Function, list[tuple[str, Callable[..., None]]]] = {}
        for group, handler in (
            (ARITHMETIC, self.terms.combined),
            (ACTIVATIONS, self.activations.activated),
            (CUTS, self.cuts.cut),
            (COMPARISON, self._comparison),
            ([T.grad.__get__], self._grad_read),
            ([T.expand], self.cuts.sampled),
        ):
            self.handle(group, handler)

    def handle(self, functions: Iterable[Function], handler: Callable[..., None], probe: str = "ops") -> None:
        """Have a probe told of these functions' calls, with the function, its arguments and its result."""
        for function in functions:
            self._handlers.setdefault(function, []).append((probe, handler))

    def install(self) -> None:
        self.watcher.gears.on_gear.append(self._shift)
        self.watcher.patches.on_undo(self.pause)
        self._shift(self.watcher.gears.examining)

    # The mode's own life ----------------------------------------------------------------------------------------

    def _shift(self, examining: bool) -> None:
        if examining and not self.watcher.gears.compiled and "ops" not in self.watcher.guard.detached:
            self.resume()
        elif not self.pause() and self._active:  # amid a backward() that came through this mode
            before_next_backward(lambda: None if self.watcher.gears.examining else self.pause(), self.watcher.patches)

    @on(moments.trainer_changed)
    def _follow_this_thread(self) -> None:
        """Each thread has modes of its own; the one left behind stays where it is."""
        self._active = any(mode is self for mode in _get_current_function_mode_stack())
        self._shift(self.watcher.gears.examining)

    def pause(self) -> bool:
        """Take the mode off, unless the user's own mode lies on top of it. Returns whether it was taken off."""
        stack = _get_current_function_mode_stack()
        if self._active and stack and stack[-1] is self:
            self.__exit__(None, None, None)
            self._active = False
            return True
        return False

    def resume(self) -> None:
        if not self._active:
            self.__enter__()
            self._active = True

    def unheard(self, call: Function, *args: object, **kwargs: object) -> object:
        """Make a call of torch's own that consists of thousands, to which nobody need listen."""
        off = self.pause()
        try:
            return call(*args, **kwargs)
        finally:
            if off:
                self.resume()

    def amid_call(self) -> bool:
        """Whether this is within a call that came through this mode, which is off the stack until the call is over."""
        return self._active and self not in _get_current_function_mode_stack()

    def let_go(self, cuts: int, waiting: int) -> None:
        """Keep only so many of the first: nobody will back-propagate what the others belong to."""
        del self.waiting[waiting:]
        self.cuts.let_go(cuts)

    @on(moments.step_taken, moments.round_over)
    def forget_cycle(self) -> None:
        """The optimizer has stepped: what was waiting for a backward pass waits no more."""
        self.waiting.clear()
        self.cuts.forget()
        self.terms.forget()
        self.activations.forget()

    def __torch_function__(
        self, func: Function, types: object, args: Args = (), kwargs: Kwargs | None = None
    ) -> object:
        kwargs = kwargs or {}
        if type(func) is FunctionType and is_users(func.__code__.co_filename):
            func = self._torchs_own(func, sys._getframe(2))
        timer = self.timers.get(func)
        if timer is None and (inner := getattr(func, "__wrapped__", None)) in self.timers:
            timer, func = self.timers[inner], inner
        result = func(*args, **kwargs) if timer is None else timer(func, args, kwargs)
        if self.watcher.gears.examining and not self.watcher.guard.busy:
            known = self._handlers.get(func)
            if known is None and (func := getattr(func, "__wrapped__", func)) in self._handlers:
                known = self._handlers[func]  # another probe has put its own function in the place of torch's
            for probe, handler in known or ():
                self.watcher.ask(probe, handler, func, args, kwargs, result)
            cuts = self.cuts
            if cuts.lost and isinstance(result, T) and (cuts.derived or not result.requires_grad):
                self.watcher.ask("ops", cuts.spread, args, result)
            if self.on_result is not None:
                self.watcher.ask("answers", self.on_result, args, kwargs, result)
        return result

    def _torchs_own(self, func: FunctionType, called: FrameType) -> Function:
        """The function of torch that is being called, where the user has put another one in its place.

        torch looks it up by its name and finds the user's function, which has been called already.
        """
        code = called.f_code
        if code is func.__code__ or is_users(code.co_filename) or code.co_freevars:
            return func  # a function of the user's own that supports modes
        known = [each for each in self._handlers if getattr(each, "__code__", None) is code]
        return known[0] if known else FunctionType(code, called.f_globals)

    # Handlers ---------------------------------------------------------------------------------------------------

    def _comparison(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """Predictions compared with labels: an accuracy is being measured."""
        both = len(args) > 1 and isinstance(args[0], T) and isinstance(args[1], T)
        if both and args[0].numel() > 1 and not args[0].dtype.is_floating_point:
            self.watcher.known.calls.fates.used_as("metric")

    def _grad_read(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        """The user's own code looks at a gradient: an optimizer written by hand, or a method such as SAM."""
        caller = sys._getframe(3)
        if result is not None and is_users(caller.f_code.co_filename):
            self.watcher.known.loop.gradients.were_read()

    def told(self, nodes: set[Node], terms: set[Node], leaves: list[torch.Tensor]) -> None:
        """A backward pass is about to go through these nodes: what waited for one of them is now a fact.

        `terms` are those among them at which the loss is put together from its terms.
        """
        used, summed = serials(nodes), serials(terms)
        for item in self.waiting:
            if item.node in (summed if item.term else used) and not (item.unless_pairwise and self.terms.pairwise):
                item.tell()
        self.waiting[:] = [item for item in self.waiting if item.node not in used]
        self.cuts.passed(leaves)
