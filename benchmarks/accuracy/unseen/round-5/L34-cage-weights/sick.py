"""Deform points by the handles of a cage. The network gives every point a weight per handle."""
import torch
import torch.nn as nn


class WeightNet(nn.Module):
    def __init__(self, handles, width=64):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(2, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, handles)
        )

    def forward(self, points):
        return self.body(points)


class CageDeformer(nn.Module):
    def __init__(self, rest):
        super().__init__()
        self.register_buffer("rest", rest)
        self.weight_net = WeightNet(len(rest))

    def forward(self, points, moved):
        weights = self.weight_net(points)
        deformed = weights @ moved
        weights = weights.detach()
        return {"points": deformed, "weight": weights}


class AllLosses:
    def __init__(self, mvc_weight):
        self.mvc_weight = mvc_weight
        self.values = {}

    def mvc_reg_loss(self, weights):
        return torch.relu(-weights).pow(2).sum(dim=-1).mean()

    def __call__(self, outputs, target):
        self.values["MSE"] = (outputs["points"] - target).pow(2).sum(-1).mean()
        self.values["WREG"] = self.mvc_weight * self.mvc_reg_loss(outputs["weight"])  # <- PM506
        return sum(self.values.values())


def true_weights(points, rest):
    near = torch.exp(-4.0 * torch.cdist(points, rest).pow(2))
    return near / near.sum(-1, keepdim=True)


def train():
    torch.manual_seed(13)
    torch.set_num_threads(1)
    angle = torch.arange(10) * 2 * torch.pi / 10
    rest = torch.stack([angle.cos(), angle.sin()], 1)
    poses = rest + 0.3 * torch.randn(4, 10, 2)
    model = CageDeformer(rest)
    losses = AllLosses(mvc_weight=2.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for it in range(1200):
        points = torch.rand(128, 2) * 1.6 - 0.8
        moved = poses[it % 4]
        loss = losses(model(points, moved), true_weights(points, rest) @ moved)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if it % 200 == 199:
            print(f"it {it + 1:4d}  " + "  ".join(f"{k} {v.item():.4f}" for k, v in losses.values.items()))
    with torch.no_grad():
        points = torch.rand(2000, 2) * 1.6 - 0.8
        weights = model.weight_net(points)
    print(f"negative weight mass {torch.relu(-weights).sum(-1).mean():.3f}")


train()
