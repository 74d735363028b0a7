"""`paramedic.log("name", value)`: numbers of the user's own, beside those that paramedic records by itself."""

from __future__ import annotations

import sys
from typing import Any

from paramedic import at_work

SERIES = "log:"  # what their names in the record begin with


def log(name: str, value: Any) -> None:
    """Record a number under a name, at the current step; anywhere, also in `forward`.

    Of a tensor with several elements mean, standard deviation, minimum and maximum are recorded. Numbers on an
    accelerator are read later, so it need not be waited for. The values are in the record, in its log, in TensorBoard's
    files and in the charts of the page. Has no effect when nothing watches, and inside of a compiled graph.
    """
    torch = sys.modules.get("torch")
    if torch is not None and torch.compiler.is_compiling():
        return
    attachment = at_work.current()
    if attachment is not None:
        attachment.watcher.ask("log", attachment.values.record, str(name), value)
