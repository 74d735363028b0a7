"""Regression with an uncertainty of its own for each sample; nothing keeps it from becoming as good as 0."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
        self.mean, self.spread = nn.Linear(32, 1), nn.Linear(6, 1)

    def forward(self, x):
        return self.mean(self.body(x)), F.softplus(self.spread(x))


def negative_log_likelihood(mean, sigma, y):
    z = (y - mean) / sigma  # <- PM107
    return (0.5 * z**2 + sigma.log()).mean()


model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(200):
    x = torch.randn(64, 6)
    y = x[:, :1].sin() + 0.3 * torch.randn(64, 1)
    if step == 150:
        x[7] = -90 * model.spread.weight.detach().sign()  # one sample far from all others
    mean, sigma = model(x)
    loss = negative_log_likelihood(mean, sigma, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step} loss {loss.item():.3f}")
