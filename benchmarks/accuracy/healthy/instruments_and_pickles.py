"""FLOP counting, the profiler, a tensor subclass, whole-model pickles, copies of optimizers, a scaler that is disabled on CPU."""

import copy
import inspect
import io
import pickle
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

torch.set_num_threads(1)
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.drop, self.b = nn.Linear(12, 48), nn.Dropout(0.1), nn.Linear(48, 3)

    def forward(self, x):
        return self.b(self.drop(torch.relu(self.a(x))))


class Units(torch.Tensor):
    """A tensor that remembers its unit."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        result = super().__torch_function__(func, types, args, kwargs or {})
        return result


def batch(n=64):
    x = torch.randn(n, 12)
    return x, x[:, :3].argmax(1)


use_cuda = torch.cuda.is_available()
net, criterion = Net(), nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
scaler = torch.amp.GradScaler("cuda", enabled=use_cuda)


def train(steps):
    for _ in range(steps):
        x, y = batch()
        with torch.autocast("cuda", enabled=use_cuda):
            loss = criterion(net(x.as_subclass(Units)).as_subclass(torch.Tensor), y)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    return loss.item()


counter = FlopCounterMode(display=False)
with counter:
    train(2)
flops = {k: sorted((str(f), n) for f, n in v.items()) for k, v in counter.get_flop_counts().items()}
print("flops", counter.get_total_flops(), sorted(flops.items()))
print(train(20))
with profile(activities=[ProfilerActivity.CPU]) as profiler:
    train(2)
counts = {event.key: event.count for event in profiler.key_averages()}
print({key: counts.get(key) for key in ("aten::addmm", "aten::relu", "aten::native_dropout", "aten::nll_loss_forward")})

buffer = io.BytesIO()
torch.save(net, buffer)
buffer.seek(0)
clone = torch.load(buffer, weights_only=False)
optimizer_copy = copy.deepcopy(optimizer)
twin = pickle.loads(pickle.dumps(net))
print(
    len(pickle.dumps(net.state_dict())) > 0,
    type(clone).__name__,
    len(optimizer_copy.state),
    len(net._forward_hooks),
    twin.training,
)
print(train(60))
print("source lines", len(inspect.getsource(Net).splitlines()), sys.argv[0].endswith(".py"), __name__)
print(
    inspect.signature(nn.functional.cross_entropy),
    nn.functional.cross_entropy.__module__,
    torch.Tensor.backward.__name__,
)
net.eval()
with torch.no_grad():
    x, y = batch(1000)
    accuracy = (net(x).argmax(1) == y).float().mean().item()
print("accuracy", accuracy)
assert accuracy > 0.85
