"""Modules as they are built and attached: who exists, where it was made, what hides from its owner."""

from __future__ import annotations

import gc
import inspect
import re

import torch
from torch import nn

from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.written import function_around
from paramedic.capture.code.written_before import WrittenBefore
from paramedic.capture.facts import own_parameters
from paramedic.capture.names import hidden_in
from paramedic.capture.probes.model.freezes import tell_misspelt
from paramedic.capture.sources.by_hand import ByHand
from paramedic.capture.watcher import Watcher
from paramedic.logbook import model_seen
from paramedic.program import anatomy
from paramedic.program.anatomy import full_name
from paramedic.program.where import built_at, shown_path, source_at
from paramedic.record.facts import Hidden, Model, ModulePart, ParameterPart
from paramedic.record.writer import Site

MOST_PARAMETERS = 5_000


class Modules:
    """Keeps the registry of modules current and describes models to the record."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._by_hand = ByHand(watcher)
        # id of a root -> its birth, for ids are used again, and the number of its parameters when described
        self._described: dict[int, tuple[object, int]] = {}

    def install(self) -> None:
        watcher, registry = self.watcher, self.watcher.registry

        def watched_init(original: Function) -> Function:
            def init(module: nn.Module, *args: object, **kwargs: object) -> None:
                original(module, *args, **kwargs)
                watcher.ask("modules", lambda: registry.born(module, built_at(module), watcher.known.calls.inside()))

            return init

        watcher.patches.wrap(nn.Module, "__init__", watched_init)
        hooks = torch.nn.modules.module
        for register in (
            hooks.register_module_module_registration_hook,
            hooks.register_module_parameter_registration_hook,
        ):
            watcher.patches.on_undo(register(lambda *_: registry.changed()).remove)

    @on(moments.step_taken)
    def _stepped(self) -> None:
        self._by_hand.look()

    def adopt_existing(self) -> None:
        """Modules built before paramedic was attached, as in a notebook."""
        registry = self.watcher.registry
        # Not isinstance: it would run foreign __class__ properties of whatever lies around.
        modules = [found for found in gc.get_objects() if issubclass(type(found), nn.Module)]
        modules = [module for module in modules if "_modules" in module.__dict__]
        before = WrittenBefore(modules)
        for module in modules:
            if not registry.birth(module):
                registry.born(module, before.site(module), None)

    def describe(self, held: set[int], optimised: dict[int, int]) -> None:
        """Record each model that has a parameter in `held` (ids), once, and again when it has grown.

        `optimised` maps the id of a parameter to the number of the optimizer that holds it.
        """
        for root in self.watcher.registry.roots():
            parameters = list(anatomy.named_parameters(root))
            state = (self.watcher.registry.birth(root), len(parameters))
            if self._described.get(id(root)) == state:
                continue
            if not any(id(p) in held for _, p in parameters) and not self._hides(root, held):
                continue
            self._described[id(root)] = state
            self._describe(root, parameters, optimised)

    def _hides(self, root: nn.Module, held: set[int]) -> bool:
        return any(True for _, found in hidden_in(root) if _own_parameters(found) & held)

    def _describe(self, root: nn.Module, parameters: list[nn.Parameter], optimised: dict[int, int]) -> None:
        registry = self.watcher.registry
        name = registry.root_name(root)
        model_seen(name, root)
        first_path: dict[int, str] = {}
        modules: list[ModulePart] = []
        repeated: list[list[str]] = []
        for path, module in anatomy.named_modules(root, again=True):
            if id(module) in first_path:
                repeated.append([full_name(name, first_path[id(module)], root), full_name(name, path, root)])
                continue
            first_path[id(module)] = path
            site = registry.birth_site(module)
            modules.append(
                ModulePart(
                    path=full_name(name, path, root),
                    class_=type(module).__name__,
                    own_parameters=[n for n, p in own_parameters(module).items() if p.requires_grad],
                    children=len(module._modules),
                    file=site.file,
                    line=site.line,
                    container=isinstance(module, (nn.ModuleList, nn.Sequential, nn.ModuleDict)),
                    norm=isinstance(module, nn.modules.batchnorm._BatchNorm),
                )
            )
        self.watcher.state(
            Model(
                name=name,
                class_=type(root).__name__,
                modules=modules[:MOST_PARAMETERS],
                repeated=repeated[:100],
                handed_over=self._handed_over(root, name, repeated[:100]),
                parameters=[
                    ParameterPart(
                        name=full_name(name, path, root),
                        shape=list(p.shape),
                        numel=p.numel(),
                        dtype=str(p.dtype).removeprefix("torch."),
                        requires_grad=p.requires_grad,
                        optimizer=optimised.get(id(p)),
                    )
                    for path, p in parameters[:MOST_PARAMETERS]
                ],
            ),
            site=registry.birth_site(root),
            module=name,
            phase="setup",
        )
        tell_misspelt(self.watcher, [p for _, p in parameters])
        self._describe_hidden(root, name, optimised)

    def _handed_over(self, root: nn.Module, name: str, repeated: list[list[str]]) -> list[str]:
        """Of the modules that stand in several places of a list, those that the list's builder got as an argument."""
        registry, found = self.watcher.registry, []
        by_path = {full_name(name, path, root): module for path, module in anatomy.named_modules(root)}
        for path in dict.fromkeys(first for first, _ in repeated):
            holder = by_path.get(path.rpartition(".")[0])
            if holder is None:
                continue
            sites = registry.birth_site(by_path[path]), registry.birth_site(holder)
            functions = [function_around(source_at(site), site.line) for site in sites]
            if sites[0].file == sites[1].file and functions[0] != functions[1] and None not in functions:
                found.append(path)
        return found

    def _describe_hidden(self, root: nn.Module, name: str, optimised: dict[int, int]) -> None:
        registry = self.watcher.registry
        groups: dict[str, list[tuple[str, nn.Module | torch.Tensor]]] = {}
        lines: dict[str, Site] = {}
        for inner, found in hidden_in(root):
            path = full_name(name, inner, root)
            holder = path.partition("[")[0]
            groups.setdefault(holder, []).append((path, found))
            if not isinstance(found, nn.Module):
                lines.setdefault(holder, assigned_at(root, inner.partition("[")[0]) or registry.birth_site(root))
            if isinstance(found, nn.Module):
                registry.rename(found, path)
        for holder, members in groups.items():
            path, first = members[0]
            parameters = [p for _, found in members for p in _parameters(found)]
            if not parameters:
                continue
            self._by_hand.follow(holder, root, [p for p in parameters if id(p) not in optimised])
            self.watcher.state(
                Hidden(
                    class_=type(first).__name__,
                    first=path,
                    members=len(members),
                    is_module=isinstance(first, nn.Module),
                    # A parameter in an attribute is registered, so this attribute holds what was made of it.
                    derived=isinstance(first, nn.Parameter) and "[" not in path,
                    parameters=len(parameters),
                    numel=sum(p.numel() for p in parameters),
                    trainable=sum(p.requires_grad for p in parameters),
                    in_optimizer=sum(id(p) in optimised for p in parameters),
                    with_gradient=sum(p.grad is not None for p in parameters),
                ),
                site=registry.birth_site(first) if isinstance(first, nn.Module) else lines[holder],
                module=holder,
                phase="setup",
                key=holder,
            )


def assigned_at(root: nn.Module, path: str) -> Site | None:
    """The line of the owner's class that makes this attribute: a tensor does not know where it was born."""
    owner, _, attribute = path.rpartition(".")
    try:
        kind = type(root.get_submodule(owner))
        lines, start = inspect.getsourcelines(kind)
        file = inspect.getsourcefile(kind) or ""
    except (AttributeError, OSError, TypeError):
        return None
    assignment = re.compile(rf"\bself\.{re.escape(attribute)}\b[^=]*=[^=]")
    found = next((number for number, line in enumerate(lines, start) if assignment.search(line)), None)
    return Site(shown_path(file), found, None) if found is not None else None


def _parameters(found: nn.Module | torch.Tensor) -> list[torch.Tensor]:
    return list(anatomy.parameters(found)) if isinstance(found, nn.Module) else [found]


def _own_parameters(found: nn.Module | torch.Tensor) -> set[int]:
    return {id(p) for p in _parameters(found)}
