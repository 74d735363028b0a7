"""Gradient accumulation with a short tail, parameter groups, and a running average of the weights."""

import torch
from fingerprint import bits, finish
from torch import nn
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(0)
x = torch.randn(220, 6)
y = x @ torch.randn(6, 1) + 0.1 * torch.randn(220, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
average = AveragedModel(model)
groups = [
    {"params": [p for p in model.parameters() if p.dim() > 1], "weight_decay": 0.01},
    {"params": [p for p in model.parameters() if p.dim() == 1], "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=0.01)
period = 4
for _epoch in range(6):
    batches = torch.randperm(220).split(20)
    for index, batch in enumerate(batches):
        loss = nn.functional.mse_loss(model(x[batch]), y[batch]) / period
        loss.backward()
        bits(loss)
        if (index + 1) % period == 0 or index + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()
            average.update_parameters(model)
finish(model, average)
