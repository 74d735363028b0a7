"""Who listens to which moment. Sources tell, probes listen, and neither knows the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any, Concatenate, ParamSpec, TypeVar

from paramedic.aliases import Function
from paramedic.capture.moments import Moment

P = ParamSpec("P")
S = TypeVar("S")
R = TypeVar("R")
Method = Callable[Concatenate[S, P], R]
Guard = Callable[..., object]  # probe, listener, what it is told: runs it so that only this probe can fail

_MOMENTS, _FUNCTIONS = "__moments__", "__functions__"


def on(*moments: Moment[P]) -> Callable[[Method[S, P, R]], Method[S, P, R]]:
    """Mark a probe's method: it is told of these moments. Its parameters are what they tell, and mypy compares."""

    def mark(method: Method[S, P, R]) -> Method[S, P, R]:
        setattr(method, _MOMENTS, moments)
        return method

    return mark


def on_call_of(*functions: Function) -> Callable[[R], R]:
    """Mark a probe's method: while examining, it is told of calls of these functions on tensors.

    With the function, its arguments, its keyword arguments and its result.
    """

    def mark(method: R) -> R:
        setattr(method, _FUNCTIONS, functions)
        return method

    return mark


class Bus:
    """The listeners of one process, by moment, in the order in which they were connected."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._listeners: defaultdict[Moment[Any], list[tuple[str, Callable[..., object]]]] = defaultdict(list)

    def connect(self, name: str, probe: object) -> None:
        """Have the marked methods of a probe told of their moments."""
        for method in _methods(probe, _MOMENTS):
            for moment in getattr(method, _MOMENTS):
                self._listeners[moment].append((name, method))

    def listen(self, moment: Moment[P], name: str, listener: Callable[P, object]) -> None:
        """Have one more told, from now on."""
        self._listeners[moment].append((name, listener))

    def listeners(self, moment: Moment[P]) -> list[tuple[str, Callable[P, object]]]:
        """Who hears of it."""
        return self._listeners[moment]

    def tell(self, moment: Moment[P], *told: P.args, **named: P.kwargs) -> None:
        """It has come: each listener hears of it, and one that fails takes no other along."""
        for name, listener in self._listeners[moment]:
            self._guard(name, listener, *told, **named)


def functions_heard(probe: object) -> Iterable[tuple[tuple[Function, ...], Callable[..., None]]]:
    """The functions on tensors whose calls a probe wants to hear of, and its method for each group of them."""
    for method in _methods(probe, _FUNCTIONS):
        yield getattr(method, _FUNCTIONS), method


def sources_of(kind: type) -> set[str]:
    """Without whom a probe of this kind hears nothing."""
    moments = {moment.source for method in vars(kind).values() for moment in getattr(method, _MOMENTS, ())}
    return moments | {"ops" for method in vars(kind).values() if hasattr(method, _FUNCTIONS)}


def _methods(probe: object, mark: str) -> Iterable[Function]:
    """In the order of the class's text, so that one moment's listeners within a probe have a known order."""
    for name, value in vars(type(probe)).items():
        if hasattr(value, mark):
            yield getattr(probe, name)
