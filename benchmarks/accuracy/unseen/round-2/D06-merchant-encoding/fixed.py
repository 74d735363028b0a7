import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import roc_auc_score

torch.manual_seed(2)
torch.set_num_threads(1)
rng = np.random.default_rng(2)

N_MERCHANTS = 900


def transactions(n):
    merchant = rng.integers(0, N_MERCHANTS, n)
    feats = rng.normal(size=(n, 5))
    logit = 0.6 * feats[:, 0] - 0.5 * feats[:, 1]
    label = (rng.random(n) < 1 / (1 + np.exp(-logit))).astype(np.float32)
    return merchant, feats, label


class RateEncoder:
    """mean label for each merchant, together with mean/std for the numeric columns"""

    def fit(self, merchant, feats, label):
        total = np.bincount(merchant, weights=label, minlength=N_MERCHANTS)
        count = np.bincount(merchant, minlength=N_MERCHANTS)
        self.prior = label.mean()
        self.rate = (total + self.prior) / (count + 1)
        self.mu, self.sd = feats.mean(0), feats.std(0)
        return self

    def transform(self, merchant, feats):
        z = (feats - self.mu) / self.sd
        r = (self.rate[merchant] - self.prior)[:, None] * 4
        return torch.tensor(np.hstack([z, r]), dtype=torch.float32)


merchant, feats, label = transactions(1800)
cut = 1300
order = rng.permutation(len(label))
tr, va = order[:cut], order[cut:]
enc_rows, fit_rows = tr[:650], tr[650:]
enc = RateEncoder().fit(merchant[enc_rows], feats[enc_rows], label[enc_rows])
x_tr, y_tr = enc.transform(merchant[fit_rows], feats[fit_rows]), torch.tensor(label[fit_rows])
x_va, y_va = enc.transform(merchant[va], feats[va]), label[va]
m2, f2, l2 = transactions(3000)
x_next = enc.transform(m2, f2)

net = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(20):
    for b in torch.randperm(len(x_tr)).split(65):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x_tr[b]).squeeze(1), y_tr[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    print("val auc  %.3f" % roc_auc_score(y_va, net(x_va).squeeze(1)))
    print("next month auc %.3f" % roc_auc_score(l2, net(x_next).squeeze(1)))
