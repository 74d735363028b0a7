import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(16, 64), nn.ReLU())
        self.grade = nn.Linear(64, 4)
        self.age = nn.Linear(64, 1)

    def forward(self, x):
        h = self.shared(x)
        return self.grade(h), self.age(h).squeeze(1)


w1, w2 = torch.randn(16, 4), torch.randn(16)


def people(n):
    x = torch.randn(n, 16)
    return x, (x @ w1).argmax(1), torch.tanh(x @ w2 * 0.3)


x, g, a = people(2000)
xv, gv, av = people(500)
model = MultiTask()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    log = {"grade": 0.0, "age": 0.0}
    for b in torch.randperm(2000).split(50):
        grade, age = model(x[b])
        losses = {"grade": F.cross_entropy(grade, g[b]), "age": F.mse_loss(age, a[b])}
        for k in log:
            log[k] += losses[k].item() / 40
        total = losses["grade"] + 2.0 * losses["age"].item()  # <- PM506
        opt.zero_grad()
        total.backward()
        opt.step()
    with torch.no_grad():
        grade, age = model(xv)
    print(f"epoch {epoch} {log['grade']:.3f}/{log['age']:.3f} val acc {(grade.argmax(1) == gv).float().mean():.3f} "
          f"val age r2 {1 - F.mse_loss(age, av).item() / av.var().item():.3f}")
