import torch
from torch import nn
from torch.distributions import Categorical

# A harvester chooses four turns in a row. The short loop pays a little at every turn;
# the far field pays a lot, but only if every turn leads there.
TURNS, CHOICES = 4, 3
FAR = torch.tensor([2, 1, 2, 0])


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(TURNS + 1, 32), nn.Tanh())
        self.actor = nn.Linear(32, CHOICES)
        self.critic = nn.Linear(32, 1)

    def forward(self, turn, on_track):
        x = torch.cat([nn.functional.one_hot(turn, TURNS).float(), on_track[:, None]], 1)
        h = self.body(x)
        return Categorical(logits=self.actor(h)), self.critic(h).squeeze(1)


def season(policy, trips):
    on_track = torch.ones(trips)
    logps, ents, values, rewards = [], [], [], []
    for t in range(TURNS):
        dist, value = policy(torch.full((trips,), t), on_track)
        action = dist.sample()
        on_track = on_track * (action == FAR[t]).float()
        r = 0.25 * ((action == 0) & (FAR[t] != 0)).float()
        if t == TURNS - 1:
            r = r + 6.0 * on_track
        logps.append(dist.log_prob(action))
        ents.append(dist.entropy())
        values.append(value)
        rewards.append(r)
    ret, returns = torch.zeros(trips), []
    for r in reversed(rewards):
        ret = r + ret
        returns.insert(0, ret)
    return (torch.stack(v) for v in (logps, ents, values, returns))


class Learner:
    def __init__(self, entropy_weight=0.3, lr=4e-3):
        self.policy = Policy()
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.entropy_weight = entropy_weight

    def update(self, trips=24):
        logp, entropy, value, returns = season(self.policy, trips)
        adv = (returns - value).detach()
        loss = -(logp * adv).mean() + 0.5 * (returns - value).pow(2).mean()
        loss = loss - self.entropy_weight * entropy.mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return returns[0].mean().item(), entropy.mean().item()


torch.manual_seed(1)
torch.set_num_threads(1)
learner = Learner()
log = []
for i in range(400):
    log.append(learner.update())
    if i % 80 == 79:
        print(f"update {i + 1} return {log[-1][0]:.2f} entropy {log[-1][1]:.3f}")
print(f"mean return of the last 40 updates {sum(r for r, _ in log[-40:]) / 40:.2f}")
