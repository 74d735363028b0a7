import numpy as np
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
rng = np.random.default_rng(8)
torch.manual_seed(8)

N = 9000
age = rng.normal(42, 12, N).clip(19, 80)
income = rng.lognormal(10.2, 0.5, N)
debt = rng.gamma(2.0, 4000, N)
open_lines = rng.poisson(5, N)
inquiries = rng.poisson(1.2, N)
tenure = rng.exponential(4, N)
score = -1.6 + 0.35 * (np.log(debt) - 8.8) - 0.3 * (np.log(income) - 10.2) / 0.5 + 0.22 * inquiries - 0.01 * (age - 42)
default = (rng.random(N) < 1 / (1 + np.exp(-score))).astype(np.float32)

X = np.stack([age, np.log(income), np.log(debt), open_lines, inquiries, tenure], 1)
order = rng.permutation(N)
tr, te = order[:7000], order[7000:]
m, s = X[tr].mean(0), X[tr].std(0)
X = ((X - m) / s).astype(np.float32)

ceiling = roc_auc_score(default[te], score[te])
logit = LogisticRegression().fit(X[tr], default[tr])
print(f"default rate {default.mean():.3f}; true-risk AUC {ceiling:.3f}; logistic {roc_auc_score(default[te], logit.predict_proba(X[te])[:, 1]):.3f}")

model = nn.Sequential(nn.Linear(6, 32), nn.GELU(), nn.Dropout(0.2), nn.Linear(32, 16), nn.GELU(), nn.Linear(16, 1))
opt = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=1e-2)
crit = nn.BCEWithLogitsLoss()
dl = DataLoader(TensorDataset(torch.tensor(X[tr]), torch.tensor(default[tr])), batch_size=128, shuffle=True)

for epoch in range(12):
    model.train()
    losses = []
    for xb, yb in dl:
        opt.zero_grad()
        loss = crit(model(xb).squeeze(-1), yb)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        auc = roc_auc_score(default[te], model(torch.tensor(X[te])).squeeze(-1).numpy())
    print(f"epoch {epoch + 1:02d} | train loss {np.mean(losses):.4f} | test AUC {auc:.4f}")
