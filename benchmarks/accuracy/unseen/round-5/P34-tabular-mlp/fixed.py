#!/usr/bin/env python
# coding: utf-8

# In[1]:
import torch
from sklearn.datasets import make_moons
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(2)
torch.set_num_threads(1)

# In[2]:
X, y = make_moons(3000, noise=0.18, random_state=2)
X[:, 0] -= 0.5
X = torch.tensor(X, dtype=torch.float32)
X = torch.cat([X, 0.5 * torch.randn(len(X), 4)], dim=1)
y = torch.tensor(y)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)


# In[3]:
class MLP(nn.Module):
    def __init__(self, dims, act=None):
        super().__init__()
        layers = []
        for dim_in, dim_out in zip(dims[:-2], dims[1:-1]):
            layers.append(nn.Linear(dim_in, dim_out))
            layers.append(nn.ReLU() if act is None else act)
        layers.append(nn.Linear(dims[-2], dims[-1]))
        self.mlp = nn.Sequential(*layers)

    def forward(self, x):
        return self.mlp(x)


# In[4]:
model = MLP([6, 64, 64, 32, 2])
print(sum(p.numel() for p in model.parameters()), "parameters")
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()

# In[5]:
for epoch in range(25):
    model.train()
    perm = torch.randperm(len(X_train))
    for i in range(0, len(perm), 64):
        idx = perm[i:i + 64]
        opt.zero_grad()
        loss = criterion(model(X_train[idx]), y_train[idx])
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        model.eval()
        with torch.no_grad():
            acc = (model(X_test).argmax(1) == y_test).float().mean()
        print(f"[EPOCH {epoch + 1}] loss: {loss.item():.3f}, test accuracy: {acc:.3f}")
