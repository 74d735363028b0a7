"""The patch desk: whatever is replaced in torch or Python is replaced here, can be listed, and is put back."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from paramedic.aliases import Function

_MISSING = object()
_desks: weakref.WeakSet[Patches] = weakref.WeakSet()


class Patches:
    """Replacements that belong together. Only what is still ours is taken away: what the user put on top stays."""

    def __init__(self) -> None:
        _desks.add(self)
        self._done: list[tuple[object, str, object, object]] = []  # owner, name, what was there, what is there now
        self._light: list[tuple[object, str]] = []  # replacements that can be lifted for a while
        self._plan: list[tuple[object, str, object, object]] = []  # the same, with what is there without us and with us
        self._lifted: list[tuple[object, str, object, object]] = []  # those that are
        self._stand_ins: list[tuple[object, str, object, object]] = []  # on top of all that, for a while
        self._undo: list[Callable[[], object]] = []
        # By owner and name, as long as nothing changes.
        self._known_ends: dict[tuple[int, str], tuple[object, object]] = {}

    def set(self, owner: Any, name: str, value: Any) -> None:
        # `vars` and not getattr: an inherited method must be uncovered again, not copied down.
        self._done.append((owner, name, vars(owner).get(name, _MISSING), value))
        self._changed()
        setattr(owner, name, value)

    def take_back(self, owner: object, name: str) -> bool:
        """Whether the thing is as it was. If not, somebody replaced ours in turn, and still calls it."""
        mine = [patch for patch in self._done if patch[0] is owner and patch[1] == name]
        self._done = [patch for patch in self._done if patch[0] is not owner or patch[1] != name]
        self._changed()
        restored = [_restore(*patch) for patch in reversed(mine)]
        return all(restored)

    def standing(self) -> list[str]:
        """The names of everything that is replaced at the moment."""
        return sorted({f"{_name_of(owner)}.{name}" for owner, name, _, _ in [*self._done, *self._stand_ins]})

    def stand_in(self, owner: object, name: str, value: object) -> Callable[[], object]:
        """Put something in the place of what is there now, until the returned function is called, or all is undone."""
        patch = (owner, name, vars(owner)[name], value)
        self._stand_ins.append(patch)
        setattr(owner, name, value)

        def end() -> None:
            if patch in self._stand_ins:
                self._stand_ins.remove(patch)
                _restore(*patch)

        return end

    def wrap(self, owner: object, name: str, make: Callable[[Function], Function], *, light: bool = False) -> None:
        """Replace a function by `make(original)`; inside a graph being compiled the original is used.

        A light replacement can be lifted for a while: called often, and nothing is lost if some calls go by unseen.
        """
        if light and (owner, name) not in self._light:
            self._light.append((owner, name))
        import torch  # this desk is also there before torch is

        original = getattr(owner, name)
        watched = make(original)

        @functools.wraps(original)
        def wrapper(*args: object, **kwargs: object) -> object:
            if torch.compiler.is_compiling():
                return original(*args, **kwargs)
            return watched(*args, **kwargs)

        self.set(owner, name, wrapper)

    def follow(self, owner: object, name: str, told: Callable[[object], object]) -> None:
        """Have somebody told of an object after each call of this method of it that returns nothing."""

        def make(original: Function) -> Function:
            def followed(self: object, *args: object, **kwargs: object) -> None:
                original(self, *args, **kwargs)
                told(self)

            return followed

        self.wrap(owner, name, make)

    def original(self, owner: object, name: str) -> object:
        """What was there before us, if what is there now is ours; else None."""
        before, after = self._ends(owner, name)
        return before if vars(owner).get(name) is after else None

    def _ends(self, owner: object, name: str) -> tuple[object, object]:
        """Of all replacements of one thing: what was there before the first, and what the last one put there."""
        known = self._known_ends.get((id(owner), name))
        if known is None:
            mine = [patch for patch in self._done if patch[0] is owner and patch[1] == name]
            known = self._known_ends[(id(owner), name)] = (mine[0][2], mine[-1][3])
        return known

    def _changed(self) -> None:
        self._plan = []
        self._known_ends = {}

    def lift(self) -> None:
        """Put back what was there before the light replacements, unless somebody has replaced them in turn."""
        if not self._plan:
            self._plan = [(owner, name, *self._ends(owner, name)) for owner, name in self._light]
        for patch in self._plan:
            owner, name, before, after = patch
            if owner.__dict__.get(name) is after:
                setattr(owner, name, before)
                self._lifted.append(patch)

    def put_back(self) -> None:
        for owner, name, before, after in self._lifted:
            if owner.__dict__.get(name) is before:
                setattr(owner, name, after)
        self._lifted = []

    def on_undo(self, undo: Callable[[], object]) -> None:
        self._undo.append(undo)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The untouched torch, for code that reads its source: torch.jit.script."""
        self.put_back()
        away = [patch for patch in reversed(self._done) if _restore(*patch)]
        try:
            yield
        finally:
            for owner, name, before, after in reversed(away):
                if vars(owner).get(name, _MISSING) is before:
                    setattr(owner, name, after)

    def undo(self) -> None:
        self.put_back()
        for patch in (*reversed(self._stand_ins), *reversed(self._done)):
            _restore(*patch)
        self._stand_ins = []
        for undo in reversed(self._undo):
            undo()
        self._done, self._undo = [], []


_for_good = Patches()


def for_good(owner: object, name: str, value: object) -> None:
    """Replace something for the rest of this process."""
    _for_good.set(owner, name, value)


def standing() -> list[str]:
    """The names of everything that is replaced in this process at the moment."""
    return sorted({name for desk in _desks for name in desk.standing()})


def _restore(owner: object, name: str, before: object, ours: object) -> bool:
    """Put back what was there, unless what is there now is somebody else's."""
    if vars(owner).get(name, _MISSING) is not ours:
        return False
    if before is _MISSING:
        delattr(owner, name)
    else:
        setattr(owner, name, before)
    return True


def _name_of(owner: object) -> str:
    home = getattr(owner, "__module__", None)
    name = getattr(owner, "__qualname__", None) or getattr(owner, "__name__", type(owner).__name__)
    return f"{home}.{name}" if home else str(name)


def before_next_backward(action: Callable[[], object], patches: Patches) -> None:
    """Do something once, before the next Tensor.backward(): outside of all calls that are going on now.

    Within a call that came through a function mode the mode is off the stack, and torch puts it back afterwards.
    """
    import torch

    original = torch.Tensor.backward

    @functools.wraps(original)
    def backward(*args: object, **kwargs: object) -> object:
        end()
        action()
        return original(*args, **kwargs)

    end = patches.stand_in(torch.Tensor, "backward", backward)
