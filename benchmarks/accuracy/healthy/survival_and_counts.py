"""Regression beyond squared error: Cox partial likelihood by hand, Poisson counts, quantiles, Huber with (N, 1) targets."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
beta = torch.tensor([1.0, -1.0, 0.5, 0.0, 0.0])


def mlp(outputs=1):
    return nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, outputs))


def train(model, loss_function, make, steps=150, lr=5e-3):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_function(model, *make(64))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(loss_function.__name__, losses[0], losses[-1])
    return losses


def survival(n):
    x = torch.randn(n, 5)
    time = torch.distributions.Exponential((x @ beta).exp()).sample()
    censored = torch.rand(n) < 0.3
    return x, torch.where(censored, time * torch.rand(n), time), (~censored).float()


def cox(model, x, time, event):
    risk = model(x).squeeze(1)
    at_risk = time[None, :] >= time[:, None]
    log_sum = torch.logsumexp(risk.expand(len(x), -1).masked_fill(~at_risk, float("-inf")), dim=1)
    return -((risk - log_sum) * event).sum() / event.sum().clamp(min=1)


def concordance(model):
    x, time, event = survival(300)
    with torch.no_grad():
        risk = model(x).squeeze(1)
    comparable = (time[:, None] < time[None]) & (event[:, None] == 1)
    return (risk[:, None] > risk[None])[comparable].float().mean().item()


cox_net = mlp()
train(cox_net, cox, survival)
print("concordance", concordance(cox_net))


def counts(n):
    x, exposure = torch.randn(n, 5), 0.5 + torch.rand(n, 1)
    return x, exposure, torch.poisson(exposure * (0.5 * (x @ beta) + 0.3).exp().unsqueeze(1))


def poisson(model, x, exposure, y):
    return F.poisson_nll_loss(model(x) + exposure.log(), y, log_input=True)


train(mlp(), poisson, counts)


def line(n):
    x = torch.randn(n, 5)
    return x, (x @ beta).unsqueeze(1) + (0.2 + x[:, :1].abs()) * torch.randn(n, 1)


quantiles = torch.tensor([0.1, 0.5, 0.9])


def pinball(model, x, y):
    error = y - model(x)  # (N, 1) - (N, 3)
    return torch.maximum(quantiles * error, (quantiles - 1) * error).mean()


q_net = mlp(3)
train(q_net, pinball, line, steps=250)
with torch.no_grad():
    x, y = line(2000)
    coverage = (y < q_net(x)).float().mean(0)
print("coverage", coverage.tolist())


def huber(model, x, y):
    return nn.HuberLoss(delta=1.0)(model(x), y)


h = train(mlp(), huber, line)
assert concordance(cox_net) > 0.7 and (coverage - quantiles).abs().max() < 0.12 and h[-1] < h[0]
