import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
torch.set_num_threads(1)
d = load_digits()
X = torch.tensor(d.data, dtype=torch.float32) / 16
y = torch.tensor(d.target)


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 24))
        self.cls = nn.Linear(24, 10)

    def forward(self, x):
        return self.cls(F.relu(self.embed(x)))


teacher = Teacher()
opt = torch.optim.Adam(teacher.parameters(), lr=2e-3)
for _ in range(10):
    for b in torch.randperm(1300).split(50):
        opt.zero_grad()
        F.cross_entropy(teacher(X[b]), y[b]).backward()
        opt.step()
teacher.eval().requires_grad_(False)

student = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 24))
opt = torch.optim.Adam(student.parameters(), lr=2e-3)
for epoch in range(20):
    student.train()
    for b in torch.randperm(1300).split(50):
        with torch.no_grad():
            want = teacher.embed(X[b])
        loss = 1 - F.cosine_similarity(student(X[b]), want, dim=1).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        student.eval()
        with torch.no_grad():
            index = F.normalize(teacher.embed(X[:1300]), dim=1)
            query = F.normalize(student(X[1300:]), dim=1)
            found = y[(query @ index.t()).argmax(1)]
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}, right digit retrieved {(found == y[1300:]).float().mean():.3f}")
