"""After python's own traceback: the values that the failing lines used, the modules, the step and the batch."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from paramedic.aliases import Fields
from paramedic.errors import message_of
from paramedic.patching import Patches, for_good
from paramedic.postmortem.frames import of_traceback, spots
from paramedic.postmortem.page import Page

MOST_FRAMES = 5  # of the user's, per exception
MOST_EXCEPTIONS = 4  # of a chain or group
TOLD_BY_A_CHILD = "\nparamedic: the values where process "  # see children.py
_DEVICE_TROUBLE = (
    "CUDA error", "HIP error", "device-side assert", "CUBLAS_STATUS", "CUDNN_STATUS", "cudaError", "NCCL",
    "AcceleratorError", "OutOfMemoryError", "out of memory",
)  # fmt: skip

on_uncaught: list[Callable[[BaseException], None]] = []  # told at once: a launcher may end this process any moment
_previous: Fields = {}
_process = os.getpid()  # another number later on means that this is a fork


def install(*, tensor_repr: bool = False) -> None:
    """Show the values behind every uncaught exception, after the usual traceback; in threads and notebooks as well.

    With `tensor_repr` tensors print as one line of facts instead of their numbers, from now on; call it again
    without to have torch's own back. `paramedic run` needs none of this.
    """
    from paramedic.torch_import import when_torch_is_imported

    if sys.excepthook is not _main_hook:
        _put("main", sys, _main_hook)
    if threading.excepthook is not _thread_hook:
        _put("thread", threading, _thread_hook)
    _install_in_ipython()
    if tensor_repr or "torch" in sys.modules:
        when_torch_is_imported(lambda: _set_tensor_repr(tensor_repr))


def offer(*, main: bool) -> None:
    """The same for a script that did not ask for it: hooks of its own stay as they are."""
    if main and sys.excepthook is sys.__excepthook__:
        _put("main", sys, _main_hook)
    if threading.excepthook is threading.__excepthook__:
        _put("thread", threading, _thread_hook)


def _put(name: str, owner: Any, hook: Callable[..., None]) -> None:
    _previous[name] = owner.excepthook
    for_good(owner, "excepthook", hook)


def tell(error: BaseException) -> None:
    for listener in on_uncaught:
        with contextlib.suppress(Exception):
            listener(error)


def _main_hook(kind: type[BaseException], error: BaseException, trace: object) -> None:
    tell(error)
    drop_our_frames(error)
    _previous["main"](kind, error, error.__traceback__)
    if not isinstance(error, KeyboardInterrupt):
        show(error)
        if not hasattr(sys, "ps1"):  # an interactive session may want to debug it
            release(error)


def _thread_hook(args: threading.ExceptHookArgs) -> None:
    if args.exc_value is not None:
        drop_our_frames(args.exc_value)
        trace = args.exc_value.__traceback__
        args = threading.ExceptHookArgs((args.exc_type, args.exc_value, trace, args.thread))
    _previous["thread"](args)
    if args.exc_value is not None and not isinstance(args.exc_value, SystemExit):
        show(args.exc_value, where=f"thread {args.thread.name}" if args.thread is not None else "")


def _install_in_ipython() -> None:
    """IPython and notebooks do not use sys.excepthook."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None:
        return

    def handler(self: Any, kind: object, error: BaseException, trace: object, tb_offset: int | None = None) -> None:
        self.showtraceback((kind, error, trace), tb_offset=tb_offset)
        show(error)

    shell.set_custom_exc((Exception,), handler)


def _set_tensor_repr(ours: bool) -> None:
    import torch

    from paramedic.postmortem.tensors import summary

    patches = _previous.setdefault("repr", Patches())
    patches.undo()
    if ours:
        patches.set(torch.Tensor, "__repr__", lambda self, **_: f"tensor {summary(self)}")
        patches.set(torch.nn.Parameter, "__repr__", lambda self: f"parameter {summary(self)}")


# What is shown --------------------------------------------------------------------------------------------------


def show(error: BaseException, *, where: str = "") -> None:
    """Print what is known beyond python's traceback; prints nothing when that is nothing, and never fails."""
    with contextlib.suppress(BaseException):  # python's traceback is out; whatever goes wrong here must not matter
        text = describe(error, where=where)
        if text:
            stream = sys.stderr
            stream.write(text)
            stream.flush()


def describe(error: BaseException, *, where: str = "") -> str:
    page = Page()
    with _spared(error):
        errors = list(chain(error))[-MOST_EXCEPTIONS:]
        if any(TOLD_BY_A_CHILD in message_of(one) for one in errors):
            return ""  # python's text holds them already
        for one in errors:
            _values(page, one, titled=len(errors) > 1)
        _circumstances(page, errors)
    rank = f"rank {os.environ['RANK']}" if int(os.environ.get("WORLD_SIZE") or 1) > 1 else ""
    who = ", ".join(part for part in (where, rank) if part)
    return page.render(who or "it")


def _values(page: Page, error: BaseException, *, titled: bool) -> None:
    with contextlib.suppress(Exception):
        found = spots(of_traceback(error.__traceback__), most=MOST_FRAMES)
        # That an entry is missing matters on the line that looked for it; elsewhere it may not have been reached.
        innermost = found[-1] if found and isinstance(error, LookupError) else None
        found = [spot if spot is innermost else spot.without_missing() for spot in found]
        found = [spot for spot in found if spot.values]
        page.spots(found, title=type(error).__name__ if titled else "")


def _circumstances(page: Page, errors: list[BaseException]) -> None:
    from paramedic.postmortem import circumstances

    for error in errors:
        if error.__traceback__ is not None:
            with contextlib.suppress(Exception):  # what one part cannot tell, the others may
                circumstances.add_modules(page, error)
    with contextlib.suppress(Exception):
        circumstances.add_step(page, errors)


@contextlib.contextmanager
def _spared(error: BaseException) -> Iterator[None]:
    """What must not be touched: a device after an error of its own, since every further call may fail or hang.

    In a fork neither CUDA nor the threads of OpenMP are there: who waits for them waits for ever.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    from paramedic.postmortem.tensors import accelerators_spared

    forked, threads = os.getpid() != _process, torch.get_num_threads()
    told = [f"{type(one).__name__}: {message_of(one)}" for one in chain(error)]
    trouble = any(trouble in text for trouble in _DEVICE_TROUBLE for text in told)
    if forked:
        torch.set_num_threads(1)
    try:
        with accelerators_spared() if forked or trouble else contextlib.nullcontext():
            yield
    finally:
        if forked:
            torch.set_num_threads(threads)


def chain(error: BaseException, seen: set[int] | None = None) -> Iterator[BaseException]:
    """What python prints, in its order: causes first, members of a group before the group."""
    seen = set() if seen is None else seen
    if id(error) in seen:
        return
    seen.add(id(error))
    earlier = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if earlier is not None:
        yield from chain(earlier, seen)
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            yield from chain(member, seen)
    yield error


# Frames ---------------------------------------------------------------------------------------------------------

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def drop_our_frames(error: BaseException | None, seen: set[int] | None = None) -> None:
    """Take paramedic's own frames out of a traceback and of all that it is chained to."""
    seen = set() if seen is None else seen
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    frames = []
    entry = error.__traceback__
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith((_HERE, "<frozen")):
            frames.append(entry)
        elif len(frames) > 1 and frames[-1].tb_frame.f_code.co_name == "handle_torch_function":
            del frames[-2:]  # torch's detour through our function mode
        entry = entry.tb_next
    for index, frame in enumerate(frames):
        frame.tb_next = frames[index + 1] if index + 1 < len(frames) else None
    error.__traceback__ = frames[0] if frames else None
    for other in (error.__cause__, error.__context__, *getattr(error, "exceptions", ())):
        drop_our_frames(other, seen)


def release(error: BaseException) -> None:
    """Let go of the variables that a traceback keeps alive: tensors on a GPU among them."""
    for one in chain(error):
        with contextlib.suppress(Exception):
            traceback.clear_frames(one.__traceback__)
