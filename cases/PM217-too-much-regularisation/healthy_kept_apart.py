"""Digits with a strong weight decay that the optimizer keeps apart from the gradient."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
pixels, digits = load_digits(return_X_y=True)
images = torch.tensor(pixels, dtype=torch.float32).view(-1, 1, 8, 8) / 8 - 1
labels = torch.tensor(digits)
order = torch.randperm(len(labels))
train, held_out = order[:1400], order[1400:]

net = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1),
    nn.ReLU(),
    nn.Conv2d(16, 16, 3, padding=1),
    nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Flatten(),
    nn.Linear(256, 64),
    nn.ReLU(),
    nn.Linear(64, 10),
)
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.3)
for epoch in range(6):
    net.train()
    for batch in train[torch.randperm(len(train))].split(64):
        loss = F.cross_entropy(net(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        right = (net(images[held_out]).argmax(1) == labels[held_out]).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.3f}, accuracy {right:.3f}")
