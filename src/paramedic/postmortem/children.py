"""Exceptions in processes that the script starts with multiprocessing: values are shown where the traceback is.

A child prints its traceback itself, or sends it to its parent as text. Either way python writes that text in the child,
where the values still are, so that is where they are added. Nothing of this runs in the parent.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import traceback
from types import CodeType
from typing import Any

from paramedic.patching import for_good
from paramedic.postmortem.tracebacks import describe, drop_our_frames, tell

MOST = 5  # exceptions of one process that are told: some programs send thousands, and expect them
_told = [0]


def install() -> None:
    """To be called before the script starts processes, and at the start of each process that it has spawned."""
    from multiprocessing.process import BaseProcess

    original = BaseProcess._bootstrap  # type: ignore[attr-defined]
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def bootstrap(process: Any, *args: object, **kwargs: object) -> object:
        with contextlib.suppress(Exception):
            _prepare(process.name, original.__code__)
        return original(process, *args, **kwargs)

    for_good(BaseProcess, "_bootstrap", bootstrap)


def _prepare(name: str, bootstrap: CodeType) -> None:
    """In the child, before it does anything: what it is going to use is imported by now."""
    _add_to_print(name, bootstrap)
    spawn = sys.modules.get("torch.multiprocessing.spawn")
    if spawn is not None:
        _add_to_text(name, getattr(spawn._wrap, "__wrapped__", spawn._wrap).__code__)
    pools = {"multiprocessing.pool": "ExceptionWithTraceback", "concurrent.futures.process": "_ExceptionWithTraceback"}
    for module, wrapper in pools.items():
        if module in sys.modules:
            _add_to_wrapper(name, getattr(sys.modules[module], wrapper))


def _add_to_print(name: str, caller: CodeType) -> None:
    """A process that dies of an exception: multiprocessing prints it."""
    original = traceback.print_exc

    @functools.wraps(original)
    def print_exc(*args: Any, **kwargs: Any) -> None:
        text = _last_words(name) if sys._getframe(1).f_code is caller else ""
        original(*args, **kwargs)
        if text:
            with contextlib.suppress(Exception):
                sys.stderr.write(text)

    for_good(traceback, "print_exc", print_exc)


def _add_to_text(name: str, caller: CodeType) -> None:
    """A process of torch.multiprocessing.spawn: its parent raises what the child has written."""
    original = traceback.format_exc

    @functools.wraps(original)
    def format_exc(*args: Any, **kwargs: Any) -> str:
        text = _last_words(name) if sys._getframe(1).f_code is caller else ""
        return original(*args, **kwargs) + text

    for_good(traceback, "format_exc", format_exc)


def _add_to_wrapper(name: str, wrapper: Any) -> None:
    """Pools send the exception itself, with the text of its traceback as its cause, in three quotation marks."""
    original = wrapper.__init__

    @functools.wraps(original)
    def init(self: Any, error: BaseException, trace: object) -> None:
        text = _values(name, error)
        original(self, error, error.__traceback__ if text else trace)
        if text and isinstance(self.tb, str) and self.tb.endswith('"""'):
            self.tb = f'{self.tb[:-3]}{text}"""'

    for_good(wrapper, "__init__", init)


def _last_words(name: str) -> str:
    error = sys.exc_info()[1]
    if error is not None:
        tell(error)
    return _values(name)


def _values(name: str, error: BaseException | None = None) -> str:
    """The text to add; nothing rather than a second failure. The exception loses the frames that are ours."""
    error = sys.exc_info()[1] if error is None else error
    if error is None or isinstance(error, (KeyboardInterrupt, SystemExit)) or _told[0] >= MOST:
        return ""
    _told[0] += 1
    try:
        drop_our_frames(error)
        return describe(error, where=f"process {name}")
    except Exception:
        return ""
