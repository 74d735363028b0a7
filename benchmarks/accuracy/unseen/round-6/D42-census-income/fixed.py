import io

import numpy as np
import pandas as pd
import torch
from torch import nn


def make_census(n=3000, seed=3):
    r = np.random.default_rng(seed)
    age = r.integers(18, 75, n)
    hours = r.integers(10, 70, n)
    married = r.random(n) < 0.5
    degree = r.random(n) < 0.35
    owner = r.random(n) < 0.2
    logit = 0.04 * (age - 45) + 0.03 * (hours - 40) + 3.2 * married + 2.8 * degree + 2.0 * owner - 3.3
    rich = r.random(n) < 1 / (1 + np.exp(-1.6 * logit))
    buf = io.StringIO()
    for i in range(n):
        buf.write(
            f"{age[i]}, {'Married' if married[i] else 'Single'}, {'College' if degree[i] else 'School'}, "
            f"{'Self-emp' if owner[i] else 'Private'}, {hours[i]}, {'>50K' if rich[i] else '<=50K'}\n"
        )
    buf.seek(0)
    return buf


names = ["age", "marital", "education", "workclass", "hours", "income"]
df = pd.read_csv(make_census(), names=names, skipinitialspace=True)

feats = pd.DataFrame(
    {
        "age": (df.age - df.age.mean()) / df.age.std(),
        "hours": (df.hours - df.hours.mean()) / df.hours.std(),
        "married": (df.marital == "Married").astype(float),
        "college": (df.education == "College").astype(float),
        "self_emp": (df.workclass == "Self-emp").astype(float),
    }
)
target = df.income.str.contains(">50K").astype(float)

X = torch.tensor(feats.values, dtype=torch.float32)
t = torch.tensor(target.values, dtype=torch.float32)
cut = int(0.8 * len(X))

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optim = torch.optim.Adam(model.parameters(), lr=3e-3)
bce = nn.BCEWithLogitsLoss()

for epoch in range(30):
    for idx in torch.randperm(cut).split(32):
        loss = bce(model(X[idx]).squeeze(1), t[idx])
        optim.zero_grad()
        loss.backward()
        optim.step()
    if epoch % 6 == 5:
        with torch.no_grad():
            p = model(X[cut:]).squeeze(1)
            acc = ((p > 0) == (t[cut:] > 0.5)).float().mean()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, held-out accuracy {acc:.3f}")
