import torch
import torch.nn as nn
from torch.distributions import Categorical

torch.manual_seed(0)
torch.set_num_threads(1)

K, S_DIM = 12, 6
payoff = torch.rand(6, K) * 0.5
payoff[torch.arange(6), torch.tensor([4, 2, 11, 0, 9, 7])] = 1.0


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(S_DIM, 32), nn.Tanh())
        self.pi = nn.Linear(32, K)
        self.v = nn.Linear(32, 1)

    def forward(self, s):
        h = self.body(s)
        return Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


net = ActorCritic()
optim = torch.optim.Adam(net.parameters(), lr=1e-2)
ENT_COEF, VF_COEF = 0.15, 0.5
history = []
for it in range(500):
    ctx = torch.randint(0, 6, (32,))
    state = nn.functional.one_hot(ctx, S_DIM).float()
    dist, value = net(state)
    action = dist.sample()
    reward = payoff[ctx, action] + 0.1 * torch.randn(32)
    adv = (reward - value).detach()
    policy_loss = -(dist.log_prob(action) * adv).mean()
    value_loss = (reward - value).pow(2).mean()
    entropy = dist.entropy().mean()
    loss = policy_loss + VF_COEF * value_loss - ENT_COEF * entropy
    optim.zero_grad()
    loss.backward()
    optim.step()
    history.append(reward.mean().item())
    if it % 100 == 99:
        print(f"iter {it + 1} reward {sum(history[-100:]) / 100:.3f} entropy {entropy.item():.3f}")
with torch.no_grad():
    best = net(torch.eye(6))[0].logits.argmax(1)
print("expected greedy reward %.3f" % payoff[torch.arange(6), best].mean().item())
