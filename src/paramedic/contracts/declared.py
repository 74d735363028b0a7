"""The decorator's half of a contract: it tells whoever watches; nobody watching, it only calls the function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from paramedic.aliases import Function
from paramedic.contracts.contract import Contract

F = TypeVar("F", bound=Function)
Listener = Callable[[Function, Contract, tuple[Any, ...], dict[str, Any], Any], None]
_listeners: list[Listener] = []


def declare(text: str) -> Callable[[F], F]:
    contract = Contract(text)

    def decorate(function: F) -> F:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            output = function(*args, **kwargs)
            for listener in _listeners:
                listener(function, contract, args, kwargs, output)
            return output

        call.__shapes__ = contract  # type: ignore[attr-defined]
        return call  # type: ignore[return-value]

    return decorate


def listen(listener: Listener) -> Callable[[], None]:
    """Be told of every call of a decorated function, until the returned function is called."""
    _listeners.append(listener)

    def stop() -> None:
        if listener in _listeners:
            _listeners.remove(listener)

    return stop
