"""Shapes that the user's source declares, compared with what calls really get and give.

Declared by `@paramedic.shapes("B T -> B C")` on any function; or in forward(), see written_shapes.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from paramedic.aliases import Args, Fields, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Call
from paramedic.capture.probe import probe
from paramedic.capture.probes.model.written_shapes import Declared, Dims, forward_shapes, line_shapes
from paramedic.capture.watcher import Watcher
from paramedic.contracts.contract import Contract, fit, sizes_in_words
from paramedic.contracts.declared import listen
from paramedic.program.tensors import tensors_in
from paramedic.program.where import shown_path, source_at, user_site
from paramedic.record import facts
from paramedic.record.writer import Site

MOST_CLASSES = 200


@probe("declared_shapes", states=[facts.Contract])
class DeclaredShapes:
    """Looks at every call of a decorated function, and at examined calls of modules."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._forwards: dict[type, Declared] = {}
        self._files: dict[str, dict[int, Dims]] = {}
        self._stop: Callable[[], None] = lambda: None

    def install(self) -> None:
        self._stop = listen(self._decorated)

    def _decorated(self, function: Function, contract: Contract, args: Args, kwargs: Kwargs, output: object) -> None:
        if self.watcher.guard.closed:
            self._stop()
            return
        self.watcher.ask("declared_shapes", self._check, function, contract, args, kwargs, output)

    def _check(self, function: Function, contract: Contract, args: Args, kwargs: Kwargs, output: object) -> None:
        given = [tuple(tensor.shape) for _, tensor in tensors_in((args, kwargs))]
        broken = contract.broken(given, [tuple(tensor.shape) for _, tensor in tensors_in(output)])
        if broken is not None:
            name = "return" if broken.place.startswith("output") else broken.place
            code = function.__code__
            data = {
                "function": function.__qualname__,
                "forward": Site(shown_path(code.co_filename), code.co_firstlineno),
            }
            self._tell(user_site(), None, name, "contract", broken.dims, broken.shape, broken.words, data)

    @on(moments.module_called)
    def called(self, call: Call, args: Any, kwargs: Kwargs, output: Any) -> None:
        kind = type(call.module)
        if kind not in self._forwards and len(self._forwards) < MOST_CLASSES:
            self._forwards[kind] = forward_shapes(kind)
        sizes: dict[str, int] = {}
        declared = self._forwards.get(kind, {})
        given = _given(kind, call.module, args, kwargs, output) if declared else {}
        for name, (how, dims) in declared.items():
            tensor: Any = given.get(name)
            words = fit(dims, tuple(tensor.shape), sizes) if _has_shape(tensor) else ""
            if words:
                code = inspect.unwrap(kind.forward).__code__
                data = {"class_": kind.__name__, "forward": Site(shown_path(code.co_filename), code.co_firstlineno)}
                words += sizes_in_words(sizes)
                self._tell(call.site, call.path, name, how, dims, tuple(tensor.shape), words, data)
                return  # what follows from it would not fit either
        self._check_line(call, output)

    def _check_line(self, call: Call, output: Any) -> None:
        """The comment behind the line that calls a module, where its output is all that the line assigns."""
        file = call.site.file or ""
        if file not in self._files:
            self._files[file] = line_shapes(source_at(call.site))
        dims = self._files[file].get(call.site.line or 0)
        if dims is None or not _has_shape(output):
            return
        words = fit(dims, tuple(output.shape), {})
        if words:
            data = {"function": f"{file}:{call.site.line}", "forward": Site(file, call.site.line)}
            self._tell(call.site, call.path, "return", "comment", dims, tuple(output.shape), words, data)

    def _tell(
        self,
        site: Site,
        module: str | None,
        name: str,
        how: str,
        dims: Dims,
        shape: Any,
        words: str,
        data: Fields,
    ) -> None:
        found = facts.Contract(name=name, how=how, declared=dims, got=list(shape), broken=words, **data)
        self.watcher.state(found, site=site, module=module, key=(data.get("function"), data.get("class_"), name))


def _given(kind: Any, module: nn.Module, args: Args, kwargs: Kwargs, output: object) -> dict[str, object]:
    """What the call was given, by the names of forward()'s parameters, and what it returned."""
    try:
        given = dict(inspect.signature(kind.forward).bind(module, *args, **kwargs).arguments)
    except TypeError:
        given = {}
    parts = {f"return[{n}]": part for n, part in enumerate(output)} if isinstance(output, (tuple, list)) else {}
    return {**given, "return": output, **parts}


def _has_shape(value: object) -> bool:
    return isinstance(value, torch.Tensor) and not value.is_nested
