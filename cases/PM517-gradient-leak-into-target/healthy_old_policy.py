"""The same with the old log-probabilities kept from before the updates: in the first of them the ratio is 1, too."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


def log_prob(policy, state, action):
    return policy(state).log_softmax(-1).gather(1, action[:, None]).squeeze(1)


policy = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
right = torch.randn(4, 3)
for rollout in range(30):
    state = torch.randn(128, 4)
    with torch.no_grad():
        action = torch.multinomial(policy(state).softmax(-1), 1).squeeze(1)
    reward = ((state @ right).argmax(1) == action).float()
    advantage = reward - reward.mean()
    with torch.no_grad():
        old = log_prob(policy, state, action)
    for _ in range(4):
        ratio = torch.exp(log_prob(policy, state, action) - old)
        loss = -torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if rollout % 10 == 9:
        print(rollout + 1, "reward", reward.mean().item())
