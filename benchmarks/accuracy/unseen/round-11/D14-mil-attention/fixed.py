# Multiple-instance learning on digit bags: a bag is positive when it holds at least one "9".
import numpy as np
import torch
from torch import nn
from sklearn.datasets import load_digits

torch.set_num_threads(1)
torch.manual_seed(0)
rs = np.random.RandomState(0)

digits = load_digits()
X, y = (digits.data / 16.0).astype("float32"), digits.target
perm = rs.permutation(len(X))
pool = {"train": perm[:1200], "test": perm[1200:]}
BAG = 16


def make_bags(split, n):
    idx = pool[split]
    nines, rest = idx[y[idx] == 9], idx[y[idx] != 9]
    bags, labels = [], []
    for i in range(n):
        members = rs.choice(rest, BAG)
        if i % 2:
            members[: rs.randint(1, 3)] = rs.choice(nines)
        bags.append(X[rs.permutation(members)])
        labels.append(i % 2)
    return torch.tensor(np.stack(bags)), torch.tensor(labels, dtype=torch.float32)


class GatedAttentionMIL(nn.Module):
    def __init__(self, d=64, h=64, a=32):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU())
        self.V = nn.Sequential(nn.Linear(h, a), nn.Tanh())
        self.U = nn.Sequential(nn.Linear(h, a), nn.Sigmoid())
        self.w = nn.Linear(a, 1)
        self.classifier = nn.Linear(h, 1)

    def forward(self, bag):
        H = self.features(bag)                       # B x K x h
        A = self.w(self.V(H) * self.U(H))            # B x K x 1
        A = torch.softmax(A, dim=1)
        M = (A * H).sum(1)                           # B x h
        return self.classifier(M).squeeze(-1), A.squeeze(-1)


train_x, train_y = make_bags("train", 600)
test_x, test_y = make_bags("test", 200)
model = GatedAttentionMIL()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=1e-4)
loss_fn = nn.BCEWithLogitsLoss()


def evaluate():
    model.eval()
    hits = 0
    with torch.no_grad():
        for bag, lab in zip(test_x, test_y):
            logit, att = model(bag.unsqueeze(0))
            hits += int((logit.item() > 0) == bool(lab))
    model.train()
    return hits / len(test_y)


for epoch in range(1, 31):
    total = 0.0
    for ids in torch.randperm(len(train_x)).split(20):
        logit, _ = model(train_x[ids])
        loss = loss_fn(logit, train_y[ids])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(ids)
    if epoch % 5 == 0:
        print(f"Epoch: {epoch}, Loss: {total / len(train_x):.4f}, Test bag accuracy: {evaluate():.4f}")
