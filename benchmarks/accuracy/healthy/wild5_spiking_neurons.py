"""Leaky integrate-and-fire neurons: a hard threshold forward, a smooth stand-in for its slope backward."""
import torch
import torch.nn as nn


class Spike(torch.autograd.Function):
    @staticmethod
    def forward(ctx, potential):
        ctx.save_for_backward(potential)
        return (potential > 0).float()

    @staticmethod
    def backward(ctx, grad):
        (potential,) = ctx.saved_tensors
        return grad / (1 + 5 * potential.abs()) ** 2


class SpikingNet(nn.Module):
    def __init__(self, inputs, hidden, classes, decay=0.9):
        super().__init__()
        self.one, self.two = nn.Linear(inputs, hidden), nn.Linear(hidden, classes)
        self.decay = decay

    def forward(self, spikes):
        v1 = torch.zeros(len(spikes), self.one.out_features)
        v2 = torch.zeros(len(spikes), self.two.out_features)
        total, fired = 0.0, 0.0
        for t in range(spikes.shape[1]):
            v1 = self.decay * v1 + self.one(spikes[:, t])
            s = Spike.apply(v1 - 1)
            v1 = v1 - s.detach()
            v2 = self.decay * v2 + self.two(s)
            total, fired = total + v2, fired + s.mean()
        return total / spikes.shape[1], fired / spikes.shape[1]


def trains(n, steps=25, channels=20, classes=4):
    label = torch.randint(0, classes, (n,))
    when = torch.linspace(0, 1, steps)[None, :, None]
    preferred = ((torch.arange(channels) * (label[:, None] + 1) * 3) % channels / channels)[:, None, :]
    rate = 0.05 + 0.6 * torch.exp(-((when - preferred) ** 2) / 0.02)
    return (torch.rand(n, steps, channels) < rate).float(), label


torch.manual_seed(14)
torch.set_num_threads(1)
model = SpikingNet(20, 48, 4)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(1, 161):
    x, y = trains(64)
    out, fired = model(x)
    loss = nn.functional.cross_entropy(out, y) + 0.1 * (fired - 0.1).pow(2)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        with torch.no_grad():
            x, y = trains(500)
            out, fired = model(x)
        print(f"step {step} loss {loss.item():.3f} accuracy {(out.argmax(1) == y).float().mean():.3f} firing rate {fired:.3f}")
