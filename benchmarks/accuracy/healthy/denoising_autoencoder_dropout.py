"""Denoising autoencoder with tied weights; the corruption is F.dropout on the input, in the training loop only."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.set_num_threads(1)
torch.manual_seed(0)


class TiedAutoencoder(nn.Module):
    def __init__(self, visible=64, hidden=48):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(hidden, visible))
        nn.init.xavier_uniform_(self.weight)
        self.hidden_bias = nn.Parameter(torch.zeros(hidden))
        self.visible_bias = nn.Parameter(torch.zeros(visible))

    def encode(self, x):
        return torch.sigmoid(F.linear(x, self.weight, self.hidden_bias))

    def decode(self, h):
        return F.linear(h, self.weight.t(), self.visible_bias)

    def forward(self, x):
        return self.decode(self.encode(x))


images = torch.tensor(load_digits().data / 16.0, dtype=torch.float32)
train, test = images[:1500], images[1500:]
model = TiedAutoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


def train_one_epoch():
    losses = []
    for rows in torch.randperm(len(train)).split(64):
        clean = train[rows]
        noisy = F.dropout(clean, p=0.3)
        loss = F.binary_cross_entropy_with_logits(model(noisy), clean)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).mean().item()


def evaluate():
    model.eval()
    with torch.no_grad():
        error = F.mse_loss(torch.sigmoid(model(test)), test).item()
    model.train()
    return error


print("before", evaluate())
for epoch in range(8):
    print(epoch, train_one_epoch(), evaluate())
assert evaluate() < 0.5 * test.var()
