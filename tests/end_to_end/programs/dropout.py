"""Dropout, batch norm, clipping, a schedule and an evaluation after every epoch."""

import torch
from fingerprint import bits, finish
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
x = torch.randn(480, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 1).long()
train, test = random_split(TensorDataset(x, y), [400, 80])
loader = DataLoader(train, batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=4)
criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
for _epoch in range(4):
    model.train()
    for inputs, labels in loader:
        optimizer.zero_grad(set_to_none=True)
        loss = criterion(model(inputs), labels)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        bits(loss)
    scheduler.step()
    model.eval()
    with torch.no_grad():
        for inputs, labels in DataLoader(test, batch_size=64):
            bits(criterion(model(inputs), labels))
finish(model)
