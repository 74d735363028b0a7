"""The terms that a loss is the sum of: found where scalars are added up, followed by the gradient when it is asked for.

A term can be weighed anew without touching its value: what flows back into it is multiplied, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from statistics import mean, median

import torch

from paramedic.aliases import Fields, Function
from paramedic.program.where import frame_site, user_frame, variable_name

FEWEST = 10  # sums seen
MOST_KEPT = 4000  # values of each term


@dataclass(frozen=True, slots=True)
class Term:
    value: torch.Tensor
    node: torch.autograd.graph.Node
    sign: int  # with which it enters the sum
    name: str


class Terms:
    """Listens to sums of scalars; `weights` are the factors by which what flows back into terms is multiplied."""

    def __init__(
        self,
        wrap: Callable[[object, str, Callable[[Function], Function]], object],
        weights: dict[int, float] | None = None,
    ) -> None:
        self.weights = weights or {}
        self.weighed = 0
        self.reason = "the loss is no sum of terms"
        self.line = ""
        self._sums: dict[int, tuple[torch.Tensor, list[Term]]] = {}  # by the tensor that holds the sum, kept alive
        self._scaled: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}  # a product with a number, and what was scaled
        self._seen: list[list[torch.Tensor]] = []  # values, backward by backward
        self._names: list[tuple[str, int]] = []
        for name, sign in (("__add__", 1), ("__radd__", 1), ("__iadd__", 1), ("__sub__", -1), ("__isub__", -1)):
            wrap(torch.Tensor, name, partial(self._adding, sign))
        for name in ("__mul__", "__rmul__", "__truediv__"):
            wrap(torch.Tensor, name, self._scaling)
        wrap(torch.autograd, "backward", self._backward)

    def noted(self) -> Fields:
        """Of each term: its name and sign, and its first and last value in the sum; nothing where there are none."""
        if len(self._seen) < FEWEST:
            return {}
        columns = zip(*([float(value) for value in step] for step in self._seen), strict=True)
        terms = [
            {"name": name, "sign": sign, "first": median(values[:3]), "last": mean(values[-max(5, len(values) // 5) :])}
            for (name, sign), values in zip(self._names, columns, strict=True)
        ]
        return {"terms": terms, "summed_at": self.line}

    # What is listened to --------------------------------------------------------------------------------------------

    def _adding(self, sign: int, original: Function) -> Function:
        def add(one: torch.Tensor, other: object) -> object:
            if one.dim() or not torch.is_grad_enabled():
                return original(one, other)
            terms = [*self._terms(one), *(replace(term, sign=sign * term.sign) for term in self._terms(other))]
            result = original(one, other)
            if isinstance(result, torch.Tensor) and result.requires_grad and terms:
                self._sums[id(result)] = (result, terms)
            return result

        return add

    def _scaling(self, original: Function) -> Function:
        def scale(one: torch.Tensor, other: object) -> object:
            result = original(one, other)
            if not one.dim() and isinstance(result, torch.Tensor) and result.requires_grad and not result.dim():
                held = other if isinstance(other, torch.Tensor) and other.requires_grad else one
                if id(held) in self._sums:
                    self._sums[id(result)] = (result, self._sums[id(held)][1])
                else:
                    self._scaled[id(result)] = (result, held)
            return result

        return scale

    def _terms(self, given: object) -> list[Term]:
        if not isinstance(given, torch.Tensor) or given.numel() != 1 or given.grad_fn is None:
            return []
        if id(given) in self._sums:
            return self._sums[id(given)][1]
        held = self._scaled[id(given)][1] if id(given) in self._scaled else given
        frame = user_frame() if not self._names else None
        if frame is not None:
            file, line, _ = frame_site(frame)
            self.line = f"{file}:{line}"
        name = variable_name(frame, given) or variable_name(frame, held) or ""
        return [Term(given.detach().clone(), given.grad_fn, 1, name)]

    def _backward(self, original: Function) -> Function:
        def backward(tensors: object, *args: object, **kwargs: object) -> object:
            terms = self._sums.get(id(tensors), (None, []))[1]
            if len(terms) > 1:
                self._look(terms)
            self._sums, self._scaled = {}, {}
            return original(tensors, *args, **kwargs)

        return backward

    def _look(self, terms: list[Term]) -> None:
        if not self._names:
            self._names = [(term.name or f"term {i + 1}", term.sign) for i, term in enumerate(terms)]
        if len(terms) != len(self._names):
            self.reason = "the number of its terms changes"
            return
        if len(self._seen) < MOST_KEPT:
            self._seen.append([term.sign * term.value for term in terms])
        for number, factor in self.weights.items():
            if number < len(terms):
                self.weighed += 1
                terms[number].node.register_prehook(_times(factor))


def _times(factor: float) -> Callable[..., object]:
    return lambda grads: tuple(None if grad is None else grad * factor for grad in grads)
