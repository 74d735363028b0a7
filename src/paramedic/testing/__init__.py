"""`paramedic.testing`: every check as an assertion, in pytest, unittest or plain code.

from paramedic.testing import assert_learns, assert_all_move
assert_learns(model, F.cross_entropy, (x, y), optimizer=optimizer)

A failed assertion names the cause, with a code that `paramedic explain` knows. Model, optimizer, random state and modes
are afterwards as they were before. Importing this package does not import torch; using it does.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paramedic.testing.assertions.batch import assert_batch_independent, assert_permutation_equivariant
    from paramedic.testing.assertions.data import assert_data_ok
    from paramedic.testing.assertions.gradients import assert_gradients
    from paramedic.testing.assertions.learning import assert_learns
    from paramedic.testing.assertions.movement import assert_all_move, assert_frozen
    from paramedic.testing.assertions.quality import assert_quality
    from paramedic.testing.assertions.repeating import assert_deterministic, assert_resumes
    from paramedic.testing.assertions.sequences import assert_causal, assert_padding_invariant
    from paramedic.testing.assertions.shape import assert_shapes
    from paramedic.testing.assertions.speed import assert_speed
    from paramedic.testing.assertions.values import assert_no_nan, assert_output_range
    from paramedic.testing.assertions.whole import assert_no_fault
    from paramedic.testing.case import Step
    from paramedic.testing.failure import Cause, CheckFailed
    from paramedic.testing.golden import golden_step
    from paramedic.testing.restore import restored
    from paramedic.testing.script.training import load_training

_PLACES = {
    "assert_all_move": "assertions.movement",
    "assert_batch_independent": "assertions.batch",
    "assert_causal": "assertions.sequences",
    "assert_data_ok": "assertions.data",
    "assert_deterministic": "assertions.repeating",
    "assert_frozen": "assertions.movement",
    "assert_gradients": "assertions.gradients",
    "assert_learns": "assertions.learning",
    "assert_no_fault": "assertions.whole",
    "assert_no_nan": "assertions.values",
    "assert_output_range": "assertions.values",
    "assert_padding_invariant": "assertions.sequences",
    "assert_permutation_equivariant": "assertions.batch",
    "assert_quality": "assertions.quality",
    "assert_resumes": "assertions.repeating",
    "assert_shapes": "assertions.shape",
    "assert_speed": "assertions.speed",
    "Cause": "failure",
    "CheckFailed": "failure",
    "Step": "case",
    "golden_step": "golden",
    "load_training": "script.training",
    "restored": "restore",
}

__all__ = [
    "Cause",
    "CheckFailed",
    "Step",
    "assert_all_move",
    "assert_batch_independent",
    "assert_causal",
    "assert_data_ok",
    "assert_deterministic",
    "assert_frozen",
    "assert_gradients",
    "assert_learns",
    "assert_no_fault",
    "assert_no_nan",
    "assert_output_range",
    "assert_padding_invariant",
    "assert_permutation_equivariant",
    "assert_quality",
    "assert_resumes",
    "assert_shapes",
    "assert_speed",
    "golden_step",
    "load_training",
    "restored",
]


def __getattr__(name: str) -> object:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found
