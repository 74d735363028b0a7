"""Between host and device: copies, and calls that make the host wait until the device has caught up."""

from __future__ import annotations

import os
import sys
from types import FrameType
from typing import Any

import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.probe import probe
from paramedic.capture.sources.clock import MOVE
from paramedic.capture.watcher import Watcher
from paramedic.program.where import OWN, is_users, user_site
from paramedic.record.facts import Sync

T = torch.Tensor
MOVES = (T.to, T.cuda)
WAITS = {
    T.item: ".item()", T.tolist: ".tolist()", T.cpu: ".cpu()", T.numpy: ".numpy()", T.__bool__: "if tensor",
    T.__float__: "float()", T.__int__: "int()", T.__repr__: "printing a tensor", T.__format__: "printing a tensor",
}  # fmt: skip
_PASSED = tuple(os.path.join(torch.__path__[0], name) for name in ("_tensor.py", "_tensor_str.py", "overrides.py"))


@probe("transfers", states=[Sync])
class Transfers:
    """Looks while examining only: a function mode sees the calls then."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.clock = watcher.known.clock
        self.ops = watcher.known.ops
        self._inside = False  # printing a tensor reads it several times

    def install(self) -> None:
        self.ops.timers |= dict.fromkeys(MOVES, self._move)
        self.ops.timers |= dict.fromkeys(WAITS, self._wait)

    def _move(self, func: Function, args: Any, kwargs: Kwargs) -> torch.Tensor:
        if self.watcher.guard.busy or not self.watcher.gears.examining:
            return func(*args, **kwargs)
        result = self.clock.timed(MOVE, func, *args, **kwargs)
        if _kind(args[0]) != "cpu" and _kind(result) == "cpu" and not kwargs.get("non_blocking"):
            self.watcher.ask("transfers", self._tell, '.to("cpu")')
        return result

    def _wait(self, func: Function, args: Args, kwargs: Kwargs) -> Any:
        if self._inside or self.watcher.guard.busy or _kind(args[0]) in ("cpu", "meta"):
            return func(*args, **kwargs)
        self._inside = True
        try:
            return func(*args, **kwargs)
        finally:
            self._inside = False
            self.watcher.ask("transfers", self._tell, WAITS[func])

    def _tell(self, call: str) -> None:
        if torch.is_grad_enabled() and _called_by_the_script():
            site = user_site()
            self.watcher.state(Sync(call=call), site=site, key=(site, call))


def _kind(tensor: torch.Tensor) -> str:
    """Of its device; a tensor class of the script's own does not notice."""
    with torch._C.DisableTorchFunction():
        return tensor.device.type


def _called_by_the_script() -> bool:
    """And not by a library on its behalf, such as a gradient scaler."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((OWN, *_PASSED)):
        frame = frame.f_back
    return frame is not None and is_users(frame.f_code.co_filename)
