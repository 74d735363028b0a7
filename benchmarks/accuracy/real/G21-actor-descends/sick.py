"""Continuous control of a point mass: actor and critic."""
import copy
import torch
import torch.nn as nn

torch.manual_seed(1)


def mlp(i, o, tail=None):
    layers = [nn.Linear(i, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, o)]
    return nn.Sequential(*layers, *( [tail] if tail else []))


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(2, 1, nn.Tanh())

    def forward(self, s):
        return self.net(s)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(3, 1)

    def forward(self, s, a):
        return self.net(torch.cat([s, a], 1))


actor, critic = Actor(), Critic()
actor_t, critic_t = copy.deepcopy(actor), copy.deepcopy(critic)
opt_a = torch.optim.Adam(actor.parameters(), lr=1e-3)
opt_c = torch.optim.Adam(critic.parameters(), lr=2e-3)
buf, s = [], torch.tensor([0.5, 0.0])
for step in range(700):
    with torch.no_grad():
        a = (actor(s[None])[0] + 0.3 * torch.randn(1)).clamp(-1, 1)
    v = (s[1] + 0.1 * a[0]).clamp(-1, 1)
    s2 = torch.stack([(s[0] + 0.1 * v).clamp(-2, 2), v])
    r = -(s2[0] ** 2) - 0.01 * a[0] ** 2
    buf.append((s, a, r, s2))
    s = s2 if (step + 1) % 40 else torch.tensor([torch.rand(1).item() * 2 - 1, 0.0])
    if len(buf) < 64:
        continue
    pick = torch.randint(0, len(buf), (32,)).tolist()
    S_, A_, R_, N_ = (torch.stack([buf[i][k] for i in pick]) for k in range(4))
    with torch.no_grad():
        y = R_[:, None] + 0.95 * critic_t(N_, actor_t(N_))
    critic_loss = nn.functional.mse_loss(critic(S_, A_), y)
    opt_c.zero_grad()
    critic_loss.backward()
    opt_c.step()
    actor_loss = critic(S_, actor(S_)).mean()  # <- PM516
    opt_a.zero_grad()
    actor_loss.backward()
    opt_a.step()
    for net, tgt in ((actor, actor_t), (critic, critic_t)):
        for p, q in zip(net.parameters(), tgt.parameters()):
            q.data.mul_(0.99).add_(p.data, alpha=0.01)
    if step % 100 == 0:
        print(step, critic_loss.item(), actor_loss.item(), torch.stack([b[2] for b in buf[-40:]]).mean().item())
