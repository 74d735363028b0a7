"""A user who instruments everything: module, tensor and gradient hooks, an own TorchFunctionMode, anomaly mode, a thread."""

import threading
from collections import Counter

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

torch.set_num_threads(1)
torch.manual_seed(0)


class CountCalls(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.calls = Counter()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls[getattr(func, "__name__", str(func))] += 1
        return func(*args, **(kwargs or {}))


class GradientClip(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, limit):
        ctx.limit = limit
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return g.clamp(-ctx.limit, ctx.limit), None


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.utils.parametrizations.weight_norm(nn.Linear(10, 32))
        self.b = nn.utils.parametrizations.spectral_norm(nn.Linear(32, 32))
        self.c = nn.Linear(32, 1)

    def forward(self, x):
        return self.c(GradientClip.apply(torch.relu(self.b(torch.relu(self.a(x)))), 0.1))


net = Net()
activations, gradients, seen = {}, Counter(), []
net.b.register_forward_hook(lambda m, i, o: activations.__setitem__("b", o.detach().abs().mean().item()))
net.register_full_backward_hook(lambda m, gi, go: gradients.update(["net"]))
for name, p in net.named_parameters():
    p.register_post_accumulate_grad_hook(lambda p, name=name: gradients.update([name]))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
optimizer.register_step_post_hook(lambda *_: seen.append(1))

stop = threading.Event()
probe = nn.Linear(10, 1)


def monitor():
    while not stop.wait(0.05):
        with torch.no_grad():
            probe(torch.zeros(2, 10))


watcher = threading.Thread(target=monitor)
watcher.start()

mode = CountCalls()
for step in range(120):
    x = torch.randn(32, 10)
    y = (x[:, :1] - x[:, 1:2]).tanh()
    if step < 3:
        with mode, torch.autograd.set_detect_anomaly(True):
            loss = nn.functional.mse_loss(net(x), y)
            optimizer.zero_grad()
            loss.backward()
    else:
        prediction = net(x)
        prediction.register_hook(lambda g: g * 1.0)
        loss = nn.functional.mse_loss(prediction, y)
        optimizer.zero_grad()
        loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item(), activations["b"])
stop.set()
watcher.join()
print(sorted(mode.calls.items()))
print(sorted(gradients.items()), len(seen))
assert loss < 0.1
