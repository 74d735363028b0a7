import torch
import torch.nn as nn

torch.manual_seed(1)
torch.set_num_threads(1)


class EarlyStopper:
    def __init__(self, patience):
        self.patience, self.bad = patience, 0
        self.best = float("inf")
        self.weights = None

    def update(self, value, model):
        if value < self.best:
            self.best, self.bad = value, 0
            self.weights = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            self.bad += 1
        return self.bad >= self.patience


def series(n):
    x = torch.randn(n, 30)
    return x, (x[:, :3].sum(1) + 1.0 * torch.randn(n) > 0).long()


x, y = series(120)
xv, yv = series(500)
model = nn.Sequential(nn.Linear(30, 96), nn.ReLU(), nn.Linear(96, 2))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
crit = nn.CrossEntropyLoss()
stopper = EarlyStopper(patience=60)
for epoch in range(200):
    model.train()
    for b in torch.randperm(120).split(20):
        opt.zero_grad()
        loss = crit(model(x[b]), y[b])
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        v = crit(model(xv), yv).item()
    if stopper.update(v, model):
        print("stopped at epoch", epoch)
        break
model.load_state_dict(stopper.weights)
with torch.no_grad():
    print("best val loss seen %.3f" % stopper.best)
    print("val loss of the restored model %.3f" % crit(model(xv), yv).item())
