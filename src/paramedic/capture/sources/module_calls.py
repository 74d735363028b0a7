"""Calls of modules: who was called how, what came out, and whether it was trained on or only measured."""

from __future__ import annotations

import threading
from collections import Counter

import torch
from torch import nn
from torch.utils.hooks import RemovableHandle

from paramedic.aliases import Args, Kwargs
from paramedic.capture import global_hooks, moments
from paramedic.capture.bus import on
from paramedic.capture.facts import describe, own_parameters
from paramedic.capture.inquest.randomness import random_state
from paramedic.capture.moments import Call
from paramedic.capture.sources.fates import MOST_CALLS, Fates
from paramedic.capture.sources.mode_dependent import mode_dependent_modules
from paramedic.capture.sources.model_inputs import ModelInputs
from paramedic.capture.sources.ops import OpMode
from paramedic.capture.sources.outputs import Outputs
from paramedic.capture.sources.rebuilt import Rebuilt
from paramedic.capture.sources.unused import Unused
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.program.anatomy import full_name
from paramedic.program.tensors import tensors_in
from paramedic.program.untouched import on_class, stored
from paramedic.program.where import is_users, shown_path, user_site
from paramedic.record.facts import ModePart, ModuleCall
from paramedic.record.writer import Site

EXAMINED_PER_PATTERN = 64  # evaluation calls, so that the metric behind them is seen as well


class ModuleCalls:
    """Follows module calls while examining.

    With global hooks only: a hook on a module itself would travel into its copies and checkpoints.
    """

    def __init__(self, watcher: Watcher, ops: OpMode) -> None:
        self.watcher = watcher
        self.ops = ops
        self.rebuilt = Rebuilt(watcher.registry)
        self.stack: list[Call] = []
        self.patterns: Counter[tuple[int, bool, bool]] = Counter()
        self._thread = threading.get_ident()
        self._paths: dict[int, tuple[int, dict[int, str]]] = {}
        self._unused = Unused(ops)
        self.outputs = Outputs()
        self.fates = Fates(watcher, self._unused)
        self.inputs = ModelInputs(watcher)
        self._hooks: list[RemovableHandle] = []
        self._order = 0

    def install(self) -> None:
        self.watcher.gears.on_gear.append(self._shift)
        self.watcher.patches.on_undo(self._remove_hooks)
        self._shift(self.watcher.gears.examining)

    @on(moments.forked)
    def _forked(self, name: str) -> None:
        self._thread = threading.get_ident()

    @on(moments.trainer_changed)
    def _follow_this_thread(self) -> None:
        """Only one thread's calls can be followed: the one that trains."""
        self._thread = threading.get_ident()
        self.stack.clear()

    @on(moments.dropout_tied)
    def dropped(self, training: bool) -> None:
        """Functional dropout that follows train() and eval() of the module which calls it."""
        if self.stack and len(self.stack[0].moody) < MOST_CALLS:
            path = self.stack[-1].path
            about = ModePart(path=path, class_="F.dropout", training=training, norm=False, trainable=False)
            self.stack[0].moody.append(about)

    def inside(self) -> str | None:
        return self.stack[-1].path if self.stack else None

    # Gears ------------------------------------------------------------------------------------------------------

    def _shift(self, examining: bool) -> None:
        self._remove_hooks()
        self.watcher.bus.tell(moments.module_entered, "")
        # A compiler guards on global hooks: each change of them would make it compile the model again.
        if examining and not self.watcher.gears.compiled:
            self._hooks = global_hooks.around_calls(self._enter, self._leave)

    def _remove_hooks(self) -> None:
        global_hooks.remove(self._hooks)
        self._hooks = []

    # Hooks ------------------------------------------------------------------------------------------------------

    def _enter(self, module: nn.Module, args: Args) -> None:
        if not torch.compiler.is_compiling() and threading.get_ident() == self._thread:
            self.watcher.ask("module_calls", self._entered, module)

    def _leave(self, module: nn.Module, args: Args, *rest: object) -> None:
        # When forward has raised, torch calls without the keyword arguments, and the output is None.
        kwargs, output = rest if len(rest) == 2 else ({}, None)
        if not torch.compiler.is_compiling() and self.stack and threading.get_ident() == self._thread:
            self.watcher.ask("module_calls", self._left, module, args, kwargs, output)

    def _entered(self, module: nn.Module) -> None:
        parent = self.stack[-1] if self.stack else None
        root = parent.root if parent else module
        grad = torch.is_grad_enabled()
        if parent is None and grad:
            self.watcher.registry.adopt(root)
            self._unused.called(user_site(), module.training)
        call = Call(
            module=module,
            root=root,
            path=self._path(module, root, parent),
            site=user_site(),
            training=module.training,
            grad=grad,
            step=self.watcher.step,
        )
        # With a function mode active torch takes other kernels in inference (attention's fast path).
        if not call.grad:
            call.paused = self.ops.pause()
            if parent is not None and parent.grad:
                call.cut_at = _decorator_site(parent.module) or call.site
            elif parent is not None:
                call.cut_at = parent.cut_at
        if parent is None:
            self.ops.cuts.fresh = True
            call.random = None if call.grad or self.watcher.known.seeds.draws_apart() else random_state()
            self.rebuilt.turn += 1
        self.stack.append(call)
        self.watcher.bus.tell(moments.module_entered, call.path)

    def _left(self, module: nn.Module, args: Args, kwargs: Kwargs, output: object) -> None:
        while self.stack:  # an exception may have skipped some
            call = self.stack.pop()
            if call.paused:
                self.ops.resume()
            if call.module is module:
                break
        else:
            return
        self.watcher.bus.tell(moments.module_entered, self.stack[-1].path if self.stack else "")
        self.watcher.bus.tell(moments.module_called, call, args, kwargs, output)
        tensors = list(tensors_in(output))
        self.outputs.remember(call, [tensor for _, tensor in tensors])
        self._order += 1
        stochastic = stored(module, "p")
        cut = call.cut_at
        if call.grad and tensors and not any(tensor.requires_grad for _, tensor in tensors):
            cut = _decorator_site(module)  # gradients went on in, and nothing came out
        if cut is not None and self._carries(module, args, kwargs):
            self.ops.cuts.lose_all([tensor for _, tensor in tensors], cut)
        built_in = self.rebuilt.inside(module, call.root)
        self.watcher.state(
            ModuleCall(
                class_=type(module).__name__,
                order=self._order,
                training=call.training,
                grad=call.grad,
                trainable=sum(p.requires_grad for p in own_parameters(module).values()),
                inputs=[describe(t) for _, t in tensors_in((args, kwargs))][:8],
                outputs=[describe(t) for _, t in tensors][:8],
                p=stochastic if isinstance(stochastic, float) else None,
                cut=cut,
                built_in=built_in,
                norm=isinstance(module, nn.modules.batchnorm._BatchNorm),
                dropout=isinstance(module, nn.modules.dropout._DropoutNd),
            ),
            site=call.site,
            module=call.path,
            key=(call.path, call.training, call.grad, built_in),
        )
        top = self.stack[0] if self.stack else call
        if not top.fed and not module._modules and own_parameters(module):
            top.fed = True
            self.watcher.bus.tell(moments.first_layer_called, call, args, kwargs, output)
        if not self.stack:
            self._left_root(call, args, kwargs, output)

    def _carries(self, module: nn.Module, args: Args, kwargs: Kwargs) -> bool:
        """Whether a gradient is missed behind it: a teacher that no optimizer holds has none to give."""
        trained = any(id(p) in self.watcher.known.loop.books.owners for p in anatomy.parameters(module))
        return trained or any(self.ops.cuts.of(tensor) is not None for _, tensor in tensors_in((args, kwargs)))

    def _left_root(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if not any(True for _ in anatomy.parameters(call.module)):
            return  # a loss or an activation called by itself
        pattern = (id(call.module), call.training, call.grad)
        self.patterns[pattern] += 1
        call.moody = [*mode_dependent_modules(call.module, call.path), *call.moody]
        call.loader = self.watcher.known.loaders.current
        call.drew = call.random is not None and not call.random.is_that_of(random_state())
        call.random = None
        call.borrowed = not all(isinstance(p, nn.Parameter) for p in anatomy.parameters(call.module))
        call.repeated = self.inputs.same_again(args)
        self.fates.follow(call)
        self.inputs.describe(call, args, kwargs)
        self.watcher.bus.tell(moments.model_called, call, args, kwargs, output)
        call.module = call.root = None
        if not call.grad and self.patterns[pattern] >= EXAMINED_PER_PATTERN:
            self.watcher.gears.relax()
        self.watcher.gears.turns.called(asked=True)

    def in_forward(self) -> bool:
        """Whether a module with parameters is running: arithmetic there is the model's, not the loss's."""
        return any(True for call in self.stack for _ in anatomy.parameters(call.module))

    def native_site(self) -> Site | None:
        """Where torch's own module that is running now was built: its code is not the user's, that line is."""
        if not self.stack or not type(self.stack[-1].module).__module__.startswith("torch.nn"):
            return None
        site = self.watcher.registry.birth_site(self.stack[-1].module)
        return site if site.file else None

    def loss_site(self) -> Site | None:
        """Where the loss module that is running now was built."""
        if not self.stack or self.stack[-1].module._modules:
            return None
        site = self.watcher.registry.birth_site(self.stack[-1].module)
        return site if site.file else None

    @on(moments.step_taken, moments.round_over)
    def _round_over(self) -> None:
        self.fates.settle()
        self.outputs.forget()

    @on(moments.run_over)
    def _run_over(self) -> None:
        self.fates.settle(final=True)
        self.outputs.forget()

    def _path(self, module: nn.Module, root: nn.Module, parent: Call | None) -> str:
        if parent is None:
            return self.watcher.registry.root_name(module)
        version = self.watcher.registry._version
        known = self._paths.get(id(root))
        if known is None or known[0] != version:
            name = self.watcher.registry.root_name(root)
            known = (version, {id(m): full_name(name, path, root) for path, m in anatomy.named_modules(root)})
            self._paths[id(root)] = known
        return known[1].get(id(module)) or f"{parent.path}.<{type(module).__name__}>"


def _decorator_site(module: nn.Module) -> Site | None:
    """The decorator on a module's forward, such as @torch.no_grad()."""
    inner = getattr(on_class(type(module), "forward"), "__wrapped__", None)
    code = getattr(inner, "__code__", None)
    if code is None or not is_users(code.co_filename):
        return None
    return Site(shown_path(code.co_filename), code.co_firstlineno, code.co_name)
