"""Models whose parameters are divided among ranks."""

from __future__ import annotations

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

from facts_of import facts_of, training
from paramedic.capture.probes.machine.shards import divided
from paramedic.record.facts import Sharding


def test_who_divides_a_model(group_of_one: None) -> None:
    whole = nn.Sequential(nn.Linear(4, 4))
    assert divided(whole) == ("", ())
    fully_shard(whole, mesh=init_device_mesh("cpu", (1,)))
    assert divided(whole) == ("data", [0])


def test_a_model_that_is_whole(group_of_one: None) -> None:
    model = nn.Linear(4, 1)
    assert not facts_of(training(model, lambda: model(torch.ones(2, 4)).square().mean())).facts(Sharding)
