"""Resources that know who holds them: a context that checks its exit, a lock file, a temporary folder."""

import contextlib
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
log = []


@contextlib.contextmanager
def resource(name):
    log.append(f"enter {name}")
    try:
        yield name
    except GeneratorExit:
        log.append("left by force")
        raise
    finally:
        log.append(f"leave {name}")


def batches():
    with resource("batches"):
        while True:
            x = torch.randn(16, 8)
            yield x, x[:, :3].argmax(1)


with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
    stack.callback(log.append, "callback")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stream = batches()
    for step, (x, y) in enumerate(stream):
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        open(os.path.join(folder, f"{step}.lock"), "x").close()
        print(step, loss.item())
        if step == 29:
            break
    stream.close()
    print(len(os.listdir(folder)))
print(log)
