"""An interactive shell in the middle of a run: IPython where it is installed, python's own otherwise."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from paramedic import at_work, voice
from paramedic.postmortem.summarize import brief, is_module, is_tensor
from paramedic.program.where import is_users, locals_of, shown_path

_TOLD = ("model", "optimizer", "batch", "loss", "gradients")


def shell() -> None:
    """Open a shell here, with this function's variables, and the model, batch, loss, gradients and optimizer.

    Training goes on when the shell is left. Without a terminal it goes on at once, and says so.
    """
    frame = sys._getframe(1)
    place = f"{shown_path(frame.f_code.co_filename)}:{frame.f_lineno}"
    open_shell(namespace(frame), f"paramedic: a shell at {place}")


def open_shell(namespace: dict[str, object], banner: str) -> None:
    """Open a shell on these names; returns when it is left, or at once where there is no terminal."""
    if not has_terminal():
        voice.say(f"{banner} ignored: no terminal. The run continues.")
        return
    lines = [banner, *_inventory(namespace), "Leave with Ctrl-D or exit; the run then continues."]
    with _looking_away():
        try:
            from IPython.terminal.embed import InteractiveShellEmbed
        except ImportError:
            import code

            with contextlib.suppress(SystemExit):
                code.interact("\n".join(lines), local=namespace, exitmsg="")
        else:
            _open_ipython(InteractiveShellEmbed, namespace, "\n".join(lines))
    namespace.clear()  # the shell must not keep the tensors of this step alive


def _open_ipython(kind: Any, namespace: dict[str, object], banner: str) -> None:
    import types

    module = types.ModuleType("__main__")
    # No cache of outputs: it would keep tensors alive. It is asked nothing when it is left.
    embedded = kind(banner1=banner + "\n", exit_msg="", cache_size=0, confirm_exit=False)
    embedded(local_ns=namespace, module=module)


def debug(error: BaseException) -> None:
    """Python's debugger at the place of the failure: IPython's version of it, which ipdb uses too, if it is there."""
    if not has_terminal():
        voice.say("paramedic: --pdb ignored: no terminal.")
        return
    with _looking_away():
        try:
            from IPython.terminal.debugger import TerminalPdb as Debugger
        except ImportError:
            from pdb import Pdb as Debugger
        debugger = _in_users_code(Debugger)()
        debugger.reset()
        debugger.interaction(None, error.__traceback__)


def _in_users_code(kind: Any) -> Any:
    """A debugger that opens in the innermost frame of the user's own code; `down` leads into the library's."""

    class Debugger(kind):
        def setup(self, frame: object, traceback: object) -> Any:
            kept = super().setup(frame, traceback)
            own = [index for index, (frame, _) in enumerate(self.stack) if is_users(frame.f_code.co_filename)]
            if own:
                self.curindex = own[-1]
                self.curframe = self.stack[self.curindex][0]
                self.curframe_locals = self.curframe.f_locals
            return kept

    return Debugger


def has_terminal() -> bool:
    try:
        return sys.stdin.isatty() and sys.stdout.isatty()
    except (AttributeError, ValueError, OSError):  # closed, or replaced by something else
        return False


def namespace(frame: FrameType) -> dict[str, object]:
    """The variables that the code in this frame sees, and what the watcher knows besides."""
    found = {**frame.f_globals, **locals_of(frame)}
    attachment = at_work.current()
    if attachment is not None:
        for name, value in attachment.known.objects().items():
            found.setdefault(name, value)
    model: Any = found.get("model")
    if is_module(model):
        from paramedic.program import anatomy

        found.setdefault(
            "gradients", {name: p.grad for name, p in anatomy.named_parameters(model) if p.grad is not None}
        )
    return found


def _inventory(names: dict[str, object]) -> Iterator[str]:
    shown = [name for name in _TOLD if names.get(name) is not None]
    shown += [name for name, value in names.items() if is_tensor(value) and name not in shown and name[0] != "_"][:8]
    width = max(map(len, shown), default=0)
    for name in shown:
        text = brief(names[name], 1) if not is_tensor(names[name]) else brief(names[name])
        yield f"  {name:<{width}}  {text}"[:100]


@contextlib.contextmanager
def _looking_away() -> Iterator[None]:
    """What is tried in a shell is not part of the training: the watcher does not look at it."""
    attachment = at_work.current()
    if attachment is None:
        yield
    else:
        with attachment.watcher.guard.looking_away():
            yield
