"""A hypernetwork reads a few context points and writes the weights of a small regression network."""
import torch
from torch import nn

HIDDEN = 12
SIZES = [HIDDEN, HIDDEN, HIDDEN * HIDDEN, HIDDEN, HIDDEN, 1]


def tasks(n, points, gen=None):
    """Sine curves with random amplitude and phase."""
    amp = 0.5 + torch.rand(n, 1, 1, generator=gen)
    phase = 3.14 * torch.rand(n, 1, 1, generator=gen)
    x = 4 * torch.rand(n, points, 1, generator=gen) - 2
    return x, amp * torch.sin(1.5 * x + phase)


class HyperNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.point = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width))
        self.trunk = nn.Sequential(nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.write = nn.Linear(width, sum(SIZES))
        with torch.no_grad():
            self.write.weight.mul_(0.3)
            self.write.bias.copy_(0.4 * torch.randn(sum(SIZES)))

    def forward(self, x, y):
        summary = self.point(torch.cat([x, y], dim=-1)).mean(dim=1)
        return self.write(self.trunk(summary)).split(SIZES, dim=-1)


def apply_written(weights, x):
    """The main network; every task has weights of its own, none is a Parameter."""
    w1, b1, w2, b2, w3, b3 = weights
    b = len(x)
    h = torch.tanh(x @ w1.view(b, 1, HIDDEN) + b1.view(b, 1, HIDDEN))
    h = torch.tanh(h @ w2.view(b, HIDDEN, HIDDEN) + b2.view(b, 1, HIDDEN))
    return h @ w3.view(b, HIDDEN, 1) + b3.view(b, 1, 1)


def query_error(model, context, query):
    weights = model(*context)
    return ((apply_written(weights, query[0]) - query[1]) ** 2).mean()


def draw(n, gen=None):
    x, y = tasks(n, 30, gen)
    return (x[:, :10], y[:, :10]), (x[:, 10:], y[:, 10:])


def main():
    torch.manual_seed(2)
    val = draw(200, torch.Generator().manual_seed(7))
    model = HyperNet()
    steps = 900
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    for step in range(1, steps + 1):
        model.train()
        loss = query_error(model, *draw(48))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        if step % 150 == 0:
            model.eval()
            with torch.no_grad():
                error = query_error(model, *val).item()
            print(f"step {step} train mse {loss.item():.4f} val mse on new tasks {error:.4f} "
                  f"(variance {val[1][1].var().item():.3f})")


if __name__ == "__main__":
    main()
