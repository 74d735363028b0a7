"""Everything by which a disturbed training would differ, in text: losses bit by bit, weights, random states."""

import hashlib
import random

import numpy
import torch

torch.set_num_threads(1)
numpy.random.seed(1)
random.seed(2)


def bits(loss):
    value = loss.item() if isinstance(loss, torch.Tensor) else loss
    print(float(value).hex(), flush=True)


def finish(*models):
    for model in models:
        state = model.state_dict() if hasattr(model, "state_dict") else dict(enumerate(model))
        told = hashlib.sha256()
        for name, value in state.items():
            told.update(str(name).encode())
            told.update(value.detach().to(torch.float64).numpy().tobytes())
        print("weights", told.hexdigest())
    print("torch", hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest(), torch.rand(()).item())
    print("numpy", hashlib.sha256(repr(numpy.random.get_state()).encode()).hexdigest(), numpy.random.rand())
    print("python", hashlib.sha256(repr(random.getstate()).encode()).hexdigest(), random.random())
    print("grad mode", torch.is_grad_enabled(), "default type", torch.get_default_dtype())
