"""A learnable twin of the data: the same shapes, types, ranges and classes, with a plain rule between them.

Every batch is new, so what is learnt here is the rule and not the samples. A model that cannot learn this cannot be
expected to learn anything; one that can is able to learn, and the data are the next thing to look at.
"""

from __future__ import annotations

import torch

from paramedic.interventions.surroundings import Inputs, Surroundings
from paramedic.interventions.twins import Twin


def install(surroundings: Surroundings, argument: str) -> None:
    twins: dict[object, Twin] = {}

    def other_inputs(inputs: Inputs) -> Inputs:
        twin = twins.setdefault(surroundings.place, Twin())
        made = twin.inputs(inputs)
        if made is None:
            surroundings.failed = twin.refused
            return inputs
        surroundings.applied += 1
        return made

    def other_target(target: torch.Tensor) -> torch.Tensor:
        if surroundings.targets_at_once > 1:
            surroundings.failed = "a batch holds several targets, and a twin has one"
        twin = twins.setdefault(surroundings.place, Twin())
        if not twin.has_inputs and not surroundings.failed:
            surroundings.failed = "the targets of a batch are drawn before its inputs"
        return twin.target(target)

    roles = surroundings.roles
    if roles is not None and roles.are_drawn and (len(roles.inputs), len(roles.targets)) != (1, 1):
        surroundings.failed, surroundings.patience = "a twin has one input and one target", 1
    surroundings.needs_inputs_apart()
    surroundings.change_batches(inputs=other_inputs, target=other_target)
