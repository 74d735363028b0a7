"""Two-stage training with learnt task weights; stage one trains the body, stage two freezes it in another way each time."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())

    def forward(self, x):
        return self.net(x)


def batch(n=64):
    x = torch.randn(n, 8)
    return x, (x[:, 0] * x[:, 1] > 0).long(), x[:, 2:4].sum(1, keepdim=True) * 10, (x[:, 2] + x[:, 3] > 0.5).long()


# stage 1: two tasks, homoscedastic uncertainty (Kendall et al.)
body, classify, regress = Body(), nn.Linear(32, 2), nn.Linear(32, 1)
log_variance = nn.Parameter(torch.zeros(2))
optimizer = torch.optim.Adam([*body.parameters(), *classify.parameters(), *regress.parameters(), log_variance], lr=3e-3)
for step in range(200):
    x, y1, y2, _ = batch()
    h = body(x)
    terms = torch.stack([F.cross_entropy(classify(h), y1), 0.5 * F.mse_loss(regress(h), y2)])
    loss = (torch.exp(-log_variance) * terms + 0.5 * log_variance).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("stage 1", step, terms.tolist(), log_variance.tolist())


def stage_two(name, model, parameters, steps=60):
    optimizer = torch.optim.AdamW(parameters, lr=1e-2)
    first = None
    for step in range(steps):
        x, _, _, y = batch()
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        first = first or loss.item()
    print("stage 2", name, first, loss.item())
    assert loss.item() < first


class OnTop(nn.Module):
    def __init__(self, body, cut):
        super().__init__()
        self.body, self.cut = body, cut
        self.head = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, x):
        if self.cut == "no_grad":
            with torch.no_grad():
                h = self.body(x)
        elif self.cut == "detach":
            h = self.body(x).detach()
        else:
            h = self.body(x)
        return self.head(h)


model = OnTop(body, "no_grad")  # 1. no_grad in forward, only the head in the optimizer
stage_two("no_grad", model, model.head.parameters())
model = OnTop(body, "detach")  # 2. detach in forward
stage_two("detach", model, model.head.parameters())
body.requires_grad_(False)  # 3. requires_grad_, everything in the optimizer
model = OnTop(body, "flag")
stage_two("requires_grad_", model, model.parameters())
nn.init.zeros_(model.head[2].weight)
for name, p in model.named_parameters():  # 4. by name, filtered, a new last layer
    p.requires_grad = name.startswith("head.2")
stage_two("by name", model, filter(lambda p: p.requires_grad, model.parameters()))
features = torch.cat([body(batch()[0]) for _ in range(2)])  # 5. features computed beforehand
print("cached features", tuple(features.shape), features.requires_grad)
