# Distil an ensemble into one small tabular net. The ensemble is slow, so its answers are computed once
# and kept next to the rows.
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(42)


def get_data():
    x, y = make_classification(n_samples=5000, n_features=20, n_informative=12, n_redundant=2, n_classes=5, n_clusters_per_class=2,
                               class_sep=1.6, flip_y=0.02, random_state=3)
    xtr, xte, ytr, yte = train_test_split(x, y, test_size=0.3, random_state=3)
    m, s = xtr.mean(0), xtr.std(0)
    f = lambda a: torch.tensor((a - m) / s, dtype=torch.float32)
    return f(xtr), f(xte), torch.tensor(ytr), torch.tensor(yte)


def mlp(width):
    return nn.Sequential(nn.Linear(20, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 5))


class Ensemble(nn.Module):
    def __init__(self, k, width):
        super().__init__()
        self.members = nn.ModuleList(mlp(width) for _ in range(k))

    def forward(self, x):
        return torch.stack([m(x).softmax(-1) for m in self.members]).mean(0)


def test(model, x, y, probs=False):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(-1) == y).float().mean().item()


xtr, xte, ytr, yte = get_data()
train_set = TensorDataset(xtr, ytr)
train_loader = DataLoader(train_set, batch_size=70, shuffle=True)
infer_loader = DataLoader(train_set, batch_size=500)

ensemble = Ensemble(3, 96)
for member in ensemble.members:
    opt = torch.optim.AdamW(member.parameters(), lr=2e-3, weight_decay=0.05)
    for epoch in range(6):
        for x, y in train_loader:
            loss = F.cross_entropy(member(x), y, label_smoothing=0.05)
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(f"member done, last loss {loss.item():.3f}")
train_acc = sum((ensemble(x).argmax(-1) == y).sum().item() for x, y in infer_loader) / len(train_set)
print(f"ensemble train acc {train_acc:.4f} test acc {test(ensemble, xte, yte):.4f}")

answers = []
ensemble.eval()
with torch.no_grad():
    for x, _ in train_loader:
        answers.append(ensemble(x))
answers = torch.cat(answers)

distil_loader = DataLoader(TensorDataset(xtr, ytr, answers), batch_size=70, shuffle=True)
student = mlp(32)
opt = torch.optim.AdamW(student.parameters(), lr=3e-3)
W_SOFT = 0.8
for epoch in range(10):
    student.train()
    soft_sum = hard_sum = 0.0
    for x, y, p in distil_loader:
        logp = F.log_softmax(student(x), -1)
        soft = F.kl_div(logp, p, reduction="batchmean")
        hard = F.nll_loss(logp, y)
        loss = W_SOFT * soft + (1 - W_SOFT) * hard
        opt.zero_grad()
        loss.backward()
        opt.step()
        soft_sum += soft.item()
        hard_sum += hard.item()
    n = len(distil_loader)
    print(f"epoch {epoch} soft {soft_sum / n:.4f} hard {hard_sum / n:.4f} student test acc {test(student, xte, yte):.4f}")
