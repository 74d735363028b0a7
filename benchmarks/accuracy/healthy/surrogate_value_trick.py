"""Score-function gradients: the surrogate gives the gradient, the true objective gives the printed value."""

import torch
from torch import nn
from torch.distributions import Bernoulli

torch.set_num_threads(1)
torch.manual_seed(0)
K = 8
secret = torch.tensor([1.0, 0, 1, 1, 0, 0, 1, 0])


def reward(bits):
    return (bits == secret).float().mean(1) - 0.3 * (bits.sum(1) > 5).float()


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(K))

    def forward(self, n):
        distribution = Bernoulli(logits=self.logits)
        bits = distribution.sample((n,))
        return bits, distribution.log_prob(bits).sum(1), distribution.entropy().sum()


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=0.05)
baseline = 0.0
for step in range(150):
    bits, log_prob, entropy = policy(64)
    r = reward(bits)
    surrogate = -((r - baseline) * log_prob).mean() - 0.001 * entropy
    objective = -r.mean()
    # value of the objective, gradient of the surrogate
    loss = surrogate + (objective - surrogate).detach()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    baseline = 0.9 * baseline + 0.1 * r.mean().item()
    if step % 30 == 0:
        print(step, loss.item(), torch.sigmoid(policy.logits).detach().round(decimals=3).tolist())
print("found", (torch.sigmoid(policy.logits) > 0.5).float().tolist())
assert ((torch.sigmoid(policy.logits) > 0.5).float() == secret).all() and loss < -0.8
