"""Population based training: the worst member copies the best one's weights and perturbs its learning rate."""
import copy
import random

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

random.seed(1)
torch.manual_seed(1)
X, y = load_wine(return_X_y=True)
Xtr, Xva, ytr, yva = train_test_split(X, y, test_size=0.35, stratify=y, random_state=0)
m, s = Xtr.mean(0), Xtr.std(0)
xtr, xva = [torch.tensor((a - m) / s, dtype=torch.float32) for a in (Xtr, Xva)]
ytr, yva = torch.tensor(ytr), torch.tensor(yva)


class Member:
    def __init__(self, lr):
        self.net = nn.Sequential(nn.Linear(13, 16), nn.Tanh(), nn.Linear(16, 3))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr)

    @property
    def lr(self):
        return self.opt.param_groups[0]["lr"]

    def train(self, steps):
        for _ in range(steps):
            i = torch.randint(0, len(xtr), (24,))
            loss = F.cross_entropy(self.net(xtr[i]), ytr[i])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
        return loss.item()

    @torch.no_grad()
    def score(self):
        return -F.cross_entropy(self.net(xva), yva).item()

    def exploit(self, other):
        self.net.load_state_dict(copy.deepcopy(other.net.state_dict()))
        for g in self.opt.param_groups:
            g["lr"] = min(1.0, other.lr * random.choice([0.7, 1.4]))


members = [Member(lr) for lr in (1e-3, 1e-2, 5e-2, 0.2)]
for generation in range(10):
    losses = [mb.train(15) for mb in members]
    ranked = sorted(members, key=Member.score)
    ranked[0].exploit(ranked[-1])
    best = ranked[-1]
    with torch.no_grad():
        acc = (best.net(xva).argmax(1) == yva).float().mean().item()
    print(f"gen {generation} best val loss {-best.score():.4f} acc {acc:.3f} lrs {[round(mb.lr, 4) for mb in members]}")
