"""Know every module and parameter by the name its user gave it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import nn

from paramedic.program import anatomy
from paramedic.program.anatomy import full_name
from paramedic.program.untouched import attributes, elements, shown_key
from paramedic.program.where import user_frame, variable_name
from paramedic.record.writer import NOWHERE, Site


class Birth(NamedTuple):
    """Where a module was built, and inside whose forward pass if in one."""

    ref: weakref.ref[nn.Module]
    site: Site
    inside: str | None


class Registry:
    """All live modules; names for those that nothing contains, and through them for all parameters."""

    def __init__(self) -> None:
        self._births: dict[int, Birth] = {}
        self._root_names: dict[int, str] = {}
        self._parameter_names: dict[int, str] = {}
        self._version = 0
        self._named_version = -1
        self._module_names: dict[int, str] = {}
        self._modules_version = -1

    @property
    def version(self) -> int:
        """Changes whenever a name may have changed."""
        return self._version

    def born(self, module: nn.Module, site: Site, inside: str | None) -> None:
        identity = id(module)
        self._births[identity] = Birth(weakref.ref(module, lambda _: self._died(identity)), site, inside)
        self._version += 1

    def adopt(self, root: nn.Module) -> None:
        """Know a model that was never built here, but copied or unpickled."""
        if self.birth(root) is None:
            for module in anatomy.modules(root):
                if self.birth(module) is None:
                    self.born(module, NOWHERE, None)

    def changed(self) -> None:
        """A module or parameter was attached somewhere: names must be found anew."""
        self._version += 1

    def _died(self, identity: int) -> None:
        self._births.pop(identity, None)
        self._root_names.pop(identity, None)
        self._version += 1

    def birth(self, module: nn.Module) -> Birth | None:
        return self._births.get(id(module))

    def birth_site(self, module: nn.Module) -> Site:
        birth = self.birth(module)
        return birth.site if birth else NOWHERE

    def modules(self) -> list[nn.Module]:
        return [module for birth in list(self._births.values()) if (module := birth.ref()) is not None]

    def roots(self) -> list[nn.Module]:
        """The modules that no other module contains, oldest first."""
        live = self.modules()
        children = {id(child) for module in live for child in module.__dict__.get("_modules", {}).values()}
        return [module for module in live if id(module) not in children and "_modules" in module.__dict__]

    def root_name(self, module: nn.Module) -> str:
        """The variable that holds a top-level module, or its class in lower case."""
        known = self._root_names.get(id(module))
        if known is None:
            known = variable_name(user_frame(), module) or _short(type(module).__name__)
            taken = set(self._root_names.values())
            base, number = known, 2
            while known in taken:
                known, number = f"{base}{number}", number + 1
            self._root_names[id(module)] = known
            self._version += 1
        return known

    def rename(self, module: nn.Module, name: str) -> None:
        """Give a top-level module a better name than its class: where it hides."""
        self._root_names[id(module)] = name
        self._version += 1

    def path(self, module: nn.Module, root: nn.Module | None = None) -> str:
        """The dotted path of a module from the top-level module that contains it."""
        for candidate in [root] if root is not None else self.roots():
            for name, found in anatomy.named_modules(candidate):
                if found is module:
                    return full_name(self.root_name(candidate), name, candidate)
        return self.root_name(module)

    def module_names(self) -> dict[int, str]:
        """id of a module -> its dotted path, for every module that is alive."""
        if self._modules_version != self._version:
            names: dict[int, str] = {}
            for root in sorted(self.roots(), key=lambda module: -sum(1 for _ in anatomy.modules(module))):
                for path, module in anatomy.named_modules(root):
                    names.setdefault(id(module), full_name(self.root_name(root), path, root))
            self._module_names, self._modules_version = names, self._version
        return self._module_names

    def parameter_names(self) -> dict[int, str]:
        """id of a parameter -> its full name, for every module that is alive."""
        if self._named_version != self._version:
            names: dict[int, str] = {}
            for root in sorted(self.roots(), key=lambda module: -sum(1 for _ in anatomy.parameters(module))):
                for name, parameter in anatomy.named_parameters(root):
                    names.setdefault(id(parameter), full_name(self.root_name(root), name, root))
            self._parameter_names, self._named_version = names, self._version
        return self._parameter_names

    def parameter_name(self, parameter: torch.Tensor) -> str:
        return self.parameter_names().get(id(parameter)) or f"a tensor of shape {tuple(parameter.shape)}"


def _short(name: str) -> str:
    return name[0].lower() + name[1:]


def hidden_in(root: nn.Module) -> Iterator[tuple[str, nn.Module | torch.Tensor]]:
    """Modules and trainable tensors reachable from a model's attributes that the model does not know of."""
    known: set[int] = {id(module) for module in anatomy.modules(root)} | {id(p) for p in anatomy.parameters(root)}
    known |= {id(buffer) for buffer in anatomy.buffers(root)}
    for path, module in list(anatomy.named_modules(root)):
        for attribute, value in list(dict.items(attributes(module))):
            if attribute in ("_parameters", "_buffers", "_modules") or attribute.endswith("_hooks"):
                continue
            if path and attribute.startswith("__"):
                continue
            for inner, found in _search(value, known, 0):
                yield ".".join(filter(None, (path, attribute))) + inner, found


def _search(value: object, known: set[int], depth: int) -> Iterator[tuple[str, nn.Module | torch.Tensor]]:
    if isinstance(value, nn.Module):
        if id(value) not in known:
            known.add(id(value))
            yield "", value
    elif isinstance(value, torch.Tensor):
        leaf = _leaf(value)
        if leaf is not None and leaf.requires_grad and id(leaf) not in known:
            known.add(id(leaf))
            yield "", leaf
    elif depth < 3 and isinstance(value, (list, tuple)):
        for index, item in enumerate(islice(elements(value), 256)):
            for inner, found in _search(item, known, depth + 1):
                yield f"[{index}]{inner}", found
    elif depth < 3 and isinstance(value, dict):
        for key, item in list(dict.items(value))[:256]:
            for inner, found in _search(item, known, depth + 1):
                yield f"[{shown_key(key)}]{inner}", found


def _leaf(tensor: torch.Tensor) -> torch.Tensor | None:
    try:
        return tensor if tensor.is_leaf else _only_parameter_behind(tensor)
    except RuntimeError:  # a view whose base was overwritten, as FSDP does: torch cannot say where it comes from
        return None


def _only_parameter_behind(tensor: torch.Tensor) -> nn.Parameter | None:
    """The parameter that a tensor was cast, moved or scaled from, as in `nn.Parameter(...).to(device)`."""
    node: Any = tensor.grad_fn
    for _ in range(4):
        variable = getattr(node, "variable", None)
        if variable is not None:
            return variable if isinstance(variable, nn.Parameter) else None
        inputs = [before for before, _ in node.next_functions if before is not None] if node is not None else []
        if len(inputs) != 1:
            return None
        node = inputs[0]
    return None
