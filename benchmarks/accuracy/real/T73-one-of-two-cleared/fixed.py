"""Encoder and head with their own optimizers and learning rates."""
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

np.random.seed(0)
torch.manual_seed(0)


def load():
    centres = np.random.randn(6, 24) * 1.1
    labels = np.random.randint(0, 6, 1500)
    features = centres[labels] + np.random.randn(1500, 24) * 1.2
    return torch.tensor(features, dtype=torch.float32), torch.tensor(labels)


encoder = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
head = nn.Linear(32, 6)
optim_encoder = optim.SGD(encoder.parameters(), lr=0.01, momentum=0.9)
optim_head = optim.SGD(head.parameters(), lr=0.05, momentum=0.9)
x, y = load()
x_train, y_train, x_test, y_test = x[:1200], y[:1200], x[1200:], y[1200:]
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    encoder.train(), head.train()
    for idx in torch.randperm(1200).split(40):
        logits = head(encoder(x_train[idx]))
        loss = criterion(logits, y_train[idx])
        optim_encoder.zero_grad()
        optim_head.zero_grad()
        loss.backward()
        optim_encoder.step()
        optim_head.step()
    encoder.eval(), head.eval()
    with torch.no_grad():
        accuracy = (head(encoder(x_test)).argmax(1) == y_test).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {accuracy:.3f}")
