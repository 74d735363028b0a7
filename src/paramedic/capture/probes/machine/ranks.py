"""Processes that train one model together: which one this is, how gradients are exchanged, and what never arrives."""

from __future__ import annotations

import hashlib
import linecache
import os
import re
import time
import weakref
from collections.abc import Iterator

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.written import assigns_attribute
from paramedic.capture.facts import address
from paramedic.capture.probe import probe
from paramedic.capture.sources.modules import assigned_at
from paramedic.capture.watcher import Watcher
from paramedic.errors import message_of
from paramedic.program import anatomy
from paramedic.program.where import built_at, user_frame, user_site
from paramedic.record.facts import Exchange, Owner, Unreduced, Wrapper
from paramedic.record.site import Site

FIRST_LOOK = 4  # steps
MOST_NAMED = 200  # parameters
MOST_SUMMED = 10_000  # tensors per step
_UNFINISHED = "finished reduction in the prior iteration"
_INDICES = re.compile(r"Parameter indices which did not receive grad for rank \d+:((?: \d+)+)")


@probe("ranks", states=[Exchange, Unreduced, Wrapper])
class Ranks:
    """Watches process groups and DistributedDataParallel."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        # The parameters of each wrapper by their identities, as its reducer numbers them.
        self._reduced: weakref.WeakKeyDictionary[nn.Module, list[int]] = weakref.WeakKeyDictionary()
        self._entered: set[int] = set()  # wrappers that were called to train
        self._apart: set[int] = set()  # wrappers that were told not to exchange gradients for a while
        self._due = FIRST_LOOK
        self._summed: set[int] = set()  # where tensors lie that were summed over all ranks in this step

    def install(self) -> None:
        if not distributed.is_available():
            return
        patches, ask = self.watcher.patches, self.watcher.ask

        def watched_group(original: Function) -> Function:
            def init_process_group(*args: object, **kwargs: object) -> None:
                original(*args, **kwargs)
                ask("ranks", self._joined, kwargs.get("init_method") or next((str(a) for a in args[1:2]), None))

            return init_process_group

        def watched_wrapper(original: Function) -> Function:
            def init(wrapper: nn.Module, *args: object, **kwargs: object) -> None:
                original(wrapper, *args, **kwargs)
                ask("ranks", self._wrapped, wrapper)

            return init

        def watched_no_sync(original: Function) -> Function:
            def no_sync(wrapper: object) -> object:
                self._apart.add(id(wrapper))
                return original(wrapper)

            return no_sync

        def watched_forward(original: Function) -> Function:
            def pre_forward(wrapper: nn.Module, *args: object, **kwargs: object) -> object:
                if torch.is_grad_enabled():
                    self._entered.add(id(wrapper))
                try:
                    return original(wrapper, *args, **kwargs)
                except RuntimeError as error:
                    if _UNFINISHED in str(error):
                        ask("ranks", self._unfinished, wrapper, error)
                    raise

            return pre_forward

        def watched_sum(original: Function) -> Function:
            def all_reduce(tensor: object, *args: object, **kwargs: object) -> object:
                everybody = kwargs.get("group") is None and len(args) < 2
                if everybody and isinstance(tensor, torch.Tensor) and len(self._summed) < MOST_SUMMED:
                    self._summed.add(address(tensor))
                return original(tensor, *args, **kwargs)

            return all_reduce

        patches.wrap(distributed, "init_process_group", watched_group)
        patches.wrap(distributed, "all_reduce", watched_sum)
        patches.wrap(DistributedDataParallel, "__init__", watched_wrapper)
        patches.wrap(DistributedDataParallel, "no_sync", watched_no_sync)
        patches.wrap(DistributedDataParallel, "_pre_forward", watched_forward)

    def _joined(self, method: str | None) -> None:
        """The environment does not say the rank of a process that a script has started itself."""
        if not method or method == "env://":
            method = f"{os.environ.get('MASTER_ADDR', '')}:{os.environ.get('MASTER_PORT', '')}"
        self.watcher.writer.set_meta(
            rank=distributed.get_rank(),
            world_size=distributed.get_world_size(),
            meeting=hashlib.blake2b(method.encode(), digest_size=8).hexdigest(),  # where all ranks have met
            joined=time.time(),
        )
        if distributed.get_world_size() > 1:
            self.watcher.known.crashes.in_rank()

    def _wrapped(self, wrapper: nn.Module) -> None:
        self._reduced[wrapper] = [id(p) for p in wrapper._module_parameters if p.requires_grad]
        site, frame = built_at(wrapper), user_frame()
        source = "".join(linecache.getlines(frame.f_code.co_filename)) if frame is not None else ""
        line = assigns_attribute(source, "require_backward_grad_sync")  # what no_sync does, by hand
        fact = Wrapper(
            class_=type(wrapper).__name__,
            find_unused=bool(wrapper.find_unused_parameters),
            static=bool(wrapper.static_graph),
            members=distributed.get_process_group_ranks(wrapper.process_group),
            sync_set_at=Site(site.file, line) if line is not None and site.file else None,
        )
        self.watcher.state(fact, site=site, phase="setup")

    @on(moments.step_taken)
    def _look(self) -> None:
        """Now and then: how each wrapper was used so far. Later they may be gone."""
        summed, self._summed = self._summed, set()
        if self.watcher.step < self._due:
            return
        self._due = 2 * self.watcher.step
        names = self.watcher.registry.module_names()
        for wrapper in list(self._reduced):
            data = Exchange(
                name=names.get(id(wrapper)),
                entered=id(wrapper) in self._entered,
                apart=id(wrapper) in self._apart or bool(getattr(wrapper, "_comm_hooks", ())),
                ignored=sorted(getattr(wrapper, "parameters_to_ignore", ()))[:MOST_NAMED],
            )
            self.watcher.state(data)
        for root in self.watcher.registry.roots() if summed else ():
            gradients = [p.grad for p in anatomy.parameters(root) if p.requires_grad]
            if gradients and all(g is not None and address(g) in summed for g in gradients):
                self._averaged(root)

    def _averaged(self, root: nn.Module) -> None:
        """All gradients of a model were summed over the ranks by the script itself."""
        registry = self.watcher.registry
        data = Exchange(name=registry.root_name(root), entered=True, apart=False, ignored=[], by_hand=True)
        self.watcher.state(data, site=registry.birth_site(root))

    def _unfinished(self, wrapper: nn.Module, error: RuntimeError) -> None:
        """A new step began while gradients of the last one were still being waited for."""
        found = _INDICES.search(message_of(error))
        reduced = self._reduced.get(wrapper, [])
        missing = {reduced[int(i)] for i in found.group(1).split() if int(i) < len(reduced)} if found else set()
        parameters = [p for p in anatomy.parameters(wrapper.module) if id(p) in missing]
        owners = [self._owner(wrapper.module, path, own) for path, own in _owners(wrapper.module, missing)]
        data = Unreduced(
            parameters=[self.watcher.registry.parameter_name(p) for p in parameters[:MOST_NAMED]],
            tensors=len(missing),
            frozen=sum(not p.requires_grad for p in parameters),
            owners=owners[:MOST_NAMED],
            find_unused=bool(wrapper.find_unused_parameters),
        )
        self.watcher.state(data, site=user_site())
        self.watcher.writer.start()
        self.watcher.writer.flush()  # the parent ends all ranks as soon as it knows of one that failed

    def _owner(self, root: nn.Module, path: str, parameter: str) -> Owner:
        """A module that holds missing parameters, and the line that made it, or them."""
        registry, module = self.watcher.registry, root.get_submodule(path)
        users = not type(module).__module__.startswith("torch.")
        site = assigned_at(root, ".".join(filter(None, (path, parameter)))) if users else None
        return Owner(
            path=registry.module_names().get(id(module), path),
            class_=type(module).__name__,
            own=users,  # parameters of a class of the user's own, which need not belong to one operation
            site=site or registry.birth_site(module),
        )


def _owners(root: nn.Module, missing: set[int]) -> Iterator[tuple[str, str]]:
    """The modules that hold missing parameters, each with the name of the first one."""
    for path, module in anatomy.named_modules(root):
        own = next((name for name, p in module._parameters.items() if id(p) in missing), None)
        if own is not None:
            yield path, own
