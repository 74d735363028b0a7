"""Knowledge distillation with a temperature: a wide teacher on plenty of data, a small student on few labels."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
torch.set_num_threads(1)
d = load_digits()
x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
few, pool, test = torch.arange(0, 80), torch.arange(80, 1300), torch.arange(1300, len(y))


def mlp(h):
    return nn.Sequential(nn.Linear(64, h), nn.ReLU(), nn.Dropout(0.1), nn.Linear(h, 10))


def accuracy(m):
    m.eval()
    with torch.no_grad():
        return (m(x[test]).argmax(1) == y[test]).float().mean().item()


teacher = mlp(256)
opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for _ in range(12):
    teacher.train()
    for b in torch.randperm(1300).split(50):
        loss = F.cross_entropy(teacher(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
print(f"teacher {accuracy(teacher):.3f}")
teacher.eval().requires_grad_(False)

student, T = mlp(24), 3.0
opt = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(20):
    student.train()
    for b in pool[torch.randperm(len(pool))].split(50):
        with torch.no_grad():
            soft = (teacher(x[b]) / T).softmax(1)
        kd = F.kl_div((student(x[b]) / T).log_softmax(1), soft, reduction="batchmean") * T * T
        f = few[torch.randint(0, len(few), (20,))]
        hard = F.cross_entropy(student(x[f]), y[f])
        loss = 0.7 * kd + 0.3 * hard
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: kd {kd.item():.3f} hard {hard.item():.3f} student {accuracy(student):.3f}")
