"""Pool-based active learning by entropy; a fresh model is trained in every round on what is labelled so far."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
torch.set_num_threads(1)
d = load_digits()
x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
perm = torch.randperm(len(y))
pool, test = perm[:1300], perm[1300:]
labelled = torch.zeros(len(y), dtype=torch.bool)
labelled[pool[:40]] = True

for rnd in range(7):
    rows = labelled.nonzero().squeeze(1)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3, weight_decay=1e-4)
    model.train()
    for _ in range(40):
        for b in rows[torch.randperm(len(rows))].split(20):
            loss = F.cross_entropy(model(x[b]), y[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x[test]).argmax(1) == y[test]).float().mean()
        free = pool[~labelled[pool]]
        p = model(x[free]).softmax(1)
        entropy = -(p * p.clamp_min(1e-9).log()).sum(1)
    print(f"round {rnd + 1}: {len(rows)} labels, training loss {loss.item():.3f}, test accuracy {acc:.3f}")
    labelled[free[entropy.topk(30).indices]] = True
