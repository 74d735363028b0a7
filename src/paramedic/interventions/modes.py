"""Function modes of an experiment lie below those of the probes: entered before the script starts, taken off by name.

A mode that is entered later would stand between a probe and the user's line, and would be popped in its place.
"""

from __future__ import annotations

from torch.overrides import TorchFunctionMode, _get_current_function_mode_stack, _pop_mode, _push_mode


def take_off(mode: TorchFunctionMode) -> None:
    """Wherever it lies among the others."""
    above = []
    while mode in _get_current_function_mode_stack():
        top = _pop_mode()
        if top is mode:
            break
        above.append(top)
    for other in reversed(above):
        _push_mode(other)
