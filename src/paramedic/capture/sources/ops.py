"""Single calls on tensors, seen by a function mode while examining: broadcasts, cuts in the graph, activations."""

from __future__ import annotations

import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import describe, same_up_to_ones
from paramedic.capture.graph import kinds_behind, nearest_leaves, producer, reach, serial, serials, terms
from paramedic.capture.kept_axis import axis_kept_at
from paramedic.capture.sources.cut import Cut
from paramedic.capture.sources.functions import ACTIVATIONS, ARITHMETIC, COMPARISON, CUTS, FLAT, ORDER, SOFTMAX
from paramedic.capture.sources.waiting import Waiting
from paramedic.capture.watcher import Watcher
from paramedic.patching import before_next_backward
from paramedic.program.where import is_restoring, is_users, user_site
from paramedic.record.facts import Broadcast, ConstantTerm, Flat, Softmax, Terms
from paramedic.record.writer import Site

T = torch.Tensor
MOST_CUTS = 64  # remembered per cycle
MOST_BEHIND = 1_000  # parameters named behind one call
MOST_SUMS = 40  # told per line
DERIVATIVE = "torch.autograd.grad()"


class Made(NamedTuple):
    """The activation function that a tensor came out of, and the line to edit if it should not have."""

    op: str
    site: Site


class OpMode(TorchFunctionMode):
    """Sees every call of a torch function and hands the interesting ones to their handlers."""

    def __init__(self, watcher: Watcher) -> None:
        super().__init__()
        self.watcher = watcher
        self.cuts: list[Cut] = []
        self.waiting: list[Waiting] = []
        self.on_result: Callable[[Any, Any, Any], None] | None = None  # told of every call, while there is need
        self._sums: Counter[Site] = Counter()
        self._made: dict[int, tuple[weakref.ref[torch.Tensor], Made]] = {}
        self._made_nodes: dict[int, Made] = {}  # by the serial numbers of nodes
        self._tainted: dict[int, tuple[weakref.ref[torch.Tensor], Cut]] = {}
        self._derived = False  # some of these are derivatives without a graph of their own
        self.fresh = False  # a model was called since the last step: only then can a cut matter
        self._written: set[int] = set()  # leaves (ids) that backward passes since the last step have reached
        self._spent: set[int] = set()  # and those of the step before
        self._active = False
        self._passes = 0
        self._pairwise = False
        self._replaced: set[int] = set()  # nodes (serial numbers) whose value the script has replaced by another
        self.timers: dict[Any, Callable[..., Any]] = {}  # calls that another probe makes itself, to time them
        self._handlers: dict[Any, list[tuple[str, Callable[..., None]]]] = {}
        for group, handler in (
            (ARITHMETIC, self._arithmetic),
            (ACTIVATIONS, self._activation),
            (CUTS, self._cut),
            (COMPARISON, self._comparison),
            ([T.grad.__get__], self._grad_read),
            ([T.expand], self._sampled),
        ):
            self.handle(group, handler)

    def handle(self, functions: Iterable[Any], handler: Callable[..., None], probe: str = "ops") -> None:
        """Have a probe told of these functions' calls, with the function, its arguments and its result."""
        for function in functions:
            self._handlers.setdefault(function, []).append((probe, handler))

    def install(self) -> None:
        self.watcher.on_gear.append(self._shift)
        self.watcher.patches.on_undo(self.pause)
        self._shift(self.watcher.examining)

    # The mode's own life ----------------------------------------------------------------------------------------

    def _shift(self, examining: bool) -> None:
        if examining and not self.watcher.compiled and "ops" not in self.watcher.detached:
            self.resume()
        elif not self.pause() and self._active:  # amid a backward() that came through this mode
            before_next_backward(lambda: None if self.watcher.examining else self.pause(), self.watcher.patches)

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

    def unheard(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
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
        del self.cuts[cuts:]
        del self.waiting[waiting:]
        self._tainted = {known: taint for known, taint in self._tainted.items() if taint[0]() is not None}

    @on(moments.step_taken, moments.round_over)
    def forget_cycle(self) -> None:
        """The optimizer has stepped: what was waiting for a backward pass waits no more."""
        self.cuts.clear()
        self.waiting.clear()
        self.fresh = False
        self._spent, self._written = self._written, set()
        self._passes = 0
        self._pairwise = False
        self._replaced.clear()
        self._tainted.clear()
        self._derived = False
        self._made.clear()
        self._made_nodes.clear()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        timer = self.timers.get(func)
        if timer is None and (inner := getattr(func, "__wrapped__", None)) in self.timers:
            timer, func = self.timers[inner], inner
        result = func(*args, **kwargs) if timer is None else timer(func, args, kwargs)
        if self.watcher.examining and not self.watcher.busy:
            known = self._handlers.get(func)
            if known is None and (func := getattr(func, "__wrapped__", func)) in self._handlers:
                known = self._handlers[func]  # another probe has put its own function in the place of torch's
            for probe, handler in known or ():
                self.watcher.ask(probe, handler, func, args, kwargs, result)
            if self._tainted and isinstance(result, T) and (self._derived or not result.requires_grad):
                self.watcher.ask("ops", self._spread, args, result)
            if self.on_result is not None:
                self.watcher.ask("answers", self.on_result, args, kwargs, result)
        return result

    # Handlers ---------------------------------------------------------------------------------------------------

    def _arithmetic(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        if len(args) < 2 or not (isinstance(args[0], T) and isinstance(args[1], T) and isinstance(result, T)):
            return
        a, b = args[0], args[1]
        if a.dim() == b.dim() and 1 < a.numel() == b.numel() and result.numel() == a.numel() * b.numel():
            self._pairwise = True  # x[:, None] - x[None, :]
        if a.requires_grad and b.requires_grad and a.dim() == b.dim() == 0 and ARITHMETIC[func] in "+-":
            self._sum(a, b, result)
            if self._tainted and (self.taint_of(a) is None) != (self.taint_of(b) is None):
                self._constant_term(*((a, b) if self.taint_of(b) is not None else (b, a)), result)
        if a.requires_grad == b.requires_grad or result.grad_fn is None:
            return
        if a.dim() != b.dim() and same_up_to_ones(a, b) and not self.watcher.known.calls.in_forward():
            if result.numel() > max(a.numel(), b.numel()):
                self._broadcast(ARITHMETIC[func], a, b, result)
        elif ARITHMETIC[func] in "+-" and a.dim() == 0 and b.dim() == 0:
            self._constant_term(*((a, b) if a.requires_grad else (b, a)), result)

    def _sum(self, a: torch.Tensor, b: torch.Tensor, result: torch.Tensor) -> None:
        """Two scalars with gradients added up: two terms of the loss, if it is one."""
        site, step = user_site(), self.watcher.step
        kinds = [self.watcher.known.losses.function_of(a), self.watcher.known.losses.function_of(b)]
        numbers = torch.stack([a.detach().float(), b.detach().float()])

        def tell() -> None:
            def use(found: list[float]) -> None:
                self.watcher.state(Terms(values=found, kinds=kinds), site=site, phase="train", step=step)

            self._sums[site] += 1
            if self._sums[site] <= MOST_SUMS:
                self.watcher.read(numbers, use)

        self.waiting.append(Waiting(serial(result.grad_fn), tell, term=True))

    def _broadcast(self, op: str, a: torch.Tensor, b: torch.Tensor, result: torch.Tensor) -> None:
        site = user_site()
        kept, made = axis_kept_at(a if a.dim() > b.dim() else b), list(result.shape)
        fact = Broadcast(symbol=op, a=describe(a), b=describe(b), result=made, axis_at=kept)
        maker = self.watcher.known.calls.maker(a if a.requires_grad else b)
        tell = lambda: self.watcher.state(fact, site=site, module=maker, key=site)  # noqa: E731
        self.waiting.append(Waiting(serial(result.grad_fn), tell, unless_pairwise=True))

    def _constant_term(self, live: torch.Tensor, constant: torch.Tensor, result: torch.Tensor) -> None:
        """A term without gradient is added to one with gradient; wrong only if it was once part of the graph.

        Not if it replaces the value of a term and leaves its gradient, on purpose: then the constant was computed
        from that very term, as in `surrogate + (objective - surrogate).detach()`.
        """
        cut = self.taint_of(constant)
        if cut is None or (live.grad_fn is not None and serial(live.grad_fn) in self._replaced):
            return
        summands = terms(live.grad_fn)
        parts = {node for summand in summands for node, _ in summand.next_functions} if cut.scalar else set()
        if live.grad_fn in kinds_behind(cut.node) or (cut.node is not None and cut.node in parts):
            self._replaced.add(serial(result.grad_fn))
            known = serials(summands)
            self.waiting = [item for item in self.waiting if not (item.constant and item.node in known)]
            return
        site = user_site()
        value = constant.detach()

        def tell() -> None:
            self.watcher.read(value.reshape(1).float(), use)

        def use(numbers: list[float]) -> None:
            fact = ConstantTerm(cut=cut.op, cut_file=cut.site.file, cut_line=cut.site.line, value=numbers[0])
            self.watcher.state(fact, site=site, key=("term", site, numbers[0] == 0.0))

        self.waiting.append(Waiting(serial(result.grad_fn), tell, term=True, constant=True))

    def _activation(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not isinstance(result, T):
            return
        made = Made(ACTIVATIONS[func], self.watcher.known.calls.native_site() or user_site())
        self._made[id(result)] = (weakref.ref(result), made)
        if result.grad_fn is not None:
            self._made_nodes[serial(result.grad_fn)] = made
        if func in SOFTMAX:
            self._softmax(func, args, kwargs, result, made.site)

    def made(self, tensor: torch.Tensor) -> Made | None:
        """The activation function that computed this tensor, perhaps reshaped since."""
        known = self._made.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1]
        node = producer(tensor.grad_fn)
        return self._made_nodes.get(serial(node)) if node is not None else None

    def _softmax(self, func: Any, args: Any, kwargs: Any, result: Any, site: Site) -> None:
        x = args[0] if args else kwargs.get("input")
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if not isinstance(x, T) or not isinstance(result, T) or x.dim() == 0:
            return
        implicit = dim is None
        dim = (0 if x.dim() in (0, 1, 3) else 1) if dim is None else dim % x.dim()
        # Ordinary calls are told as well: a dimension that is only sometimes of size one is no fault.
        kind = "single" if x.shape[dim] == 1 else "first" if dim == 0 else "ordinary"
        maker = self.watcher.known.calls.maker(x)
        products = "Bmm" in kinds_behind(x.grad_fn, 8).values()  # scores of queries with keys
        sizes = list(x.shape)
        fact = Softmax(
            function=func.__name__, shape=sizes, dim=dim, size=sizes[dim], implicit=implicit, products=products
        )
        tell = lambda: self.watcher.state(fact, site=site, module=maker, key=(site, kind))  # noqa: E731
        if result.grad_fn is not None:
            self.waiting.append(Waiting(serial(result.grad_fn), tell))

    def _cut(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        x = args[0] if args else kwargs.get("data")
        if not isinstance(x, T) or not x.requires_grad or len(self.cuts) >= MOST_CUTS:
            return
        if not self.fresh and not self._is_unspent(x):
            return
        if func in ORDER and not is_users(sys._getframe(3).f_code.co_filename):
            return  # torch checks the arguments of its distributions so
        if is_restoring():
            return  # a copy of a model is not part of any loss
        if isinstance(result, T) and result.grad_fn is not None and CUTS[func] not in FLAT:
            return  # the path goes on: nothing was cut
        if isinstance(result, T) and result.grad_fn is not None:
            self._flat(CUTS[func], result)
        # torch keeps a leaf's accumulator, and the shape it had, as long as somebody holds it. A parameter that gets
        # other data later (a lazy one, a model that grows) could not be trained any more.
        leaf = weakref.ref(x) if x.grad_fn is None else None
        value = result if isinstance(result, float) else None
        cut = Cut(x.grad_fn, CUTS[func], user_site(), x.dim() == 0, self._passes, value, leaf)
        self.cuts.append(cut)
        if isinstance(result, T) and not result.requires_grad:
            self._taint(result, cut)

    def _sampled(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Distribution.sample() takes its parameters without their history; rsample() would not."""
        caller = sys._getframe(3).f_code
        if torch.is_grad_enabled() or caller.co_name != "sample" or "distributions" not in caller.co_filename:
            return
        x = args[0]
        if x.grad_fn is not None and self.fresh and len(self.cuts) < MOST_CUTS:
            cut = Cut(x.grad_fn, ".sample()", user_site(), False, self._passes)
            self.cuts.append(cut)
            self._taint(result, cut)

    def _is_unspent(self, x: torch.Tensor) -> bool:
        """Computed before the last step, and still waiting for its backward pass: the samples of a GAN."""
        if not self._spent or x.grad_fn is None or x.dim() == 0:
            return False
        return not {id(leaf) for leaf in reach(x.grad_fn).leaves} & self._spent

    def _flat(self, op: str, result: torch.Tensor) -> None:
        """A step function: the gradient goes through it, as zero."""
        site, node = user_site(), result.grad_fn

        def tell() -> None:
            behind = [self.watcher.registry.parameter_name(leaf) for leaf in reach(node).leaves[:MOST_BEHIND]]
            data = Flat(function=op, behind=behind)
            self.watcher.state(data, site=site, key=("flat", site))

        self.waiting.append(Waiting(serial(node), tell))

    def _comparison(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """Predictions compared with labels: an accuracy is being measured."""
        both = len(args) > 1 and isinstance(args[0], T) and isinstance(args[1], T)
        if both and args[0].numel() > 1 and not args[0].dtype.is_floating_point:
            self.watcher.known.calls.used_as("metric")

    def _grad_read(self, func: Any, args: Any, kwargs: Any, result: Any) -> None:
        """The user's own code looks at a gradient: an optimizer written by hand, or a method such as SAM."""
        caller = sys._getframe(3)
        if result is not None and is_users(caller.f_code.co_filename):
            self.watcher.known.loop.grads_read()

    # Where values without history came from ---------------------------------------------------------------------

    def _taint(self, result: torch.Tensor, cut: Cut) -> None:
        self._tainted[id(result)] = (weakref.ref(result), cut)

    def taint_outputs(self, tensors: list[torch.Tensor], site: Site, op: str = "torch.no_grad()") -> None:
        """Outputs of a trainable module that ran under no_grad, or gradients that autograd handed out as numbers."""
        self._derived |= op == DERIVATIVE
        for tensor in tensors:
            self._taint(tensor, Cut(None, op, site))

    def _spread(self, args: Any, result: torch.Tensor) -> None:
        for value in args:
            for item in value if isinstance(value, (list, tuple)) else (value,):
                cut = self.taint_of(item)
                if cut is not None:
                    if not result.requires_grad or (cut.op == DERIVATIVE and self._trains_nothing(result)):
                        self._taint(result, cut)
                    return

    def _trains_nothing(self, result: torch.Tensor) -> bool:
        """Whether its gradient only leads to inputs: coordinates x that a derivative was taken by have one, too."""
        leaves = nearest_leaves(result.grad_fn) if result.grad_fn is not None else None
        return leaves is not None and not any(
            isinstance(p, nn.Parameter) or id(p) in self.watcher.known.loop.owners for p in leaves
        )

    def taint_of(self, value: Any) -> Cut | None:
        known = self._tainted.get(id(value))  # ids are used again, so the tensor itself must still be the one meant
        return known[1] if known is not None and known[0]() is value else None

    def told(self, nodes: set[Any], terms: set[Any], leaves: list[torch.Tensor]) -> None:
        """A backward pass is about to go through these nodes: what waited for one of them is now a fact.

        `terms` are those among them at which the loss is put together from its terms.
        """
        used, summed = serials(nodes), serials(terms)
        for item in self.waiting:
            if item.node in (summed if item.term else used) and not (item.unless_pairwise and self._pairwise):
                item.tell()
        self.waiting = [item for item in self.waiting if item.node not in used]
        self._passes += 1
        self._written |= {id(leaf) for leaf in leaves}

    def cuts_behind(self, wanted: set[int]) -> list[tuple[Cut, set[int]]]:
        """For parameters (ids) that no gradient reached: the cuts that lie between them and the loss.

        Those made for the last backward pass, if there are any: a GAN detaches its samples for the other network, too.
        """
        found = []
        for cut in self.cuts:
            behind = cut.leaves() & wanted
            if behind:
                found.append((cut, behind))
        return [pair for pair in found if pair[0].passes == self._passes - 1] or found
